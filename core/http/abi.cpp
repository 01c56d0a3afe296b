// The ABI table of ry.http/1.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <new>

#include "core/http/answer.hpp"
#include "core/http/connection.hpp"
#include "core/http/server.hpp"
#include "core/observe/log.hpp"

namespace ry::http {

using namespace serving;

namespace {

constexpr std::size_t first_piece = 64 * 1024;

ry_status misused(const char* what, const char* how) noexcept {
  module::report_violation(ry_host::current(), "wrong use of ry.http/1", what, how);
  return RY_FAILED_PRECONDITION;
}

ry_status invalid(const char* what, const char* how) noexcept {
  (void)misused(what, how);
  return RY_INVALID_ARGUMENT;
}

constexpr const char* bad_answer = "the status is not between 200 and 599, or an argument has no bytes";
constexpr const char* bad_stream = "the status is not between 200 and 599, or an argument is NULL";
constexpr const char* bad_headers = "a header has a name or value that HTTP does not allow";

template <class F>
ry_status guarded(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return RY_RESOURCE_EXHAUSTED;
  } catch (...) {
    return RY_INTERNAL;
  }
}

// Drops error details that are not valid JSON, so that the client always receives JSON.
void drop_broken_detail(core::error& e) {
  if (e.detail_json.empty()) return;
  boost::system::error_code bad;
  (void)boost::json::parse(e.detail_json, bad);
  if (!bad) return;
  (void)misused("fail", "detail_json is not valid JSON; the client gets the message");
  e.detail_json.clear();
}

// Logs why a request failed. For a database error it logs the detail, because the message for the client is generic.
// An error without a connection to the database has no detail.
void log_failure(const exchange_ref& ref, const core::error& e) {
  if (!ref.is(exchange::open)) return;
  const auto* module = ref.ex->hold.get();
  observe::log(observe::level::warn, "http", "a module failed a request",
               {{"module", module ? module->name : "host"},
                {"route", ref.ex->data->route->def.method + " " + ref.ex->data->route->def.pattern},
                {"reason", e.reason},
                {"error", e.reason.starts_with("db.") && !e.detail_json.empty() ? e.detail_json : e.message},
                {"request_id", ref.ex->data->request_id}});
}

// Replaces the texts of unexpected errors, such as exceptions of libraries, which may name paths and addresses. An
// error with its own HTTP status is meant for the client, and the host writes the texts of database errors.
void hide_internals(core::error& e) {
  const bool unexpected = e.status == RY_INTERNAL || e.status == RY_UNKNOWN || e.status == RY_DATA_LOSS;
  if (!unexpected || e.http_status != 0 || e.reason.starts_with("db.")) return;
  e.message.clear();
  e.detail_json.clear();
}

constexpr const char* ended_already = "the handle was already ended";

// Ends the request with an answer. [any]
ry_status finish(const exchange_ref& ref, const char* what, std::uint32_t status, std::string& lines,
                 std::string_view body, std::shared_ptr<file_source> file = nullptr) {
  if (!ref.ex) return misused(what, "no handle");
  auto& ex = *ref.ex;
  auto& w = ex.home;
  if (w.loop.is_current()) {
    if (!ex.advance(ref.generation, exchange::open, exchange::ended)) return misused(what, ended_already);
    w.finish(ex, status, lines, body, std::move(file));
    return RY_OK;
  }
  auto answer = std::make_unique<pending_answer>();
  answer->status = status;
  answer->lines = std::move(lines);
  answer->body.assign(body);
  answer->file = std::move(file);
  {
    std::lock_guard lock(ex.mutex);
    if (!ex.advance(ref.generation, exchange::open, exchange::ended)) return misused(what, ended_already);
    ex.answer = std::move(answer);
  }
  w.enqueue(ex);
  return RY_OK;
}

bool valid_status(std::uint32_t status) noexcept {
  return status >= 200 && status < 600;
}

ry_status respond(ry_request* request, std::uint32_t status, const ry_header* headers, std::size_t n,
                  ry_bytes body) noexcept {
  return guarded([&]() -> ry_status {
    if (!valid_status(status) || (n != 0 && !headers) || !core::sound(body)) return invalid("respond", bad_answer);
    const exchange_ref ref(request);
    std::string own;
    auto& lines = ref.ex && ref.ex->home.loop.is_current() ? ref.ex->home.lines : own;
    lines.clear();
    if (!append_module_headers(lines, headers, n)) return invalid("respond", bad_headers);
    return finish(ref, "respond", status, lines, core::sv(body));
  });
}

ry_status respond_file(ry_request* request, std::uint32_t status, const ry_header* headers, std::size_t n, ry_str path,
                       std::uint64_t offset, std::uint64_t len) noexcept {
  return guarded([&]() -> ry_status {
    if (!valid_status(status) || (n != 0 && !headers) || !core::sound(path) ||
        core::sv(path).find('\0') != std::string_view::npos)
      return invalid("respond_file", bad_answer);
    std::string lines;
    if (!append_module_headers(lines, headers, n)) return invalid("respond_file", bad_headers);
    const exchange_ref ref(request);
    if (!ref.is(exchange::open)) return misused("respond_file", ended_already);
    auto file = std::make_shared<file_source>();
    file->fd = ::open(core::str(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st {};
    if (file->fd < 0 || ::fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode)) return RY_NOT_FOUND;
    const auto size = static_cast<std::uint64_t>(st.st_size);
    if (offset > size) return RY_OUT_OF_RANGE;
    file->offset = offset;
    file->left = std::min(len, size - offset);
    // Send the first piece together with the head; small files need no further read on a blocking thread.
    std::string first(std::min<std::uint64_t>(file->left, first_piece), '\0');
    const auto got = ::pread(file->fd, first.data(), first.size(), static_cast<off_t>(offset));
    first.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    file->offset += first.size();
    file->left -= first.size();
    return finish(ref, "respond_file", status, lines, first, std::move(file));
  });
}

ry_status fail(ry_request* request, const ry_error_view* error) noexcept {
  return guarded([&]() -> ry_status {
    auto e = core::error::from(RY_OK, error);
    if (e.status == RY_OK) e.status = RY_UNKNOWN;
    drop_broken_detail(e);
    std::string lines = "Content-Type: application/json\r\n";
    const auto status = http_status(e);
    if (status == 401) lines += "WWW-Authenticate: Bearer\r\n";
    append_retry_after(lines, status, e);
    const exchange_ref ref(request);
    if (status >= 500 && e.status != RY_CANCELLED) log_failure(ref, e);
    hide_internals(e);
    return finish(ref, "fail", status, lines, error_body(e));
  });
}

// The request of an [exec] function; logs and returns null if the handle or the thread is wrong.
exchange* on_loop(const exchange_ref& ref, const char* what) noexcept {
  if (!ref.is(exchange::open)) {
    misused(what, ended_already);
    return nullptr;
  }
  if (!ref.ex->home.loop.is_current()) {
    misused(what, "called outside of the request's executor");
    return nullptr;
  }
  return ref.ex;
}

ry_status on_cancel(ry_request* request, ry_cancel_fn fn, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    auto* ex = on_loop(exchange_ref(request), "on_cancel");
    if (!ex) return RY_FAILED_PRECONDITION;
    if (!ex->conn) return RY_CANCELLED;
    ex->data->cancel_fn = fn;
    ex->data->cancel_ctx = ctx;
    return RY_OK;
  });
}

