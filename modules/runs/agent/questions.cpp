#include "agent/questions.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "agent/checkpoint.hpp"
#include "module_context.hpp"
#include "run/waiting.hpp"
#include "store/transient_error.hpp"
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

constexpr std::uint64_t answer_poll_ms = 500;  // of the answers to an open call, which may be given on another node

// The array "answers" of agent.tools/1.
json::array answers_of(const std::vector<asked_question>& questions) {
  json::array out;
  for (const asked_question& q : questions) {
    const char* action = q.status == "approved" ? "accept" : q.status == "denied" ? "decline" : "cancel";
    json::object answer{{"key", q.request}, {"action", action}};
    if (q.status == "approved" && q.kind != "url") answer["content"] = json::parse(q.content);
    out.push_back(std::move(answer));
  }
  return out;
}

// The input_json of agent.tools/1.
std::string input_of(const std::vector<asked_question>& questions) {
  std::string state;
  for (const asked_question& q : questions)
    if (!q.state.empty()) state = q.state;
  return one_line(json::object{{"answers", answers_of(questions)}, {"state", std::move(state)}});
}

std::vector<question_request> requests_of(const ry::context& ctx, const tool_call& call, const std::string& source,
                                          const requested_input& input) {
  std::vector<question_request> out;
  for (const requested_input::request& r : input.requests) {
    question_request& q = out.emplace_back();
    q.id = ctx.new_uuid();
    q.tool_call_id = call.id;
    q.round = call.round;
    q.request = r.key;
    q.kind = r.asked.kind.empty() ? "elicitation" : r.asked.kind;
    q.tool = call.name;
    q.source = source;
    q.arguments = call.arguments;
    q.question = r.problem.empty() ? question_json(r.asked) : "{}";
    if (out.size() == 1) q.state = input.state;
    q.problem = r.problem;
  }
  return out;
}

// Tells clients which requests of a tool are not put to the person.
void report_problems(const ry::context& ctx, live_run& run, const tool_call& call, const requested_input& input) {
  for (const requested_input::request& r : input.requests) {
    if (r.problem.empty()) continue;
    const std::string message = "A request for input from the tool " + call.name + " was cancelled: " + r.problem;
    ctx.info("a tool's request for input was cancelled",
             {{"run", run.who.run.to_string()}, {"tool", call.name}, {"problem", r.problem}});
    append_notice(run, "input_request_cancelled", message);
  }
}

bool is_pending(const asked_question& q) {
  return q.status == "pending";
}

// Ends what is still pending of these questions; a decision that was made in the meantime remains.
ry::task<void> end_pending(const repository& repo, const std::vector<asked_question>& questions, std::string status) {
  for (const asked_question& q : questions) {
    if (!is_pending(q)) continue;
    ry::result<approval_decision> ended =
        co_await repo.decide_approval(std::nullopt, q.id, status, std::nullopt, std::nullopt, "none", 0);
    (void)ended.value();
  }
}

// Waits until all questions of the open call are decided, and returns them.
ry::task<std::vector<asked_question>> wait_for_answers(const ry::context& ctx, const settings& config,
                                                       const repository& repo, event_log_writers& writers,
                                                       std::shared_ptr<live_run> run, const open_call& open,
                                                       std::shared_ptr<const requested_input> input) {
  const question_limits limits{config.max_questions, "deny", config.question_hold_seconds};
  std::vector<question_request> requests = requests_of(ctx, open.call, open.tool.source, *input);
  ry::result<bool> ours =
      co_await repo.ask_questions(run->who.run, run->who.fence, run->progress.step, std::move(requests), limits, true);
  if (!ours.value()) co_return std::vector<asked_question>();
  run->progress.has_approvals = true;
  report_problems(ctx, *run, open.call, *input);
  const std::int64_t deadline_us = ctx.mono_us() + config.question_hold_seconds * 1'000'000;
  std::vector<std::string> calls(1, open.call.id);
  for (bool announced = false;; announced = true) {
    ry::result<std::vector<asked_question>> found =
        co_await repo.questions_of(run->who.run, run->who.fence, run->progress.step, calls);
    if (found || !is_transient(found.error())) {
      std::vector<asked_question>& questions = found.value();
      for (const asked_question& q : questions)
        if (!announced && is_pending(q)) append_question(*run, q, open.call.name, open.tool.source);
      run->events.deliver_soon();
      writers.of(run->exec).touch(run);
      if (std::none_of(questions.begin(), questions.end(), is_pending)) co_return std::move(questions);
      const bool late = ctx.mono_us() >= deadline_us;
      if (late || open.ended || run->stop.must_break()) {
        const char* status = late ? "expired" : "cancelled";
        co_await end_pending(repo, questions, status);
        continue;
      }
    }
    co_await wait_for(ctx, open.changed, answer_poll_ms);
  }
}

}  // namespace

