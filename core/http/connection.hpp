// One accepted connection: reads requests, serves them one after another and writes the answers. Lives on one loop.
//
// Readiness-driven: all connections of a loop share one read buffer, so an idle connection owns no buffer. `in_` keeps
// only the bytes of an incomplete head and bytes not consumed yet.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/worker.hpp"

namespace ry::http::serving {

class connection;

// A piece of a file that a blocking thread reads.
struct file_job {
  connection* conn;  // null after it closed; used only on the loop
  std::shared_ptr<file_source> file;
  std::string data;
  bool failed = false;
};

class connection final : public wheel_entry,
                         public boost::intrusive_ref_counter<connection, boost::thread_unsafe_counter> {
 public:
  connection(worker& w, std::string peer, admission how, quota_hold by_address);
  ~connection();
  void start(int fd);

  // The module's answer to the current request; never calls into a module.
  void answer(std::uint32_t status, std::string_view lines, std::string_view body, std::shared_ptr<file_source> file);
  void begin_stream(std::uint32_t status, std::string_view lines, std::string_view content_length);
  // The stream has new bytes, the module closed it, or its buffer limit is exceeded.
  void stream_news();
  void authenticated(const verdict& v);
  // The module requests body bytes.
  void body_wanted() {
    if (!in_pump_) w_.schedule(*this);
  }
  // Continues work that another callback deferred: flush, next request, requested body bytes.
  void resume();
  void file_piece_read(file_job& job);
  void timer(clock::time_point now);
  void drain();
  // Asks the stream or long request of this connection to end.
  void ask_to_end();
  void cut(std::int32_t why);

  const admission admitted_as;
  std::size_t index = 0;  // in the worker's list
  bool scheduled = false;  // in the worker's resume list

 private:
  enum class phase { head, authenticating, body, handling, sending, streaming, discard, linger, closed };
  static constexpr std::size_t max_kept = 64 * 1024;  // unread input
  static constexpr std::size_t max_backlog = 64 * 1024;  // unsent answers before the next request
  static constexpr std::size_t max_head = 4 * 1024;  // of a stream head that is sent together with the first piece
  static constexpr std::size_t file_piece = 256 * 1024;
  static constexpr std::size_t max_discard = 256 * 1024;
  static constexpr std::size_t uncounted = 16 * 1024;  // the quota ignores answers with at most this many unsent bytes

  // connection.cpp
  void arm_read();
  void arm_write();
  void on_readable();
  io_result receive(char* data, std::size_t n);
  io_result send(const char* data, std::size_t n);
  void pump(std::string_view fresh);
  bool step();
  void flush();
  bool flush_out();
  void finish_close();
  void close();
  void end_of_input();
  std::chrono::milliseconds head_time() const;
  std::uint64_t taken_by_reader() const;
  bool too_slow(clock::time_point now);
  void due(clock::time_point when) { w_.wheel.at_latest(*this, when); }

  // connection_request.cpp
  bool read_head();
  void begin_request(std::string_view head);
  void route_request();
  bool preflight();
  bool foreign();
  void authenticate();
  bool within(const std::optional<gate_verdict>& v);
  void admitted();
  void dispatch();
  void run_host_route();
  void fire_cancel(std::int32_t why);
  void begin_trace();
  void fail(std::uint32_t status, std::string_view detail, std::string_view lines = {});
  void fail(const core::error& e);
  void send_failure(std::uint32_t status, std::string_view lines, std::string_view body);
  void fail_head(std::uint32_t status, std::string_view detail, std::string_view head);
  void respond_error(const core::error& e);
  void drop_request();
  void write_head(std::uint32_t status, std::string_view lines);
  void log_request(std::uint32_t status);
  void plan_rest();
  void begin_answer();
  void write_answer(std::uint32_t status, std::string_view lines, std::string_view body,
                    std::shared_ptr<file_source> file);
  quota_verdict count_unsent(std::size_t body, bool file);
  void end_answer();
  const settings& cfg() const noexcept { return w_.shared.s; }

  // connection_body.cpp
  bool wants_body() const;
  bool read_body();
  bool decode_some(std::string& out);
  bool count_body();
  void end_body();
  void send_continue();
  void deliver_body();
  void body_failed(const refusal& r);
  void refuse_body(const core::error& e);

  // connection_stream.cpp
  bool fill_from_stream();
  void stream_gone(std::int32_t reason);
  void end_stream();
  bool fill_from_file();
  clock::time_point stream_due(clock::time_point now);

  worker& w_;
  std::shared_ptr<void> keep_alive_;  // the worker and its slots
  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type> socket_;
  std::unique_ptr<tls_session> tls_;
  std::string peer_;
  std::string good_host_;  // the last Host header that passed the check
  quota_hold by_address_;  // counts as one connection of the peer's address
  quota_hold unsent_;  // unsent bytes of an answer
  quota_hold body_;  // the body being received
  phase phase_ = phase::head;
  bool reading_ = false, writing_ = false;  // whether asynchronous waits are pending
  bool in_pump_ = false;
  bool fresh_ = true;  // no request received yet
  bool closing_ = false;  // no further request
  bool eof_ = false;  // the client closed its sending side
  bool keep_ = true;  // keep-alive: another request may follow
  bool expect_ = false;  // 100-continue not sent yet
  bool head_method_ = false;
  bool chunked_open_ = false;
  bool head_held_ = false;  // out_ is a stream head, held back to be sent with the first piece

  std::string in_;
  std::string_view cur_;
  std::string out_;
  std::size_t sent_ = 0;  // of out_
  head_scanner scanner_;
  std::optional<message_parser> parser_;
  std::uint64_t body_limit_ = 0;
  std::uint64_t discarded_ = 0;
  exchange* ex_ = nullptr;
  std::shared_ptr<file_source> file_;
  std::shared_ptr<file_job> job_;  // the pending read of a piece of file_

  clock::time_point head_due_{}, request_due_ = clock::time_point::max(), linger_due_{};
  // Start of the current window of write_stall_timeout; zero while there are no unsent bytes.
  clock::time_point slow_since_{};
  std::uint64_t written_ = 0, taken_before_ = 0;
  clock::time_point cancel_due_ = clock::time_point::max();  // when a drain cancels the in-flight request
  clock::time_point body_armed_{};  // since when the server waits for body bytes
  clock::time_point body_due_ = clock::time_point::max();
  // Current window of body_min_rate: time spent waiting for the client, and body bytes received before the window.
  clock::duration body_waited_{};
  std::uint64_t body_before_ = 0;
  clock::time_point last_write_{};
};

}  // namespace ry::http::serving
