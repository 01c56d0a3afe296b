// The tools that read, write and list files of the workspace.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <ry/ry.hpp>

#include "run/conversation.hpp"
#include "run/live_run.hpp"
#include "ry/ext/sandbox_driver.h"
#include "workspace/run_workspace.hpp"
#include "workspace/sandbox_drivers.hpp"

namespace runs {

// Thread: the run's executor. Requires run_workspace::ensure().
ry::task<tool_outcome> run_read(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                boost::json::object arguments);
ry::task<tool_outcome> run_write(const sandbox_drivers& sandboxes, const run_workspace& files,
                                 std::shared_ptr<live_run> run, boost::json::object arguments);
ry::task<tool_outcome> run_list(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                boost::json::object arguments);

}  // namespace runs
