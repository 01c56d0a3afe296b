// Writes a file into a run's workspace on this node, within the limits of the run's account.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "module_context.hpp"
#include "stream/live_run.hpp"

namespace runs {

// On the run's executor. RY_RESOURCE_EXHAUSTED: the account's workspaces, or the disk, are full. `bytes` outlives the
// task.
ry::task<ry::result<void>> write_workspace_file(module_context& p, std::shared_ptr<live_run> run, std::string path,
                                                std::string_view bytes);

}  // namespace runs
