// The messages of a live run: read from the thread when they are not in memory. On the run's executor.
#pragma once
#include "parts.hpp"

namespace runs {

// Waits out a database that is away; broken_off: the run was interrupted meanwhile. Throws ry::error
// otherwise.
enum class loaded { yes, broken_off };
ry::task<loaded> load_history(parts& p, std::shared_ptr<live_run> run);

// What was persisted just now, by this worker.
void remember(live_run& run, std::string role, std::string body);
// While a model answers, only small histories stay in memory.
void release_history(live_run& run);

// An error that passes: the database is away or busy.
bool is_transient(const ry::error& e);

}  // namespace runs
