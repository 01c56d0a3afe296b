// Outgoing HTTP requests: ry.http_client/1.
#pragma once

#include <time.h>

#include <charconv>
#include <optional>
#include <ry/cpp/op.hpp>
#include <string>
#include <string_view>

namespace ry {

// The seconds from now in a Retry-After header: a number, to which some servers add a fraction (rounded up), or an HTTP
// date (RFC 9110, 10.2.3; its first form). Empty: neither, or in the past.
inline std::optional<std::uint64_t> retry_after_s(std::string_view value, std::int64_t now_unix_s) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  if (value.empty()) return std::nullopt;
  if (value.front() >= '0' && value.front() <= '9') {
    std::uint64_t seconds = 0;
    const char* end = value.data() + value.size();
    const auto [at, ec] = std::from_chars(value.data(), end, seconds);
    if (ec != std::errc()) seconds = UINT64_MAX - 1;  // longer than any caller waits
    std::string_view rest = value.substr(static_cast<std::size_t>(at - value.data()));
    if (!rest.empty() && rest.front() == '.') rest.remove_prefix(1);
    const bool fraction = rest.find_first_not_of('0') != std::string_view::npos;
    if (rest.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return seconds + (fraction ? 1 : 0);
  }
  std::tm when{};
  const std::string text(value);
  const char* rest = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &when);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const std::int64_t seconds = static_cast<std::int64_t>(::timegm(&when)) - now_unix_s;
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds);
}

// A request to be sent; owns all of its data. Zero means the host's default.
class client_request {
 public:
  client_request(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}
  client_request& header(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  client_request& body(std::string bytes, std::string content_type = {}) {
    body_ = std::move(bytes);
    if (!content_type.empty()) header("Content-Type", std::move(content_type));
    return *this;
  }
  client_request& flags(std::uint32_t f) noexcept {  // RY_CLIENT_*
    flags_ |= f;
    return *this;
  }
  client_request& connect_timeout(std::uint64_t ms) noexcept {
    connect_ms_ = ms;
    return *this;
  }
  client_request& idle_timeout(std::uint64_t ms) noexcept {
    idle_ms_ = ms;
    return *this;
  }
  client_request& total_timeout(std::uint64_t ms) noexcept {
    total_ms_ = ms;
    return *this;
  }
  client_request& max_response(std::uint64_t bytes) noexcept {
    max_bytes_ = bytes;
    return *this;
  }
  client_request& pool_key(std::string key) {
    pool_key_ = std::move(key);
    return *this;
  }
  // The account that the request is made for, for URLs of users.
  client_request& account(std::string id) {
    account_ = std::move(id);
    return *this;
  }
  const std::string& url() const noexcept { return url_; }

  // Valid as long as this object and `fields`.
  ry_client_request c_form(std::vector<ry_header>& fields) const {
    fields = detail::c_headers(fields_);
    ry_client_request r{};
    r.struct_size = sizeof r;
    r.flags = flags_;
    r.method = str(method_);
    r.url = str(url_);
    r.headers = fields.data();
    r.n_headers = fields.size();
    r.body = raw(body_);
    r.connect_timeout_ms = connect_ms_;
    r.idle_timeout_ms = idle_ms_;
    r.total_timeout_ms = total_ms_;
    r.max_response_bytes = max_bytes_;
    r.pool_key = str(pool_key_);
    r.account = str(account_);
    return r;
  }

 private:
  std::string method_, url_, body_, pool_key_, account_;
  headers fields_;
  std::uint32_t flags_ = 0;
  std::uint64_t connect_ms_ = 0, idle_ms_ = 0, total_ms_ = 0, max_bytes_ = 0;
};

struct client_head {
  std::uint32_t status = 0;
  headers fields;
  std::string url;  // after redirects
  std::string peer_address;
  // The first field with this name in any case; empty if there is none.
  std::string_view header(std::string_view name) const noexcept {
    for (const auto& [n, value] : fields) {
      if (iequals(n, name)) return value;
    }
    return {};
  }
};

struct client_response : client_head {
  std::string body;
};

namespace detail {

// One request in progress; its stream, and the host until on_done, keep it alive.
struct client_flow {
  const context* ctx;
  const ry_http_client_v1* table;
  ry_exec* exec = nullptr;
  ry_op_id op = 0;
  int refs = 2;  // on exec only
  bool head_seen = false;
  bool paused = false;
  bool done = false;
  client_head head;
  std::deque<std::string> chunks;
  std::size_t queued = 0;
  std::size_t limit = 256 * 1024;
  error failure{RY_OK};
  signal changed;

