#include "agent/approval_gate.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "agent/questions.hpp"
#include "module_context.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::string_view denied_by_policy = "The call was not made: the policy of this deployment denies it.";

std::string denial(const approval& a) {
  if (a.status == "expired") return "The call was not made: no decision about it was made in time.";
  if (a.reason.empty()) return "The call was not made: the user denied it.";
  return "The call was not made: the user denied it with the reason: " + a.reason;
}

tool_outcome client_outcome(const approval& a) {
  if (a.status == "answered") return {a.result, a.result_is_error};
  return {"The call has no result: the client did not execute it in time.", true};
}

// A question needs no approval: the person decides whether to answer it.
tool_action action_of(const module_context& p, const live_run& run, const tool_catalog::tool* tool,
                      const tool_call& call) {
  const bool read_only = tool != nullptr && tool->read_only;
  const tool_action action = action_for(p.config.tools, run.progress.added, call.name, read_only, call.arguments);
  return action == tool_action::ask && tool != nullptr && tool->asks_person ? tool_action::run : action;
}

void append_requested(live_run& run, const approval& a, const tool_call& call, std::string_view source) {
  run.events.buffer.append("approval_requested")
      .text("approval_id", a.id)
      .text("tool_call_id", a.tool_call_id)
      .text("name", call.name)
      .text("source", source)
      .json("arguments", a.arguments)
      .text("expires_at", a.expires_at);
}

// Applies the approvals to the calls that need one.
void sort_by_approval(const module_context& p, live_run& run, const tool_catalog& catalog,
                      std::vector<tool_call>& asking, const std::vector<approval>& approvals, gated_calls& out,
                      std::vector<std::string>& begins) {
  std::map<std::string_view, const approval*> by_call;
  for (const approval& a : approvals) by_call.emplace(a.tool_call_id, &a);
  std::string requested;  // calls for the client to execute
  for (tool_call& call : asking) {
    const auto found = by_call.find(call.id);
    if (found == by_call.end()) continue;
    const approval& a = *found->second;
    const tool_catalog::tool* tool = catalog.find(call.name);
    if (a.of_client) {
      if (a.status == "pending") {
        out.waiting.push_back(a.id);
        if (!a.announced) requested += (requested.empty() ? "" : ",") + json_string(a.tool_call_id);
      } else {
        out.stop = out.stop || (a.status == "expired" && a.on_timeout == "stop");
        out.refused.push_back({std::move(call), client_outcome(a)});
      }
      continue;
    }
    if (a.status == "pending") {
      out.waiting.push_back(a.id);
      if (!a.announced) append_requested(run, a, call, tool != nullptr ? tool->source : "unknown");
      continue;
    }
    if (!a.resolved_event)
      append_resolved(run, a.id, a.tool_call_id, a.status, a.reason, a.is_changed ? a.arguments : std::string_view());
    const bool read_only = tool != nullptr && tool->read_only;
    // The approver may have changed the arguments to ones that the policy denies.
    const bool allowed =
        action_for(p.config.tools, run.progress.added, call.name, read_only, a.arguments) != tool_action::deny;
    if (a.status == "approved" && !allowed) {
      out.refused.push_back({std::move(call), {std::string(denied_by_policy), true}});
    } else if (a.status == "approved") {
      call.arguments = a.arguments;
      call.not_begun = !a.begun;
      call.approved = true;
      if (!a.begun) begins.push_back(a.id);
      out.allowed.push_back(std::move(call));
    } else {
      out.stop = out.stop || (a.status == "expired" && a.on_timeout == "stop");
      out.refused.push_back({std::move(call), {denial(a), true}});
    }
  }
  if (!requested.empty())
    run.events.buffer.append("tool_results_requested").json("tool_call_ids", "[" + requested + "]");
}

}  // namespace

bool needs_approval(const module_context& p, const live_run& run, const tool_catalog::tool* tool,
                    const tool_call& call) {
  if (allows_everything(p.config.tools, run.progress.added) || (tool != nullptr && tool->of_client)) return false;
  return action_of(p, run, tool, call) == tool_action::ask;
}

