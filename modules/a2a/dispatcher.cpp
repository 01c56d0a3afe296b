#include "dispatcher.hpp"

#include <boost/json/array.hpp>
#include <optional>
#include <utility>

#include "agent_card.hpp"
#include "errors.hpp"
#include "follow_up.hpp"
#include "json/members.hpp"
#include "message_input.hpp"
#include "task_list.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::uint64_t keepalive_ms = 10'000;
// A waiting request needs only the end of the run. If another node executes the run, merging also delays its end.
constexpr std::uint64_t wait_merge_ms = 250;
// Smaller than the queue of a stream.
constexpr std::string_view keepalive_comment = ": keep-alive\n\n";
constexpr std::size_t piece_bytes = 128 * 1024;

// Writes a text in pieces, at the pace of the client. No keep-alive may come between two pieces, so it is off until the
// last one. False: the client has disconnected.
ry::task<bool> write_all(ry::stream& out, std::string text, std::string_view keepalive) {
  std::string_view rest = text;
  const bool split = rest.size() > piece_bytes;
  if (split) out.keepalive(0, {});
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, piece_bytes);
    if (out.write(piece) != RY_OK) co_return false;
    rest.remove_prefix(piece.size());
    const ry::result<void> ready = co_await out.ready();
    if (!ready) co_return false;
  }
  if (split && !keepalive.empty()) out.keepalive(keepalive_ms, keepalive);
  co_return true;
}

bool is_gone(const ry::stream& out) {
  const std::int32_t why = out.cancel().why();
  return why != 0 && why != RY_REASON_SHUTDOWN;
}

void set_requests(json::object& task, const task_ids& ids, const json::array& requests) {
  json::object& status = task["status"].as_object();
  if (is_terminal(module_json::text_at(status, "state"))) return;
  status["state"] = task_state::input_required;
  status["message"] = request_message(ids, requests);
}

json::object task_payload(json::object task) {
  json::object out;
  out["task"] = std::move(task);
  return out;
}

}  // namespace

ry::task<void> dispatcher::execute(ry::request r, caller who, agent_urls urls, call c, binding b) const {
  reject_tenant(c.params);
  switch (c.what) {
    case operation::send_message: {
      send_params message = read_send_params(c.params);
      c.params.clear();  // frees the files, which may be large
      co_await send(r, who, std::move(message), b);
      co_return;
    }
    case operation::send_streaming_message: {
      send_params message = read_send_params(c.params);
      c.params.clear();
      const bool continues = !message.task_id.empty();
      started_task task = co_await tasks_.start(who, std::move(message));
      co_await stream(r, who, std::move(task), continues, b);
      co_return;
    }
    case operation::get_task: {
      const std::string id = read_task_id(c.params);
      const auto history = read_history_length(c.params);
      json::object task = co_await tasks_.get(who, id, history);
      r.respond(b.response(std::move(task)));
      co_return;
    }
    case operation::list_tasks: {
      list_params params = read_list_params(c.params);
      json::object list = co_await tasks_.list(who, std::move(params));
      r.respond(b.response(std::move(list)));
      co_return;
    }
    case operation::cancel_task: {
      const std::string id = read_task_id(c.params);
      json::object task = co_await tasks_.cancel(who, id);
      r.respond(b.response(std::move(task)));
      co_return;
    }
    case operation::subscribe_to_task: {
      std::string id = read_task_id(c.params);
      co_await subscribe(r, who, std::move(id), b);
      co_return;
    }
    case operation::get_extended_agent_card: {
      json::object found = co_await card(who, std::move(urls));
      r.respond(b.response(std::move(found)));
      co_return;
    }
    case operation::push_notification_config:
      throw push_notifications_not_supported();
  }
}

ry::task<json::object> dispatcher::card(caller who, agent_urls urls) const {
  agent_summary agent;
  if (who.agent.empty())
    agent = co_await agents_.get_default(who.account);
  else
    agent = co_await agents_.get(who.account, who.agent);
  co_return agent_card({agent.name, agent.description, std::to_string(agent.version), urls.rpc, urls.rest});
}

