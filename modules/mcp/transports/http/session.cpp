#include "session.hpp"

#include <algorithm>
#include <utility>

namespace mcp_http {
namespace {

using mcp_transport::cancel_later;
using mcp_transport::farewell_ms;
using mcp_transport::field_of;

constexpr std::size_t max_running = 64;
constexpr std::size_t max_refusal = 64 * 1024;
constexpr std::uint64_t max_streamed_factor = 8;
constexpr std::uint64_t linger_ms = 1000;
constexpr std::uint64_t notification_idle_ms = 300'000;
constexpr std::uint64_t usual_retry_ms = 1000;
constexpr std::uint64_t shortest_retry_ms = 100;
constexpr std::uint64_t longest_retry_ms = 10'000;
// Limit on consecutive resumed streams that bring neither a message nor a new event id.
constexpr int max_empty_streams = 10;

bool visible(std::string_view s) {
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

exchange::exchange(session& of, ry::mcp::message m)
    : of_(of), m_(std::move(m)), events_(static_cast<std::size_t>(of.max_message_)) {}

void exchange::begin() {
  kind_ = body::none;
  auto fields = m_.fields;
  if (again_) fields.emplace_back("Last-Event-ID", events_.last_id());
  auto r = of_.request(again_ ? "GET" : "POST", fields);
  r.header("Accept", again_ ? "text/event-stream" : "application/json, text/event-stream");
  if (!again_) r.body(m_.json, "application/json");
  if (m_.timeout_ms != 0) r.total_timeout(m_.timeout_ms);
  // Some servers leave the exchange of a notification open; nothing else ends it before the session.
  if (m_.kind != RY_MCP_REQUEST) r.idle_timeout(notification_idle_ms);
  const bool alone = !of_.used_ && m_.is(RY_MCP_LAST);
  if (alone) {
    r.flags(RY_CLIENT_FRESH_CONNECTION);
  } else if (m_.is(RY_MCP_LAST) && of_.session_id_.empty()) {
    r.flags(RY_CLIENT_LAST);
  }
  of_.used_ = true;
  const auto st = start(of_.ctx_, of_.exec_, r);
  if (st != RY_OK) throw ry::error(st, "mcp.http", "the request could not be started");
}

void exchange::head(const ry_client_response& r) {
  out_.http_status = r.status;
  out_.flags = of_.session_id_.empty() ? 0 : RY_MCP_IN_SESSION;
  content_type_ = mcp_transport::media_type(field_of(r, "content-type"));
  if (r.status / 100 != 2) {
    kind_ = body::refusal;
    out_.retry_after_s = seconds_of(field_of(r, "retry-after"));
    out_.authenticate = mcp_transport::fields_of(r, "www-authenticate");
    return;
  }
  // The session id comes with the answer to `initialize`, the only message that does not name a revision.
  const bool greets = std::none_of(m_.fields.begin(), m_.fields.end(),
                                   [](const auto& f) { return ry::iequals(f.first, "mcp-protocol-version"); });
  const auto id = field_of(r, "mcp-session-id");
  if (greets && of_.session_id_.empty() && visible(id)) of_.session_id_ = id;
  const auto coding = field_of(r, "content-encoding");
  if (!coding.empty() && !ry::iequals(coding, "identity")) {
    broken_ = ry::error(
        RY_DATA_LOSS, "mcp.http",
        "the answer has a content encoding although the request accepts none: " + std::string(coding.substr(0, 40)));
  }
  if (content_type_ == "text/event-stream") {
    kind_ = body::events;
    // The notification was accepted. It has no response, whatever the stream is kept open for.
    if (m_.kind == RY_MCP_NOTIFICATION) conclude(ry::error(RY_OK));
  } else if (content_type_ == "application/json") {
    kind_ = body::json;
  }
}

ry_status exchange::deliver(std::string_view json) {
  if (finished_ || of_.closing_) return RY_OK;
  delivered_ = true;
  const auto st = of_.sink_.message(m_.token, json);
  if (st == RY_OK || st == RY_RESOURCE_EXHAUSTED) return st;
  broken_ = ry::error(st, "mcp.http", "the answer could not be taken");
  return RY_ABORTED;
}

ry_status exchange::data(std::string_view bytes) {
  if (called_off_) return RY_CANCELLED;
  if (broken_) return RY_ABORTED;
  if (finished_) {
    streamed_ += bytes.size();
    return streamed_ > max_refusal ? RY_CANCELLED : RY_OK;
  }
  switch (kind_) {
    case body::refusal:
      text_.append(bytes.substr(0, max_refusal - std::min(max_refusal, text_.size())));
      return RY_OK;
    case body::json:
      text_.append(bytes);
      if (text_.size() <= of_.max_message_) return RY_OK;
      break;
    case body::events: {
      streamed_ += bytes.size();
      bool pause = false;
      const bool fits = events_.feed(bytes, [&](std::string_view name, std::string_view data) {
        if (broken_ || (!name.empty() && name != "message")) return;
        pause = deliver(data) == RY_RESOURCE_EXHAUSTED || pause;
      });
      if (broken_) return RY_ABORTED;
      if (!fits || streamed_ / max_streamed_factor > of_.max_message_) break;
      if (finished_) streamed_ = 0;
      paused_ = pause && !finished_;
      return paused_ ? RY_RESOURCE_EXHAUSTED : RY_OK;
    }
    case body::none:
      text_.append(bytes.substr(0, 256 - std::min<std::size_t>(256, text_.size())));
      return RY_OK;
  }
  broken_ = ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                      "the answer is larger than " + std::to_string(of_.max_message_) + " bytes");
  return RY_ABORTED;
}

void exchange::done(ry_status st, const ry_error_view* err) noexcept {
  bool over = true;
  const auto handled = ry::guard([&] { over = ended(st, err); });
  if (handled != RY_OK) conclude(ry::error(handled));
  if (!over && handled == RY_OK) return;
  const auto token = m_.token;
  auto& of = of_;
  delete this;
  of.left(token);
}

// Returns false if the exchange continues.
bool exchange::ended(ry_status st, const ry_error_view* err) {
  if (finished_ || of_.closing_) return true;
  if (broken_) return conclude(*broken_), true;
  const bool cut = st != RY_OK;
  if (kind_ == body::refusal && again_) {
    // The request to resume was rejected, not the message, which the server may have processed.
    const auto status = std::exchange(out_.http_status, 0);
    out_.flags = 0;
    conclude(ry::error(RY_UNAVAILABLE, "mcp.http",
                       "the stream was interrupted and could not be resumed: HTTP status " + std::to_string(status)));
    return true;
  }
  if (kind_ == body::refusal) {
    out_.body = std::move(text_);
    return conclude(ry::error(RY_OK)), true;
  }
  if (kind_ == body::events && take_up_again()) return false;
  if (cut) return conclude(mcp_transport::error_of(st, err)), true;
  if (kind_ == body::json && !text_.empty()) {
    if (deliver(text_) != RY_OK && broken_) return conclude(*broken_), true;
  } else if (kind_ == body::none && !text_.empty() && m_.kind == RY_MCP_REQUEST) {
    return conclude(ry::error(RY_DATA_LOSS, "mcp.http",
                              "the response is neither JSON nor an event stream but " +
                                  (content_type_.empty() ? "of no kind" : content_type_.substr(0, 80)))),
           true;
  }
  if (!finished_) conclude(ry::error(RY_OK));
  return true;
}

// Resumes a stream that sent event ids. Servers may answer in many short streams, so only streams without a message or
// a new id count towards the limit; the others are subject to the caller's time limit.
bool exchange::take_up_again() {
  if (m_.kind != RY_MCP_REQUEST || !m_.is(RY_MCP_RESUMABLE) || events_.last_id().empty()) return false;
  const bool brought = std::exchange(delivered_, false) || events_.last_id() != began_at_;
  empty_streams_ = again_ && !brought ? empty_streams_ + 1 : 0;
  if (empty_streams_ >= max_empty_streams) return false;
  again_ = true;
  began_at_ = events_.last_id();
  events_.restart();
  const auto ms = std::clamp(events_.retry_ms().value_or(usual_retry_ms), shortest_retry_ms, longest_retry_ms);
  const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                       auto* self = static_cast<exchange*>(p);
                       self->pause_ = 0;
                       bool going = false;
                       if (st == RY_OK && !self->finished_ && !self->of_.closing_) {
                         going = ry::guard([&] { self->begin(); }) == RY_OK;
                         if (!going) self->conclude(ry::error(RY_UNAVAILABLE));
                       }
                       if (going) return;
                       const auto token = self->m_.token;
                       auto& of = self->of_;
                       delete self;
                       of.left(token);
                     },
                     this};
  return of_.ctx_.core().sleep_ms(of_.ctx_.host(), of_.exec_, ms, done, &pause_) == RY_OK;
}

