// The workspace of a run: prepares it before a tool uses it, and stores it after a tool changed it.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "live_run.hpp"
#include "parts.hpp"

namespace runs {

// Creates the project's workspace if needed, brings this node's copy to the database's version, and records the use in
// the database; once per live run.
ry::task<ry::result<void>> ensure_workspace(parts& p, std::shared_ptr<live_run> run);
// Puts what changed in the run's workspace into the database, again and again while that is not there; an
// interruption of the run ends that. `note`: for the agent, what could not be kept.
ry::task<void> keep_files(parts& p, std::shared_ptr<live_run> run, std::string& note);

}  // namespace runs
