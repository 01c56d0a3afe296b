// Child processes: ry.process/1.
#pragma once

#include <optional>
#include <ry/cpp/op.hpp>
#include <string>
#include <string_view>

namespace ry {

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

// A running child; destroying it kills its process group. Use it on the executor given to spawn, except for write,
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

}  // namespace ry