void exchange::conclude(const ry::error& e) noexcept {
  if (finished_ || of_.closing_) return;
  finished_ = true;
  of_.sink_.sent(m_.token, out_, e);
}

void exchange::finish(std::int32_t why) noexcept {
  if (called_off_) return;
  finished_ = true;
  streamed_ = 0;
  if (pause_ != 0) return of_.ctx_.core().op_cancel(of_.ctx_.host(), pause_);
  if (why != 0) {
    called_off_ = true;
    return cancel(of_.ctx_);
  }
  if (paused_) resume_reading();
  (void)ry::guard([&] { cancel_later(of_.ctx_, of_.exec_, op(), linger_ms); });
}

// Cancels a request that awaits a response; other messages may complete within a short time.
void exchange::close() noexcept {
  if (m_.kind == RY_MCP_REQUEST) {
    if (!finished_) finish(RY_REASON_USER);
    return;
  }
  finished_ = true;
  const auto limited = ry::guard([&] { cancel_later(of_.ctx_, of_.exec_, op(), farewell_ms); });
  if (limited != RY_OK) cancel(of_.ctx_);
}

void exchange::resume_reading() noexcept {
  if (!paused_) return;
  paused_ = false;
  resume(of_.ctx_);
}

// ---- session ----------------------------------------------------------------------------------

