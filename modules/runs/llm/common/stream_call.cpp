#include "stream_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "json_text.hpp"
#include "request.hpp"

namespace llm {

namespace {

constexpr std::size_t max_error_body = 64 * 1024;
constexpr std::size_t max_bytes_after_end = 64 * 1024;
constexpr std::uint64_t max_answer = 256ull * 1024 * 1024;
constexpr std::uint64_t linger_ms = 2000;
constexpr std::uint64_t terminator_ms = 5000;  // time without new data after the finish reason, until the answer ends

// The HTTP client's messages contain addresses, so they are quoted only in the log.
failure classify_transport(ry_status st, std::string_view reason, std::string text) {
  switch (st) {
    case RY_CANCELLED:
      return {RY_CANCELLED, "llm.cancelled", "the request was cancelled"};
    case RY_DEADLINE_EXCEEDED:
      return {st, "llm.timeout", std::move(text)};
    case RY_INVALID_ARGUMENT:
      return {st, "llm.refused", std::move(text)};
    case RY_PERMISSION_DENIED:
      return {RY_INVALID_ARGUMENT, "llm.refused", std::move(text)};
    case RY_DATA_LOSS:
      if (reason == "http_client.truncated") return {RY_UNAVAILABLE, "llm.cut_off", std::move(text)};
      return {RY_DATA_LOSS, "llm.protocol", std::move(text)};
    case RY_RESOURCE_EXHAUSTED:
      return {RY_DATA_LOSS, "llm.protocol", std::move(text)};
    default:
      return {RY_UNAVAILABLE, "llm.unavailable", std::move(text)};
  }
}

failure failure_of_transport(ry_status st, std::string_view reason, std::string_view message) {
  const bool quoted = !message.empty();
  auto f =
      classify_transport(st, reason, std::string(quoted ? message : "the connection to the model provider failed"));
  f.quoted = quoted && st != RY_CANCELLED;
  return f;
}

}  // namespace

stream_call::stream_call(const ry::context& host, const endpoint& at, const caller& from)
    : host_(host), secrets_(at.secrets), input_estimate_(from.input_estimate), ctx_(from.ctx), exec_(from.exec) {
  std::memcpy(&sink_, &from.sink, std::min<std::size_t>(from.sink.struct_size, sizeof sink_));
}

ry_status stream_call::send(const endpoint& at, exchange e) {
  const auto& http = host_.interface<ry_http_client_v1>();
  reader_ = std::move(e.reader);
  names_ = std::move(e.names);
  notices_ = std::move(e.notices);
  std::vector<ry_header> fields;
  for (const auto& [name, value] : at.headers) fields.push_back({ry::str(name), ry::str(value)});
  fields.push_back({ry::str("Content-Type"), ry::str("application/json")});
  fields.push_back({ry::str("Accept"), ry::str("text/event-stream")});
  ry_client_request r{};
  r.struct_size = sizeof r;
  r.flags = RY_CLIENT_OPERATOR_URL;
  if (at.proxied == endpoint::proxy_from::environment) r.flags |= RY_CLIENT_ENVIRONMENT_PROXY;
  if (at.proxied == endpoint::proxy_from::setting) r.proxy = ry::str(at.proxy);
  r.trust = at.trust;
  r.method = ry::str("POST");
  r.url = ry::str(at.url);
  r.headers = fields.data();
  r.n_headers = fields.size();
  r.body = {reinterpret_cast<const std::uint8_t*>(e.body.data()), e.body.size()};
  r.idle_timeout_ms = at.idle_ms;
  r.total_timeout_ms = at.total_ms;
  r.max_response_bytes = max_answer;
  r.pool_key = ry::str(at.name);
  const ry_client_handler handler{sizeof handler, 0, &stream_call::on_head, &stream_call::on_data,
                                  &stream_call::on_done};
  // The handler may run on another thread before this returns, but it never uses op_.
  return http.request(host_.host(), exec_, &r, &handler, this, &op_);
}

ry_status stream_call::start(const ry::context& host, const endpoint& at, exchange e, const caller& from, void** call) {
  std::unique_ptr<stream_call> self(new stream_call(host, at, from));
  *call = self.get();
  const auto st = self->send(at, std::move(e));
  if (st == RY_OK) self.release();
  return st;
}

// A request that is being built.
struct stream_call::preparation {
  std::unique_ptr<stream_call> call;
  const endpoint& at;
  std::function<exchange()> build;
  exchange built;
  std::optional<failure> rejected;

