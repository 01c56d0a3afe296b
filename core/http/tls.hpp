// Server-side TLS over non-blocking sockets, with an interface like recv and send.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

struct ssl_st;
struct ssl_ctx_st;

namespace ry::http::serving {

// Result of a read or write.
struct io_result {
  enum class kind { done, want_read, want_write, closed, failed };
  kind what = kind::failed;
  std::size_t n = 0;  // when done
};

class tls_context {
 public:
  // Loads PEM files. Throws std::runtime_error that names the invalid file.
  tls_context(const std::string& cert_file, const std::string& key_file);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;
  ssl_ctx_st* native() const noexcept { return ctx_; }
  // The end of the certificate's validity as text, "Nov 26 00:00:00 2026 GMT".
  std::string valid_until() const;

 private:
  ssl_ctx_st* ctx_;
};

// TLS state of one connection; used only on its loop. The handshake runs inside read() and write().
class tls_session {
 public:
  tls_session(const tls_context& ctx, int fd);
  ~tls_session();
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;
  io_result read(char* data, std::size_t n);
  io_result write(const char* data, std::size_t n);
  // True if decrypted bytes are buffered; the socket may be empty then.
  bool has_pending() const noexcept;
  // Sends close_notify to the peer.
  void shutdown() noexcept;

 private:
  io_result result(int r);
  ssl_st* ssl_;
  bool failed_ = false;
};

}  // namespace ry::http::serving
