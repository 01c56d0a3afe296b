#include "core/http/connection.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <ry/cpp/memory.hpp>

#include <algorithm>
#include <cerrno>

namespace ry::http::serving {

namespace {
// While draining, a connection without any request gets this long to send its first one.
constexpr auto first_request_grace = std::chrono::seconds(2);
// A drain cancels an in-flight request only after this time, so that a short one can still send its answer.
constexpr auto short_answer_grace = std::chrono::seconds(1);
// The time that a connection over the limit has to send its request, which then gets a 503.
constexpr std::chrono::milliseconds refusal_grace{1000};
}  // namespace

connection::connection(worker& w, std::string peer, admission how, quota_hold by_address)
    : admitted_as(how),
      w_(w),
      keep_alive_(w.keep()),
      socket_(w.loop.ctx.get_executor()),
      peer_(std::move(peer)),
      by_address_(std::move(by_address)) {}

connection::~connection() = default;

void connection::start(int fd) {
  boost::system::error_code ec;
  socket_.assign(peer_.find(':') == std::string::npos ? boost::asio::ip::tcp::v4() : boost::asio::ip::tcp::v6(), fd,
                 ec);
  if (ec) {
    ::close(fd);
    phase_ = phase::closed;
    w_.forget(*this);
    return;
  }
  if (const auto tls = w_.shared.tls.load()) tls_ = std::make_unique<tls_session>(*tls, fd);
  head_due_ = clock::now() + head_time();
  due(head_due_);
  // Read the data that arrived with the connection without waiting for the reactor.
  on_readable();
}

std::chrono::milliseconds connection::head_time() const {
  const auto usual = cfg().header_timeout;
  return admitted_as == admission::too_many ? std::min(refusal_grace, usual) : usual;
}

// ---- input

void connection::arm_read() {
  if (reading_ || eof_ || phase_ == phase::closed || in_.size() >= max_kept) return;
  if (phase_ == phase::head && out_.size() - sent_ > max_backlog) return;
  if (tls_ && tls_->has_pending()) {
    // Already decrypted bytes do not make the socket readable.
    reading_ = true;
    w_.loop.post([self = boost::intrusive_ptr<connection>(this)] {
      self->reading_ = false;
      if (self->phase_ != phase::closed) self->on_readable();
    });
    return;
  }
  reading_ = true;
  socket_.async_wait(boost::asio::socket_base::wait_read,
                     [self = boost::intrusive_ptr<connection>(this)](const boost::system::error_code& ec) {
                       self->reading_ = false;
                       if (!ec && self->phase_ != phase::closed) self->on_readable();
                     });
}

io_result connection::receive(char* data, std::size_t n) {
  using kind = io_result::kind;
  io_result r;
  if (tls_) {
    r = tls_->read(data, n);
  } else {
    for (;;) {
      const auto got = ::recv(socket_.native_handle(), data, n, MSG_DONTWAIT);
      if (got > 0) {
        r = {kind::done, static_cast<std::size_t>(got)};
      } else if (got == 0) {
        r = {kind::closed};
      } else if (errno == EINTR) {
        continue;
      } else {
        r = {errno == EAGAIN || errno == EWOULDBLOCK ? kind::want_read : kind::failed};
      }
      break;
    }
  }
  if (r.what == kind::done) worker::add(w_.count.bytes_in, r.n);
  return r;
}

void connection::on_readable() {
  // Limit the reads per wake-up, so that one fast sender does not starve the loop.
  for (int i = 0; i < 8; ++i) {
    if (in_.size() >= max_kept) break;
    const auto r = receive(w_.scratch.get(), worker::scratch_size);
    if (r.what == io_result::kind::want_read) break;
    if (r.what == io_result::kind::want_write) {
      arm_write();
      break;
    }
    if (r.what == io_result::kind::failed) return cut(RY_REASON_GONE);
    if (r.what == io_result::kind::closed) {
      end_of_input();
      break;
    }
    pump({w_.scratch.get(), r.n});
    if (phase_ == phase::closed) return;
    if (!tls_ && r.n < worker::scratch_size) break;
  }
  if (phase_ != phase::closed) arm_read();
}

void connection::end_of_input() {
  eof_ = true;
  // Requests received before the end of input are still served.
  closing_ = closing_ || in_.empty() || phase_ == phase::head;
  switch (phase_) {
    case phase::head:
    case phase::discard:
    case phase::linger:
      // Unsent answers are still flushed.
      if (phase_ != phase::linger && sent_ < out_.size()) return;
      return close();
    case phase::authenticating:
    case phase::body:
    case phase::streaming:
      return cut(RY_REASON_GONE);
    case phase::handling:
      if (parser_ && !parser_->body_done()) return cut(RY_REASON_GONE);
      // The client may have closed only its sending side, so the answer is still sent.
      fire_cancel(RY_REASON_GONE);
      return;
    case phase::sending:
    case phase::closed:
      return;
  }
}

void connection::pump(std::string_view fresh) {
  const bool kept = !in_.empty();
  if (kept) {
    in_.append(fresh);
    cur_ = in_;
  } else {
    cur_ = fresh;
  }
  in_pump_ = true;
  while (step()) {
  }
  in_pump_ = false;
  const bool waits_for_flush = phase_ == phase::head && !cur_.empty() && out_.size() - sent_ > max_backlog;
  if (kept)
    in_.erase(0, in_.size() - cur_.size());
  else if (!cur_.empty())
    in_.assign(cur_);
  cur_ = {};
  if (in_.empty() && in_.capacity() > 1024) give_back(in_);
  flush();
  // The next request may be buffered already, so a readable event may never come.
  if (waits_for_flush && phase_ == phase::head && out_.empty()) w_.schedule(*this);
}

// Advances the connection by one step; false: it needs new bytes or an answer first.
bool connection::step() {
  switch (phase_) {
    case phase::head:
      return read_head();
    case phase::body:
    case phase::handling:
      return wants_body() && read_body();
    case phase::discard: {
      const auto before = cur_.size();
      w_.discard_buffer.clear();
      const bool good = decode_some(w_.discard_buffer);
      discarded_ += before - cur_.size();
      if (parser_->body_done()) {
        parser_.reset();
        phase_ = phase::head;
        return true;
      }
      if (!good || discarded_ > 2 * max_discard) {
        closing_ = true;
        phase_ = phase::linger;
      }
      return false;
    }
    case phase::linger:
    case phase::closed:
      cur_ = {};
      return false;
    case phase::authenticating:
    case phase::sending:
    case phase::streaming:
      return false;
  }
  return false;
}

void connection::resume() {
  if (phase_ == phase::closed) return;
  pump({});
  if (phase_ != phase::closed) arm_read();
}

// ---- output

io_result connection::send(const char* data, std::size_t n) {
  using kind = io_result::kind;
  io_result r;
  if (tls_) {
    r = tls_->write(data, n);
  } else {
    for (;;) {
      const auto put = ::send(socket_.native_handle(), data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put >= 0) {
        r = {kind::done, static_cast<std::size_t>(put)};
      } else if (errno == EINTR) {
        continue;
      } else {
        r = {errno == EAGAIN || errno == EWOULDBLOCK ? kind::want_write : kind::failed};
      }
      break;
    }
  }
  if (r.what == kind::done) {
    worker::add(w_.count.bytes_out, r.n);
    written_ += r.n;
  }
  return r;
}

void connection::arm_write() {
  if (writing_ || phase_ == phase::closed) return;
  writing_ = true;
  if (slow_since_ == clock::time_point{}) {
    slow_since_ = clock::now();
    taken_before_ = taken_by_reader();
  }
  due(slow_since_ + cfg().write_stall_timeout);
  socket_.async_wait(boost::asio::socket_base::wait_write,
                     [self = boost::intrusive_ptr<connection>(this)](const boost::system::error_code& ec) {
                       self->writing_ = false;
                       if (!ec) self->resume();
                     });
}

// False: unsent bytes remain, or the connection is closed.
bool connection::flush_out() {
  while (sent_ < out_.size()) {
    const auto r = send(out_.data() + sent_, out_.size() - sent_);
    switch (r.what) {
      case io_result::kind::done:
        sent_ += r.n;
        break;
      case io_result::kind::want_write:
        arm_write();
        return false;
      case io_result::kind::want_read:
        arm_read();
        return false;
      default:
        cut(RY_REASON_GONE);
        return false;
    }
  }
  sent_ = 0;
  slow_since_ = {};
  if (unsent_.is_open() && !file_) unsent_.reset();
  if (out_.capacity() > 16 * 1024)
    give_back(out_);
  else
    out_.clear();
  return true;
}

// Bytes that the client's TCP stack has acknowledged. The kernel's send buffer does not count: it accepts megabytes at
// once and then nothing for a long time.
std::uint64_t connection::taken_by_reader() const {
  int held = 0;
  if (::ioctl(const_cast<connection*>(this)->socket_.native_handle(), SIOCOUTQ, &held) != 0 || held < 0) held = 0;
  return written_ - std::min<std::uint64_t>(written_, static_cast<std::uint64_t>(held));
}

// Ends the current window; true if the client read less than read_min_rate in it.
bool connection::too_slow(clock::time_point now) {
  const auto taken = taken_by_reader();
  const auto seconds = std::chrono::duration<double>(now - slow_since_).count();
  const auto least = std::max(1.0, seconds * static_cast<double>(cfg().read_min_rate));
  const auto took = taken - std::min(taken, taken_before_);
  slow_since_ = now;
  taken_before_ = taken;
  return static_cast<double>(took) < least;
}

void connection::flush() {
  while (phase_ != phase::closed) {
    if (!head_held_ && !flush_out()) return;
    if (phase_ == phase::streaming) {
      if (!fill_from_stream()) return;
    } else if (phase_ == phase::sending) {
      if (!fill_from_file()) return;
    } else {
      break;
    }
  }
  if (closing_ && (phase_ == phase::head || phase_ == phase::linger)) finish_close();
}

// Closes after the last answer. Closing a socket with unread input resets the connection and can drop the answer, so
// the server first closes only its sending side.
void connection::finish_close() {
  if (phase_ == phase::closed || linger_due_ != clock::time_point{}) return;
  if (eof_) return close();
  phase_ = phase::linger;
  give_back(in_);
  if (tls_) tls_->shutdown();
  ::shutdown(socket_.native_handle(), SHUT_WR);
  linger_due_ = clock::now() + std::chrono::seconds(2);
  due(linger_due_);
}

void connection::close() {
  if (phase_ == phase::closed) return;
  phase_ = phase::closed;
  if (job_) job_->conn = nullptr;
  job_.reset();
  file_.reset();
  by_address_.reset();
  unsent_.reset();
  body_.reset();
  tls_.reset();
  boost::system::error_code ec;
  socket_.close(ec);
  give_back(in_);
  give_back(out_);
  sent_ = 0;
  parser_.reset();
  w_.forget(*this);
}

void connection::cut(std::int32_t why) {
  if (phase_ == phase::closed) return;
  boost::intrusive_ptr<connection> keep(this);
  const auto was = phase_;
  if (was == phase::streaming) {
    stream_gone(why);
  } else if (ex_) {
    if (was == phase::handling) fire_cancel(why);
    if (ex_) drop_request();
  }
  // Drop unsent bytes instead of leaving them in the kernel.
  if (sent_ < out_.size() || was == phase::streaming) {
    const linger now{1, 0};
    ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  close();
}

void connection::drain() {
  switch (phase_) {
    case phase::head: {
      // Still serve a request whose head is partly received or unread, and the first request of a new connection.
      boost::intrusive_ptr<connection> keep(this);
      on_readable();
      if (phase_ != phase::head) return drain();
      keep_ = false;
      if (!fresh_ || !in_.empty()) {
        closing_ = in_.empty();
        return flush();
      }
      head_due_ = std::min(head_due_, clock::now() + first_request_grace);
      return due(head_due_);
    }
    case phase::handling:
      if (!ex_->data->route->has(RY_ROUTE_LONG)) {
        cancel_due_ = clock::now() + short_answer_grace;
        return due(cancel_due_);
      }
      [[fallthrough]];
    case phase::streaming:
      return ask_to_end();
    default:
      return;
  }
}

void connection::ask_to_end() {
  if (phase_ == phase::handling && ex_->data->route->has(RY_ROUTE_LONG)) return fire_cancel(RY_REASON_SHUTDOWN);
  if (phase_ != phase::streaming) return;
  std::unique_lock lock(ex_->mutex);
  auto& st = *ex_->stream_state;
  if (!st.close_fn || st.closed) return;
  const auto fn = std::exchange(st.close_fn, nullptr);
  auto* exec = st.close_exec;
  const auto ctx = st.close_ctx;
  lock.unlock();
  w_.report_closed(*ex_, exec, fn, ctx, RY_REASON_SHUTDOWN);
}

// ---- time

void connection::timer(clock::time_point now) {
  auto next = clock::time_point::max();
  const auto check = [&](clock::time_point t) {
    if (t <= now) return true;
    next = std::min(next, t);
    return false;
  };
  if (writing_ && slow_since_ != clock::time_point{} && check(slow_since_ + cfg().write_stall_timeout)) {
    if (too_slow(now)) {
      worker::add(w_.count.timeouts);
      worker::add(w_.count.slow_readers);
      return cut(RY_REASON_GONE);
    }
    next = std::min(next, slow_since_ + cfg().write_stall_timeout);
  }
  switch (phase_) {
    case phase::head:
      if (sent_ == out_.size() && check(head_due_)) {
        if (in_.empty()) return close();
        worker::add(w_.count.timeouts);
        keep_ = false;
        fail_head(408, "Request header too slow", in_);
        flush();
        return;
      }
      break;
    case phase::discard:
      if (check(head_due_)) return cut(RY_REASON_GONE);
      break;
    case phase::linger:
      if (linger_due_ != clock::time_point{} && check(linger_due_)) return close();
      break;
    case phase::body:
    case phase::handling:
      if (parser_ && !parser_->body_done() && check(body_due_))
        return body_failed({408, "The request body took too long"});
      if (parser_ && !parser_->body_done() && wants_body()) {
        auto waited = body_waited_;
        if (body_armed_ != clock::time_point{}) {
          if (check(body_armed_ + cfg().body_idle_timeout)) return body_failed({408, "Request body too slow"});
          waited += now - body_armed_;
        }
        if (waited > cfg().body_rate_grace) {
          const auto seconds = std::chrono::duration<double>(waited).count();
          const auto received = parser_->body_bytes() - body_before_;
          if (static_cast<double>(received) < seconds * static_cast<double>(cfg().body_min_rate))
            return body_failed({408, "Request body too slow"});
          // Start the next window; the current wait belongs to it.
          body_before_ = parser_->body_bytes();
          body_waited_ -= waited;
        }
        next = std::min(next, now + std::chrono::seconds(1));
      }
      if (phase_ == phase::handling && request_due_ != clock::time_point::max() && check(request_due_)) {
        worker::add(w_.count.timeouts);
        fire_cancel(RY_REASON_DEADLINE);
        if (phase_ == phase::handling && ex_) {
          keep_ = keep_ && (!parser_ || parser_->body_done());
          exchange& late = *ex_;
          const bool unanswered = late.current() == exchange::open && late.hold.get() != nullptr;
          fail(504, "The request took too long");
          if (unanswered && late.current() == exchange::open) w_.watch_unanswered(late);
        }
        return resume();
      }
      if (phase_ == phase::handling && cancel_due_ != clock::time_point::max() && check(cancel_due_)) {
        cancel_due_ = clock::time_point::max();
        fire_cancel(RY_REASON_SHUTDOWN);
      }
      break;
    case phase::streaming:
      next = std::min(next, stream_due(now));
      break;
    case phase::authenticating:
      if (check(request_due_)) {
        worker::add(w_.count.timeouts);
        authenticated({RY_DEADLINE_EXCEEDED});
        return resume();
      }
      break;
    case phase::sending:
    case phase::closed:
      break;
  }
  if (phase_ != phase::closed && next != clock::time_point::max()) due(next);
}

}  // namespace ry::http::serving