session::session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to)
    : ctx_(ctx),
      at_(mcp_transport::read_endpoint(t)),
      exec_(exec),
      sink_(to),
      max_message_(t.max_message_bytes),
      // Unique to this session, so that a fresh connection has not been used for any other.
      pool_key_("mcp " + ctx.new_uuid().to_string()) {}

ry::client_request session::request(const char* method, const ry::headers& fields) const {
  ry::client_request r(method, at_.url);
  for (const auto& [name, value] : mcp_transport::merged(at_.fields, fields)) r.header(name, value);
  if (!session_id_.empty()) r.header("Mcp-Session-Id", session_id_);
  r.flags(at_.client_flags).connect_timeout(at_.connect_timeout_ms).idle_timeout(at_.idle_ms);
  r.header("Accept-Encoding", "identity");
  r.max_response(UINT64_MAX).pool_key(pool_key_).account(at_.account);
  return r;
}

ry_status session::send(ry::mcp::message m) {
  if (running_.size() >= max_running) return RY_RESOURCE_EXHAUSTED;
  const auto token = m.token;
  for (const auto& [name, value] : m.fields) {
    if (ry::iequals(name, "mcp-protocol-version")) revision_ = value;
  }
  auto* e = new exchange(*this, std::move(m));
  try {
    running_.emplace(token, e);
    e->begin();
  } catch (...) {
    running_.erase(token);
    delete e;
    throw;
  }
  return RY_OK;
}

void session::finish(std::uint64_t token, std::int32_t why) noexcept {
  const auto at = running_.find(token);
  if (at != running_.end()) at->second->finish(why);
}

void session::resume() noexcept {
  for (auto& [token, e] : running_) e->resume_reading();
}

void session::close() noexcept {
  closing_ = true;
  for (auto& [token, e] : running_) e->close();
  if (!running_.empty()) return;  // the last exchange to finish sends the DELETE
  farewell();
  delete this;
}

void session::left(std::uint64_t token) noexcept {
  running_.erase(token);
  if (!closing_ || !running_.empty()) return;
  farewell();
  delete this;
}

// Ends the session with a DELETE request and closes idle connections.
void session::farewell() noexcept {
  const auto& client = ctx_.interface<ry_http_client_v1>();
  if (session_id_.empty()) return client.drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
  (void)ry::guard([&] {
    ry::headers fields;
    if (!revision_.empty()) fields.emplace_back("MCP-Protocol-Version", revision_);
    auto r = request("DELETE", fields);
    r.flags(RY_CLIENT_LAST).total_timeout(farewell_ms);
    auto* e = new session_terminator;
    if (e->start(ctx_, exec_, r) != RY_OK) delete e;
  });
  client.drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
}

}  // namespace mcp_http