ry::task<void> dispatcher::send(ry::request r, caller who, send_params message, binding b) const {
  const auto history = message.history_length;
  const bool waits = !message.return_immediately;
  const started_task task = co_await tasks_.start(who, std::move(message));
  if (!waits) {
    json::object now = co_await tasks_.get(who, task.ids.task, history);
    r.respond(b.response(task_payload(std::move(now))));
    co_return;
  }
  // The run may take long, so the response begins at once with whitespace, which may precede a JSON document.
  ry::stream out = r.open_stream(200, {{"Content-Type", std::string(b.content_type())}, {"Cache-Control", "no-store"}});
  out.keepalive(keepalive_ms, " ");
  std::optional<json::object> now;
  try {
    const json::array requests = co_await wait_for_end(who, task.ids);
    if (is_gone(out)) co_return;
    now = co_await ry::shield(tasks_.get(who, task.ids.task, history));
    // The run may not be stored as waiting yet.
    if (!requests.empty()) set_requests(*now, task.ids, requests);
  } catch (...) {
    // The status has been sent, and the run continues: the client gets the task as it was at its start.
    ctx_.log_error("a request that waits for a task could not read it", ry::current_error());
  }
  if (!now) {
    now.emplace();
    (*now)["id"] = task.ids.task;
    (*now)["contextId"] = task.ids.context;
    (*now)["status"] = status_object(task.ids, task.state, {}, {});
    if (!task.metadata.empty()) (*now)["metadata"] = task.metadata;
  }
  out.keepalive(0, {});
  std::string body = b.body(task_payload(*std::move(now)));
  (void)co_await ry::shield(write_all(out, std::move(body), {}));
}

// Returns what the task waits for; empty: it has ended, the server stops, or the client has disconnected.
ry::task<json::array> dispatcher::wait_for_end(caller who, task_ids ids) const {
  ry::runs::reader events = tasks_.follow(who, ids.task, wait_merge_ms);
  run_updates updates(ids);
  json::array requests;
  try {
    while (!updates.ended() && requests.empty()) {
      const ry::runs::batch* batch = co_await events.next();
      if (batch == nullptr) break;
      // The reader reports the end only after the time for merging, so look for the event.
      for (const ry::runs::event& e : batch->events) updates.add(e.json, {});
      (void)updates.take();
      if (updates.waits()) requests = co_await tasks_.requests(who, ids.task, updates.waits_for_client());
    }
  } catch (const ry::error& e) {
    if (e.status() != RY_CANCELLED) throw;
  }
  co_return requests;
}

ry::task<void> dispatcher::subscribe(ry::request r, caller who, std::string id, binding b) const {
  started_task task = co_await tasks_.find(who, std::move(id));
  if (is_terminal(task.state)) throw unsupported_operation("The task has ended; read it with GetTask");
  co_await stream(r, who, std::move(task), true, b);
}

ry::task<void> dispatcher::stream(ry::request r, caller who, started_task task, bool task_first, binding b) const {
  ry::sse out = r.open_sse();
  out.raw().keepalive(keepalive_ms, keepalive_comment);
  std::optional<protocol_error> failure;
  try {
    co_await stream_events(out, std::move(who), std::move(task), task_first, b);
  } catch (const ry::error& e) {
    // A stream that ends without a final state makes the client subscribe again.
    if (e.status() != RY_CANCELLED) failure = from_service(e);
  }
  if (!failure) co_return;
  if (failure->code() == internal_error().code())
    ctx_.warn("a stream ended with an error", {{"error", failure->message()}});
  (void)out.raw().write(b.event(*failure));
}

// Sends the task and then its updates until it ends or waits for input. task_first: the task contains everything that has happened;
// otherwise the task is new, and all of its events are updates.
ry::task<void> dispatcher::stream_events(ry::sse& out, caller who, started_task task, bool task_first,
                                         const binding& b) const {
  ry::runs::reader events = tasks_.follow(who, task.ids.task, 0);
  run_updates updates(task.ids, task.state, task.metadata);
  bool sent = false;
  if (!task_first) {
    std::string first = b.event(updates.take_task(format_time(ctx_.now_unix_us())));
    sent = co_await write_all(out.raw(), std::move(first), keepalive_comment);
    if (!sent) co_return;
  }
  while (const ry::runs::batch* batch = co_await events.next()) {
    const std::string time = format_time(ctx_.now_unix_us());
    for (const ry::runs::event& e : batch->events) updates.add(e.json, time);
    json::array requests;
    if (updates.waits()) requests = co_await tasks_.requests(who, task.ids.task, updates.waits_for_client());
    if (!requests.empty()) updates.require_input(requests, time);
    std::string wire;
    if (!std::exchange(sent, true)) wire = b.event(updates.take_task(time));
    for (json::object& update : updates.take()) wire += b.event(std::move(update));
    const bool open = co_await write_all(out.raw(), std::move(wire), keepalive_comment);
    // A task that waits for input ends the stream, as a final state does.
    if (!open || updates.ended() || !requests.empty()) co_return;
  }
}

}  // namespace a2a
