#include "session.hpp"

#include <memory>
#include <string>
#include <utility>

namespace mcp_sse {
namespace {

constexpr std::size_t max_posts = 64;
constexpr std::size_t max_refusal = 64 * 1024;
// Time limit for the first event, in which the server names the URL for messages.
constexpr std::uint64_t endpoint_ms = 10'000;

}  // namespace

// ---- post -------------------------------------------------------------------------------------

void post::head(const ry_client_response& r) {
  out_.http_status = r.status;
  if (r.status / 100 != 2) out_.authenticate = mcp_transport::fields_of(r, "www-authenticate");
}

ry_status post::data(std::string_view bytes) {
  // The body of a successful response has no meaning.
  if (out_.http_status / 100 == 2) return RY_OK;
  out_.body.append(bytes.substr(0, max_refusal - std::min(max_refusal, out_.body.size())));
  return RY_OK;
}

void post::done(ry_status st, const ry_error_view* err) noexcept {
  auto& of = of_;
  const auto token = token_;
  if (!forgotten_) {
    (void)ry::guard([&] {
      const bool answered = out_.http_status != 0;
      of.sink_.sent(token, out_, answered ? ry::error(RY_OK) : mcp_transport::error_of(st, err));
    });
  }
  delete this;
  of.left(token);
}

// Cancels a request that awaits a response; other messages may complete within a short time.
void post::close() noexcept {
  forget();
  const auto lingers = is_request_ ? RY_CANCELLED : ry::guard([&] {
    mcp_transport::cancel_later(of_.ctx_, of_.exec_, op(), mcp_transport::farewell_ms);
  });
  if (lingers != RY_OK) cancel(of_.ctx_);
}

// ---- session ----------------------------------------------------------------------------------

session::session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to)
    : ctx_(ctx),
      at_(mcp_transport::read_endpoint(t)),
      exec_(exec),
      sink_(to),
      max_message_(t.max_message_bytes),
      pool_key_("mcp " + ctx.new_uuid().to_string()),
      events_(static_cast<std::size_t>(t.max_message_bytes)) {
  ry::client_request r("GET", at_.url);
  for (const auto& [name, value] : at_.fields) r.header(name, value);
  r.header("Accept", "text/event-stream").header("Cache-Control", "no-cache").header("Accept-Encoding", "identity");
  r.flags(at_.client_flags | RY_CLIENT_FRESH_CONNECTION).connect_timeout(at_.connect_timeout_ms);
  r.idle_timeout(at_.idle_ms).max_response(UINT64_MAX).pool_key(pool_key_).account(at_.account);
  const auto st = start(ctx_, exec_, r);
  if (st != RY_OK) throw ry::error(st, "mcp.sse", "the stream could not be asked for");
}

void session::head(const ry_client_response& r) {
  status_ = r.status;
  if (r.status / 100 != 2) authenticate_ = mcp_transport::fields_of(r, "www-authenticate");
  content_type_ = mcp_transport::media_type(mcp_transport::field_of(r, "content-type"));
  base_url_ = r.url.len != 0 ? ry::text(r.url) : at_.url;
  const auto coding = mcp_transport::field_of(r, "content-encoding");
  if (status_ / 100 == 2 && !coding.empty() && !ry::iequals(coding, "identity")) {
    broken_ = ry::error(RY_DATA_LOSS, "mcp.sse",
                        "the event stream has a content encoding although the request accepts none: " +
                            std::string(coding.substr(0, 40)));
  }
  if (status_ / 100 == 2 && broken_.status() == RY_OK) limit_wait_for_endpoint();
}

// The timer may outlive the session.
struct session::endpoint_wait {
  session* of;
  ry_op_id op = 0;
};

void session::limit_wait_for_endpoint() {
  auto wait = std::make_unique<endpoint_wait>(endpoint_wait{this});
  const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                       const std::unique_ptr<endpoint_wait> own(static_cast<endpoint_wait*>(p));
                       if (own->of == nullptr) return;
                       own->of->wait_ = nullptr;
                       if (st == RY_OK) own->of->endpoint_is_late();
                     },
                     wait.get()};
  if (ctx_.core().sleep_ms(ctx_.host(), exec_, endpoint_ms, done, &wait->op) == RY_OK) wait_ = wait.release();
}

