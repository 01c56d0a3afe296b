#include "chat_routes.hpp"

#include <boost/json/serialize.hpp>
#include <utility>
#include <vector>

#include "body.hpp"
#include "chat_request.hpp"
#include "errors.hpp"
#include "event_stream.hpp"

namespace openai_api {
namespace {

json::object error_event(const api_error& e) {
  json::object out;
  out["error"] = error_object(e);
  return out;
}

}  // namespace

void chat_routes::add_to(ry::registrar& reg) {
  ry::route_options large;
  large.max_body = max_body_bytes;
  reg.route("POST", "/v1/chat/completions", RY_ROUTE_LONG, this, &chat_routes::create, large);
}

ry::task<chat_routes::started_chat> chat_routes::start(ry::request r) {
  const ry::uuid account = co_await access_.account_of(r);
  chat_request request = read_chat_request(parse_body(r.body()));
  started_chat out;
  out.identity.model = co_await access_.resolve_model(account, request.options.model);
  out.identity.include_usage = request.include_usage;
  out.identity.only_output = !request.options.output_schema.empty();
  start_order order;
  order.account = account;
  order.schema_param = request.options.schema_param;
  order.key = std::string(r.header("Idempotency-Key"));
  order.temporary = true;
  order.fields = request.options.fields(request.messages.system());
  start_input input = std::move(request.messages).for_new_thread("messages");
  for (auto& f : input.fields) order.fields.push_back(std::move(f));
  order.files = std::move(input.files);
  out.keep = !order.key.empty();
  out.run = co_await access_.start(std::move(order));
  out.account = account;
  out.identity.run = out.run.run;
  out.stream = request.stream;
  co_return out;
}

ry::task<std::optional<chat_routes::started_chat>> chat_routes::open(ry::request r,
                                                                     std::optional<ry::response>& failure) {
  std::optional<started_chat> out;
  try {
    // A disconnect must not leave the outcome of the start unknown.
    out = co_await ry::shield(start(r));
  } catch (...) {
    const api_error e = current_api_error();
    if (e.status >= 500) ctx_.log_error("a chat completion could not be started", ry::current_error());
    failure = response_of(e);
  }
  co_return out;
}

ry::task<void> chat_routes::create(ry::request r) {
  std::optional<ry::response> failure;
  std::optional<started_chat> s = co_await open(r, failure);
  if (!s) co_return r.respond(*failure);
  if (s->stream) co_return co_await send_stream(std::move(r), *std::move(s));
  const ry::response response = co_await finish(r, *std::move(s));
  r.respond(response);
}

// Deletes the thread. If the client may repeat the request, the job deletes it later.
ry::task<void> chat_routes::settle(started_chat s, bool ended) {
  if (ended && s.keep) co_return;
  co_await ry::shield(access_.end_run(s.account, s.run, true));
}

// Chat Completions cannot ask the client for an approval, so the request fails unless a decision is made elsewhere.
ry::task<void> chat_routes::limit_wait(const started_chat& s, chat_builder& builder) {
  if (builder.ended() || !builder.waits()) co_return;
  const bool decided = co_await access_.await_decisions(s.account, s.run.run);
  if (!decided) builder.refuse_wait();
}

ry::task<ry::response> chat_routes::finish(ry::request r, started_chat s) {
  chat_builder builder(s.identity);
  std::optional<ry::response> out;
  std::vector<json::object> chunks;
  bool ended = true;
  try {
    ry::runs::reader reader = access_.runs().follow(s.account, s.run.run.to_string());
    while (!builder.ended()) {
      const ry::runs::batch* batch = co_await reader.next();
      if (batch == nullptr) break;
      for (const ry::runs::event& e : batch->events) builder.apply(e.json, chunks);
      chunks.clear();
      co_await limit_wait(s, builder);
    }
    out = builder.failed() ? response_of(builder.failure()) : ry::response::json(json::serialize(builder.completion()));
  } catch (...) {
    // A repetition with the same key waits for the same run after a restart of the server.
    ended = s.keep && r.cancel().why() == RY_REASON_SHUTDOWN;
    out = response_of(current_api_error());
  }
  co_await settle(std::move(s), ended);
  co_return *std::move(out);
}

ry::task<void> chat_routes::send_stream(ry::request r, started_chat s) {
  event_stream out(r);
  chat_builder builder(s.identity);
  bool connected = true;
  std::optional<ry::error> failure;
  try {
    ry::runs::reader reader = access_.runs().follow(s.account, s.run.run.to_string());
    std::vector<json::object> chunks;
    while (connected && !builder.ended()) {
      const ry::runs::batch* batch = co_await reader.next();
      if (batch == nullptr) break;
      for (const ry::runs::event& e : batch->events) builder.apply(e.json, chunks);
      for (const json::object& chunk : chunks) out.add(chunk);
      chunks.clear();
      if (builder.waits()) {
        connected = co_await out.flush();
        co_await limit_wait(s, builder);
      }
      if (builder.failed()) out.add(error_event(builder.failure()));
      if (builder.ended() && !builder.failed()) out.add_done();
      connected = co_await out.flush();
    }
  } catch (...) {
    failure = ry::current_error();
  }
  if (failure && out.why_cancelled() != RY_REASON_GONE) {
    if (failure->status() != RY_CANCELLED) ctx_.log_error("the stream of a chat completion failed", *failure);
    // This stream cannot be resumed, so the client has to know that it is incomplete.
    out.add(error_event(from_error(*failure)));
    (void)co_await ry::shield(out.flush());
  }
  co_await settle(std::move(s), builder.ended());
}

}  // namespace openai_api