  static void work(void* p) noexcept {
    auto* self = static_cast<preparation*>(p);
    (void)ry::guard([&] {
      try {
        self->built = self->build();
      } catch (const bad_request& e) {
        self->rejected = {RY_INVALID_ARGUMENT, "llm.refused", e.what()};
      }
    });
  }
  static void done(void* p, ry_status prepared, const ry_error_view*) noexcept {
    const std::unique_ptr<preparation> self(static_cast<preparation*>(p));
    auto& call = self->call;
    (void)ry::guard([&] {
      if (call->cancelled_ || prepared != RY_OK) return call->end(failure_of_transport(RY_CANCELLED, {}, {}));
      if (self->rejected) return call->end(*self->rejected);
      if (!self->built.reader) return;
      const auto st = call->send(self->at, std::move(self->built));
      if (st != RY_OK) return call->end(failure_of_transport(st, {}, {}));
      call.release();
    });
    if (call != nullptr && !call->done_) call->end({RY_INTERNAL, "llm.internal", "the request could not be sent"});
  }
};

ry_status stream_call::start(const ry::context& host, const endpoint& at, std::function<exchange()> prepare,
                             const caller& from, void** call) {
  std::unique_ptr<stream_call> of(new stream_call(host, at, from));
  *call = of.get();
  auto p = std::make_unique<preparation>(preparation{std::move(of), at, std::move(prepare), {}, {}});
  const auto st =
      host.core().run_blocking(host.host(), from.exec, &preparation::work, p.get(), {&preparation::done, p.get()});
  if (st == RY_OK) p.release();
  return st;
}

void stream_call::cancel(void* call) {
  auto* self = static_cast<stream_call*>(call);
  self->cancelled_ = true;
  if (self->op_ != 0) self->host_.core().op_cancel(self->host_.host(), self->op_);
}

void stream_call::on_head(void* p, const ry_client_response* response) noexcept {
  auto* self = static_cast<stream_call*>(p);
  self->status_ = response->status;
  (void)ry::guard([self] { self->report_notices(); });
  for (std::size_t i = 0; i < response->n_headers; ++i)
    (void)ry::guard([&] {
      self->retry_headers_.add(ry::view(response->headers[i].name), ry::view(response->headers[i].value),
                               self->host_.now_unix_us() / 1'000'000);
    });
}

void stream_call::report_notices() {
  for (const auto& n : std::exchange(notices_, {}))
    if (sink_.on_notice != nullptr) sink_.on_notice(ctx_, ry::str(n.code), ry::str(n.message));
}

void stream_call::tool_call(std::string_view id, std::string_view name, std::string_view args) {
  if (names_ == nullptr) return sink_.on_tool_call(ctx_, ry::str(id), ry::str(name), ry::str(args));
  const std::string original = names_->name(name), restored = names_->arguments(name, args);
  sink_.on_tool_call(ctx_, ry::str(id), ry::str(original), ry::str(restored));
}

ry_status stream_call::on_data(void* p, ry_bytes chunk) noexcept {
  auto* self = static_cast<stream_call*>(p);
  return ry::guard([&] {
    const ry_status st = self->receive({reinterpret_cast<const char*>(chunk.ptr), chunk.len});
    // The host would interpret RY_RESOURCE_EXHAUSTED as a request to pause.
    return st == RY_RESOURCE_EXHAUSTED ? RY_ABORTED : st;
  });
}

ry_status stream_call::receive(std::string_view bytes) {
  if (done_) {
    after_end_ += bytes.size();
    return after_end_ > max_bytes_after_end ? RY_ABORTED : RY_OK;
  }
  if (cancelled_) return RY_CANCELLED;
  if (status_ / 100 != 2) {
    error_body_.append(bytes.substr(0, max_error_body - std::min(max_error_body, error_body_.size())));
    return RY_OK;
  }
  const bool fits = body_.feed(bytes, *reader_, *this, [this] { return !cancelled_; });
  if (!fits) {
    end({RY_DATA_LOSS, "llm.protocol", "the model provider sent an event that is too large"});
    return RY_ABORTED;
  }
  if (cancelled_) return RY_CANCELLED;
  if (!reader_->ended()) {
    // Some servers send no terminator and keep the connection open; others send a finish reason in each chunk.
    if (reader_->finish_seen()) close_after(terminator_ms);
    return RY_OK;
  }
  if (reader_->failed()) {
    end(*reader_->failed());
    return RY_ABORTED;
  }
  end();
  close_after(linger_ms);  // some servers keep the response open after the last event
  return RY_OK;
}

// Closes the connection after this time unless the server closes it first.
void stream_call::close_after(std::uint64_t ms) {
  if (const auto earlier = std::exchange(linger_op_, 0)) host_.core().op_cancel(host_.host(), earlier);
  struct close_timer {
    const ry::context& host;
    ry_op_id op;
  };
  auto timer = std::make_unique<close_timer>(close_timer{host_, op_});
  const ry_done done{[](void* p, ry_status sleep_status, const ry_error_view*) noexcept {
                       const std::unique_ptr<close_timer> l(static_cast<close_timer*>(p));
                       if (sleep_status == RY_OK) l->host.core().op_cancel(l->host.host(), l->op);
                     },
                     timer.get()};
  if (host_.core().sleep_ms(host_.host(), exec_, ms, done, &linger_op_) == RY_OK) timer.release();
}

void stream_call::on_done(void* p, ry_status st, const ry_error_view* err) noexcept {
  const std::unique_ptr<stream_call> self(static_cast<stream_call*>(p));
  if (self->linger_op_ != 0) self->host_.core().op_cancel(self->host_.host(), self->linger_op_);
  if (self->done_) return;
  (void)ry::guard([&] { self->closed(st, err); });
  if (!self->done_) self->end({RY_INTERNAL, "llm.internal", "the response could not be processed"});
}

void stream_call::closed(ry_status st, const ry_error_view* err) {
  if (cancelled_) return end(failure_of_transport(RY_CANCELLED, {}, {}));
  const bool refused = status_ != 0 && status_ / 100 != 2;
  if (refused) {
    auto f = reader_->refused(status_, error_body_);
    // Precedence: the header, the error's text, the reset time of the limit.
    if (const auto requested = retry_headers_.requested_ms(); requested != 0)
      f.retry_after_s = seconds_rounded_up(requested);
    if (f.retry_after_s == 0 && status_ == 429) f.retry_after_s = seconds_rounded_up(retry_headers_.reset_ms());
    return end(f);
  }
  if (st != RY_OK) {
    const auto reason = err ? ry::view(err->reason) : std::string_view();
    // The answer may be complete even if the connection was not closed properly.
    if (reason == "http_client.truncated" || reason == "http_client.reset" || reader_->finish_seen())
      body_.closed(*reader_, *this);
    if (reader_->ended() && !reader_->failed()) return end();
    return end(failure_of_transport(st, reason, err ? ry::view(err->message) : ""));
  }
  body_.closed(*reader_, *this);
  if (reader_->failed()) return end(*reader_->failed());
  end();
}

ry_llm_end stream_call::summary(std::int32_t finish) const {
  ry_llm_end e{};
  e.struct_size = sizeof e;
  e.finish = finish;
  e.usage.struct_size = sizeof e.usage;
  const auto input = status_ / 100 == 2 ? input_estimate_ : 0;
  const auto u = reader_ ? with_estimates(reader_->used(), input, reader_->produced()) : usage{};
  e.usage.estimated = u.reported() ? 0 : 1;
  e.usage.input_tokens = u.input;
  e.usage.output_tokens = u.output;
  e.usage.cached_tokens = u.cached;
  e.usage.cache_write_tokens = std::min(u.cache_write, u.input - u.cached);
  return e;
}

void stream_call::end() {
  done_ = true;
  const auto e = summary(reader_->finish());
  sink_.on_end(ctx_, RY_OK, &e, nullptr);
}

void stream_call::end(const failure& f) {
  done_ = true;
  // The request has not failed: a retry would be filtered as well.
  const bool filtered = f.reason == content_filtered;
  const auto e = summary(filtered ? RY_LLM_FINISH_FILTER : 0);
  if (filtered) return sink_.on_end(ctx_, RY_OK, &e, nullptr);
  const std::string text = presentable(f.message, secrets_);
  const std::string_view message = f.quoted ? client_message(f) : std::string_view(text);
  const auto valid = with_valid_utf8(text);
  const std::string detail = f.quoted ? "{\"cause\":" + ry::json_string(valid ? *valid : text) + "}" : std::string();
  ry_error_view v{};
  v.struct_size = sizeof v;
  v.status = f.status;
  v.reason = ry::str(f.reason);
  v.message = ry::str(message);
  v.detail_json = ry::str(detail);
  v.retry_after_s = f.retry_after_s;
  sink_.on_end(ctx_, f.status, &e, &v);
}

}  // namespace llm