void session::end_wait_for_endpoint() noexcept {
  if (wait_ == nullptr) return;
  auto* wait = std::exchange(wait_, nullptr);
  wait->of = nullptr;
  ctx_.core().op_cancel(ctx_.host(), wait->op);
}

void session::endpoint_is_late() noexcept {
  if (!messages_url_.empty() || closing_ || stream_over_ || broken_.status() != RY_OK) return;
  const auto noted = ry::guard([&] {
    broken_ = ry::error(RY_DEADLINE_EXCEEDED, "mcp.sse",
                        "the server opened the event stream, but sent no event \"endpoint\" with an address for "
                        "messages within " +
                            std::to_string(endpoint_ms / 1000) + " seconds");
  });
  if (noted == RY_OK) cancel(ctx_);
}

session::~session() {
  end_wait_for_endpoint();
}

ry_status session::data(std::string_view bytes) {
  if (closing_) return posts_.empty() ? RY_CANCELLED : RY_OK;
  if (status_ / 100 != 2 || content_type_ != "text/event-stream") return RY_ABORTED;
  pause_wanted_ = paused_ || resuming_;
  const bool fits = events_.feed(bytes, [this](std::string_view name, std::string_view data) {
    if (broken_.status() == RY_OK) event(name, data);
  });
  if (!fits && broken_.status() == RY_OK) {
    broken_ = ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                        "an event is larger than " + std::to_string(max_message_) + " bytes");
  }
  if (broken_.status() != RY_OK) return RY_ABORTED;
  paused_ = pause_wanted_ && !resuming_;
  return pause_wanted_ ? RY_RESOURCE_EXHAUSTED : RY_OK;
}

void session::event(std::string_view name, std::string_view data) {
  if (name == "endpoint") {
    if (!messages_url_.empty()) return;
    end_wait_for_endpoint();
    messages_url_ = mcp_transport::same_origin_url(base_url_, data);
    if (messages_url_.empty()) {
      broken_ = ry::error(RY_DATA_LOSS, "mcp.sse", "the server named an address for messages that is not its own");
      return;
    }
    while (!waiting_.empty()) {
      auto m = std::move(waiting_.front());
      waiting_.pop_front();
      start_post(std::move(m));
    }
    return;
  }
  if (!name.empty() && name != "message") return;
  if (pause_wanted_ || !held_.empty()) {
    held_.emplace_back(data);
  } else {
    deliver(data);
  }
}

void session::deliver(std::string_view message) {
  const auto st = sink_.message(0, message);
  if (st == RY_RESOURCE_EXHAUSTED) {
    pause_wanted_ = true;
  } else if (st != RY_OK) {
    broken_ = ry::error(st, "mcp.sse", "a message could not be taken");
  }
}

void session::on_resumed(void* p) noexcept {
  auto* s = static_cast<session*>(p);
  s->resuming_ = false;
  (void)ry::guard([&] {
    s->pause_wanted_ = false;
    while (!s->held_.empty() && !s->pause_wanted_ && !s->closing_ && s->broken_.status() == RY_OK) {
      const auto message = std::move(s->held_.front());
      s->held_.pop_front();
      s->deliver(message);
    }
  });
  s->paused_ = s->pause_wanted_ && !s->closing_;
  if (s->broken_.status() != RY_OK) {
    s->held_.clear();
    s->cancel(s->ctx_);
  }
  if (!s->paused_ && !s->stream_over_) s->http_exchange::resume(s->ctx_);
  if (!s->paused_ && s->end_) s->report_end();
  s->end_if_idle();
}

