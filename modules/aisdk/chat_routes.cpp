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
constexpr std::size_t max_chain_pages = 10, page_size = 100;
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

// The index of the newest run that has not ended; the number of runs if there is none.
std::size_t active_run(const json::array& runs) {
  const auto* found = std::find_if(runs.begin(), runs.end(), [](const json::value& r) {
    return r.is_object() && text_at(r.get_object(), "status") == "running";
  });
  return static_cast<std::size_t>(found - runs.begin());
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
ry::task<std::optional<json::array>> chat_routes::runs_of(ry::uuid account, ry::uuid thread) {
  std::string page;
  try {
    ry::runs::fields query{{"thread_id", thread.to_string()}, {"limit", "20"}};
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
    std::optional<json::array> runs = co_await runs_of(account, *given);
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
  std::optional<json::array> runs = co_await runs_of(account, ids.thread);
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
  const chat_thread chat = co_await find_thread(out.account, request.id);
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
  bool may_continue = true;  // whether the run may continue an earlier one
  if (wanted) {
    const std::string text = co_await runs_.get(out.account, *wanted);
    const json::object o = object_of(text);
    if (text_at(o, "thread_id") != out.thread_id) throw ry::not_found("aisdk.run_not_found", "Run not found");
    run = text_of(o, "agent_run_id");
  } else {
    const std::size_t i = active_run(found.runs);
    if (i == found.runs.size()) co_return std::nullopt;
    run = text_of(found.runs[i].get_object(), "agent_run_id");
    may_continue = i + 1 < found.runs.size() && text_at(found.runs[i + 1].get_object(), "reason") == "tool_calls";
  }
  out.links.push_back({run, {}});
  if (may_continue) out.links = co_await find_chain(out.account, found.thread, run);
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
  try {
    co_await write_runs(out, what);
  } catch (...) {
    failure = ry::current_error();
  }
  if (!failure) co_return;
  const ry::cancel_token cancelled = out.cancel();
  if (cancelled.cancelled() && cancelled.why() != RY_REASON_SHUTDOWN) co_return;  // the client has disconnected
  chunk_mapper last;
  if (failure->status() == RY_CANCELLED) {
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

ry::task<void> chat_routes::write_runs(ry::sse& out, const response& what) {
  chunk_mapper chunks;
  chunks.begin_message(what.message_id, what.links.back().run_id, what.thread_id);
  co_await write_all(out, chunks.take());
  for (std::size_t i = 0; i < what.links.size(); ++i) {
    const chain_link& link = what.links[i];
    for (const tool_output& o : link.outputs) chunks.add_client_output(o.call_id, o.content, o.is_error);
    chunks.begin_run(link.run_id, i + 1 == what.links.size());
    ry::runs::reader events = runs_.follow(what.account, link.run_id);
    while (const ry::runs::batch* b = co_await events.next()) {
      for (const ry::runs::event& e : b->events) chunks.add_event(e.json);
      co_await write_all(out, chunks.take());
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
    if (!v.is_object() || text_at(v.get_object(), "status") != "running") continue;
    const std::string id = text_of(v.get_object(), "agent_run_id");
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
  out["messages"] = ui_messages_of(stored);
  out["hasMore"] = !cursor.empty();
  const std::size_t active = active_run(found.runs);
  if (active < found.runs.size()) out["activeStreamId"] = text_of(found.runs[active].get_object(), "agent_run_id");
  co_return ry::response::json(json::serialize(out));
}

}  // namespace aisdk
