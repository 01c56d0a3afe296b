#include "session.hpp"

#include <algorithm>
#include <utility>

namespace mcp_http {
namespace {

using mcp_transport::cancel_after;
using mcp_transport::close_timeout_ms;
using mcp_transport::field_of;

constexpr std::size_t max_exchanges = 64;
constexpr std::size_t max_error_body = 64 * 1024;
constexpr std::uint64_t max_streamed_factor = 8;
constexpr std::uint64_t drain_timeout_ms = 1000;
constexpr std::uint64_t notification_idle_ms = 300'000;
constexpr std::uint64_t default_retry_ms = 1000;
constexpr std::uint64_t min_retry_ms = 100;
constexpr std::uint64_t max_retry_ms = 10'000;
// Limit on consecutive resumed streams that deliver neither a message nor a new event id.
constexpr int max_empty_streams = 10;

bool is_valid_session_id(std::string_view s) {
  return !s.empty() && s.size() <= 1024 && std::all_of(s.begin(), s.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::uint32_t seconds_of(std::string_view s) {
  std::uint32_t n = 0;
  for (const char c : s) {
    if (c < '0' || c > '9' || n > 100'000) return 0;
    n = n * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return n;
}

// A DELETE request whose response is ignored.
class session_terminator final : public mcp_transport::http_exchange {
 private:
  void head(const ry_client_response&) override {}
  ry_status data(std::string_view) override { return RY_ABORTED; }
  void done(ry_status, const ry_error_view*) noexcept override { delete this; }
};

}  // namespace

// ---- exchange ---------------------------------------------------------------------------------

exchange::exchange(session& owner, ry::mcp::message m)
    : session_(owner), message_(std::move(m)), events_(static_cast<std::size_t>(owner.max_message_bytes_)) {}

void exchange::begin() {
  body_kind_ = body::none;
  auto fields = message_.fields;
  if (resuming_) fields.emplace_back("Last-Event-ID", events_.last_id());
  auto r = session_.request(resuming_ ? "GET" : "POST", fields);
  r.header("Accept", resuming_ ? "text/event-stream" : "application/json, text/event-stream");
  if (!resuming_) r.body(message_.json, "application/json");
  if (message_.timeout_ms != 0) r.total_timeout(message_.timeout_ms);
  // Some servers leave the exchange of a notification open. Only this limit ends it before the session does.
  if (message_.kind != RY_MCP_REQUEST) r.idle_timeout(notification_idle_ms);
  const bool only_message = !session_.has_sent_ && message_.is(RY_MCP_LAST);
  if (only_message) {
    r.flags(RY_CLIENT_FRESH_CONNECTION);
  } else if (message_.is(RY_MCP_LAST) && session_.session_id_.empty()) {
    r.flags(RY_CLIENT_LAST);
  }
  session_.has_sent_ = true;
  const auto st = start(session_.ctx_, session_.exec_, r);
  if (st != RY_OK) throw ry::error(st, "mcp.http", "the request could not be started");
}

void exchange::head(const ry_client_response& r) {
  outcome_.http_status = r.status;
  outcome_.flags = session_.session_id_.empty() ? 0 : RY_MCP_IN_SESSION;
  content_type_ = mcp_transport::media_type(field_of(r, "content-type"));
  if (r.status / 100 != 2) {
    body_kind_ = body::error;
    outcome_.retry_after_s = seconds_of(field_of(r, "retry-after"));
    outcome_.authenticate = mcp_transport::fields_of(r, "www-authenticate");
    return;
  }
  // The session id arrives with the response to `initialize`, the only message without a protocol revision.
  const bool is_initialize = std::none_of(message_.fields.begin(), message_.fields.end(),
                                          [](const auto& f) { return ry::iequals(f.first, "mcp-protocol-version"); });
  const auto id = field_of(r, "mcp-session-id");
  if (is_initialize && session_.session_id_.empty() && is_valid_session_id(id)) session_.session_id_ = id;
  const auto coding = field_of(r, "content-encoding");
  if (!coding.empty() && !ry::iequals(coding, "identity")) {
    error_ = ry::error(
        RY_DATA_LOSS, "mcp.http",
        "the answer has a content encoding although the request accepts none: " + std::string(coding.substr(0, 40)));
  }
  if (content_type_ == "text/event-stream") {
    body_kind_ = body::events;
    // The server accepted the notification, which has no response even if the stream stays open.
    if (message_.kind == RY_MCP_NOTIFICATION) complete(ry::error(RY_OK));
  } else if (content_type_ == "application/json") {
    body_kind_ = body::json;
  }
}

ry_status exchange::deliver(std::string_view json) {
  if (finished_ || session_.closing_) return RY_OK;
  delivered_ = true;
  const auto st = session_.sink_.message(message_.token, json);
  if (st == RY_OK || st == RY_RESOURCE_EXHAUSTED) return st;
  error_ = ry::error(st, "mcp.http", "the response could not be processed");
  return RY_ABORTED;
}

ry_status exchange::data(std::string_view bytes) {
  if (cancelled_) return RY_CANCELLED;
  if (error_) return RY_ABORTED;
  if (finished_) {
    streamed_bytes_ += bytes.size();
    return streamed_bytes_ > max_error_body ? RY_CANCELLED : RY_OK;
  }
  switch (body_kind_) {
    case body::error:
      body_.append(bytes.substr(0, max_error_body - std::min(max_error_body, body_.size())));
      return RY_OK;
    case body::json:
      body_.append(bytes);
      if (body_.size() <= session_.max_message_bytes_) return RY_OK;
      break;
    case body::events: {
      streamed_bytes_ += bytes.size();
      bool pause = false;
      const bool fits = events_.feed(bytes, [&](std::string_view name, std::string_view data) {
        if (error_ || (!name.empty() && name != "message")) return;
        pause = deliver(data) == RY_RESOURCE_EXHAUSTED || pause;
      });
      if (error_) return RY_ABORTED;
      if (!fits || streamed_bytes_ / max_streamed_factor > session_.max_message_bytes_) break;
      if (finished_) streamed_bytes_ = 0;
      paused_ = pause && !finished_;
      return paused_ ? RY_RESOURCE_EXHAUSTED : RY_OK;
    }
    case body::none:
      body_.append(bytes.substr(0, 256 - std::min<std::size_t>(256, body_.size())));
      return RY_OK;
  }
  error_ = ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                     "the answer is larger than " + std::to_string(session_.max_message_bytes_) + " bytes");
  return RY_ABORTED;
}

void exchange::done(ry_status st, const ry_error_view* err) noexcept {
  bool finished = true;
  const auto handled = ry::guard([&] { finished = handle_end(st, err); });
  if (handled != RY_OK) complete(ry::error(handled));
  if (!finished && handled == RY_OK) return;
  const auto token = message_.token;
  auto& owner = session_;
  delete this;
  owner.exchange_ended(token);
}

// Returns false if the exchange continues.
bool exchange::handle_end(ry_status st, const ry_error_view* err) {
  if (finished_ || session_.closing_) return true;
  if (error_) return complete(*error_), true;
  const bool failed = st != RY_OK;
  if (body_kind_ == body::error && resuming_) {
    // The server rejected the request to resume, not the message, which it may have processed.
    const auto status = std::exchange(outcome_.http_status, 0);
    outcome_.flags = 0;
    complete(ry::error(RY_UNAVAILABLE, "mcp.http",
                       "the stream was interrupted and could not be resumed: HTTP status " + std::to_string(status)));
    return true;
  }
  if (body_kind_ == body::error) {
    outcome_.body = std::move(body_);
    return complete(ry::error(RY_OK)), true;
  }
  if (body_kind_ == body::events && resume_stream()) return false;
  if (failed) return complete(mcp_transport::error_of(st, err)), true;
  if (body_kind_ == body::json && !body_.empty()) {
    if (deliver(body_) != RY_OK && error_) return complete(*error_), true;
  } else if (body_kind_ == body::none && !body_.empty() && message_.kind == RY_MCP_REQUEST) {
    return complete(ry::error(RY_DATA_LOSS, "mcp.http",
                              "the response is neither JSON nor an event stream, but " +
                                  (content_type_.empty() ? "has no content type" : content_type_.substr(0, 80)))),
           true;
  }
  if (!finished_) complete(ry::error(RY_OK));
  return true;
}

// Resumes a stream that sent event ids. A server may respond with many short streams, so only streams without a message
// or a new id count towards the limit; the others are subject to the caller's time limit.
bool exchange::resume_stream() {
  if (message_.kind != RY_MCP_REQUEST || !message_.is(RY_MCP_RESUMABLE) || events_.last_id().empty()) return false;
  const bool has_progress = std::exchange(delivered_, false) || events_.last_id() != resumed_after_;
  empty_streams_ = resuming_ && !has_progress ? empty_streams_ + 1 : 0;
  if (empty_streams_ >= max_empty_streams) return false;
  resuming_ = true;
  resumed_after_ = events_.last_id();
  events_.restart();
  const auto ms = std::clamp(events_.retry_ms().value_or(default_retry_ms), min_retry_ms, max_retry_ms);
  const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                       auto* self = static_cast<exchange*>(p);
                       self->retry_timer_ = 0;
                       bool restarted = false;
                       if (st == RY_OK && !self->finished_ && !self->session_.closing_) {
                         restarted = ry::guard([&] { self->begin(); }) == RY_OK;
                         if (!restarted) self->complete(ry::error(RY_UNAVAILABLE));
                       }
                       if (restarted) return;
                       const auto token = self->message_.token;
                       auto& owner = self->session_;
                       delete self;
                       owner.exchange_ended(token);
                     },
                     this};
  return session_.ctx_.core().sleep_ms(session_.ctx_.host(), session_.exec_, ms, done, &retry_timer_) == RY_OK;
}

void exchange::complete(const ry::error& e) noexcept {
  if (finished_ || session_.closing_) return;
  finished_ = true;
  session_.sink_.sent(message_.token, outcome_, e);
}

void exchange::finish(std::int32_t reason) noexcept {
  if (cancelled_) return;
  finished_ = true;
  streamed_bytes_ = 0;
  if (retry_timer_ != 0) return session_.ctx_.core().op_cancel(session_.ctx_.host(), retry_timer_);
  if (reason != 0) {
    cancelled_ = true;
    return cancel(session_.ctx_);
  }
  if (paused_) resume_reading();
  (void)ry::guard([&] { cancel_after(session_.ctx_, session_.exec_, op(), drain_timeout_ms); });
}

// Cancels a request that awaits a response; other messages may complete within a short time.
void exchange::close() noexcept {
  if (message_.kind == RY_MCP_REQUEST) {
    if (!finished_) finish(RY_REASON_USER);
    return;
  }
  finished_ = true;
  const auto limited = ry::guard([&] { cancel_after(session_.ctx_, session_.exec_, op(), close_timeout_ms); });
  if (limited != RY_OK) cancel(session_.ctx_);
}

void exchange::resume_reading() noexcept {
  if (!paused_) return;
  paused_ = false;
  resume(session_.ctx_);
}

// ---- session ----------------------------------------------------------------------------------

session::session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink sink)
    : ctx_(ctx),
      endpoint_(mcp_transport::read_endpoint(t)),
      exec_(exec),
      sink_(sink),
      max_message_bytes_(t.max_message_bytes),
      // Unique to this session, so that its connections are not shared with other sessions.
      pool_key_("mcp " + ctx.new_uuid().to_string()) {}

ry::client_request session::request(const char* method, const ry::headers& fields) const {
  ry::client_request r(method, endpoint_.url);
  for (const auto& [name, value] : mcp_transport::merged_headers(endpoint_.fields, fields)) r.header(name, value);
  if (!session_id_.empty()) r.header("Mcp-Session-Id", session_id_);
  r.flags(endpoint_.client_flags).connect_timeout(endpoint_.connect_timeout_ms).idle_timeout(endpoint_.idle_ms);
  r.header("Accept-Encoding", "identity");
  r.max_response(UINT64_MAX).pool_key(pool_key_).account(endpoint_.account);
  return r;
}

ry_status session::send(ry::mcp::message m) {
  if (exchanges_.size() >= max_exchanges) return RY_RESOURCE_EXHAUSTED;
  const auto token = m.token;
  for (const auto& [name, value] : m.fields) {
    if (ry::iequals(name, "mcp-protocol-version")) revision_ = value;
  }
  auto* e = new exchange(*this, std::move(m));
  try {
    exchanges_.emplace(token, e);
    e->begin();
  } catch (...) {
    exchanges_.erase(token);
    delete e;
    throw;
  }
  return RY_OK;
}

void session::finish(std::uint64_t token, std::int32_t reason) noexcept {
  const auto at = exchanges_.find(token);
  if (at != exchanges_.end()) at->second->finish(reason);
}

void session::resume() noexcept {
  for (auto& [token, e] : exchanges_) e->resume_reading();
}

void session::close() noexcept {
  closing_ = true;
  for (auto& [token, e] : exchanges_) e->close();
  if (!exchanges_.empty()) return;  // the last exchange to finish sends the DELETE
  send_delete();
  delete this;
}

void session::exchange_ended(std::uint64_t token) noexcept {
  exchanges_.erase(token);
  if (!closing_ || !exchanges_.empty()) return;
  send_delete();
  delete this;
}

// Ends the session with a DELETE request and closes idle connections.
void session::send_delete() noexcept {
  const auto& client = ctx_.interface<ry_http_client_v1>();
  if (session_id_.empty()) return client.drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
  (void)ry::guard([&] {
    ry::headers fields;
    if (!revision_.empty()) fields.emplace_back("MCP-Protocol-Version", revision_);
    auto r = request("DELETE", fields);
    r.flags(RY_CLIENT_LAST).total_timeout(close_timeout_ms);
    auto* terminator = new session_terminator;
    if (terminator->start(ctx_, exec_, r) != RY_OK) delete terminator;
  });
  client.drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
}

}  // namespace mcp_http
