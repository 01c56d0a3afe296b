// One connected, non-blocking socket, plain or TLS: operations return immediately and report which readiness to wait
// for. Lives on one loop.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/client/tls.hpp"

namespace ry::http {

using loop_socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class transport {
 public:
  enum class io { ok, want_read, want_write, eof, failed };
  struct io_result {
    io what;
    std::size_t n = 0;
  };

  // Takes ownership of a connected socket.
  explicit transport(loop_socket socket);

  // False: memory is exhausted.
  bool start_tls(std::shared_ptr<const tls_context> context, const guard::host& host);
  // Call it again after waiting until it returns ok.
  io handshake();
  // ok: n > 0 bytes were read.
  io_result read(std::span<char> into);
  // ok: n > 0 bytes were written.
  io_result write(std::string_view data);
  // True if bytes read from the socket have not been returned by read() yet.
  bool buffered() const noexcept { return ssl_ && SSL_pending(ssl_.get()) > 0; }
  // True if the peer of an idle connection has neither closed it nor sent data.
  bool quiet();

  template <class F>
  void wait_read(F&& f) {
    socket_.async_wait(loop_socket::wait_read, std::forward<F>(f));
  }
  template <class F>
  void wait_write(F&& f) {
    socket_.async_wait(loop_socket::wait_write, std::forward<F>(f));
  }
  // Pending waits end with operation_aborted.
  void cancel_waits() noexcept;
  // Why the last operation failed, as readable text.
  const std::string& problem() const noexcept { return problem_; }

 private:
  io_result tls_result(int r);

  loop_socket socket_;
  std::shared_ptr<const tls_context> tls_;
  tls_context::ssl_ptr ssl_;
  std::string problem_;
};

}  // namespace ry::http