ry::error session::reason(ry_status st, const ry_error_view* err) const {
  if (broken_.status() != RY_OK) return broken_;
  if (status_ != 0 && status_ / 100 != 2) {
    const auto status = status_ == 401 || status_ == 403 ? RY_UNAUTHENTICATED : RY_UNAVAILABLE;
    return ry::error(status, "mcp.sse", "the event stream was refused: HTTP status " + std::to_string(status_))
        .with_http(status_)
        .with_detail("{\"authenticate\":" + ry::json_string(authenticate_) + "}");
  }
  if (status_ != 0 && content_type_ != "text/event-stream") {
    return ry::error(RY_DATA_LOSS, "mcp.sse", "the response is not an event stream").with_http(status_);
  }
  if (st != RY_OK) return mcp_transport::error_of(st, err);
  return ry::error(RY_UNAVAILABLE, "mcp.sse",
                   messages_url_.empty() ? "the stream ended before it named an address for messages"
                                         : "the server ended the event stream");
}

void session::done(ry_status st, const ry_error_view* err) noexcept {
  stream_over_ = true;
  if (ry::guard([&] { end_ = reason(st, err); }) != RY_OK) end_.emplace(RY_RESOURCE_EXHAUSTED);
  // Messages that the server sent before the end are delivered first.
  if (!paused_ && !resuming_) report_end();
  end_if_idle();
}

void session::report_end() noexcept {
  if (closing_ || end_reported_) return;
  end_reported_ = true;
  waiting_.clear();
  for (auto& [token, p] : posts_) p->forget();
  sink_.closed(*end_);
}

ry_status session::send(ry::mcp::message m) {
  if (end_reported_ || stream_over_) return RY_CANCELLED;
  if (posts_.size() + waiting_.size() >= max_posts) return RY_RESOURCE_EXHAUSTED;
  if (messages_url_.empty()) {
    waiting_.push_back(std::move(m));
  } else {
    start_post(std::move(m));
  }
  return RY_OK;
}

void session::start_post(ry::mcp::message m) {
  ry::client_request r("POST", messages_url_);
  for (const auto& [name, value] : mcp_transport::merged(at_.fields, m.fields)) r.header(name, value);
  r.header("Accept", "application/json, text/event-stream")
      .header("Accept-Encoding", "identity")
      .body(m.json, "application/json");
  r.flags(at_.client_flags).connect_timeout(at_.connect_timeout_ms).idle_timeout(at_.idle_ms);
  if (m.is(RY_MCP_LAST)) r.flags(RY_CLIENT_LAST);
  if (m.timeout_ms != 0) r.total_timeout(m.timeout_ms);
  r.pool_key(pool_key_).account(at_.account);
  auto p = std::make_unique<post>(*this, m);
  posts_.emplace(m.token, p.get());
  const auto st = p->start(ctx_, exec_, r);
  if (st == RY_OK) {
    p.release();
    return;
  }
  posts_.erase(m.token);
  sink_.sent(m.token, {}, ry::error(st, "mcp.sse", "the message could not be sent"));
}

void session::finish(std::uint64_t token, std::int32_t why) noexcept {
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (it->token != token) continue;
    waiting_.erase(it);
    return;
  }
  const auto at = posts_.find(token);
  if (at == posts_.end()) return;
  at->second->forget();
  if (why != 0) at->second->cancel(ctx_);
}

void session::resume() noexcept {
  if (!paused_) return;
  paused_ = false;
  // Deferred, so that it does not run inside this call.
  resuming_ = ctx_.core().exec_post(ctx_.host(), exec_, &session::on_resumed, this) == RY_OK;
}

void session::close() noexcept {
  closing_ = true;
  waiting_.clear();
  for (auto& [token, p] : posts_) p->close();
  if (paused_) resume();
  end_if_idle();
}

void session::left(std::uint64_t token) noexcept {
  posts_.erase(token);
  end_if_idle();
}

void session::end_if_idle() noexcept {
  if (!closing_ || !posts_.empty() || resuming_) return;
  // The server ends the session with its event stream, so the stream is closed last.
  if (!stream_over_) return cancel(ctx_);
  ctx_.interface<ry_http_client_v1>().drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
  delete this;
}

}  // namespace mcp_sse
