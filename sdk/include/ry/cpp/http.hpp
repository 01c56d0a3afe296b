// Requests, responses, forms and streams. A request is a cheap handle that may be copied. respond, fail, respond_file
// or open_stream ends it; if its last copy is destroyed without one of these, it answers 500. Its data is valid until
// it ends. Its cancel token is cancelled when the client disconnects, the deadline passes or the host drains; after
// open_stream the same token belongs to the stream.
#pragma once

#include <ry/cpp/op.hpp>

namespace ry {

// The response of a handler.
class response {
 public:
  explicit response(std::uint32_t status = 204) : status_(status) {}
  response(std::uint32_t status, std::string content_type, std::string body) : status_(status), body_(std::move(body)) {
    fields_.emplace_back("Content-Type", std::move(content_type));
  }
  static response json(std::uint32_t status, std::string body) {
    return response(status, "application/json", std::move(body));
  }
  static response json(std::string body) { return json(200, std::move(body)); }
  static response text(std::uint32_t status, std::string body) {
    return response(status, "text/plain; charset=utf-8", std::move(body));
  }
  static response empty(std::uint32_t status = 204) { return response(status); }

  response& header(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  std::uint32_t status() const noexcept { return status_; }
  const headers& fields() const noexcept { return fields_; }
  const std::string& body() const noexcept { return body_; }

 private:
  std::uint32_t status_;
  headers fields_;
  std::string body_;
};

// Shared immutable bytes, for one event to many streams.
class buffer {
 public:
  buffer() = default;
  buffer(const context& ctx, std::string_view bytes)
      : table_(&ctx.interface<ry_http_v1>()), handle_(table_->buffer_new(raw(bytes))) {
    if (handle_ == nullptr) throw error(RY_RESOURCE_EXHAUSTED);
  }
  buffer(buffer&& o) noexcept : table_(o.table_), handle_(std::exchange(o.handle_, nullptr)) {}
  buffer& operator=(buffer&& o) noexcept {
    std::swap(table_, o.table_);
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~buffer() {
    if (handle_ != nullptr) table_->buffer_release(handle_);
  }
  ry_buffer* handle() const noexcept { return handle_; }

 private:
  const ry_http_v1* table_ = nullptr;
  ry_buffer* handle_ = nullptr;
};

namespace detail {

struct request_state {
  request_state(const context& ctx, const ry_request_view* view, ry_request* handle)
      : ctx(ctx), http(*ctx.try_interface<ry_http_v1>()), view(view), exec(view->exec), handle(handle) {}
  request_state(const request_state&) = delete;
  request_state& operator=(const request_state&) = delete;
  ~request_state() {
    if (handle.load(std::memory_order_acquire) != nullptr) {
      const error e(RY_INTERNAL);
      fail(e);
    }
  }
  ry_request* open() const {
    ry_request* r = handle.load(std::memory_order_acquire);
    if (r == nullptr) throw precondition("http.request_ended", "the request has already been answered");
    return r;
  }
  ry_request* take() {
    ry_request* r = handle.exchange(nullptr, std::memory_order_acq_rel);
    if (r == nullptr) throw precondition("http.request_ended", "the request has already been answered");
    return r;
  }
  // Ends the request with f(handle). If the host rejects the response (a header that cannot be sent), the request stays
  // open and this throws.
  template <class F>
  void end(const char* what, F&& f) {
    ry_request* r = take();
    const ry_status st = f(r);
    if (st == RY_OK || st == RY_CANCELLED) return;
    handle.store(r, std::memory_order_release);
    throw internal("http.answer_refused", std::string("the host refused ") + what + ": " + status_name(st));
  }
  void respond(const response& a) {
    const auto fields = c_headers(a.fields());
    end("respond",
        [&](ry_request* r) { return http.respond(r, a.status(), fields.data(), fields.size(), raw(a.body())); });
  }
  void fail(const error& e) noexcept {
    ry_request* r = handle.exchange(nullptr, std::memory_order_acq_rel);
    if (r == nullptr) return;
    const ry_error_view v = e.view();
    http.fail(r, &v);
  }

