// The tool that runs a command in the sandbox.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "agent/conversation.hpp"
#include "module_context.hpp"
#include "stream/live_run.hpp"

namespace runs {

// On the run's executor; an interruption of the run ends the command. `id`: of the tool call.
ry::task<tool_outcome> run_shell(module_context& p, std::shared_ptr<live_run> run,
                                 ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string id,
                                 boost::json::object arguments);

}  // namespace runs
