#include "session.hpp"

#include <memory>
#include <string>
#include <utility>

namespace mcp_sse {
namespace {

constexpr std::size_t max_posts = 64;
constexpr std::size_t max_error_body = 64 * 1024;
// Time limit for the first event, in which the server names the URL for messages.
constexpr std::uint64_t endpoint_timeout_ms = 10'000;

}  // namespace

// ---- post -------------------------------------------------------------------------------------

void post::head(const ry_client_response& r) {
  outcome_.http_status = r.status;
  if (r.status / 100 != 2) outcome_.authenticate = mcp_transport::fields_of(r, "www-authenticate");
}

ry_status post::data(std::string_view bytes) {
  // The body of a successful response is ignored.
  if (outcome_.http_status / 100 == 2) return RY_OK;
  outcome_.body.append(bytes.substr(0, max_error_body - std::min(max_error_body, outcome_.body.size())));
  return RY_OK;
}

void post::done(ry_status st, const ry_error_view* err) noexcept {
  auto& owner = session_;
  const auto token = token_;
  if (!detached_) {
    (void)ry::guard([&] {
      const bool answered = outcome_.http_status != 0;
      owner.sink_.sent(token, outcome_, answered ? ry::error(RY_OK) : mcp_transport::error_of(st, err));
    });
  }
  delete this;
  owner.post_ended(token);
}

// Cancels a request that awaits a response; other messages may complete within a short time.
void post::close() noexcept {
  detach();
  const auto limited = is_request_ ? RY_CANCELLED : ry::guard([&] {
    mcp_transport::cancel_after(session_.ctx_, session_.exec_, op(), mcp_transport::close_timeout_ms);
  });
  if (limited != RY_OK) cancel(session_.ctx_);
}

// ---- session ----------------------------------------------------------------------------------

session::session(const ry::context& ctx, const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink sink)
    : ctx_(ctx),
      endpoint_(mcp_transport::read_endpoint(t)),
      exec_(exec),
      sink_(sink),
      max_message_bytes_(t.max_message_bytes),
      pool_key_("mcp " + ctx.new_uuid().to_string()),
      events_(static_cast<std::size_t>(t.max_message_bytes)) {
  ry::client_request r("GET", endpoint_.url);
  for (const auto& [name, value] : endpoint_.fields) r.header(name, value);
  r.header("Accept", "text/event-stream").header("Cache-Control", "no-cache").header("Accept-Encoding", "identity");
  r.flags(endpoint_.client_flags | RY_CLIENT_FRESH_CONNECTION).connect_timeout(endpoint_.connect_timeout_ms);
  r.idle_timeout(endpoint_.idle_ms).max_response(UINT64_MAX).pool_key(pool_key_).account(endpoint_.account);
  const auto st = start(ctx_, exec_, r);
  if (st != RY_OK) throw ry::error(st, "mcp.sse", "the event stream could not be requested");
}

void session::head(const ry_client_response& r) {
  status_ = r.status;
  if (r.status / 100 != 2) authenticate_ = mcp_transport::fields_of(r, "www-authenticate");
  content_type_ = mcp_transport::media_type(mcp_transport::field_of(r, "content-type"));
  base_url_ = r.url.len != 0 ? ry::text(r.url) : endpoint_.url;
  const auto coding = mcp_transport::field_of(r, "content-encoding");
  if (status_ / 100 == 2 && !coding.empty() && !ry::iequals(coding, "identity")) {
    error_ = ry::error(RY_DATA_LOSS, "mcp.sse",
                       "the event stream has a content encoding although the request accepts none: " +
                           std::string(coding.substr(0, 40)));
  }
  if (status_ / 100 == 2 && error_.status() == RY_OK) limit_wait_for_endpoint();
}

// The timer may outlive the session.
struct session::endpoint_wait {
  session* owner;
  ry_op_id op = 0;
};

void session::limit_wait_for_endpoint() {
  auto wait = std::make_unique<endpoint_wait>(endpoint_wait{this});
  const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                       const std::unique_ptr<endpoint_wait> wait(static_cast<endpoint_wait*>(p));
                       if (wait->owner == nullptr) return;
                       wait->owner->endpoint_wait_ = nullptr;
                       if (st == RY_OK) wait->owner->on_endpoint_timeout();
                     },
                     wait.get()};
  if (ctx_.core().sleep_ms(ctx_.host(), exec_, endpoint_timeout_ms, done, &wait->op) == RY_OK)
    endpoint_wait_ = wait.release();
}

void session::end_wait_for_endpoint() noexcept {
  if (endpoint_wait_ == nullptr) return;
  auto* wait = std::exchange(endpoint_wait_, nullptr);
  wait->owner = nullptr;
  ctx_.core().op_cancel(ctx_.host(), wait->op);
}

void session::on_endpoint_timeout() noexcept {
  if (!messages_url_.empty() || closing_ || stream_ended_ || error_.status() != RY_OK) return;
  const auto recorded = ry::guard([&] {
    error_ = ry::error(RY_DEADLINE_EXCEEDED, "mcp.sse",
                       "the server opened the event stream, but sent no event \"endpoint\" with an address for "
                       "messages within " +
                           std::to_string(endpoint_timeout_ms / 1000) + " seconds");
  });
  if (recorded == RY_OK) cancel(ctx_);
}

session::~session() {
  end_wait_for_endpoint();
}