  const context& ctx;
  const ry_http_v1& http;
  const ry_request_view* view;
  ry_exec* exec;
  std::atomic<ry_request*> handle;
  cancel_state cancel;
};

// The completion of read_body has no error view, so call_op does not apply.
class body_op {
 public:
  explicit body_op(std::shared_ptr<request_state> s) noexcept : state_(std::move(s)) {}
  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> h) {
    waiting_ = h;
    const ry_status st = state_->http.read_body(
        state_->open(),
        [](void* p, ry_status got, ry_bytes chunk) noexcept {
          auto* self = static_cast<body_op*>(p);
          try {
            if (got == RY_OK) {
              self->out_.emplace(ry::text(chunk));
            } else {
              self->out_.emplace(error(got));
            }
          } catch (...) {
            self->out_.emplace(current_error());
          }
          self->waiting_.resume();
        },
        this);
    if (st == RY_OK) return true;
    out_.emplace(error(st));
    return false;
  }
  result<std::string> await_resume() { return *std::move(out_); }

 private:
  std::shared_ptr<request_state> state_;
  std::coroutine_handle<> waiting_;
  std::optional<result<std::string>> out_;
};

}  // namespace detail

// An open response. Destroying it closes it after the queued data is sent. write and close may be called from any
// thread, but not concurrently on one object.
class stream {
 public:
  stream(std::shared_ptr<detail::request_state> of, ry_stream* handle) noexcept
      : state_(std::move(of)), handle_(handle) {}
  stream(stream&& o) noexcept : state_(std::move(o.state_)), handle_(std::exchange(o.handle_, nullptr)) {}
  stream& operator=(stream&& o) noexcept {
    if (this != &o) {
      close();
      state_ = std::move(o.state_);
      handle_ = std::exchange(o.handle_, nullptr);
    }
    return *this;
  }
  ~stream() { close(); }

  // RY_RESOURCE_EXHAUSTED: the client reads too slowly and will be disconnected; RY_CANCELLED: it has disconnected.
  ry_status write(std::string_view bytes) noexcept {
    return handle_ != nullptr ? state_->http.stream_write(handle_, raw(bytes)) : RY_CANCELLED;
  }
  ry_status write(const buffer& b) noexcept { return write_buffer(b.handle()); }
  ry_status write_buffer(ry_buffer* b) noexcept {
    return handle_ != nullptr ? state_->http.stream_write_buffer(handle_, b) : RY_CANCELLED;
  }
  // Waits until less than a quarter of the limit is queued -> result<void>.
  auto ready() noexcept {
    return call_done([http = &state_->http, h = handle_](ry_exec* exec, ry_done done) -> ry_status {
      if (h == nullptr) return RY_CANCELLED;
      return http->stream_ready(h, exec, done);
    });
  }
  // Sends `bytes` after every interval without a write; 0 turns this off.
  ry_status keepalive(std::uint64_t interval_ms, std::string_view bytes) noexcept {
    return handle_ != nullptr ? state_->http.stream_keepalive(handle_, interval_ms, raw(bytes)) : RY_CANCELLED;
  }
  void close() noexcept {
    if (handle_ == nullptr) return;
    state_->http.stream_close(std::exchange(handle_, nullptr));
    // A close on another thread may be running on the stream's executor: keep the data that it uses alive.
    if (!state_->ctx.on_exec(state_->exec)) {
      (void)guard([&] { state_->ctx.post(state_->exec, [keep = state_] { (void)keep; }); });
    }
  }
  bool is_open() const noexcept { return handle_ != nullptr; }
  // Cancelled when the client disconnects or is disconnected, or the host drains (RY_REASON_SHUTDOWN).
  cancel_token cancel() const noexcept {
    return cancel_token(std::shared_ptr<detail::cancel_state>(state_, &state_->cancel));
  }

 private:
  std::shared_ptr<detail::request_state> state_;
  ry_stream* handle_;
};

// A stream of server-sent events.
class sse {
 public:
  explicit sse(stream s) noexcept : stream_(std::move(s)) {}

