// The tool that runs a command in the sandbox.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "conversation.hpp"
#include "live_run.hpp"
#include "parts.hpp"

namespace runs {

// On the run's executor; an interruption of the run ends the command. `id`: of the tool call.
ry::task<tool_outcome> run_shell(parts& p, std::shared_ptr<live_run> run,
                                 ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string id,
                                 boost::json::object arguments);

}  // namespace runs