ry_status session::data(std::string_view bytes) {
  if (closing_) return posts_.empty() ? RY_CANCELLED : RY_OK;
  if (status_ / 100 != 2 || content_type_ != "text/event-stream") return RY_ABORTED;
  pause_wanted_ = paused_ || resuming_;
  const bool fits = events_.feed(bytes, [this](std::string_view name, std::string_view data) {
    if (error_.status() == RY_OK) handle_event(name, data);
  });
  if (!fits && error_.status() == RY_OK) {
    error_ = ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                       "an event is larger than " + std::to_string(max_message_bytes_) + " bytes");
  }
  if (error_.status() != RY_OK) return RY_ABORTED;
  paused_ = pause_wanted_ && !resuming_;
  return pause_wanted_ ? RY_RESOURCE_EXHAUSTED : RY_OK;
}

void session::handle_event(std::string_view name, std::string_view data) {
  if (name == "endpoint") {
    if (!messages_url_.empty()) return;
    end_wait_for_endpoint();
    messages_url_ = mcp_transport::same_origin_url(base_url_, data);
    if (messages_url_.empty()) {
      error_ = ry::error(RY_DATA_LOSS, "mcp.sse", "the server named an address for messages that is not its own");
      return;
    }
    while (!unsent_.empty()) {
      auto m = std::move(unsent_.front());
      unsent_.pop_front();
      start_post(std::move(m));
    }
    return;
  }
  if (!name.empty() && name != "message") return;
  if (pause_wanted_ || !held_messages_.empty()) {
    held_messages_.emplace_back(data);
  } else {
    deliver(data);
  }
}

void session::deliver(std::string_view message) {
  const auto st = sink_.message(0, message);
  if (st == RY_RESOURCE_EXHAUSTED) {
    pause_wanted_ = true;
  } else if (st != RY_OK) {
    error_ = ry::error(st, "mcp.sse", "a message could not be processed");
  }
}

void session::on_resumed(void* p) noexcept {
  auto* s = static_cast<session*>(p);
  s->resuming_ = false;
  (void)ry::guard([&] {
    s->pause_wanted_ = false;
    while (!s->held_messages_.empty() && !s->pause_wanted_ && !s->closing_ && s->error_.status() == RY_OK) {
      const auto message = std::move(s->held_messages_.front());
      s->held_messages_.pop_front();
      s->deliver(message);
    }
  });
  s->paused_ = s->pause_wanted_ && !s->closing_;
  if (s->error_.status() != RY_OK) {
    s->held_messages_.clear();
    s->cancel(s->ctx_);
  }
  if (!s->paused_ && !s->stream_ended_) s->http_exchange::resume(s->ctx_);
  if (!s->paused_ && s->end_) s->report_end();
  s->end_if_idle();
}

ry::error session::end_error(ry_status st, const ry_error_view* err) const {
  if (error_.status() != RY_OK) return error_;
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
  stream_ended_ = true;
  if (ry::guard([&] { end_ = end_error(st, err); }) != RY_OK) end_.emplace(RY_RESOURCE_EXHAUSTED);
  // Messages that the server sent before the end are delivered first.
  if (!paused_ && !resuming_) report_end();
  end_if_idle();
}

void session::report_end() noexcept {
  if (closing_ || end_reported_) return;
  end_reported_ = true;
  unsent_.clear();
  for (auto& [token, p] : posts_) p->detach();
  sink_.closed(*end_);
}

ry_status session::send(ry::mcp::message m) {
  if (end_reported_ || stream_ended_) return RY_CANCELLED;
  if (posts_.size() + unsent_.size() >= max_posts) return RY_RESOURCE_EXHAUSTED;
  if (messages_url_.empty()) {
    unsent_.push_back(std::move(m));
  } else {
    start_post(std::move(m));
  }
  return RY_OK;
}

void session::start_post(ry::mcp::message m) {
  ry::client_request r("POST", messages_url_);
  for (const auto& [name, value] : mcp_transport::merged_headers(endpoint_.fields, m.fields)) r.header(name, value);
  r.header("Accept", "application/json, text/event-stream")
      .header("Accept-Encoding", "identity")
      .body(m.json, "application/json");
  r.flags(endpoint_.client_flags).connect_timeout(endpoint_.connect_timeout_ms).idle_timeout(endpoint_.idle_ms);
  if (m.is(RY_MCP_LAST)) r.flags(RY_CLIENT_LAST);
  if (m.timeout_ms != 0) r.total_timeout(m.timeout_ms);
  r.pool_key(pool_key_).account(endpoint_.account);
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

void session::finish(std::uint64_t token, std::int32_t reason) noexcept {
  for (auto it = unsent_.begin(); it != unsent_.end(); ++it) {
    if (it->token != token) continue;
    unsent_.erase(it);
    return;
  }
  const auto at = posts_.find(token);
  if (at == posts_.end()) return;
  at->second->detach();
  if (reason != 0) at->second->cancel(ctx_);
}

void session::resume() noexcept {
  if (!paused_) return;
  paused_ = false;
  // Deferred, so that it does not run inside this call.
  resuming_ = ctx_.core().exec_post(ctx_.host(), exec_, &session::on_resumed, this) == RY_OK;
}

void session::close() noexcept {
  closing_ = true;
  unsent_.clear();
  for (auto& [token, p] : posts_) p->close();
  if (paused_) resume();
  end_if_idle();
}

void session::post_ended(std::uint64_t token) noexcept {
  posts_.erase(token);
  end_if_idle();
}

void session::end_if_idle() noexcept {
  if (!closing_ || !posts_.empty() || resuming_) return;
  // The server ends the session with its event stream, so the stream is closed last.
  if (!stream_ended_) return cancel(ctx_);
  ctx_.interface<ry_http_client_v1>().drop_idle(ctx_.host(), exec_, ry::str(pool_key_));
  delete this;
}

}  // namespace mcp_sse
