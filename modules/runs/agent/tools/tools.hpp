// Runs tool calls: tools of the sandbox, find_tools, and tools of the agent.tools/1 sources.
#pragma once
#include <memory>
#include <ry/ry.hpp>

#include "agent/tools/tool_catalog.hpp"
#include "agent/tools/tool_foreign.hpp"
#include "run/conversation.hpp"
#include "run/live_run.hpp"

namespace runs {

struct module_context;

// Runs one call to completion; its output is appended to the run's event buffer as it arrives. Never throws: a failure
// becomes a result for the model. Ends soon after an interruption. Thread: the run's executor.
ry::task<tool_outcome> run_tool(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, tool_call call,
                                call_kind kind = call_kind::first);

}  // namespace runs
