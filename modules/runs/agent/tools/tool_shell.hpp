// The tool that runs a command in the sandbox.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "run/conversation.hpp"
#include "run/live_run.hpp"
#include "ry/ext/sandbox_driver.h"

namespace runs {

struct module_context;

// An interruption of the run terminates the command. `id` is the id of the tool call. Thread: the run's executor.
ry::task<tool_outcome> run_shell(module_context& p, std::shared_ptr<live_run> run,
                                 ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string id,
                                 boost::json::object arguments);

}  // namespace runs
