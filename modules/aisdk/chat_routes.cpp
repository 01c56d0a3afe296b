#include "chat_routes.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <json/exact.hpp>
#include <json/members.hpp>
#include <ry/cpp/page.hpp>

#include "chat_id.hpp"
#include "chunk_mapper.hpp"
#include "stored_messages.hpp"

namespace aisdk {
namespace {

namespace json = boost::json;
using module_json::array_at;
using module_json::text_at;
using module_json::text_of;

constexpr std::uint64_t keepalive_ms = 10'000;
constexpr std::size_t piece_bytes = 64 << 10;
constexpr std::size_t max_chain_pages = 10, page_size = 100, max_active_runs = 20, max_ended_runs = 5;
constexpr std::string_view decided_before = "Another decision about this tool call was made before.";
constexpr std::int64_t max_stored_messages = 1000, default_stored_messages = 200;
constexpr std::size_t service_depth = 256;

json::object object_of(const std::string& text) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, service_depth, bad);
  if (bad || !v.is_object()) throw ry::internal("aisdk.service", "runs/1 returned malformed JSON");
  return std::move(v.get_object());
}

json::array take_array(json::object& o, const char* name) {
  json::value* v = o.if_contains(name);
  return v != nullptr && v->is_array() ? std::move(v->get_array()) : json::array();
}

std::string run_id_of(const json::value& run) {
  return run.is_object() ? text_of(run.get_object(), "agent_run_id") : std::string();
}

[[noreturn]] void reject_decision(const approval_response& given) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "aisdk.unknown_approval",
                       given.place + ".approval.id is not an approval of this chat");
}

bool is_decided_otherwise(const json::object& approval, const approval_response& given) {
  const std::string_view status = text_at(approval, "status");
  return status != "pending" && (status == "approved") != given.approved;
}

std::string chat_in_path(const ry::request& r) {
  std::string id(r.param("id"));
  check_chat_id(id);
  return id;
}

// The run whose stream the client has seen in part. The function resumeStream() of the SDK can add a header, but no
// query parameter.
std::optional<ry::uuid> run_in(const ry::request& r) {
  std::string id(r.header("X-Run-Id"));
  if (id.empty()) id = r.query("runId").value_or("");
  if (id.empty()) return std::nullopt;
  return ry::require_uuid(id);
}

// Writes in pieces, because a stream accepts only a limited number of bytes that its client has not read.
ry::task<void> write_all(ry::sse& out, std::string text) {
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const ry_status st = out.raw().write(std::string_view(text).substr(at, piece_bytes));
    if (st != RY_OK) throw ry::error(st);
    ry::result<void> ready = co_await out.ready();
    ready.value();
  }
}

}  // namespace

void chat_routes::add_to(ry::registrar& reg) {
  ry::route_options large;
  large.max_body = max_body_bytes;
  reg.route("POST", "/aisdk/chat", RY_ROUTE_LONG, this, &chat_routes::chat, large);
  reg.route("GET", "/aisdk/chat/{id}/stream", RY_ROUTE_LONG, this, &chat_routes::resume);
  reg.route("POST", "/aisdk/chat/{id}/stop", 0, this, &chat_routes::stop, large);
  reg.route("GET", "/aisdk/chat/{id}", 0, this, &chat_routes::messages);
}

void chat_routes::start() {
  runs_ = ry::runs::client(ctx_);
  accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
}