ry_status read_body(ry_request* request, ry_body_fn fn, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!fn) return RY_INVALID_ARGUMENT;
    auto* ex = on_loop(exchange_ref(request), "read_body");
    if (!ex) return RY_FAILED_PRECONDITION;
    if (!ex->conn) return RY_CANCELLED;
    auto& d = *ex->data;
    if (!d.route->has(RY_ROUTE_STREAM_BODY)) return misused("read_body", "no RY_ROUTE_STREAM_BODY");
    if (d.form || d.read_fn) return misused("read_body", "the body is already being read");
    if (d.body_ended) return misused("read_body", "the end of the body was already reported");
    d.body_started = true;
    d.read_fn = fn;
    d.read_ctx = ctx;
    ex->conn->body_wanted();
    return RY_OK;
  });
}

ry_status read_form(ry_request* request, const ry_form_limits* limits, ry_form_fn fn, void* ctx) noexcept {
  return guarded([&]() -> ry_status {
    if (!fn) return RY_INVALID_ARGUMENT;
    auto* ex = on_loop(exchange_ref(request), "read_form");
    if (!ex) return RY_FAILED_PRECONDITION;
    if (!ex->conn) return RY_CANCELLED;
    auto& d = *ex->data;
    if (!d.route->has(RY_ROUTE_STREAM_BODY)) return misused("read_form", "no RY_ROUTE_STREAM_BODY");
    if (d.body_started) return misused("read_form", "the body was read before");
    d.body_started = true;
    auto& w = ex->home;
    d.form = std::make_shared<form_state>(d.info.content_type, complete_limits(limits, w.shared.s.form_max_total_bytes),
                                          w.spool_names);
    d.form->fn = fn;
    d.form->ctx = ctx;
    w.advance_form(*ex);
    ex->conn->body_wanted();
    return RY_OK;
  });
}

