// The workspace of a run: prepares it before a tool uses it, and stores it after a tool changed it.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "module_context.hpp"
#include "stream/live_run.hpp"

namespace runs {

// Creates the project's workspace if needed, brings this node's copy to the database's version, and records the use in
// the database; once per live run.
ry::task<ry::result<void>> ensure_workspace(module_context& p, std::shared_ptr<live_run> run);
// Stores the changes of the run's workspace in the database; retries while the database is unavailable, until the run
// is interrupted. `note`: for the agent, what could not be stored.
ry::task<void> keep_files(module_context& p, std::shared_ptr<live_run> run, std::string& note);

}  // namespace runs
