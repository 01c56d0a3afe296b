#include "agent/questions.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "agent/approval_gate.hpp"
#include "module_context.hpp"
#include "text.hpp"
#include "types/question.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::string_view over_limit = "limit";  // the reason that ask_questions() stores

tool_outcome answer_to_model(const asked_question& q, std::int64_t limit) {
  if (q.status == "approved") return {q.content};
  if (q.status == "denied") return {"The user declined to answer" + (q.reason.empty() ? "." : ": " + q.reason)};
  if (q.status == "expired") return {"The user did not answer in time.", true};
  if (q.reason == over_limit)
    return {"The question was not asked: a run can ask at most " + std::to_string(limit) + " questions.", true};
  return {"The user dismissed the question without an answer."};
}

// The input_json of agent.tools/1.
std::string answers_json(const std::vector<asked_question>& questions) {
  json::array answers;
  std::string state;
  for (const asked_question& q : questions) {
    const char* action = q.status == "approved" ? "accept" : q.status == "denied" ? "decline" : "cancel";
    json::object answer{{"key", q.request}, {"action", action}};
    if (q.status == "approved" && q.kind != "url") answer["content"] = json::parse(q.content);
    answers.push_back(std::move(answer));
    if (!q.state.empty()) state = q.state;
  }
  return one_line(json::object{{"answers", std::move(answers)}, {"state", std::move(state)}});
}

}  // namespace

void append_resolved(live_run& run, std::string_view id, std::string_view tool_call_id, std::string_view status,
                     std::string_view reason) {
  event_text event = run.events.buffer.append("approval_resolved");
  event.text("approval_id", id).text("tool_call_id", tool_call_id).text("status", status);
  if (reason.empty())
    event.json("reason", "null");
  else
    event.text("reason", reason);
}

void append_question(live_run& run, const asked_question& q, std::string_view tool, std::string_view source) {
  event_text event = run.events.buffer.append("approval_requested");
  event.text("approval_id", q.id)
      .text("tool_call_id", q.tool_call_id)
      .text("name", tool)
      .text("source", source)
      .json("arguments", q.arguments)
      .text("expires_at", q.expires_at)
      .text("kind", q.kind);
  const json::value members = json::parse(q.question);
  for (const auto& member : members.get_object())
    event.json(member.key(), escape_line_ends(json::serialize(member.value())));
}

ry::task<void> call_questions::read(module_context& p, std::shared_ptr<live_run> run,
                                    const std::vector<tool_call>& calls) {
  std::vector<std::string> ids;
  for (const tool_call& call : calls) ids.push_back(call.id);
  ry::result<std::vector<asked_question>> found =
      co_await p.repo.questions_of(run->who.run, run->who.fence, run->progress.step, std::move(ids));
  by_call_.clear();
  for (asked_question& q : found.value()) {
    std::vector<asked_question>& of_call = by_call_[q.tool_call_id];
    of_call.push_back(std::move(q));
  }
}

ry::task<bool> call_questions::load(module_context& p, std::shared_ptr<live_run> run, const tool_catalog& catalog,
                                    const std::vector<tool_call>& calls) {
  limit_ = p.config.max_questions;
  if (run->progress.has_questions || run->progress.calls_may_have_begun) co_await read(p, run, calls);
  std::vector<question_request> requests;
  for (const tool_call& call : calls) {
    const tool_catalog::tool* tool = catalog.find(call.name);
    if (tool == nullptr || !tool->asks_person || by_call_.contains(call.id)) continue;
    question q;
    boost::system::error_code bad;
    const json::value arguments = json::parse(call.arguments, bad);
    std::string problem = bad || !arguments.is_object() ? "the arguments are not a JSON object, or nest too deeply"
                                                        : read_ask_user(arguments.get_object(), q);
    if (!problem.empty()) {
      invalid_.emplace(call.id, std::move(problem));
      continue;
    }
    question_request& request = requests.emplace_back();
    request.id = p.ctx.new_uuid();
    request.tool_call_id = call.id;
    request.kind = q.kind;
    request.tool = call.name;
    request.source = tool->source;
    request.arguments = call.arguments;
    request.question = question_json(q);
  }
  if (requests.empty()) co_return true;
  run->progress.has_questions = true;
  const question_limits limits{p.config.max_questions, p.config.approval_on_timeout, p.config.approval_timeout_seconds};
  ry::result<bool> ours = co_await p.repo.ask_questions(run->who.run, run->who.fence, run->progress.step,
                                                        std::move(requests), limits, false);
  if (!ours.value()) co_return false;
  co_await read(p, run, calls);
  co_return true;
}

void call_questions::sort_calls(live_run& run, const tool_catalog& catalog, gated_calls& out,
                                std::vector<std::string>& begins) {
  std::vector<tool_call> allowed;
  for (tool_call& call : out.allowed) {
    if (const auto invalid = invalid_.find(call.id); invalid != invalid_.end()) {
      out.refused.push_back({std::move(call), {invalid->second, true}});
      continue;
    }
    const auto found = by_call_.find(call.id);
    if (found == by_call_.end()) {
      allowed.push_back(std::move(call));
      continue;
    }
    const std::vector<asked_question>& questions = found->second;
    const tool_catalog::tool* tool = catalog.find(call.name);
    bool pending = false;
    for (const asked_question& q : questions) {
      if (q.status == "pending") {
        pending = true;
        out.waiting.push_back(q.id);
        if (!q.announced) append_question(run, q, call.name, tool != nullptr ? tool->source : "unknown");
      } else {
        if (!q.resolved_event) append_resolved(run, q.id, q.tool_call_id, q.status, q.reason);
        out.stop = out.stop || (q.status == "expired" && q.on_timeout == "stop");
      }
    }
    if (pending) continue;
    const asked_question& first = questions.front();
    call.round = first.round;
    if (first.kind == "question") {
      tool_outcome answer = answer_to_model(first, limit_);
      out.refused.push_back({std::move(call), std::move(answer)});
      continue;
    }
    // After a lost worker, the call keeps its state of possibly begun.
    if (!first.begun) {
      call.arguments = first.arguments;
      call.not_begun = true;
      call.input = answers_json(questions);
      for (const asked_question& q : questions) begins.push_back(q.id);
    }
    allowed.push_back(std::move(call));
  }
  out.allowed = std::move(allowed);
}

}  // namespace runs