  void release() noexcept {
    if (--refs == 0) delete this;
  }
  static client_flow* of(void* p) noexcept { return static_cast<client_flow*>(p); }
  static void on_head(void* p, const ry_client_response* r) noexcept {
    client_flow* f = of(p);
    const ry_status st = guard([&] {
      f->head.status = r->status;
      f->head.fields = own_headers(r->headers, r->n_headers);
      f->head.url = text(r->url);
      f->head.peer_address = text(r->peer_address);
    });
    if (st != RY_OK) f->failure = error(st);
    f->head_seen = true;
    f->changed.set();
  }
  static ry_status on_data(void* p, ry_bytes chunk) noexcept {
    client_flow* f = of(p);
    const ry_status st = guard([&] { f->chunks.push_back(text(chunk)); });
    if (st != RY_OK) return st == RY_RESOURCE_EXHAUSTED ? RY_INTERNAL : st;
    f->queued += chunk.len;
    f->changed.set();
    f->paused = f->queued >= f->limit;
    return f->paused ? RY_RESOURCE_EXHAUSTED : RY_OK;
  }
  static void on_done(void* p, ry_status st, const ry_error_view* err) noexcept {
    client_flow* f = of(p);
    if (st != RY_OK) f->failure = error::from(st, err);
    f->done = true;
    f->changed.set();
    f->release();
  }
};

}  // namespace detail

// A response that is read in pieces, on the executor of the chain that opened it. Destroying it early closes the
// connection.
class client_stream {
 public:
  explicit client_stream(detail::client_flow* flow) noexcept : flow_(flow) {}
  client_stream(client_stream&& o) noexcept : flow_(std::exchange(o.flow_, nullptr)) {}
  client_stream& operator=(client_stream&& o) noexcept {
    std::swap(flow_, o.flow_);
    return *this;
  }
  ~client_stream() {
    if (flow_ == nullptr) return;
    close();
    flow_->release();
  }
  const client_head& head() const noexcept { return flow_->head; }
  // The next piece; nullopt at the end. Reading pauses while 256 KiB wait here. Cancelling the chain ends the wait with
  // RY_CANCELLED.
  task<result<std::optional<std::string>>> next() {
    detail::client_flow* f = flow_;
    while (f->chunks.empty() && !f->done) {
      result<void> woken = co_await f->changed.wait();
      if (!woken) co_return woken.error();
    }
    if (f->chunks.empty()) {
      if (f->failure.status() != RY_OK) co_return f->failure;
      co_return std::optional<std::string>();
    }
    std::optional<std::string> out(std::move(f->chunks.front()));
    f->chunks.pop_front();
    f->queued -= out->size();
    if (f->paused && f->queued < f->limit / 2) {
      f->paused = false;
      f->table->resume(f->ctx->host(), f->op);
    }
    co_return std::move(out);
  }
  void close() noexcept {
    if (!flow_->done) flow_->ctx->core().op_cancel(flow_->ctx->host(), flow_->op);
  }

 private:
  detail::client_flow* flow_;
};

class http_client {
 public:
  explicit http_client(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_http_client_v1>()) {}

  // Sends the request and waits for the head of the response.
  task<result<client_stream>> open(client_request request) const {
    detail::env& env = co_await detail::this_env{};
    auto own = std::make_unique<detail::client_flow>();
    own->ctx = ctx_;
    own->table = table_;
    own->exec = env.exec;
    ry_client_handler handler{};
    handler.struct_size = sizeof handler;
    handler.on_head = &detail::client_flow::on_head;
    handler.on_data = &detail::client_flow::on_data;
    handler.on_done = &detail::client_flow::on_done;
    std::vector<ry_header> fields;
    const ry_client_request r = request.c_form(fields);
    const ry_status st = table_->request(ctx_->host(), env.exec, &r, &handler, own.get(), &own->op);
    if (st != RY_OK) {
      co_return error(st, "http_client.start", std::string("the request was not started: ") + status_name(st));
    }
    detail::client_flow* f = own.release();
    client_stream s(f);
    while (!f->head_seen && !f->done) {
      result<void> woken = co_await f->changed.wait();
      if (!woken) co_return woken.error();
    }
    if (f->failure.status() != RY_OK && !f->head_seen) co_return f->failure;
    co_return std::move(s);
  }
  // The complete response, at most max_response bytes.
  task<result<client_response>> fetch(client_request request) const {
    result<client_stream> opened = co_await open(std::move(request));
    if (!opened) co_return opened.error();
    client_response out;
    for (;;) {
      result<std::optional<std::string>> piece = co_await opened->next();
      if (!piece) co_return piece.error();
      if (!*piece) break;
      out.body += **piece;
    }
    static_cast<client_head&>(out) = opened->head();
    co_return std::move(out);
  }
  // Whether the address guard accepts the literal form of this URL.
  ry_status check_url(std::string_view url) const noexcept { return table_->check_url(ctx_->host(), str(url)); }

 private:
  const context* ctx_;
  const ry_http_client_v1* table_;
};
inline http_client context::http_client() const {
  return ry::http_client(*this);
}

}  // namespace ry
