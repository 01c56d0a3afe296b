// What the server keeps per event loop: connections, slots of requests, timers, counters.
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
#include "core/http/server.hpp"
#include "core/http/tls.hpp"

namespace ry::http::serving {

// What all workers share; but for `tls` and the counters immutable once the server listens.
struct shared_state {
  rooms r;
  settings s;
  address_set trusted;
  site own;
  std::atomic<std::shared_ptr<const tls_context>> tls;  // of connections from now on
  bool uses_tls() const noexcept { return !s.tls_cert_file.empty(); }
  head_limits limits;
  // Keeps workers and slots alive for work that is under way elsewhere.
  std::weak_ptr<void> alive;
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::int64_t> turned_away{0};  // of them, those that came while the server drains
  std::atomic<std::int64_t> refusing{0};     // of them, those over the limit, which get a 503
  // Set before the server listens.
  std::unique_ptr<quota> unsent, bodies, spool, by_address;
  std::shared_ptr<route_counters> unmatched =
      std::make_shared<route_counters>(std::string(), std::string());
};

// What a new connection gets: answers, or 503 because there are too many or because the server stops.
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
    std::atomic<std::uint64_t> connections{0}, streams{0}, accepted{0}, requests{0}, bytes_in{0},
        bytes_out{0}, streams_cut{0}, parse_errors{0}, timeouts{0}, slow_readers{0};
    std::atomic<std::int64_t> accepting{0};  // connections here or on their way here
  };
  counters count;
  // One writer: no read-modify-write on the bus.
  static void add(std::atomic<std::uint64_t>& c, std::uint64_t n = 1) noexcept {
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  static void sub(std::atomic<std::uint64_t>& c) noexcept { add(c, ~std::uint64_t{0}); }

  // ---- any thread
  // The loop looks at the exchange soon: it has an answer, or its stream has news. Many calls, one
  // wake.
  void enqueue(exchange& ex);

  // ---- on the loop
  void accept(int fd, std::string peer, admission how, quota_hold place);
  void adopt(connection& c);
  void forget(connection& c);
  void schedule(connection& c);  // connection::resume() soon
  exchange& take_slot();
  // Ends the use of a slot. Its word must be `ended` or `authenticating`.
  void release(exchange& ex);
  void drop_data(exchange& ex);
  // The module ended the request: hands the answer to the connection, if there still is one.
  void finish(exchange& ex, std::uint32_t status, std::string_view lines, std::string_view body,
              std::shared_ptr<file_source> file);
  // The connection lets go of a request whose module has not ended it yet.
  void detach(exchange& ex);
  // The host has answered this request in the place of its module, which is named if it never ends the request.
  void watch_unanswered(exchange& ex);
  // The stream's connection is gone; the module hears of it.
  void lose_stream(exchange& ex, std::int32_t why);
  // Calls stream_on_close's function on `exec`, unless the stream is closed by then. [any]
  void tell_closed(exchange& ex, ry_exec* exec, ry_cancel_fn fn, void* ctx, std::int32_t why);
  void advance_form(exchange& ex);
  void remove_files(std::vector<std::string> paths);
  void arm_tick();
  void start_drain();
  enum class parting { ask, cut };
  // Asks the streams of these owners to end, or cuts their connections; how many requests and streams of
  // theirs there were.
  std::size_t part_with(const std::vector<ry_host*>& owners, parting how);
  void cut_all();
  // Ends everything that belongs to the loop's io_context: handlers that are never run may keep
  // this object alive until the io_context itself goes.
  void close();
  std::string new_request_id();
  std::string_view date_line();
  std::shared_ptr<void> keep() const { return shared.alive.lock(); }

  std::shared_ptr<const route_table> table = std::make_shared<route_table>();
  timer_wheel wheel{clock::now()};
  bool draining = false;
  static constexpr std::size_t scratch_size = 64 * 1024;
  std::unique_ptr<char[]> scratch;  // read buffer of all connections
  std::string gather;               // write buffer of all streams
  std::string lines;                // headers of the answer being made
  std::string scrap;                // bodies that nobody wants
  form_reader::file_names spool_names;
  std::vector<boost::intrusive_ptr<connection>> connections;

  enum class form_end { complete, failed, called_off };

 private:
  void call_off_body(exchange& ex);
  void tell_form(exchange& ex, form_end end);
  void run_batch();
  void process(exchange& ex);
  void post_batch();
  void on_tick();
  void give_back_memory();
  void cut_revoked();
  void name_unanswered(clock::time_point now);

  // Slots stay for good. In blocks: one that lies among the pieces of a request would hold their page.
  boost::container::deque<exchange, void,
                          boost::container::deque_options<boost::container::block_size<64>>::type>
      slots_;
  std::vector<exchange*> free_;
  std::vector<std::unique_ptr<request_data>> spare_;
  std::vector<boost::intrusive_ptr<connection>> resume_;
  using timer_type = boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>,
                                                       boost::asio::io_context::executor_type>;
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
  std::size_t crowd_ = 0;     // connections, the most since memory was given back
  unsigned quiet_ticks_ = 0;  // since far fewer are left
  std::string date_;
  std::int64_t date_second_ = 0;
  std::array<std::uint64_t, 2> rng_{};

  std::mutex inbox_mutex_;
  std::vector<exchange*> inbox_, batch_;
  bool posted_ = false;
};

}  // namespace ry::http::serving
