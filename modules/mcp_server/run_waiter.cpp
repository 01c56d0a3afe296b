#include "run_waiter.hpp"

#include <boost/json/serialize.hpp>

namespace mcp_server {
namespace {

// Chunks of text only show that the run is alive.
constexpr std::uint64_t merge_ms = 2000;

}  // namespace

ry::response json_response(const json::object& message, std::uint32_t status) {
  return ry::response::json(status, json::serialize(message));
}

json::object waited_result(const waiting_call& c, json::object result) {
  if (!c.position.task_result) return result;
  json::object task;
  task["taskId"] = jv(c.position.run_id);
  json::object meta;
  meta["io.modelcontextprotocol/related-task"] = std::move(task);
  result["_meta"] = std::move(meta);
  return result;
}

ry::task<void> run_waiter::wait(waiting_call c) const {
  std::shared_ptr<call_stream> stream;
  if (c.streams) stream = call_stream::open(ctx_, c.request, c.who, c.position);
  std::optional<rpc_error> failed;
  try {
    const ending how = co_await follow(c, stream.get());
    co_await ry::shield(end(c, stream.get(), how));
  } catch (const rpc_error& e) {
    failed = e;
  } catch (...) {
    const ry::error e = ry::current_error();
    if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) ctx_.log_error("waiting for a run failed", e);
    failed = as_rpc_error(e);
  }
  if (!failed) co_return;
  const json::object message = error_message(c.position.request_id, *failed);
  if (stream) {
    co_await stream->finish(message);
  } else if (!c.request.ended()) {
    c.request.respond(json_response(message, failed->http_status()));
  }
}

ry::task<run_waiter::ending> run_waiter::follow(const waiting_call& c, call_stream* to) const {
  try {
    co_return co_await ry::with_cancel(c.abort.token(), follow_until_cancelled(c, to));
  } catch (const ry::error& e) {
    if (e.status() != RY_CANCELLED) throw;
  }
  const std::int32_t why = c.abort.token().why();
  if (why == RY_REASON_USER) co_return ending::cancelled;
  // Without a reason, runs/1 has ended the reader because its module stops.
  if (why == 0 || why == RY_REASON_SHUTDOWN) co_return ending::interrupted;
  co_return ending::disconnected;
}

ry::task<run_waiter::ending> run_waiter::follow_until_cancelled(const waiting_call& c, call_stream* to) const {
  ry::runs::follow_options o;
  o.after = c.position.sequence;
  o.merge_ms = merge_ms;
  ry::runs::reader events = services_.runs().follow(c.account, c.position.run_id, o);
  while (const ry::runs::batch* b = co_await events.next()) {
    if (to != nullptr) co_await to->add(*b);
  }
  co_return ending::run_ended;
}

ry::task<void> run_waiter::respond(const waiting_call& c, call_stream* to, json::object result) const {
  json::object message =
      result_message(c.position.request_id, complete_result(waited_result(c, std::move(result)), c.who, info_));
  if (to != nullptr) {
    co_await to->finish(std::move(message));
  } else {
    c.request.respond(json_response(message));
  }
}

ry::task<void> run_waiter::end(const waiting_call& c, call_stream* to, ending how) const {
  // Up to 2025-11-25 a disconnect does not cancel a request; from 2026-07-28 on it does.
  const bool cancels = how == ending::cancelled || (how == ending::disconnected && c.who.stateless());
  if (cancels && c.stops_run) co_await services_.stop(c.account, c.position.run_id);
  if (how == ending::run_ended) {
    run_state state = co_await services_.run_with_answer(c.account, c.position.run_id);
    co_await respond(c, to, call_result(state.run, state.text, outcome::of_agent, c.who.rev));
  } else if (how == ending::interrupted) {
    if (to != nullptr && to->suspend()) co_return;
    run_info run = co_await services_.run(c.account, c.position.run_id);
    co_await respond(c, to, interrupted_result(run, c.who.rev));
  } else if (to != nullptr) {
    // A cancelled request gets no response.
    to->close();
  } else if (how == ending::cancelled) {
    co_await respond(c, to, refused_result("The request was cancelled."));
  }
}

}  // namespace mcp_server
