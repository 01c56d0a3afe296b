// One request and its answer or stream: the state behind the ABI handles ry_request and ry_stream.
//
// Modules hold handles, not pointers: a handle is the address of a slot with a generation counter in the upper
// 16 bits. The server never frees slots while it lives, so a stale handle fails the generation check instead of
// reaching the slot's next request.
#pragma once

#include <ry/if/http.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/buffer.hpp"
#include "core/http/form.hpp"
#include "core/http/message.hpp"
#include "core/http/quota.hpp"
#include "core/http/router.hpp"
#include "core/http/timer_wheel.hpp"
#include "core/observe/open_span.hpp"
#include "core/observe/trace.hpp"

namespace ry::http::serving {

class connection;
class worker;

// An open file to send.
struct file_source {
  int fd = -1;
  std::uint64_t offset = 0, left = 0;
  file_source() = default;
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;
  ~file_source();
};

// An answer that a module gave outside the request's loop; the loop sends it.
struct pending_answer {
  std::uint32_t status = 200;
  std::string lines;  // headers
  std::string body;
  std::shared_ptr<file_source> file;
  std::string content_length;  // of a stream
};

struct form_state {
  form_state(std::string_view type, const ry_form_limits& limits, form_reader::file_names& names)
      : reader(type, limits, names) {}
  form_reader reader;
  std::shared_ptr<spool> files = std::make_shared<spool>();
  ry_form form{};
  ry_form_fn fn = nullptr;
  void* ctx = nullptr;
  bool writing = false;  // a blocking thread is writing a batch
  bool ended = false;  // the body is complete
  bool notified = false;  // fn was called
  bool left = false;  // the request has ended; the current batch is the last
  quota_hold held;  // charges its received bytes
};

// The data of a request until it ends. Instances are recycled.
struct request_data {
  std::string head;  // as received; headers and info point into it
  std::vector<ry_header> headers;
  head_info info;
  path_values values;
  std::vector<ry_header> params;
  std::string query;  // without the token
  std::string body;  // the whole body, or the pieces not yet passed to read_body
  std::string request_id, remote, traceparent;
  std::string limit_lines;  // RateLimit-* of the answer
  std::string_view path, raw_query;
  ry_principal principal{};
  std::shared_ptr<const void> principal_owner;
  bool has_principal = false;
  std::shared_ptr<const route_table> table;  // leased
  const compiled_route* route = nullptr;
  clock::time_point start{};
  ry_request_view view{};

  bool body_started = false;  // read_body or read_form was called
  bool body_ended = false;  // the module was notified of its end
  ry_body_fn read_fn = nullptr;
  void* read_ctx = nullptr;
  std::shared_ptr<form_state> form;
  ry_cancel_fn cancel_fn = nullptr;
  void* cancel_ctx = nullptr;

  // The key of rate limits and quotas: the account, or the client's network when there is none.
  std::string caller() const;
  void clear();
};

struct stream_data {
  struct waiter {
    ry_exec* exec;
    ry_done done;
    observe::trace_ref trace;
  };
  // Buffers waiting to be sent; those before `head` have been taken for sending.
  std::vector<exec::buffer_ref> queue;
  std::size_t head = 0;
  std::size_t bytes = 0;
  bool chunked = true;
  bool no_body = false;  // answer to HEAD
  bool closed = false;  // by the module
  bool disconnected = false;  // the connection has closed
  bool too_slow = false;  // the buffer limit was reached
  bool has_length = false;
  std::uint64_t length_left = 0;  // with Content-Length
  std::int32_t why = RY_REASON_GONE;
  std::vector<waiter> waiters;
  ry_exec* close_exec = nullptr;
  ry_cancel_fn close_fn = nullptr;
  void* close_ctx = nullptr;
  std::chrono::milliseconds keepalive{0};
  std::string keepalive_bytes;

  // The quota ignores a stream with at most this many unsent bytes.
  static constexpr std::size_t uncounted = 64 * 1024;
  std::string caller;  // key of the quota; empty until the head is sent
  std::size_t unsent = 0;  // taken from the queue, but not sent yet
  quota_hold held;
  // Sets the number of unsent bytes. False: the limit of the caller or the total limit is reached.
  bool count(quota& of, std::size_t waits) {
    if ((waits <= uncounted && held.amount() == 0) || caller.empty()) return true;
    if (!held.is_open()) held.open(of, caller);
    return held.resize(waits <= uncounted ? 0 : waits) == quota_verdict::granted;
  }

  std::size_t pieces() const noexcept { return queue.size() - head; }
};

struct exchange {
  enum state : std::uint32_t { free_slot = 0, authenticating, open, ended, stream };

  explicit exchange(worker& home) : home(home) {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  worker& home;
  std::atomic<std::uint32_t> packed_state{0};  // generation << 8 | state
  std::mutex mutex;  // guards `stream_state`; check `packed_state` again after locking
  std::unique_ptr<stream_data> stream_state;
  std::unique_ptr<pending_answer> answer;  // from the thread that ended the request, for the loop
  bool queued = false;  // guarded by the worker's inbox

  // Used only on the loop.
  connection* conn = nullptr;
  std::unique_ptr<request_data> data;
  module::hold hold;
  observe::trace_ref trace;  // the trace context of calls to the module
  observe::open_span span;
  std::shared_ptr<const void> stream_permit;  // stream permit of a long request, see request_gate::stream_permit()
  std::shared_ptr<const void> caller;  // credential owner of a long request, see authenticator::revoked()
  bool in_handler = false;
  bool over = false;  // release the slot when the handler returns

  static std::uint32_t pack(std::uint32_t generation, state s) noexcept { return (generation & 0xffff) << 8 | s; }
  std::uint32_t generation() const noexcept { return packed_state.load(std::memory_order_acquire) >> 8; }
  state current() const noexcept { return static_cast<state>(packed_state.load(std::memory_order_acquire) & 0xff); }
  void* handle() noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(this) | static_cast<std::uintptr_t>(generation())
                                                                                << 48);
  }
  // Moves from state `from` of this generation to `to` of the next. False: another thread was faster.
  bool advance(std::uint32_t generation, state from, state to) noexcept {
    auto expected = pack(generation, from);
    return packed_state.compare_exchange_strong(expected, pack(generation + 1, to), std::memory_order_acq_rel);
  }
};

// A decoded handle.
struct exchange_ref {
  exchange* ex = nullptr;
  std::uint32_t generation = 0;
  explicit exchange_ref(const void* handle) noexcept {
    const auto h = reinterpret_cast<std::uintptr_t>(handle);
    ex = reinterpret_cast<exchange*>(h & ((std::uintptr_t{1} << 48) - 1));
    generation = static_cast<std::uint32_t>(h >> 48);
  }
  bool is(exchange::state s) const noexcept {
    return ex && ex->packed_state.load(std::memory_order_acquire) == exchange::pack(generation, s);
  }
};

}  // namespace ry::http::serving