// ---- streams

ry_status stream_open(ry_request* request, std::uint32_t status, const ry_header* headers, std::size_t n,
                      ry_stream** out) noexcept {
  return guarded([&]() -> ry_status {
    if (!out || !valid_status(status) || (n != 0 && !headers)) return invalid("stream_open", bad_stream);
    std::string lines, length;
    if (!append_module_headers(lines, headers, n, &length)) return invalid("stream_open", bad_headers);
    const exchange_ref ref(request);
    if (!ref.ex) return misused("stream_open", "no handle");
    auto& ex = *ref.ex;
    const bool here = ex.home.loop.is_current();
    auto state = std::make_unique<stream_data>();
    std::unique_ptr<pending_answer> answer;
    if (!here) {
      answer = std::make_unique<pending_answer>();
      answer->status = status;
      answer->lines = lines;
      answer->content_length = length;
    }
    {
      std::lock_guard lock(ex.mutex);
      if (!ex.advance(ref.generation, exchange::open, exchange::stream)) return misused("stream_open", ended_already);
      ex.stream_state = std::move(state);
      ex.answer = std::move(answer);
      *out = static_cast<ry_stream*>(ex.handle());
    }
    if (here && ex.conn)
      ex.conn->begin_stream(status, lines, length);
    else
      ex.home.enqueue(ex);
    return RY_OK;
  });
}

// Runs f(exchange, stream_data) under the stream's lock.
template <class F>
ry_status with_stream(const void* handle, const char* what, F&& f) noexcept {
  return guarded([&]() -> ry_status {
    const exchange_ref ref(handle);
    if (!ref.ex) return misused(what, "no handle");
    std::unique_lock lock(ref.ex->mutex);
    if (!ref.is(exchange::stream)) {
      lock.unlock();
      return misused(what, ended_already);
    }
    return f(*ref.ex, *ref.ex->stream_state);
  });
}

template <class Make>
ry_status push(ry_stream* stream, std::size_t size, Make&& make) noexcept {
  return with_stream(stream, "stream_write", [&](exchange& ex, stream_data& st) -> ry_status {
    if (st.disconnected) return RY_CANCELLED;
    if (st.too_slow) return RY_RESOURCE_EXHAUSTED;
    if (size == 0) return RY_OK;
    const auto& s = ex.home.shared.s;
    if ((st.pieces() != 0 && (st.bytes + size > s.stream_queue_bytes || st.pieces() >= s.stream_queue_pieces)) ||
        !st.count(*ex.home.shared.unsent, st.unsent + st.bytes + size)) {
      st.too_slow = true;
      ex.home.enqueue(ex);
      return RY_RESOURCE_EXHAUSTED;
    }
    st.queue.push_back(make());
    st.bytes += size;
    ex.home.enqueue(ex);
    return RY_OK;
  });
}

