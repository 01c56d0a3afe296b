// Calls of tools of agent.tools/1 sources.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "agent/conversation.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "module_context.hpp"
#include "stream/live_run.hpp"

namespace runs {

// The result for the model if the worker of a call was lost before the result was stored.
inline constexpr std::string_view unknown_outcome =
    "The outcome of this call is unknown: the server that ran it went away. It may or may not have taken effect.";
// resumed: another worker made the call. It is not repeated; its source may know the result.
enum class call_kind { first, resumed };
// Whether the tool's source can resume calls of another worker.
bool resumes_calls(const tool_catalog::tool& tool);
// Notifies the sources that this worker has released the run.
void notify_sources_of_end(module_context& p, const live_run& run, bool finished);

// Calls a tool of a source; on the run's executor. `unknown`: the source does not know the resumed call.
ry::task<tool_outcome> run_foreign(module_context& p, std::shared_ptr<live_run> run, const tool_catalog::tool& tool,
                                   tool_call call, call_kind how, bool& unknown);

}  // namespace runs
