#include "core/process/child.hpp"

#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace ry::process {

namespace {

constexpr std::size_t buffer_size = 64 * 1024;
constexpr std::size_t max_batch = 16;  // messages in one system call
// After the leader's end: time for the pipes to drain by themselves, then for the killed group's pipes to close.
constexpr auto end_grace = std::chrono::milliseconds(200);
constexpr auto kill_grace = std::chrono::milliseconds(1000);

}  // namespace

child::child(ry_exec& loop, launched l, const ry_process_handler& handler, void* ctx, module::hold hold,
             std::uint64_t wall_ms, std::function<void(child&)> before_reap)
    : loop_(loop),
      pid_(l.pid),
      fresh_(std::move(l)),
      handler_(handler),
      ctx_(ctx),
      hold_(std::move(hold)),
      wall_ms_(wall_ms),
      before_reap_(std::move(before_reap)) {
  out_.fn = handler.on_stdout;
  out_.what = "process.on_stdout";
  err_.fn = handler.on_stderr;
  err_.what = "process.on_stderr";
}

child::~child() {
  abandon();
}

bool child::adopt(std::optional<descriptor>& to, unique_fd from) {
  if (!from) return true;
  boost::system::error_code ec;
  to.emplace(loop_.ctx);
  to->assign(from.get(), ec);
  if (ec) {
    to.reset();
    return false;
  }
  from.release();
  return true;
}

void child::start() {
  const bool ok = adopt(in_, std::move(fresh_.in)) & adopt(out_.pipe, std::move(fresh_.out)) &
                  adopt(err_.pipe, std::move(fresh_.err)) & adopt(watch_, std::move(fresh_.pidfd));
  if (!watch_) {
    // Without a pidfd the leader's end cannot be observed, so kill it now.
    signal_group(SIGKILL);
    cut_pipes();
    return finish();
  }
  if (!ok) signal_group(SIGKILL);
  watch_->async_wait(descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& ec) {
    if (!ec) self->leader_ended();
  });
  wait_output(out_);
  wait_output(err_);
  if (wall_ms_) {
    wall_.emplace(loop_.ctx);
    wall_->expires_after(std::chrono::milliseconds(std::min<std::uint64_t>(wall_ms_, 365ull * 24 * 3600 * 1000)));
    wall_->async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
      if (auto self = weak.lock(); self && !ec) self->kill(SIGKILL, RY_REASON_DEADLINE);
    });
  }
  write_some();
}

// ---- output

void child::wait_output(output& o) {
  if (!o.pipe || o.waiting || o.paused) return;
  o.waiting = true;
  o.pipe->async_wait(descriptor::wait_read, [self = shared_from_this(), &o](const boost::system::error_code& ec) {
    o.waiting = false;
    if (!ec) self->read_output(o);
  });
}