void append_resolved(live_run& run, std::string_view id, std::string_view tool_call_id, std::string_view status,
                     std::string_view reason, std::string_view changed_arguments) {
  if (!run.progress.resolved_approvals.insert(std::string(id)).second) return;
  event_text event = run.events.buffer.append("approval_resolved");
  event.text("approval_id", id).text("tool_call_id", tool_call_id).text("status", status);
  if (reason.empty())
    event.json("reason", "null");
  else
    event.text("reason", reason);
  if (!changed_arguments.empty()) event.json("arguments", changed_arguments);
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

ry::task<bool> suspend_call(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, tool_call call,
                            std::shared_ptr<const requested_input> input) {
  run->progress.has_questions = true;
  const tool_catalog::tool* tool = catalog->find(call.name);
  std::vector<question_request> requests = requests_of(p.ctx, call, tool != nullptr ? tool->source : "", *input);
  report_problems(p.ctx, *run, call, *input);
  const question_limits limits{p.config.max_questions, p.config.approval_on_timeout, p.config.approval_timeout_seconds};
  ry::result<bool> ours = co_await p.repo.ask_questions(run->who.run, run->who.fence, run->progress.step,
                                                        std::move(requests), limits, false);
  co_return ours.value();
}

ry::task<std::string> ask_during_call(const ry::context& ctx, const settings& config, const repository& repo,
                                      event_log_writers& writers, std::shared_ptr<live_run> run, const open_call& open,
                                      std::shared_ptr<const requested_input> input) {
  json::array answers;
  try {
    const std::vector<asked_question> questions =
        co_await wait_for_answers(ctx, config, repo, writers, run, open, input);
    std::vector<std::string> ids;
    for (const asked_question& q : questions) {
      if (!q.resolved_event) append_resolved(*run, q.id, q.tool_call_id, q.status, q.reason);
      ids.push_back(q.id);
    }
    answers = answers_of(questions);
    // Also deletes the answers, which are passed on now.
    ry::result<bool> begun = co_await repo.begin_approved(run->who.run, run->who.fence, std::move(ids));
    if (!begun.value()) answers.clear();
  } catch (...) {
    ctx.log_error("a question of a tool could not be asked", ry::current_error());
    answers.clear();
  }
  if (answers.empty())
    for (const requested_input::request& r : input->requests)
      answers.push_back(json::object{{"key", r.key}, {"action", "cancel"}});
  run->events.deliver_soon();
  writers.of(run->exec).touch(run);
  co_return one_line(std::move(answers));
}

ry::task<void> call_questions::read(module_context& p, std::shared_ptr<live_run> run,
                                    const std::vector<tool_call>& calls) {
  std::vector<std::string> ids;
  ids.reserve(calls.size());
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
                                    const std::vector<tool_call>& calls, const std::set<std::string>& denied) {
  limit_ = p.config.max_questions;
  if (run->progress.has_questions || run->progress.calls_may_have_begun) co_await read(p, run, calls);
  std::vector<question_request> requests;
  for (const tool_call& call : calls) {
    const tool_catalog::tool* tool = catalog.find(call.name);
    if (tool == nullptr || !tool->asks_person || by_call_.contains(call.id) || denied.contains(call.id)) continue;
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
      call.input = input_of(questions);
      for (const asked_question& q : questions) begins.push_back(q.id);
    }
    allowed.push_back(std::move(call));
  }
  out.allowed = std::move(allowed);
}

}  // namespace runs
