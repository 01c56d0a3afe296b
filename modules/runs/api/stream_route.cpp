#include "api/stream_route.hpp"

#include <ry/cpp/text.hpp>

#include "api/caller.hpp"
#include "error_response.hpp"
#include "stream/event_text.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::uint64_t ping_ms = 10'000;
// A token remains valid for this time after the longest run, because browsers reconnect with the same URL.
constexpr std::uint64_t token_extra_ms = 10 * 60 * 1000;

}  // namespace

follow_options read_stream_options(const ry::request& request) {
  follow_options out;
  const char* name = "Last-Event-ID";
  std::string text = trim(request.header(name));
  for (const char* other : {"last_event_id", "last_id"}) {
    if (!text.empty()) break;
    text = trim(request.query(other).value_or(""));
    name = other;
  }
  if (!text.empty()) {
    const auto last = parse_int(text);
    if (!last || *last < 0) throw refusal(400, std::string(name) + " must be the number of an event");
    out.next = static_cast<std::uint64_t>(*last) + 1;
  }
  if (const auto mode = request.query("mode")) {
    const std::string name = ry::lower_ascii(*mode);
    if (name != "events" && name != "snapshot") throw refusal(400, "mode must be events or snapshot");
    out.snapshot = name == "snapshot";
  }
  if (const auto ms = request.query("coalesce_ms")) {
    const auto value = parse_int(*ms);
    if (!value || *value < 0 || static_cast<std::uint64_t>(*value) > max_merge_ms)
      throw refusal(400, "coalesce_ms must be a number from 0 to " + std::to_string(max_merge_ms));
    out.merge_ms = static_cast<std::uint64_t>(*value);
  }
  return out;
}

ry::task<void> stream_route::serve(ry::request request) {
  std::optional<stream_sink> sink;
  follow_options options = read_stream_options(request);
  ry::uuid run;
  event_follower::position at = co_await open(std::move(request), options, run, sink);
  if (!sink) co_return;
  co_await follower_.follow(*sink, run, std::move(at), options, event_follower::viewer::yes);
}

// Not part of serve(), whose frame lasts as long as the stream. Sets no sink if it has already sent a response.
ry::task<event_follower::position> stream_route::open(ry::request request, follow_options options, ry::uuid& run,
                                                      std::optional<stream_sink>& sink) {
  run = *ry::uuid::parse(uuid_param(request.param("id")));
  const caller requester = co_await caller_of(accounts_, request);
  event_follower::position at = co_await follower_.find(run, requester.uuid, options.next);
  if (at.has_all) {
    request.respond(ry::response::empty(204));
    co_return at;
  }
  const ry::headers headers = {
      {"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache, no-transform"}, {"X-Accel-Buffering", "no"}};
  if (request.method() == "HEAD") {  // otherwise it would keep its connection until the run ends
    ry::response out = ry::response::empty(200);
    for (const auto& [name, value] : headers) out.header(name, value);
    request.respond(out);
    co_return at;
  }
  sink.emplace(request.open_stream(200, headers));
  sink->raw().keepalive(ping_ms, ping_event);
  co_return at;
}

ry::task<ry::response> stream_route::token(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  const std::shared_ptr<live_run> live = live_.find(*ry::uuid::parse(id));
  bool is_owner = live && live->who.account == requester.uuid;
  if (!live) {
    ry::result<std::optional<run_head>> head = co_await repo_.head(id);
    is_owner = head.value().has_value() && (*head)->account_id == requester.id;
  }
  if (!is_owner) throw refusal(404, "Run not found");
  const std::uint64_t token_ms = static_cast<std::uint64_t>(config_.timeout_seconds) * 1000 + token_extra_ms;
  ry::result<std::string> token =
      ctx_.auth().mint_query_token(*request.principal(), "/agent-run/" + id + "/stream", token_ms);
  co_return ry::response::json(
      200, "{\"token\":" + json_string(token.value()) + ",\"expires_in\":" + std::to_string(token_ms / 1000) + "}");
}

}  // namespace runs
