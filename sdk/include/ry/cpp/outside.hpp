// Access to the outside of a module: HTTP requests, child processes, secrets, services of other modules, metrics,
// tokens.
#pragma once

#include <time.h>

#include <charconv>
#include <optional>
#include <ry/cpp/op.hpp>
#include <string>
#include <string_view>

namespace ry {

// ---- outgoing HTTP ----------------------------------------------------------------------------

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
  // The whole response, at most max_response bytes.
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

// ---- child processes --------------------------------------------------------------------------

class process_spec {
 public:
  explicit process_spec(std::vector<std::string> argv) : argv_(std::move(argv)) {
    limits_.struct_size = sizeof limits_;
  }
  process_spec& env(std::string name, const std::string& value) {
    env_.push_back(std::move(name) + "=" + value);
    return *this;
  }
  process_spec& cwd(std::string dir) {
    cwd_ = std::move(dir);
    return *this;
  }
  process_spec& flags(std::uint32_t f) noexcept {  // RY_PROCESS_*
    flags_ |= f;
    return *this;
  }
  ry_process_limits& limits() noexcept { return limits_; }

  // Valid as long as this object and `store`.
  ry_process_spec c_form(std::vector<ry_str>& store) const {
    for (const auto& a : argv_) store.push_back(str(a));
    for (const auto& e : env_) store.push_back(str(e));
    ry_process_spec s{};
    s.struct_size = sizeof s;
    s.flags = flags_;
    s.argv = store.data();
    s.n_argv = argv_.size();
    s.env = store.data() + argv_.size();
    s.n_env = env_.size();
    s.cwd = str(cwd_);
    s.limits = limits_;
    return s;
  }

 private:
  std::vector<std::string> argv_, env_;
  std::string cwd_;
  std::uint32_t flags_ = 0;
  ry_process_limits limits_{};
};

struct process_output {
  int fd = 1;  // 1 or 2
  std::string bytes;
};
struct process_exit {
  std::int32_t code = 0;  // 0..255 or -signal
  std::int32_t why = 0;  // 0, RY_REASON_DEADLINE, RY_REASON_USER
};

namespace detail {

struct process_flow {
  const context* ctx;
  const ry_process_v1* table;
  ry_exec* exec = nullptr;
  ry_process* handle = nullptr;
  bool paused = false;
  bool exited = false;
  process_exit exit;
  std::deque<process_output> chunks;
  std::size_t queued = 0;
  std::size_t limit = 256 * 1024;
  signal changed;

  ry_status take(int fd, ry_bytes chunk) noexcept {
    const ry_status st = guard([&] { chunks.push_back({fd, text(chunk)}); });
    if (st == RY_OK) queued += chunk.len;
    changed.set();
    paused = paused || queued >= limit;
    return queued >= limit ? RY_RESOURCE_EXHAUSTED : RY_OK;
  }
  static process_flow* of(void* p) noexcept { return static_cast<process_flow*>(p); }
  static ry_status on_stdout(void* p, ry_bytes chunk) noexcept { return of(p)->take(1, chunk); }
  static ry_status on_stderr(void* p, ry_bytes chunk) noexcept { return of(p)->take(2, chunk); }
  static void on_exit(void* p, std::int32_t code, std::int32_t why) noexcept {
    of(p)->exit = {code, why};
    of(p)->exited = true;
    of(p)->changed.set();
  }
  // Releases on the executor of the process, where no handler call starts afterwards.
  static void end(void* p) noexcept {
    process_flow* f = of(p);
    if (f->ctx->on_exec(f->exec)) {
      f->table->release(f->handle);
      delete f;
      return;
    }
    f->ctx->core().exec_post(f->ctx->host(), f->exec, &process_flow::end, f);
  }
};

}  // namespace detail

// A running child; destroying it kills its whole group. Use it on the executor given to spawn, except for write,
// close_stdin, kill and the destructor.
class child {
 public:
  explicit child(detail::process_flow* f) noexcept : flow_(f) {}
  child(child&& o) noexcept : flow_(std::exchange(o.flow_, nullptr)) {}
  child& operator=(child&& o) noexcept {
    std::swap(flow_, o.flow_);
    return *this;
  }
  ~child() {
    if (flow_ != nullptr) detail::process_flow::end(flow_);
  }
  // The next output of either pipe; nullopt after the exit. Pipes pause while 256 KiB wait here.
  task<result<std::optional<process_output>>> read() {
    detail::process_flow* f = flow_;
    while (f->chunks.empty() && !f->exited) {
      result<void> woken = co_await f->changed.wait();
      if (!woken) co_return woken.error();
    }
    if (f->chunks.empty()) co_return std::optional<process_output>();
    std::optional<process_output> out(std::move(f->chunks.front()));
    f->chunks.pop_front();
    f->queued -= out->bytes.size();
    if (f->paused && f->queued < f->limit / 2) {
      f->paused = false;
      f->table->resume(f->handle);
    }
    co_return std::move(out);
  }
  // Discards unread output and waits for the exit.
  task<result<process_exit>> wait() {
    for (;;) {
      result<std::optional<process_output>> out = co_await read();
      if (!out) co_return out.error();
      if (!*out) break;
    }
    co_return flow_->exit;
  }
  // Waits until the bytes are in the pipe -> result<void>.
  auto write(std::string_view bytes) {
    return call_done(
        [f = flow_, bytes](ry_exec*, ry_done done) { return f->table->write(f->handle, raw(bytes), done); });
  }
  void close_stdin() noexcept { flow_->table->close_stdin(flow_->handle); }
  void kill(std::int32_t signal) noexcept { flow_->table->kill(flow_->handle, signal); }
  std::int32_t pid() const noexcept { return flow_->table->pid(flow_->handle); }
  bool exited() const noexcept { return flow_->exited; }

