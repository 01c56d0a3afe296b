// The server's state per event loop: connections, request slots, timers and counters.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/container/deque.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/http/cidr.hpp"
#include "core/http/exchange.hpp"
#include "core/http/services.hpp"
#include "core/http/settings.hpp"
#include "core/http/tls.hpp"

namespace ry::http::serving {

// State shared by all workers. Immutable once the server listens, except `tls` and the counters.
struct shared_state {
  server_context r;
  settings s;
  address_set trusted;
  site own_site;
  std::atomic<std::shared_ptr<const tls_context>> tls;  // for new connections
  bool uses_tls() const noexcept { return !s.tls_cert_file.empty(); }
  head_limits limits;
  // Locking it keeps workers and slots alive while other threads use them.
  std::weak_ptr<void> alive;
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> rejected_while_draining{0};  // of these, accepted while the server drains
  std::atomic<std::int64_t> rejected_over_limit{0};  // of these, over the limit; they get a 503
  // Set before the server listens.
  std::unique_ptr<quota> unsent, bodies, spool, by_address;
  std::shared_ptr<route_counters> unmatched = std::make_shared<route_counters>(std::string(), std::string());
};

// How the server treats a new connection: it serves it, or answers 503 at the connection limit or while draining.
enum class admission { served, too_many, draining };

class worker {
 public:
  worker(shared_state& shared, exec::loop& loop);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  shared_state& shared;
  exec::loop& loop;

  struct counters {
    std::atomic<std::uint64_t> connections{0}, streams{0}, accepted{0}, requests{0}, bytes_in{0}, bytes_out{0},
        streams_cut{0}, parse_errors{0}, timeouts{0}, slow_readers{0};
    std::atomic<std::int64_t> accepting{0};  // connections of this worker, including those still being passed to it
  };
  counters count;
  // Only the loop writes these counters, so they need no atomic read-modify-write.
  static void add(std::atomic<std::uint64_t>& c, std::uint64_t n = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  static void sub(std::atomic<std::uint64_t>& c) noexcept { add(c, ~std::uint64_t{0}); }

  // ---- any thread
  // Notifies the loop that the exchange has an answer or its stream has changed. Coalesces many calls into one wake-up.
  void enqueue(exchange& ex);

  // ---- on the loop
  void accept(int fd, std::string peer, admission how, quota_hold by_address);
  void adopt(connection& c);
  void forget(connection& c);
  void schedule(connection& c);  // calls connection::resume() later
  exchange& take_slot();
  // Ends the use of a slot. Its state must be `ended` or `authenticating`.
  void release(exchange& ex);
  void drop_data(exchange& ex);
  // The module ended the request: passes the answer to the connection if it is still open.
  void finish(exchange& ex, std::uint32_t status, std::string_view lines, std::string_view body,
              std::shared_ptr<file_source> file);
  // Detaches the connection from a request that its module has not completed yet.
  void detach(exchange& ex);
  // The host has answered this request instead of its module. Reports a violation of the module if it does not complete
  // the request in time.
  void watch_unanswered(exchange& ex);
  // The stream's connection has closed: notifies the module.
  void on_stream_disconnected(exchange& ex, std::int32_t why);
  // Calls the callback of stream_on_close on `exec`, unless the module closes the stream first. [any]
  void report_closed(exchange& ex, ry_exec* exec, ry_cancel_fn fn, void* ctx, std::int32_t why);
  void advance_form(exchange& ex);
  void remove_files(std::vector<std::string> paths);
  void arm_tick();
  void start_drain();
  enum class close_mode { graceful, immediate };
  // Asks the streams of these owners to end, or closes their connections. Returns the number of their requests and
  // streams.
  std::size_t end_requests_of(const std::vector<ry_host*>& owners, close_mode how);
  void close_all();
  // Closes all objects of the loop's io_context now, because handlers that never run may keep this worker alive until
  // the io_context is destroyed.
  void close();
  std::string new_request_id();
  std::string_view date_line();
  std::shared_ptr<void> keep() const { return shared.alive.lock(); }

  std::shared_ptr<const route_table> table = std::make_shared<route_table>();
  timer_wheel wheel{clock::now()};
  bool draining = false;
  static constexpr std::size_t scratch_size = 64 * 1024;
  std::unique_ptr<char[]> scratch;  // read buffer of all connections
  std::string stream_write_buffer;  // write buffer of all streams
  std::string lines;  // headers of the current answer
  std::string discard_buffer;  // discarded bodies
  form_reader::file_names spool_names;
  std::vector<boost::intrusive_ptr<connection>> connections;

  enum class form_end { complete, failed, cancelled };

 private:
  void cancel_body(exchange& ex);
  void report_form_end(exchange& ex, form_end end);
  void run_batch();
  void process(exchange& ex);
  void post_batch();
  void on_tick();
  void trim_memory();
  void close_revoked_streams();
  void report_unanswered(clock::time_point now);

  // Slots are never freed. The deque allocates them in blocks: a slot among request buffers would keep their page in
  // use.
  boost::container::deque<exchange, void, boost::container::deque_options<boost::container::block_size<64>>::type>
      slots_;
  std::vector<exchange*> free_;
  std::vector<std::unique_ptr<request_data>> spare_;
  std::vector<boost::intrusive_ptr<connection>> resume_;
  using timer_type =
      boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, boost::asio::io_context::executor_type>;
  std::optional<timer_type> tick_;  // empty after close()
  bool ticking_ = false;
  struct unanswered {
    exchange* ex;
    std::uint32_t generation;
    clock::time_point due;
    std::string route;
  };
  std::vector<unanswered> unanswered_;
  std::uint64_t revocations_seen_ = 0;
  std::size_t peak_connections_ = 0;  // peak number of connections since the last malloc_trim()
  unsigned quiet_ticks_ = 0;  // ticks with at most half of `peak_connections_` connections left
  std::string date_;
  std::int64_t date_second_ = 0;
  std::array<std::uint64_t, 2> rng_{};

  std::mutex inbox_mutex_;
  std::vector<exchange*> inbox_, batch_;
  bool posted_ = false;
};

}  // namespace ry::http::serving
