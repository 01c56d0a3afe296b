// Decides which calls of an answer are made now, which are refused, and which wait for an approval or an answer.
//
// Thread: the run's executor.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "agent/gated_calls.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "run/conversation.hpp"
#include "run/live_run.hpp"

namespace runs {

struct module_context;

// Whether no call can need an approval, be denied or wait for an answer, so that gate_calls() can be skipped.
bool calls_are_free(const module_context& p, const live_run& run);

// Whether the policy requires an approval of the call.
bool needs_approval(const module_context& p, const live_run& run, const tool_catalog::tool* tool,
                    const tool_call& call);

// Creates missing approvals and questions, and appends the events about new and resolved ones. Throws ry::error if the database fails.
ry::task<gated_calls> gate_calls(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 std::vector<tool_call> calls);

}  // namespace runs