  // One event in wire form; id and name may be empty. data may contain line breaks.
  static std::string format(std::string_view data, std::string_view id = {}, std::string_view name = {}) {
    std::string out;
    out.reserve(data.size() + id.size() + name.size() + 32);
    if (!id.empty()) out.append("id: ").append(id).append("\n");
    if (!name.empty()) out.append("event: ").append(name).append("\n");
    for (;;) {
      const std::size_t end = data.find('\n');
      std::string_view line = data.substr(0, end);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      out.append("data: ").append(line).append("\n");
      if (end == std::string_view::npos) break;
      data.remove_prefix(end + 1);
    }
    out += '\n';
    return out;
  }
  ry_status send(std::string_view data, std::string_view id = {}, std::string_view name = {}) {
    return stream_.write(format(data, id, name));
  }
  ry_status comment(std::string_view text) {
    std::string out(": ");
    for (const char c : text) out += c == '\n' || c == '\r' ? ' ' : c;
    return stream_.write(out + "\n\n");
  }
  // The time after which the client reconnects.
  ry_status retry(std::uint64_t ms) { return stream_.write("retry: " + std::to_string(ms) + "\n\n"); }
  ry::stream& raw() noexcept { return stream_; }
  auto ready() noexcept { return stream_.ready(); }
  void close() noexcept { stream_.close(); }
  cancel_token cancel() const noexcept { return stream_.cancel(); }

 private:
  ry::stream stream_;
};

struct form_part {
  bool is_file = false;
  std::string_view name;
  std::string_view filename;  // as sent, unsanitised
  std::string_view content_type;
  std::string_view value;  // of a field
  std::string_view path;  // of a file's spool file, deleted with the request
  std::uint64_t size = 0;
};

// A form; its views are valid until the request ends.
class form {
 public:
  form() = default;
  explicit form(const ry_form* f) {
    const auto* at = reinterpret_cast<const char*>(f->parts);
    parts_.reserve(f->n_parts);
    for (std::size_t i = 0; i < f->n_parts; ++i, at += f->part_stride) {
      const auto* p = reinterpret_cast<const ry_form_part*>(at);
      parts_.push_back({p->is_file != 0, view(p->name), view(p->filename), view(p->content_type), view(p->value),
                        view(p->path), p->size});
    }
  }
  const std::vector<form_part>& parts() const noexcept { return parts_; }
  // The value of the first field with this name.
  std::optional<std::string_view> field(std::string_view name) const noexcept {
    for (const auto& p : parts_) {
      if (!p.is_file && p.name == name) return p.value;
    }
    return std::nullopt;
  }

 private:
  std::vector<form_part> parts_;
};

class request {
 public:
  explicit request(std::shared_ptr<detail::request_state> state) noexcept : state_(std::move(state)) {}

  std::string_view method() const noexcept { return view(v().method); }
  std::string_view path() const noexcept { return view(v().path); }
  std::string_view route() const noexcept { return view(v().route); }
  std::string_view id() const noexcept { return view(v().request_id); }
  std::string_view remote_address() const noexcept { return view(v().remote_address); }
  std::string_view traceparent() const noexcept { return view(v().traceparent); }
  std::string_view body() const noexcept { return view(v().body); }
  std::int64_t received_unix_us() const noexcept { return v().received_unix_us; }
  std::int64_t deadline_unix_us() const noexcept { return v().deadline_unix_us; }
  ry_exec* exec() const noexcept { return state_->exec; }
  const ry_request_view& view_of() const noexcept { return v(); }

  // The first header with this name in any case; empty if there is none.
  std::string_view header(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < v().n_headers; ++i) {
      if (iequals(view(v().headers[i].name), name)) return view(v().headers[i].value);
    }
    return {};
  }
  // A parameter of the route's pattern; empty if the pattern has none with this name.
  std::string_view param(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < v().n_params; ++i) {
      if (view(v().params[i].name) == name) return view(v().params[i].value);
    }
    return {};
  }
  // The first query parameter with this name, decoded. An invalid escape throws RY_INVALID_ARGUMENT.
  std::optional<std::string> query(std::string_view name) const {
    const auto all = query_all(name, 1);
    if (all.empty()) return std::nullopt;
    return all.front();
  }
  std::vector<std::string> query_all(std::string_view name, std::size_t at_most = static_cast<std::size_t>(-1)) const {
    std::vector<std::string> out;
    std::string_view rest = view(v().query);
    while (!rest.empty() && out.size() < at_most) {
      const std::size_t end = rest.find('&');
      const std::string_view pair = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      const std::size_t eq = pair.find('=');
      const auto key = percent_decode(pair.substr(0, eq));
      if (!key || *key != name) continue;
      auto value = percent_decode(eq == std::string_view::npos ? std::string_view() : pair.substr(eq + 1));
      if (!value) {
        throw bad_request("http.query_malformed",
                          "The query parameter " + std::string(name) + " has an invalid percent-encoding");
      }
      out.push_back(std::move(*value));
    }
    return out;
  }

