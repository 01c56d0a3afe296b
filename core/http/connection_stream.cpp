// Sends long answers: streams of modules, and files.
#include <unistd.h>

#include <charconv>
#include <ry/cpp/memory.hpp>

#include "core/exec/blocking_pool.hpp"
#include "core/http/answer.hpp"
#include "core/http/connection.hpp"

namespace ry::http::serving {

namespace {

void append_chunk_head(std::string& out, std::size_t n) {
  char buf[16];
  const auto r = std::to_chars(buf, buf + sizeof buf, n, 16);
  out.append(buf, r.ptr).append("\r\n");
}

}  // namespace

void connection::begin_stream(std::uint32_t status, std::string_view lines, std::string_view content_length) {
  auto& ex = *ex_;
  plan_rest();
  const bool bodiless = status == 204 || status == 304;
  const bool chunked = content_length.empty() && ex.data->info.version == 11 && !bodiless;
  if (content_length.empty() && !chunked && !bodiless) closing_ = true;  // HTTP/1.0: the close ends the stream
  write_head(status, lines);
  if (chunked) out_.append("Transfer-Encoding: chunked\r\n");
  if (!content_length.empty() && !bodiless) append_header(out_, "Content-Length", content_length);
  begin_answer();
  log_request(status);
  {
    std::lock_guard lock(ex.mutex);
    auto& st = *ex.stream_state;
    st.caller = ex.data->caller();
    st.chunked = chunked;
    st.no_body = head_method_ || bodiless;
    if (!content_length.empty()) {
      st.has_length = true;
      std::from_chars(content_length.data(), content_length.data() + content_length.size(), st.length_left);
    }
  }
  if (parser_ && parser_->is_done()) parser_.reset();
  phase_ = phase::streaming;
  // Hold the head back for the first piece of the stream, unless earlier answers in out_ are still unsent.
  head_held_ = !writing_ && sent_ == 0 && out_.size() <= max_head;
  request_due_ = clock::time_point::max();
  last_write_ = clock::now();
  worker::add(w_.count.streams);
  if (!ex.in_handler) w_.drop_data(ex);
  if (!in_pump_) w_.schedule(*this);
}

void connection::stream_news() {
  if (phase_ != phase::streaming) return;
  // Flushing inside a handler would send each of its writes separately.
  if (in_pump_) return w_.schedule(*this);
  boost::intrusive_ptr<connection> keep(this);
  if (!writing_) {
    flush();
  } else {
    std::unique_lock lock(ex_->mutex);
    if (ex_->stream_state->too_slow) {
      lock.unlock();
      worker::add(w_.count.streams_cut);
      return cut(RY_REASON_OVERLOAD);
    }
  }
  if (phase_ == phase::streaming) {
    const auto next = stream_due(clock::now());
    if (phase_ == phase::streaming && next != clock::time_point::max()) due(next);
  }
  if (phase_ != phase::streaming && phase_ != phase::closed) w_.schedule(*this);
}

// Merges queued pieces of the stream into one buffer and sends it; unsent bytes go to out_. True: flush out_ and call
// again; false: the queue is empty, or the connection was closed.
bool connection::fill_from_stream() {
  auto& ex = *ex_;
  auto& out = w_.stream_write_buffer;
  out.clear();
  if (std::exchange(head_held_, false)) {
    out.append(out_);
    give_back(out_);
  }
  bool ended = false, in_quota = false;
  std::vector<stream_data::waiter> ready;
  {
    std::unique_lock lock(ex.mutex);
    auto& st = *ex.stream_state;
    if (st.too_slow) {
      lock.unlock();
      worker::add(w_.count.streams_cut);
      cut(RY_REASON_OVERLOAD);
      return false;
    }
    std::size_t total = 0, end = st.head;
    while (end < st.queue.size() && total < worker::scratch_size) total += st.queue[end++].view().size();
    std::size_t body_bytes = st.no_body ? 0 : total;
    if (st.has_length) {
      body_bytes = std::min<std::uint64_t>(body_bytes, st.length_left);
      st.length_left -= body_bytes;
    }
    if (body_bytes != 0) {
      if (st.chunked) append_chunk_head(out, body_bytes);
      const auto from = out.size();
      for (auto i = st.head; i < end; ++i) out.append(st.queue[i].view());
      out.resize(from + body_bytes);
      if (st.chunked) out.append("\r\n");
    }
    for (auto i = st.head; i < end; ++i) st.queue[i] = {};
    st.head = end;
    st.bytes -= total;
    if (st.head == st.queue.size()) {
      st.head = 0;
      if (st.queue.capacity() > 64)
        give_back(st.queue);
      else
        st.queue.clear();
      if (st.closed) {
        ended = true;
        if (st.chunked && !st.no_body) out.append("0\r\n\r\n");
        if (st.has_length && st.length_left != 0 && !st.no_body) closing_ = true;
      }
    } else if (st.head > 256) {
      st.queue.erase(st.queue.begin(), st.queue.begin() + static_cast<std::ptrdiff_t>(st.head));
      st.head = 0;
    }
    in_quota = st.held.amount() != 0 || st.unsent != 0;
    if (st.bytes < cfg().stream_queue_bytes / 4 && st.pieces() < cfg().stream_queue_pieces / 4) ready.swap(st.waiters);
  }
  for (const auto& w : ready) module::complete(ex.hold.get(), w.exec, w.done, RY_OK, w.trace);
  if (out.empty() && !ended) return false;
  std::size_t sent = 0;
  if (!out.empty()) last_write_ = clock::now();
  while (sent < out.size()) {
    const auto r = send(out.data() + sent, out.size() - sent);
    if (r.what == io_result::kind::done) {
      sent += r.n;
    } else if (r.what == io_result::kind::want_write || r.what == io_result::kind::want_read) {
      break;  // the rest stays in out_
    } else {
      cut(RY_REASON_GONE);
      return false;
    }
  }
  if (sent < out.size()) out_.assign(out, sent);
  if (sent < out.size() || in_quota) {
    std::unique_lock lock(ex.mutex);
    auto& st = *ex.stream_state;
    st.unsent = out.size() - sent;
    if (!st.count(*w_.shared.unsent, st.unsent + st.bytes)) {
      lock.unlock();
      worker::add(w_.count.streams_cut);
      cut(RY_REASON_OVERLOAD);
      return false;
    }
    // Unsent bytes of an ended stream outlive the request, so the connection takes over their quota.
    if (ended && st.unsent != 0) unsent_ = std::move(st.held);
  }
  if (out.capacity() > 4 * worker::scratch_size) give_back(out);
  if (ended) end_stream();
  return true;
}

void connection::end_stream() {
  auto& ex = *std::exchange(ex_, nullptr);
  ex.conn = nullptr;
  worker::sub(w_.count.streams);
  end_answer();
  if (ex.in_handler)
    ex.over = true;
  else
    w_.release(ex);
}

// The connection closes before the end of the stream.
void connection::stream_gone(std::int32_t reason) {
  auto& ex = *std::exchange(ex_, nullptr);
  worker::sub(w_.count.streams);
  w_.on_stream_disconnected(ex, reason);
}

clock::time_point connection::stream_due(clock::time_point now) {
  std::chrono::milliseconds interval{0};
  {
    std::lock_guard lock(ex_->mutex);
    auto& st = *ex_->stream_state;
    interval = st.keepalive;
    if (interval.count() == 0 || st.keepalive_bytes.empty()) return clock::time_point::max();
    if (last_write_ + interval <= now && st.pieces() == 0 && sent_ == out_.size() && !st.closed) {
      st.bytes += st.keepalive_bytes.size();
      st.queue.emplace_back(st.keepalive_bytes);
    }
  }
  if (last_write_ + interval <= now) flush();
  return phase_ == phase::streaming ? std::max(last_write_ + interval, now + std::chrono::milliseconds(1))
                                    : clock::time_point::max();
}

// ---- files

bool connection::fill_from_file() {
  if (!file_ || file_->left == 0) {
    file_.reset();
    end_answer();
    return true;
  }
  if (job_) return false;
  job_ = std::make_shared<file_job>(file_job{this, file_, {}});
  const auto accepted = w_.shared.r.blocking->submit([this_worker = &w_, keep = w_.keep(), job = job_] {
    job->data.resize(std::min<std::uint64_t>(job->file->left, file_piece));
    std::size_t got = 0;
    while (got < job->data.size()) {
      const auto n = ::pread(job->file->fd, job->data.data() + got, job->data.size() - got,
                             static_cast<off_t>(job->file->offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    job->failed = got < job->data.size();
    this_worker->loop.post([keep, job] {
      if (job->conn) job->conn->file_piece_read(*job);
    });
  });
  if (accepted != exec::submit_result::yes) cut(RY_REASON_OVERLOAD);
  return false;
}

void connection::file_piece_read(file_job& job) {
  boost::intrusive_ptr<connection> self(this);
  job_.reset();
  // The Content-Length is already sent; only closing the connection signals the error.
  if (job.failed) return cut(RY_REASON_GONE);
  file_->offset += job.data.size();
  file_->left -= job.data.size();
  out_ = std::move(job.data);
  sent_ = 0;
  resume();
}

}  // namespace ry::http::serving
