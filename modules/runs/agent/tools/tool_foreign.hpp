// Calls tools of agent.tools/1 sources.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "agent/tools/tool_catalog.hpp"
#include "run/conversation.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "ry/ext/agent_tools.h"
#include "settings/settings.hpp"
#include "workspace/run_workspace.hpp"

namespace runs {

// The result for the model if the worker of a call was lost before the result was stored.
inline constexpr std::string_view unknown_call_outcome =
    "The outcome of this call is unknown: the server that executed it stopped. It may or may not have taken effect.";
// resumed: another worker made the call. It is not repeated; its source may still have the result.
enum class call_kind { first, resumed };
// Whether the tool's source can resume calls of another worker.
bool resumes_calls(const tool_catalog::tool& tool);
// Notifies the sources that this worker has released the run.
void notify_sources_of_end(const ry::drivers<ry_agent_tools_v1>& sources, const live_run& run, bool finished);

// Calls a tool of a source. Sets `unknown` if the source does not know the resumed call. Thread: the run's executor.
ry::task<tool_outcome> call_source_tool(const ry::context& ctx, const settings& config, const repository& repo,
                                        event_log_writers& writers, const run_workspace& files,
                                        std::shared_ptr<live_run> run, const tool_catalog::tool& tool, tool_call call,
                                        call_kind kind, bool& unknown);

}  // namespace runs