  // All query parameters in order, decoded. An invalid escape throws RY_INVALID_ARGUMENT.
  std::vector<std::pair<std::string, std::string>> query_list() const {
    std::vector<std::pair<std::string, std::string>> out;
    std::string_view rest = view(v().query);
    while (!rest.empty()) {
      const std::size_t end = rest.find('&');
      const std::string_view pair = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (pair.empty()) continue;
      const std::size_t eq = pair.find('=');
      auto key = percent_decode(pair.substr(0, eq));
      auto value = percent_decode(eq == std::string_view::npos ? std::string_view() : pair.substr(eq + 1));
      if (!key || !value) throw bad_request("http.query_malformed", "The query has an invalid percent-encoding");
      out.emplace_back(std::move(*key), std::move(*value));
    }
    return out;
  }

  // nullptr only on public routes.
  const ry_principal* principal() const noexcept { return v().principal; }
  // The caller's subject; throws RY_UNAUTHENTICATED if there is no caller.
  std::string_view subject() const {
    if (principal() == nullptr) throw unauthenticated("auth.required", "Authentication required");
    return view(principal()->subject);
  }
  cancel_token cancel() const noexcept {
    return cancel_token(std::shared_ptr<detail::cancel_state>(state_, &state_->cancel));
  }
  bool ended() const noexcept { return state_->handle.load(std::memory_order_acquire) == nullptr; }

  // ---- functions that end the request; a second call throws RY_FAILED_PRECONDITION ----
  void respond(const response& r) const { state_->respond(r); }
  // Does nothing if the request has already ended.
  void fail(const error& e) const noexcept { state_->fail(e); }
  // A part of a file; RY_NOT_FOUND leaves the request open.
  ry_status respond_file(std::string_view file_path, const headers& fields, std::uint32_t status = 200,
                         std::uint64_t offset = 0, std::uint64_t len = UINT64_MAX) const {
    const auto c_fields = detail::c_headers(fields);
    const ry_status st = state_->http.respond_file(state_->open(), status, c_fields.data(), c_fields.size(),
                                                   str(file_path), offset, len);
    if (st == RY_OK) state_->handle.store(nullptr, std::memory_order_release);
    return st;
  }
  stream open_stream(std::uint32_t status, const headers& fields) const {
    const auto c_fields = detail::c_headers(fields);
    ry_stream* out = nullptr;
    state_->end("stream_open", [&](ry_request* r) {
      return state_->http.stream_open(r, status, c_fields.data(), c_fields.size(), &out);
    });
    if (out == nullptr) throw error(RY_CANCELLED, "http.client_gone", "The client has disconnected");
    stream s(state_, out);
    const ry_status watched = state_->http.stream_on_close(out, state_->exec, &cancelled, &state_->cancel);
    if (watched != RY_OK) state_->cancel.cancel(RY_REASON_GONE);
    return s;
  }
  sse open_sse(headers fields = {}) const {
    fields.emplace_back("Content-Type", "text/event-stream");
    fields.emplace_back("Cache-Control", "no-cache");
    fields.emplace_back("X-Accel-Buffering", "no");
    return sse(open_stream(200, fields));
  }

  // ---- bodies of RY_ROUTE_STREAM_BODY routes ----
  // The complete form -> result<form>.
  auto read_form(const ry_form_limits& limits = {}) const {
    ry_form_limits l = limits;
    l.struct_size = sizeof l;
    return call<form, const ry_form*>(
        [s = state_, l](ry_exec*, ry_form_fn fn, void* ctx) -> ry_status {
          return s->http.read_form(s->open(), &l, fn, ctx);
        },
        [](const ry_form* f) { return form(f); });
  }
  // The next piece of the body; empty at its end -> result<std::string>.
  auto read_body() const { return detail::body_op(state_); }

  // Called by the host's cancel callbacks.
  static void cancelled(void* ctx, std::int32_t why) noexcept { static_cast<detail::cancel_state*>(ctx)->cancel(why); }

 private:
  const ry_request_view& v() const noexcept { return *state_->view; }
  std::shared_ptr<detail::request_state> state_;
};

}  // namespace ry
