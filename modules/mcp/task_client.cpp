// The part of `client` that waits for MCP tasks.
#include "client.hpp"
#include "elicitation.hpp"
#include "text.hpp"

namespace mcp {
namespace {

// How many tasks/get requests in a row may fail.
constexpr int max_failures = 10;
constexpr std::size_t max_task_input_requests = 64;  // of one task

}  // namespace

// Sends a request about a task. These requests start nothing, so they are retried while the server is unreachable.
ry::task<reply> client::task_request(std::string method, std::string task_id, int& failures) {
  for (;;) {
    const json::object params{{"taskId", jv(task_id)}};
    reply r = co_await request(method, params, task_id, {}, 0);
    const bool channel = (connection_->capabilities() & RY_MCP_EXCHANGES) == 0;
    const auto st = r.error.status();
    const bool unreachable = st == RY_UNAVAILABLE || st == RY_DEADLINE_EXCEEDED;
    const bool busy = st == RY_OK && (r.http_status == 429 || r.http_status == 408 || r.http_status >= 500);
    // An internal error does not show the state of the task, so the request is retried.
    const bool internal_failure = method == "tasks/get" && r.answered && r.failed && code_of(r.body) == internal_error;
    if (r.answered && !internal_failure) failures = 0;
    const bool final_reply = r.answered ? !internal_failure : !(unreachable || busy);
    if (final_reply || (channel && connection_->closed()) || ++failures > max_failures) co_return r;
    (co_await context_.ctx.sleep(retry_delay_ms(failures, r.retry_after_s))).value();
    if (!connection_->closed()) continue;
    ready_ = false;
    if (on_session_replaced_) on_session_replaced_();
    co_await connect();
  }
}

ry::task<json::value> client::await_task(std::string name, std::string task_id, const call_options& options) {
  const current_call current{*this, options};
  co_await connect();
  remote_task t;
  t.id = std::move(task_id);
  t.poll_ms = 0;  // poll immediately
  auto result = co_await wait_for_task_result("the call of " + name, std::move(t), options);
  co_return result;
}

ry::task<json::value> client::wait_for_task_result(std::string operation, remote_task t, const call_options& options) {
  std::unordered_set<std::string> answered;
  int failures = 0;
  for (int polls = 0; !t.is_final(); ++polls) {
    // A legacy server requests input while the client waits for the result; the client then declines.
    if (t.status == remote_task::state::input_required && revision_kind_ == protocol_revision::legacy) break;
    if (t.status == remote_task::state::input_required) co_await cancel_input_requests(t, answered);
    if (polls != 0 || t.poll_ms != 0) (co_await context_.ctx.sleep(poll_interval_ms(t, polls))).value();
    reply r = co_await task_request("tasks/get", t.id, failures);
    if (r.answered && r.failed && code_of(r.body) != internal_error) {
      throw server_error(*target_, RY_NOT_FOUND, "mcp.task_lost",
                         operation + " continued as a task that the server no longer knows; its outcome is unknown")
          .with_detail(json::serialize(json::object{{"cause", jv(message_of(r.body).substr(0, 500))}}));
    }
    const auto status = result_of(std::move(r), "tasks/get");
    auto updated = read_task(status);
    if (!updated || updated->id != t.id) {
      throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error",
                         "the answer to tasks/get has no task or another one");
    }
    t = std::move(*updated);
    if (options.on_status) options.on_status(t);
  }
  if (t.status == remote_task::state::cancelled) {
    throw server_error(*target_, RY_FAILED_PRECONDITION, "mcp.task_cancelled",
                       operation + " was cancelled by the server" + (t.message.empty() ? "" : ": " + t.message));
  }
  reply r;
  if (revision_kind_ == protocol_revision::legacy) {
    r = co_await task_request("tasks/result", t.id, failures);
  } else {
    r.answered = true;
    r.failed = t.status == remote_task::state::failed;
    move_to(r.body, r.failed ? std::move(t.error) : std::move(t.result));
  }
  co_return result_of(std::move(r), operation, true);
}

// Cancels each input request of the task once, as during a call.
ry::task<void> client::cancel_input_requests(const remote_task& t, std::unordered_set<std::string>& answered) {
  const auto* requests = t.input_requests.if_object();
  if (requests == nullptr) co_return;
  json::object responses;
  for (const auto& member : *requests) {
    if (!answered.insert(std::string(sv(member.key()))).second) continue;
    auto response = answered.size() <= max_task_input_requests ? response_to(member.value()) : std::nullopt;
    if (!response) {
      throw server_error(*target_, RY_FAILED_PRECONDITION, "mcp.input_required",
                         "the server asks for input that an agent cannot give");
    }
    responses[member.key()] = std::move(*response);
  }
  if (responses.empty()) co_return;
  json::object params{{"taskId", jv(t.id)}, {"inputResponses", std::move(responses)}};
  (void)co_await request("tasks/update", std::move(params), t.id, {}, 0);
}

ry::task<void> client::cancel_task(std::string task_id) {
  co_await connect();
  if (revision_kind_ == protocol_revision::legacy && !offers_task_cancel(server_capabilities_)) co_return;
  json::object params{{"taskId", jv(task_id)}};
  const std::uint32_t flags = target_->reuse ? 0 : RY_MCP_LAST;
  reply r = co_await request("tasks/cancel", std::move(params), task_id, {}, flags);
  if (!r.answered || r.failed) fail(r, "tasks/cancel");
}

}  // namespace mcp