 private:
  detail::process_flow* flow_;
};

class processes {
 public:
  explicit processes(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_process_v1>()) {}

  result<child> spawn(ry_exec* exec, const process_spec& spec) const {
    auto own = std::make_unique<detail::process_flow>();
    own->ctx = ctx_;
    own->table = table_;
    own->exec = exec;
    ry_process_handler handler{};
    handler.struct_size = sizeof handler;
    handler.on_stdout = &detail::process_flow::on_stdout;
    handler.on_stderr = &detail::process_flow::on_stderr;
    handler.on_exit = &detail::process_flow::on_exit;
    std::vector<ry_str> store;
    const ry_process_spec s = spec.c_form(store);
    char text_of_error[512];
    ry_errbuf err{text_of_error, sizeof text_of_error, 0};
    const ry_status st = table_->spawn(ctx_->host(), exec, &s, &handler, own.get(), &own->handle, &err);
    if (st != RY_OK) return error(st, "process.spawn", std::string(err.ptr, err.len));
    return child(own.release());
  }

 private:
  const context* ctx_;
  const ry_process_v1* table_;
};
inline processes context::processes() const {
  return ry::processes(*this);
}

// ---- secrets, metrics, tokens -----------------------------------------------------------------

namespace detail {
// For functions that pass bytes to a ry_take_fn once, within the call.
template <class Call>
result<std::string> taken(const char* what, Call&& c) {
  struct sink {
    std::string out;
    ry_status st = RY_OK;
  } s;
  const ry_status st = c(
      [](void* p, ry_bytes b) noexcept {
        auto* to = static_cast<sink*>(p);
        to->st = guard([&] { to->out = text(b); });
      },
      static_cast<void*>(&s));
  if (st != RY_OK) return error(st, what, std::string(what) + ": " + status_name(st));
  if (s.st != RY_OK) return error(s.st);
  return std::move(s.out);
}
}  // namespace detail

// Masks a text in the host's log during the lifetime of this object and for a while afterwards.
class masked_text {
 public:
  masked_text(const context& ctx, std::string text) : ctx_(&ctx), text_(std::move(text)) {
    table().mask(ctx_->host(), str(text_));
  }
  masked_text(masked_text&& other) noexcept : ctx_(std::exchange(other.ctx_, nullptr)), text_(std::move(other.text_)) {}
  masked_text& operator=(masked_text&&) = delete;
  ~masked_text() {
    if (ctx_ != nullptr) table().unmask(ctx_->host(), str(text_));
  }

 private:
  const ry_secrets_v1& table() const noexcept { return ctx_->interface<ry_secrets_v1>(); }
  const context* ctx_;
  std::string text_;
};

class secrets {
 public:
  explicit secrets(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_secrets_v1>()) {}
  // Encrypts, bound to `place` ("mcp.header:<row id>").
  result<std::string> seal(std::string_view place, std::string_view plain) const {
    return detail::taken("secrets.seal", [&](ry_take_fn take, void* p) {
      return table_->seal(ctx_->host(), str(place), raw(plain), take, p);
    });
  }
  result<std::string> open(std::string_view place, std::string_view sealed) const {
    return detail::taken("secrets.open", [&](ry_take_fn take, void* p) {
      return table_->open(ctx_->host(), str(place), raw(sealed), take, p);
    });
  }
  // Masks this text in the host's log permanently; use masked_text for a user's secret.
  void redact(std::string_view secret) const noexcept { table_->redact(ctx_->host(), str(secret)); }

