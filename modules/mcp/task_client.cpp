// The part of `client` that waits for tasks.
#include "client.hpp"
#include "input.hpp"
#include "text.hpp"

namespace mcp {
namespace {

// How many tasks/get requests in a row may fail.
constexpr int max_failures = 10;
constexpr std::size_t max_answers = 64;  // to input requests of one task

}  // namespace

// Sends a request about a task. These requests start nothing, so they are retried while the server is unreachable.
ry::task<reply> client::ask_of_task(std::string method, std::string task_id, int& failures) {
  for (;;) {
    const json::object params{{"taskId", jv(task_id)}};
    reply r = co_await ask(method, params, task_id, {}, 0);
    const bool channel = (link_->capabilities() & RY_MCP_EXCHANGES) == 0;
    const auto st = r.trouble.status();
    const bool gone = st == RY_UNAVAILABLE || st == RY_DEADLINE_EXCEEDED;
    const bool busy = st == RY_OK && (r.http_status == 429 || r.http_status == 408 || r.http_status >= 500);
    // An internal error of tasks/get says nothing about the state of the task, so the request is retried.
    const bool unwell = method == "tasks/get" && r.answered && r.failed && code_of(r.body) == internal_error;
    if (r.answered && !unwell) failures = 0;
    const bool settled = r.answered ? !unwell : !(gone || busy);
    if (settled || (channel && link_->closed()) || ++failures > max_failures) co_return r;
    (co_await context_.ctx.sleep(retry_pause_ms(failures, r.retry_after_s))).value();
    if (!link_->closed()) continue;
    ready_ = false;
    if (on_restart_) on_restart_();
    co_await connect();
  }
}

ry::task<json::value> client::follow_task(std::string name, std::string task_id, const call_options& options) {
  co_await connect();
  remote_task t;
  t.id = std::move(task_id);
  t.poll_ms = 0;  // at once
  auto result = co_await result_of_task("the call of " + name, std::move(t), options);
  co_return result;
}

ry::task<json::value> client::result_of_task(std::string shown, remote_task t, const call_options& options) {
  std::unordered_set<std::string> answered;
  int failures = 0;
  for (int polls = 0; !t.over(); ++polls) {
    // A legacy server asks for input while the client requests the result; the client answers that it has none.
    if (t.status == remote_task::state::input_required && family_ == protocol_revision::legacy) break;
    if (t.status == remote_task::state::input_required) co_await answer_task(t, answered);
    if (polls != 0 || t.poll_ms != 0) (co_await context_.ctx.sleep(poll_pause_ms(t, polls))).value();
    reply r = co_await ask_of_task("tasks/get", t.id, failures);
    if (r.answered && r.failed && code_of(r.body) != internal_error) {
      throw trouble_with(*to_, RY_NOT_FOUND, "mcp.task_lost",
                         shown + " continued as a task that the server no longer knows; its outcome is unknown")
          .with_detail(json::serialize(json::object{{"cause", jv(message_of(r.body).substr(0, 500))}}));
    }
    const auto said = result_of(std::move(r), "tasks/get");
    auto now = read_task(said);
    if (!now || now->id != t.id) {
      throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error",
                         "the answer to tasks/get has no task or another one");
    }
    t = std::move(*now);
    if (options.on_status) options.on_status(t);
  }
  if (t.status == remote_task::state::cancelled) {
    throw trouble_with(*to_, RY_FAILED_PRECONDITION, "mcp.task_cancelled",
                       shown + " was cancelled by the server" + (t.message.empty() ? "" : ": " + t.message));
  }
  reply r;
  if (family_ == protocol_revision::legacy) {
    r = co_await ask_of_task("tasks/result", t.id, failures);
  } else {
    r.answered = true;
    r.failed = t.status == remote_task::state::failed;
    move_to(r.body, r.failed ? std::move(t.error) : std::move(t.result));
  }
  co_return result_of(std::move(r), shown, true);
}

// Cancels each input request once, as in a call.
ry::task<void> client::answer_task(const remote_task& t, std::unordered_set<std::string>& answered) {
  const auto* asked = t.input_requests.if_object();
  if (asked == nullptr) co_return;
  json::object responses;
  for (const auto& member : *asked) {
    if (!answered.insert(std::string(sv(member.key()))).second) continue;
    auto answer = answered.size() <= max_answers ? answer_to(member.value()) : std::nullopt;
    if (!answer) {
      throw trouble_with(*to_, RY_FAILED_PRECONDITION, "mcp.input_required",
                         "the server asks for input that an agent cannot give");
    }
    responses[member.key()] = std::move(*answer);
  }
  if (responses.empty()) co_return;
  json::object params{{"taskId", jv(t.id)}, {"inputResponses", std::move(responses)}};
  (void)co_await ask("tasks/update", std::move(params), t.id, {}, 0);
}

ry::task<void> client::cancel_task(std::string task_id) {
  co_await connect();
  if (family_ == protocol_revision::legacy && !offers_task_cancel(server_capabilities_)) co_return;
  json::object params{{"taskId", jv(task_id)}};
  reply r = co_await ask("tasks/cancel", std::move(params), task_id, {}, to_->reuse ? 0 : RY_MCP_LAST);
  if (!r.answered || r.failed) fail(r, "tasks/cancel");
}

}  // namespace mcp