ry_status stream_write(ry_stream* stream, ry_bytes bytes) noexcept {
  return push(stream, bytes.len, [&] { return exec::buffer_ref(core::sv(bytes)); });
}

ry_status stream_write_buffer(ry_stream* stream, ry_buffer* buffer) noexcept {
  if (!buffer) return RY_INVALID_ARGUMENT;
  return push(stream, buffer->bytes.size(), [&] { return exec::buffer_ref::share(buffer); });
}

ry_status stream_ready(ry_stream* stream, ry_exec* exec, ry_done done) noexcept {
  if (!exec || !done.fn) return RY_INVALID_ARGUMENT;
  return with_stream(stream, "stream_ready", [&](exchange& ex, stream_data& st) -> ry_status {
    const auto& s = ex.home.shared.s;
    if (st.disconnected || st.too_slow) {
      module::complete(ex.hold.get(), exec, done, RY_CANCELLED, observe::current_trace());
    } else if (st.bytes < s.stream_queue_bytes / 4 && st.pieces() < s.stream_queue_pieces / 4) {
      module::complete(ex.hold.get(), exec, done, RY_OK, observe::current_trace());
    } else {
      st.waiters.push_back({exec, done, observe::current_trace()});
    }
    return RY_OK;
  });
}

ry_status stream_keepalive(ry_stream* stream, std::uint64_t interval_ms, ry_bytes bytes) noexcept {
  return with_stream(stream, "stream_keepalive", [&](exchange& ex, stream_data& st) -> ry_status {
    if (st.disconnected) return RY_CANCELLED;
    st.keepalive = std::chrono::milliseconds(std::min<std::uint64_t>(interval_ms, 86'400'000));
    st.keepalive_bytes.assign(core::sv(bytes));
    ex.home.enqueue(ex);
    return RY_OK;
  });
}

ry_status stream_on_close(ry_stream* stream, ry_exec* exec, ry_cancel_fn fn, void* ctx) noexcept {
  if (!exec || !fn) return RY_INVALID_ARGUMENT;
  return with_stream(stream, "stream_on_close", [&](exchange& ex, stream_data& st) -> ry_status {
    if (st.disconnected) {
      ex.home.report_closed(ex, exec, fn, ctx, st.why);
      return RY_OK;
    }
    st.close_exec = exec;
    st.close_fn = fn;
    st.close_ctx = ctx;
    return RY_OK;
  });
}

void stream_close(ry_stream* stream) noexcept {
  with_stream(stream, "stream_close", [&](exchange& ex, stream_data& st) -> ry_status {
    ex.advance(ex.generation(), exchange::stream, exchange::ended);
    st.closed = true;
    st.close_fn = nullptr;
    ex.home.enqueue(ex);
    return RY_OK;
  });
}

ry_buffer* buffer_new(ry_bytes bytes) noexcept {
  try {
    return exec::buffer_ref(core::sv(bytes)).take();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void buffer_release(ry_buffer* buffer) noexcept {
  if (buffer) buffer->release();
}

}  // namespace

const ry_http_v1& http_v1() noexcept {
  static constexpr ry_http_v1 table{sizeof(ry_http_v1),
                                    0,
                                    respond,
                                    respond_file,
                                    fail,
                                    on_cancel,
                                    read_body,
                                    read_form,
                                    stream_open,
                                    stream_write,
                                    stream_write_buffer,
                                    stream_ready,
                                    stream_keepalive,
                                    stream_on_close,
                                    stream_close,
                                    buffer_new,
                                    buffer_release};
  return table;
}

}  // namespace ry::http
