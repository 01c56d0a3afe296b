// The messages of a live run; reads them from the thread if they are not in memory. Thread: the run's executor.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "run/live_run.hpp"
#include "store/repository.hpp"

namespace runs {

// Waits while the database is unavailable; interrupted: the run was interrupted meanwhile. Throws ry::error for other
// errors.
enum class loaded { yes, interrupted };
ry::task<loaded> load_history(const ry::context& ctx, const repository& repo, std::shared_ptr<live_run> run);

// Adds a message that this worker has just committed.
void append_to_history(live_run& run, std::string role, std::string body);
// Drops a large history from memory while a model answers; load_history() reads it again.
void release_history(live_run& run);

}  // namespace runs
