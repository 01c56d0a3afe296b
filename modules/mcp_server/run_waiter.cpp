#include "run_waiter.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <boost/json/serialize.hpp>
#include <common/call_events.hpp>
#include <set>

#include "cancellation.hpp"
#include "elicitation.hpp"

namespace mcp_server {
namespace {

// Chunks of text only show that the run is alive.
constexpr std::uint64_t merge_ms = 2000;
constexpr std::size_t max_event_depth = 64;
constexpr std::uint64_t input_poll_ms = 500;
constexpr std::int64_t until_parked_us = 2'000'000;

json::object form_request(const waiting_call& c, std::string_view approval_id, const json::object& approval) {
  json::object out = approval_form(approval, c.who.rev);
  if (c.position.task_result) {
    json::object meta;
    meta["io.modelcontextprotocol/related-task"] = json::object{{"taskId", jv(c.position.run_id)}};
    out["params"].as_object()["_meta"] = std::move(meta);
  }
  out["jsonrpc"] = "2.0";
  out["id"] = jv(form_id(c.position.run_id, approval_id));
  return out;
}

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
  // From the beginning, because the states of the calls depend on all events.
  ry::runs::follow_options o;
  o.merge_ms = merge_ms;
  ry::runs::reader events = services_.runs().follow(c.account, c.position.run_id, o);
  tool_calls::call_states calls;
  while (const ry::runs::batch* b = co_await events.next()) {
    for (const ry::runs::event& e : b->events) {
      boost::system::error_code failed;
      const json::value v = module_json::parse_exactly(e.json, max_event_depth, failed);
      if (!failed && v.is_object()) tool_calls::apply_event(calls, v.get_object());
    }
    if (to != nullptr) co_await to->add(*b);
    if (!calls.waiting() && !calls.waits_for_client()) continue;
    const bool continues = co_await await_input(c, to, calls.waits_for_client());
    if (!continues) co_return ending::run_waits;
  }
  co_return ending::run_ended;
}

// Whether the run continues: the approvals are decided, and the results that it waits for are known.
ry::task<bool> run_waiter::await_input(const waiting_call& c, call_stream* to, bool of_client) const {
  const bool asks = c.who.elicitation && !c.who.stateless() && to != nullptr;
  const std::int64_t begin = ctx_.mono_us();
  const std::int64_t limit = asks ? settings_.elicitation_wait_us : settings_.approval_wait_us;
  const ry::cancel_source dismissed;
  const std::string topic = asks ? dismissal_topic(c.account, c.position.run_id) : std::string();
  const ry::subscription subscribed = subscribe_cancel(ctx_, topic, c.request.exec(), dismissed);
  std::set<std::string> asked;
  for (;;) {
    const json::array approvals = co_await services_.pending_approvals(c.account, c.position.run_id);
    const std::int64_t waited = ctx_.mono_us() - begin;
    if (approvals.empty()) {
      const run_info run = co_await services_.run(c.account, c.position.run_id);
      // A run is stored as waiting for a result only shortly after the event.
      const bool may_wait = of_client && !run.ended() && waited < until_parked_us;
      if (run.waiting_for.empty() && !may_wait) co_return true;
    }
    if (!approvals.empty() && (c.dismissed || (c.who.stateless() && c.who.elicitation))) co_return false;
    if (dismissed.token().cancelled() || waited >= limit) co_return false;
    for (const json::value& v : approvals) {
      const std::string id = asks ? module_json::text_of(v.as_object(), "approval_id") : std::string();
      if (asks && asked.insert(id).second) to->ask(form_request(c, id, v.as_object()));
    }
    ry::result<void> slept = co_await ctx_.sleep(input_poll_ms);
    slept.value();
  }
}

ry::task<void> run_waiter::respond(const waiting_call& c, call_stream* to, json::object result,
                                   std::string_view type) const {
  json::object message =
      result_message(c.position.request_id, complete_result(waited_result(c, std::move(result)), c.who, info_, type));
  if (to != nullptr) {
    co_await to->finish(std::move(message));
  } else {
    c.request.respond(json_response(message));
  }
}

// The run continues to wait.
ry::task<void> run_waiter::end_waiting(const waiting_call& c, call_stream* to) const {
  const json::array approvals = co_await services_.pending_approvals(c.account, c.position.run_id);
  run_info run = co_await services_.run(c.account, c.position.run_id);
  // The run may not be stored as waiting yet.
  if (run.waiting_for.empty())
    for (const json::value& v : approvals) {
      json::object entry{{"type", "approval"}};
      for (const char* name : {"approval_id", "tool_call_id", "name", "expires_at"}) entry[name] = v.at(name);
      run.waiting_for.push_back(std::move(entry));
    }
  if (c.position.task_result) throw rpc_error(rpc_code::run_waits, waiting_text(run) + " Poll tasks/get.");
  if (!c.who.stateless() || !c.who.elicitation || c.dismissed || approvals.empty()) {
    co_await respond(c, to, waiting_result(run, c.who.rev));
    co_return;
  }
  json::object result;
  result["inputRequests"] = input_requests(approvals, c.who.rev);
  result["requestState"] = jv(run.id);
  co_await respond(c, to, std::move(result), "input_required");
}

ry::task<void> run_waiter::end(const waiting_call& c, call_stream* to, ending how) const {
  // Up to 2025-11-25 a disconnect does not cancel a request; from 2026-07-28 on it does.
  const bool cancels = how == ending::cancelled || (how == ending::disconnected && c.who.stateless());
  if (cancels && c.stops_run) co_await services_.stop(c.account, c.position.run_id);
  if (how == ending::run_ended) {
    run_state state = co_await services_.run_with_answer(c.account, c.position.run_id);
    co_await respond(c, to, call_result(state.run, state.text, outcome::of_agent, c.who.rev));
  } else if (how == ending::run_waits) {
    co_await end_waiting(c, to);
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