 private:
  const context* ctx_;
  const ry_secrets_v1* table_;
};
inline secrets context::secrets() const {
  return ry::secrets(*this);
}

// A metric; copy it freely. If its creation failed, it does nothing.
class metric {
 public:
  metric() = default;
  metric(const ry_metrics_v1* table, ry_metric* handle) noexcept : table_(table), handle_(handle) {}
  void add(double v = 1) const noexcept {
    if (handle_ != nullptr) table_->add(handle_, v);
  }
  void set(double v) const noexcept {
    if (handle_ != nullptr) table_->set(handle_, v);
  }
  void observe(double v) const noexcept {
    if (handle_ != nullptr) table_->observe(handle_, v);
  }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  const ry_metrics_v1* table_ = nullptr;
  ry_metric* handle_ = nullptr;
};

class metrics {
 public:
  explicit metrics(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_metrics_v1>()) {}
  metric counter(std::string_view name, std::string_view help, const headers& labels = {}) const {
    return get(RY_METRIC_COUNTER, name, help, labels, {});
  }
  metric gauge(std::string_view name, std::string_view help, const headers& labels = {}) const {
    return get(RY_METRIC_GAUGE, name, help, labels, {});
  }
  metric histogram(std::string_view name, std::string_view help, const headers& labels = {},
                   const std::vector<double>& bounds = {}) const {
    return get(RY_METRIC_HISTOGRAM, name, help, labels, bounds);
  }

 private:
  metric get(std::int32_t kind, std::string_view name, std::string_view help, const headers& labels,
             const std::vector<double>& bounds) const {
    const auto l = detail::c_headers(labels);
    return metric(table_, table_->get(ctx_->host(), kind, str(name), str(help), l.data(), l.size(),
                                      bounds.empty() ? nullptr : bounds.data(), bounds.size()));
  }
  const context* ctx_;
  const ry_metrics_v1* table_;
};
inline metrics context::metrics() const {
  return ry::metrics(*this);
}

class auth {
 public:
  explicit auth(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_auth_v1>()) {}
  result<std::string> mint(std::string_view claims_json, std::uint64_t ttl_ms) const {
    return detail::taken("auth.mint", [&](ry_take_fn take, void* p) {
      return table_->mint(ctx_->host(), str(claims_json), ttl_ms, take, p);
    });
  }
  result<std::string> mint_query_token(const ry_principal& who, std::string_view path, std::uint64_t ttl_ms) const {
    return detail::taken("auth.mint_query_token", [&](ry_take_fn take, void* p) {
      return table_->mint_query_token(ctx_->host(), &who, str(path), ttl_ms, take, p);
    });
  }
  void forget(std::string_view subject) const noexcept { table_->forget(ctx_->host(), str(subject)); }
  void refuse_session(std::string_view subject, std::string_view session, std::int64_t until_unix_us) const {
    check(table_->refuse_session(ctx_->host(), str(subject), str(session), until_unix_us), "auth.refuse_session");
  }

 private:
  const context* ctx_;
  const ry_auth_v1* table_;
};
inline auth context::auth() const {
  return ry::auth(*this);
}

// ---- services of other modules ----------------------------------------------------------------

// A lease on a service's table. svc->fn(svc.self(), ...)
template <class Table>
class service {
 public:
  service() = default;
  service(const ry_services_v1* services, const Table* table, void* self, ry_lease* lease) noexcept
      : services_(services), table_(table), self_(self), lease_(lease) {}
  service(service&& o) noexcept
      : services_(o.services_),
        table_(std::exchange(o.table_, nullptr)),
        self_(o.self_),
        lease_(std::exchange(o.lease_, nullptr)) {}
  service& operator=(service&& o) noexcept {
    std::swap(services_, o.services_);
    std::swap(table_, o.table_);
    std::swap(self_, o.self_);
    std::swap(lease_, o.lease_);
    return *this;
  }
  ~service() { release(); }
  void release() noexcept {
    table_ = nullptr;
    if (lease_ != nullptr) services_->release(std::exchange(lease_, nullptr));
  }
  const Table* operator->() const noexcept { return table_; }
  void* self() const noexcept { return self_; }
  explicit operator bool() const noexcept { return table_ != nullptr; }

 private:
  const ry_services_v1* services_ = nullptr;
  const Table* table_ = nullptr;
  void* self_ = nullptr;
  ry_lease* lease_ = nullptr;
};

// Throws RY_NOT_FOUND if no module provides it.
template <class Table>
service<Table> context::acquire(std::string_view id) const {
  const auto& services = interface<ry_services_v1>();
  const void* table = nullptr;
  void* self = nullptr;
  ry_lease* lease = nullptr;
  const ry_status st = services.acquire(host_, str(id), sizeof(Table), &table, &self, &lease);
  if (st != RY_OK) {
    throw error(st, "services.acquire", "the service " + std::string(id) + " cannot be had: " + status_name(st));
  }
  return service<Table>(&services, static_cast<const Table*>(table), self, lease);
}

}  // namespace ry
