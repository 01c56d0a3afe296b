// The messages of a live run; reads them from the thread if they are not in memory. On the run's executor.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "store/repository.hpp"
#include "stream/live_run.hpp"

namespace runs {

// Waits while the database is unavailable; broken_off: the run was interrupted meanwhile. Throws ry::error for other
// errors.
enum class loaded { yes, broken_off };
ry::task<loaded> load_history(const ry::context& ctx, const repository& repo, std::shared_ptr<live_run> run);

// Adds a message that this worker has just committed.
void remember(live_run& run, std::string role, std::string body);
// While a model answers, only small histories stay in memory.
void release_history(live_run& run);

}  // namespace runs