void child::read_output(output& o) {
  static thread_local std::array<char, buffer_size> buffer;
  if (!o.pipe || o.paused) return;
  const auto n = ::read(o.pipe->native_handle(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return wait_output(o);
  if (n <= 0) {
    o.pipe.reset();
    return finish_if_ended();
  }
  ry_status st = RY_OK;
  const observe::trace_scope scope(trace_);
  if (o.fn && !released_)
    st = module::invoke(hold_.get(), o.what, o.fn, ctx_,
                        core::bytes(std::string_view(buffer.data(), static_cast<std::size_t>(n))));
  if (st == RY_RESOURCE_EXHAUSTED && !released_) {
    o.paused = true;
  } else if (st != RY_OK) {
    o.pipe.reset();
    return finish_if_ended();
  }
  wait_output(o);
}

void child::resume() {
  loop_.post([self = shared_from_this()] {
    self->out_.paused = self->err_.paused = false;
    self->wait_output(self->out_);
    self->wait_output(self->err_);
  });
}

// ---- input

ry_status child::write(const ry_host* host, std::string_view bytes, ry_done done) {
  if (input_closed_.load(std::memory_order_acquire)) return RY_CANCELLED;
  const auto before = queued_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  if (before + bytes.size() > max_queued) {
    queued_bytes_.fetch_sub(bytes.size(), std::memory_order_relaxed);
    return RY_RESOURCE_EXHAUSTED;
  }
  queued q{std::string(bytes), 0, done, module::hold(host), observe::current_trace()};
  if (!loop_.is_current()) {
    loop_.post([self = shared_from_this(), q = std::move(q)]() mutable {
      self->enqueue(std::move(q));
      self->write_some();
    });
    return RY_OK;
  }
  // Writes queued within one turn of the loop are sent together and wake the child once.
  enqueue(std::move(q));
  if (!std::exchange(flushing_, true)) {
    loop_.post([self = shared_from_this()] {
      self->flushing_ = false;
      self->write_some();
    });
  }
  return RY_OK;
}

void child::enqueue(queued q) {
  if (q.trace) trace_ = q.trace;
  queue_.push_back(std::move(q));
}

void child::write_some() {
  if (writing_) return;
  while (!queue_.empty()) {
    if (!in_) return end_input(RY_CANCELLED);
    std::array<iovec, max_batch> parts;
    std::size_t n = 0;
    for (auto q = queue_.begin(); q != queue_.end() && n < parts.size(); ++q)
      parts[n++] = {q->bytes.data() + q->written, q->bytes.size() - q->written};
    const auto sent = ::writev(in_->native_handle(), parts.data(), static_cast<int>(n));
    if (sent >= 0) {
      written(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      writing_ = true;
      in_->async_wait(descriptor::wait_write, [self = shared_from_this()](const boost::system::error_code& ec) {
        self->writing_ = false;
        if (!ec || !self->in_) self->write_some();
      });
      return;
    }
    return end_input(RY_CANCELLED);
  }
  if (closing_) end_input(RY_CANCELLED);
}

void child::written(std::size_t bytes) {
  while (!queue_.empty()) {
    auto& q = queue_.front();
    const auto part = std::min(bytes, q.bytes.size() - q.written);
    q.written += part;
    bytes -= part;
    if (q.written < q.bytes.size()) return;
    queued sent = std::move(q);
    queue_.pop_front();
    complete(sent, RY_OK);
  }
}

void child::complete(queued& q, ry_status st) {
  queued_bytes_.fetch_sub(q.bytes.size(), std::memory_order_relaxed);
  const observe::trace_scope scope(q.trace);
  if (q.done.fn)
    module::invoke(q.hold.get(), "process.write", q.done.fn, q.done.ctx, st,
                   static_cast<const ry_error_view*>(nullptr));
}

void child::end_input(ry_status st) {
  input_closed_.store(true, std::memory_order_release);
  in_.reset();
  while (!queue_.empty()) {
    queued q = std::move(queue_.front());
    queue_.pop_front();
    complete(q, st);
  }
}

void child::close_stdin() {
  loop_.post([self = shared_from_this()] {
    self->closing_ = true;
    self->write_some();
  });
}

// ---- the end

bool child::signal_group(int signal) {
  std::lock_guard lock(mutex_);
  if (reaped_) return false;
  ::kill(-pid_, signal);
  return true;
}

void child::kill(int signal, int why) {
  {
    std::lock_guard lock(mutex_);
    if (!reaped_ && why_ == 0) why_ = why;
  }
  signal_group(signal);
}

void child::leader_ended() {
  leader_gone_ = true;
  wall_.reset();
  end_input(RY_CANCELLED);
  finish_if_ended();
  if (leader_gone_ && watch_) expire(end_grace, &child::kill_rest);
}

void child::expire(std::chrono::milliseconds after, void (child::*then)()) {
  if (!grace_) grace_.emplace(loop_.ctx);
  grace_->expires_after(after);
  grace_->async_wait([weak = weak_from_this(), then](const boost::system::error_code& ec) {
    if (auto self = weak.lock(); self && !ec) (self.get()->*then)();
  });
}

void child::kill_rest() {
  signal_group(SIGKILL);
  expire(kill_grace, &child::cut_pipes);
}

// A process that left the group may hold a pipe open forever. A paused receiver still gets the remaining output.
void child::cut_pipes() {
  if (!released_ && (out_.paused || err_.paused)) return expire(kill_grace, &child::cut_pipes);
  out_.pipe.reset();
  err_.pipe.reset();
  finish_if_ended();
}

void child::finish_if_ended() {
  if (leader_gone_ && !out_.pipe && !err_.pipe) finish();
}

void child::finish() {
  if (!before_reap_) return;
  const auto keep = shared_from_this();
  grace_.reset();
  wall_.reset();
  end_input(RY_CANCELLED);
  // While the leader is a zombie, its pid and therefore its process group id cannot be reused.
  signal_group(SIGKILL);
  std::exchange(before_reap_, nullptr)(*this);
  int code = 0, why = 0;
  {
    std::lock_guard lock(mutex_);
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    code = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    why = why_;
  }
  watch_.reset();
  const observe::trace_scope scope(trace_);
  if (!released_ && handler_.on_exit)
    module::invoke(hold_.get(), "process.on_exit", handler_.on_exit, ctx_, static_cast<std::int32_t>(code),
                   static_cast<std::int32_t>(why));
  hold_ = module::hold();
}

void child::release() {
  released_.store(true, std::memory_order_release);
  signal_group(SIGKILL);
  loop_.post([self = shared_from_this()] {
    self->hold_ = module::hold();
    self->out_.paused = self->err_.paused = false;
    self->out_.pipe.reset();
    self->err_.pipe.reset();
    self->end_input(RY_CANCELLED);
    self->finish_if_ended();
  });
}

void child::abandon() {
  std::lock_guard lock(mutex_);
  if (reaped_ || pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  wall_.reset();
  grace_.reset();
  watch_.reset();
  in_.reset();
  out_.pipe.reset();
  err_.pipe.reset();
}

}  // namespace ry::process
