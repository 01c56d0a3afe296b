// The tools that read, write and list files of the workspace.
#pragma once
#include <boost/json/object.hpp>
#include <memory>

#include "agent/conversation.hpp"
#include "module_context.hpp"
#include "stream/live_run.hpp"

namespace runs {

// On the run's executor, after ensure_workspace().
ry::task<tool_outcome> run_read(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                boost::json::object arguments);
ry::task<tool_outcome> run_write(module_context& p, std::shared_ptr<live_run> run, boost::json::object arguments);
ry::task<tool_outcome> run_list(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                boost::json::object arguments);

}  // namespace runs
