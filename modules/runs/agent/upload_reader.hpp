// Examines the files of a start before the model's first response: stores their text as uploads/.text/<name>.txt, and
// adds images to the user's message. The parsers run in the sandbox.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "run/live_run.hpp"

namespace runs {

struct module_context;

// Examines the run's files that have not been examined yet; an interrupted run examines them again later. False: the
// run belongs to another worker. On the run's executor.
ry::task<bool> look_at_uploads(module_context& p, std::shared_ptr<live_run> run);

}  // namespace runs