ry::task<ry::uuid> chat_routes::caller(ry::request r) {
  auto got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

// nullopt: the account has no such thread.
ry::task<std::optional<json::array>> chat_routes::runs_of(ry::uuid account, ry::uuid thread, std::string status,
                                                          std::size_t limit) {
  std::string page;
  try {
    ry::runs::fields query{
        {"thread_id", thread.to_string()}, {"limit", std::to_string(limit)}, {"status", std::move(status)}};
    page = co_await runs_.list(account, std::move(query));
  } catch (const ry::error& e) {
    if (e.status() == RY_NOT_FOUND || e.http_status() == 404) co_return std::nullopt;
    throw;
  }
  json::object o = object_of(page);
  co_return take_array(o, "agent_runs");
}

ry::task<chat_routes::chat_thread> chat_routes::find_thread(ry::uuid account, std::string chat) {
  chat_thread out;
  if (const std::optional<ry::uuid> given = ry::uuid::parse(chat)) {
    std::optional<json::array> runs = co_await runs_of(account, *given, "running", max_active_runs);
    if (runs) {
      out.exists = true;
      out.thread = *given;
      out.runs = *std::move(runs);
      co_return out;
    }
  }
  const chat_ids ids = ids_of_chat(account, chat);
  out.thread = ids.thread;
  out.project = ids.project;
  std::optional<json::array> runs = co_await runs_of(account, ids.thread, "running", max_active_runs);
  out.exists = runs.has_value();
  if (runs) out.runs = *std::move(runs);
  co_return out;
}

ry::task<json::object> chat_routes::message_page(ry::uuid account, ry::uuid thread, std::string cursor,
                                                 std::size_t limit) {
  ry::runs::fields query{{"order", "desc"}, {"limit", std::to_string(limit)}};
  if (!cursor.empty()) query.emplace_back("cursor", std::move(cursor));
  const std::string page = co_await runs_.messages(account, thread, std::move(query));
  co_return object_of(page);
}

ry::task<thread_state> chat_routes::read_state(ry::uuid account, const chat_thread& chat, bool needs_end) {
  thread_state out;
  out.exists = chat.exists;
  out.thread = chat.thread;
  out.project = chat.project;
  if (!chat.exists || !needs_end) co_return out;
  json::object page = co_await message_page(account, chat.thread, {}, page_size);
  thread_end end = read_thread_end(take_array(page, "messages"));
  out.awaits_answer = end.newest_role == "user" || end.newest_role == "tool";
  out.pending_calls = std::move(end.pending_calls);
  co_return out;
}

ry::task<chat_routes::response> chat_routes::start_run(ry::request r) {
  chat_request request = read_chat_request(r.body());
  turn t = read_turn(request.messages);
  response out;
  out.account = co_await caller(r);
  chat_thread chat = co_await find_thread(out.account, request.id);
  if (!t.decisions.empty() && !request.regenerate)
    co_return co_await continue_run(out.account, std::move(chat), std::move(t));
  const thread_state at = co_await read_state(out.account, chat, request.regenerate || !t.outputs.empty());
  ry::runs::start_request start = start_of(out.account, request, t, at, std::string(r.header("Idempotency-Key")));
  const ry::runs::started run = co_await runs_.start(std::move(start));
  out.thread_id = run.thread_id;
  out.links.push_back({run.run_id, {}});
  // A client adds the parts of the response to its newest message if that is an assistant message.
  const bool continues = t.continues_message && !request.regenerate && !t.message_id.empty();
  out.message_id = continues ? t.message_id : run.run_id;
  co_return out;
}

const json::object* chat_routes::run_approvals::find(std::string_view id) const {
  for (const json::value& a : approvals)
    if (a.is_object() && text_at(a.get_object(), "approval_id") == id) return &a.get_object();
  return nullptr;
}

ry::task<json::array> chat_routes::approvals_of(ry::uuid account, std::string run, std::string status) {
  ry::runs::fields query{
      {"run_id", std::move(run)}, {"status", std::move(status)}, {"limit", std::to_string(page_size)}};
  const std::string page = co_await runs_.approvals(account, std::move(query));
  json::object o = object_of(page);
  co_return take_array(o, "approvals");
}

// Those of the chat's run that has this approval; empty if it is one of its older runs, or unknown.
ry::task<chat_routes::run_approvals> chat_routes::find_approvals(ry::uuid account, chat_thread chat, std::string id) {
  run_approvals out;
  if (!chat.exists) co_return out;
  for (const bool active : {true, false}) {
    std::optional<json::array> runs = std::move(chat.runs);
    // The run may have continued and ended after a decision that was made elsewhere.
    if (!active) runs = co_await runs_of(account, chat.thread, {}, max_ended_runs);
    for (const json::value& run : runs.value_or(json::array())) {
      out.run_id = run_id_of(run);
      out.approvals = co_await approvals_of(account, out.run_id, {});
      if (out.find(id) != nullptr) co_return out;
    }
  }
  co_return run_approvals();
}

ry::task<void> chat_routes::decide(ry::uuid account, approval_response given, response& out) {
  json::object decision{{"decision", given.approved ? "approve" : "deny"}};
  if (!given.reason.empty()) decision["reason"] = given.reason;
  try {
    (void)co_await runs_.decide(account, *ry::uuid::parse(given.id), json::serialize(decision));
  } catch (const ry::error& e) {
    if (e.http_status() != 409) throw;
    out.notices.emplace_back(decided_before);
  }
}

// The decisions in the newest message; the response continues this message.
ry::task<chat_routes::response> chat_routes::continue_run(ry::uuid account, chat_thread chat, turn t) {
  response out;
  out.account = account;
  out.thread_id = chat.thread.to_string();
  out.message_id = t.message_id;
  const run_approvals known = co_await find_approvals(account, std::move(chat), t.decisions.front().id);
  for (const approval_response& given : t.decisions)
    if (known.find(given.id) == nullptr) reject_decision(given);
  for (const approval_response& given : t.decisions) {
    const json::object& approval = *known.find(given.id);
    if (text_at(approval, "status") == "pending")
      co_await decide(account, given, out);
    else if (is_decided_otherwise(approval, given))
      out.notices.emplace_back(decided_before);
  }
  out.links.push_back({known.run_id, {}});
  out.shown = std::move(t.shown);
  for (auto at = out.shown.approvals.begin(); at != out.shown.approvals.end();)
    at = known.find(*at) == nullptr ? out.shown.approvals.erase(at) : std::next(at);
  if (out.message_id.empty()) out.message_id = known.run_id;
  co_return out;
}

// pending: approvals that are pending according to the events so far. A decision may have been made since.
ry::task<bool> chat_routes::is_waiting(ry::uuid account, std::string run, std::set<std::string> pending) {
  const json::array now = co_await approvals_of(account, std::move(run), "pending");
  co_return std::any_of(now.begin(), now.end(), [&pending](const json::value& a) {
    return a.is_object() && pending.contains(text_of(a.get_object(), "approval_id"));
  });
}

ry::task<void> chat_routes::chat(ry::request r) {
  response what = co_await start_run(r);
  ry::sse out = r.open_sse({{"x-vercel-ai-ui-message-stream", "v1"}});
  co_await write_response(std::move(out), std::move(what));
}

ry::task<std::vector<chain_link>> chat_routes::find_chain(ry::uuid account, ry::uuid thread, std::string run) {
  response_chain chain(run);
  std::string cursor;
  for (std::size_t pages = 0; pages < max_chain_pages; ++pages) {
    json::object page = co_await message_page(account, thread, cursor, page_size);
    const bool more = chain.add_page(take_array(page, "messages"));
    cursor = text_of(page, "next_cursor");
    if (!more || cursor.empty()) break;
  }
  co_return chain.links();
}

// nullopt: there is no stream to resume.
ry::task<std::optional<chat_routes::response>> chat_routes::find_response(ry::request r) {
  const std::string chat = chat_in_path(r);
  const std::optional<ry::uuid> wanted = run_in(r);
  response out;
  out.account = co_await caller(r);
  const chat_thread found = co_await find_thread(out.account, chat);
  if (!found.exists) co_return std::nullopt;
  out.thread_id = found.thread.to_string();
  std::string run;
  if (wanted) {
    const std::string text = co_await runs_.get(out.account, *wanted);
    const json::object o = object_of(text);
    if (text_at(o, "thread_id") != out.thread_id) throw ry::not_found("aisdk.run_not_found", "Run not found");
    run = text_of(o, "agent_run_id");
  } else {
    if (found.runs.empty()) co_return std::nullopt;
    run = run_id_of(found.runs.front());
  }
  out.links = co_await find_chain(out.account, found.thread, run);
  out.message_id = out.links.front().run_id;
  co_return out;
}

ry::task<void> chat_routes::resume(ry::request r) {
  std::optional<response> what = co_await find_response(r);
  if (!what) {
    r.respond(ry::response::empty(204));
    co_return;
  }
  ry::sse out = r.open_sse({{"x-vercel-ai-ui-message-stream", "v1"}});
  co_await write_response(std::move(out), *std::move(what));
}

ry::task<void> chat_routes::write_response(ry::sse out, response what) {
  out.raw().keepalive(keepalive_ms, ": keepalive\n\n");
  std::optional<ry::error> failure;
  bool finished = false;
  try {
    co_await write_runs(out, what, finished);
  } catch (...) {
    failure = ry::current_error();
  }
  if (!failure) co_return;
  const ry::cancel_token cancelled = out.cancel();
  if (cancelled.cancelled() && cancelled.why() != RY_REASON_SHUTDOWN) co_return;  // the client has disconnected
  chunk_mapper last;
  if (finished) {
    // Only the [DONE] marker is missing; the client would take an error part for a failed run.
  } else if (failure->status() == RY_CANCELLED) {
    last.interrupt("The server is restarting. Resume the stream to receive the rest of the response.");
  } else if (failure->status() == RY_NOT_FOUND) {
    last.interrupt("The chat was deleted.");
  } else {
    ctx_.log_error("a stream of the AI SDK could not be written", *failure);
    last.interrupt("The response could not be read. Resume the stream to receive it.");
  }
  last.end();
  (void)out.raw().write(last.take());
}

// finished: set when the client has been sent everything except the [DONE] marker.
ry::task<void> chat_routes::write_runs(ry::sse& out, const response& what, bool& finished) {
  chunk_mapper chunks;
  chunks.begin_message(what.message_id, what.links.back().run_id, what.thread_id);
  for (const std::string& text : what.notices) chunks.notify("APPROVAL_DECIDED", text);
  chunks.skip_shown(what.shown);
  co_await write_all(out, chunks.take());
  for (std::size_t i = 0; i < what.links.size(); ++i) {
    const chain_link& link = what.links[i];
    for (const tool_output& o : link.outputs) chunks.add_client_output(o.call_id, o.content, o.is_error);
    chunks.begin_run(link.run_id, i + 1 == what.links.size());
    ry::runs::reader events = runs_.follow(what.account, link.run_id);
    while (const ry::runs::batch* b = co_await events.next()) {
      for (const ry::runs::event& e : b->events) chunks.add_event(e.json);
      co_await write_all(out, chunks.take());
      finished = chunks.finished();
      std::set<std::string> pending = chunks.pending_approvals();
      const bool waits = !pending.empty() && co_await is_waiting(what.account, link.run_id, std::move(pending));
      if (!waits) continue;
      chunks.wait();
      break;
    }
  }
  chunks.end();
  co_await write_all(out, chunks.take());
}

ry::task<ry::response> chat_routes::stop(ry::request r) {
  const std::string chat = chat_in_path(r);
  const std::string wanted = read_stop_request(r.body());
  const ry::uuid account = co_await caller(r);
  const chat_thread found = co_await find_thread(account, chat);
  std::int64_t stopped = 0;
  for (const json::value& v : found.runs) {
    const std::string id = run_id_of(v);
    const std::optional<ry::uuid> run = ry::uuid::parse(id);
    if (!run || (!wanted.empty() && wanted != id)) continue;
    const std::string result = co_await runs_.stop(account, *run);
    if (text_at(object_of(result), "status") == "stopped") ++stopped;
  }
  co_return ry::response::json(json::serialize(json::object{{"success", true}, {"stopped", stopped}}));
}

ry::task<ry::response> chat_routes::messages(ry::request r) {
  const std::string chat = chat_in_path(r);
  const std::int64_t limit = ry::query_integer(r, "limit", 1, max_stored_messages).value_or(default_stored_messages);
  const ry::uuid account = co_await caller(r);
  const chat_thread found = co_await find_thread(account, chat);
  json::object out{{"id", chat}, {"messages", json::array()}, {"activeStreamId", nullptr}, {"hasMore", false}};
  if (!found.exists) co_return ry::response::json(json::serialize(out));
  json::array stored;
  std::string cursor;
  do {
    const std::size_t wanted = std::min(page_size, static_cast<std::size_t>(limit) - stored.size());
    json::object page = co_await message_page(account, found.thread, cursor, wanted);
    json::array items = take_array(page, "messages");
    for (json::value& m : items) stored.push_back(std::move(m));
    cursor = text_of(page, "next_cursor");
  } while (!cursor.empty() && stored.size() < static_cast<std::size_t>(limit));
  std::reverse(stored.begin(), stored.end());
  json::array messages = ui_messages_of(stored);
  for (const json::value& run : found.runs)
    if (run.is_object()) mark_waiting_calls(run.get_object(), messages);
  out["messages"] = std::move(messages);
  out["hasMore"] = !cursor.empty();
  if (!found.runs.empty()) out["activeStreamId"] = run_id_of(found.runs.front());
  co_return ry::response::json(json::serialize(out));
}

}  // namespace aisdk
