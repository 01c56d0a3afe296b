#include "core/http/client/transport.hpp"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace ry::http {

namespace {
constexpr std::size_t max_tls_write = 16 * 1024;
}

transport::transport(loop_socket socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(boost::asio::socket_base::keep_alive(true), ignored);
}

bool transport::start_tls(std::shared_ptr<const tls_context> context, const guard::host& host) {
  tls_ = std::move(context);
  ssl_ = tls_->session(socket_.native_handle(), host);
  return ssl_ != nullptr;
}

transport::io_result transport::tls_result(int r) {
  if (r > 0) return {io::ok, static_cast<std::size_t>(r)};
  const int saved = errno;
  switch (SSL_get_error(ssl_.get(), r)) {
    case SSL_ERROR_WANT_READ:
      return {io::want_read};
    case SSL_ERROR_WANT_WRITE:
      return {io::want_write};
    case SSL_ERROR_ZERO_RETURN:
      return {io::eof};
    case SSL_ERROR_SYSCALL:
      problem_ = saved ? std::strerror(saved) : "connection closed";
      ERR_clear_error();
      return {io::failed};
    default:
      problem_ = tls_error_text();
      return {io::failed};
  }
}

transport::io transport::handshake() {
  ERR_clear_error();
  errno = 0;
  const auto r = tls_result(SSL_do_handshake(ssl_.get()));
  if (r.what == io::failed) {
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) problem_ = X509_verify_cert_error_string(verdict);
  }
  return r.what;
}

transport::io_result transport::read(std::span<char> into) {
  if (ssl_) {
    // A TLS record is at most 16 KiB: read several, so that one call returns all available bytes.
    std::size_t n = 0;
    for (;;) {
      ERR_clear_error();
      errno = 0;
      const auto room = std::min<std::size_t>(into.size() - n, 1 << 30);
      const auto r = tls_result(SSL_read(ssl_.get(), into.data() + n, static_cast<int>(room)));
      if (r.what != io::ok) return n ? io_result{io::ok, n} : r;
      n += r.n;
      if (n == into.size()) return {io::ok, n};
    }
  }
  const auto n = ::recv(socket_.native_handle(), into.data(), into.size(), 0);
  if (n > 0) return {io::ok, static_cast<std::size_t>(n)};
  if (n == 0) return {io::eof};
  if (errno == EAGAIN || errno == EINTR) return {io::want_read};
  problem_ = std::strerror(errno);
  return {io::failed};
}

transport::io_result transport::write(std::string_view data) {
  if (ssl_) {
    ERR_clear_error();
    errno = 0;
    return tls_result(SSL_write(ssl_.get(), data.data(), static_cast<int>(std::min(data.size(), max_tls_write))));
  }
  const auto n = ::send(socket_.native_handle(), data.data(), data.size(), MSG_NOSIGNAL);
  if (n > 0) return {io::ok, static_cast<std::size_t>(n)};
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    problem_ = std::strerror(errno);
    return {io::failed};
  }
  return {io::want_write};
}

bool transport::quiet() {
  char c;
  if (ssl_) {
    ERR_clear_error();
    errno = 0;
    return tls_result(SSL_peek(ssl_.get(), &c, 1)).what == io::want_read;
  }
  return ::recv(socket_.native_handle(), &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void transport::cancel_waits() noexcept {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

}  // namespace ry::http