bool calls_are_free(const module_context& p, const live_run& run) {
  const bool waits = run.progress.has_questions || run.progress.calls_may_have_begun || may_ask_user(p.config, run);
  return !waits && allows_everything(p.config.tools, run.progress.added) &&
         !(run.who.options && run.who.options->parks_client_calls);
}

ry::task<gated_calls> gate_calls(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 std::vector<tool_call> calls) {
  gated_calls out;
  std::vector<tool_call> asking;
  std::vector<approval_request> requests;
  call_questions questions;
  std::set<std::string> denied;  // calls that must not ask the person
  for (const tool_call& call : calls) {
    const tool_catalog::tool* tool = catalog->find(call.name);
    if (tool != nullptr && tool->asks_person && action_of(p, *run, tool, call) == tool_action::deny)
      denied.insert(call.id);
  }
  const bool is_ours = co_await questions.load(p, run, *catalog, calls, denied);
  if (!is_ours) {
    out.lost = true;
    co_return out;
  }
  std::map<std::string, earlier_approval, std::less<>> earlier;
  const bool may_have_begun = run->progress.calls_may_have_begun;
  if (may_have_begun) {
    std::vector<std::string> ids;
    ids.reserve(calls.size());
    for (const tool_call& call : calls) ids.push_back(call.id);
    ry::result<std::vector<earlier_approval>> found =
        co_await p.repo.earlier_approvals(run->who.run, run->progress.step, std::move(ids));
    for (earlier_approval& e : found.value()) earlier.emplace(e.tool_call_id, e);
  }
  for (tool_call& call : calls) {
    const tool_catalog::tool* tool = catalog->find(call.name);
    if (tool != nullptr && tool->of_client) {
      requests.push_back({p.ctx.new_uuid(), call.id, call.name, tool->source, call.arguments, true});
      asking.push_back(std::move(call));
      continue;
    }
    tool_action action = action_of(p, *run, tool, call);
    const auto before = earlier.find(call.id);
    const bool requested = before != earlier.end() && before->second.requested;
    // A decision stays valid when the operator relaxes the policy.
    if (action == tool_action::run && requested) action = tool_action::ask;
    // When the operator makes the policy stricter, an earlier worker may have begun the call without an approval. The call is then
    // treated like other calls of a lost worker, because an approval would make it a second time.
    if (action == tool_action::ask && may_have_begun && !requested &&
        !(before != earlier.end() && before->second.needed) && !tool_catalog::may_repeat(tool, call))
      action = tool_action::run;
    switch (action) {
      case tool_action::run:
        out.allowed.push_back(std::move(call));
        break;
      case tool_action::deny:
        out.refused.push_back({std::move(call), {std::string(denied_by_policy), true}});
        break;
      case tool_action::ask:
        requests.push_back({p.ctx.new_uuid(), call.id, call.name, tool != nullptr ? tool->source : "", call.arguments});
        asking.push_back(std::move(call));
    }
  }
  if (asking.empty() && questions.empty()) co_return out;
  run->progress.has_approvals = true;
  std::vector<std::string> begins;
  if (!asking.empty()) {
    ry::result<std::vector<approval>> approvals =
        co_await p.repo.request_approvals(run->who.run, run->who.fence, run->progress.step, std::move(requests),
                                          p.config.approval_on_timeout, p.config.approval_timeout_seconds);
    if (approvals.value().empty()) {
      out.lost = true;
      co_return out;
    }
    // New approvals have published events.
    if (std::any_of(approvals->begin(), approvals->end(), [](const approval& a) { return !a.announced; }))
      p.ctx.jobs().wake("runs");
    sort_by_approval(p, *run, *catalog, asking, *approvals, out, begins);
  }
  questions.sort_calls(*run, *catalog, out, begins);
  run->events.deliver_soon();
  p.writers.of(run->exec).touch(run);
  if (!begins.empty()) {
    // Committed before the calls, so that a worker that continues this run does not repeat them.
    ry::result<bool> ours = co_await p.repo.begin_approved(run->who.run, run->who.fence, std::move(begins));
    out.lost = !ours.value();
  }
  co_return out;
}

}  // namespace runs
