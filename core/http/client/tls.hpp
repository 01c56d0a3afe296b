// TLS contexts and sessions of outgoing connections. Server certificates are always verified.
#pragma once

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/http/client/guard.hpp"

namespace ry::http {

// Shared by all connections, which keep it alive. Thread-safe after construction.
class tls_context {
 public:
  // Trusts the system's certificates and, when given, those in `ca_file` (PEM) and in the text `pem`. Throws
  // std::runtime_error with a readable message when they are unusable. Reads files.
  explicit tls_context(const std::string& ca_file, std::string_view pem = {});

  struct ssl_free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  using ssl_ptr = std::unique_ptr<SSL, ssl_free>;
  // Creates a client session over a connected, non-blocking descriptor, with SNI and verification of the certificate's
  // name or address; nullptr when memory is exhausted.
  ssl_ptr session(int fd, const guard::host& host) const;

 private:
  struct ctx_free {
    void operator()(SSL_CTX* ctx) const noexcept { SSL_CTX_free(ctx); }
  };
  struct method_free {
    void operator()(BIO_METHOD* m) const noexcept { BIO_meth_free(m); }
  };
  std::unique_ptr<BIO_METHOD, method_free> method_;  // writes without raising SIGPIPE
  std::unique_ptr<SSL_CTX, ctx_free> ctx_;
};

// Throws std::runtime_error with a readable message unless the text holds at least one certificate and all are valid.
void check_certificates(std::string_view pem);

// The oldest queued OpenSSL error as text without file names; empties the queue.
std::string tls_error_text();

}  // namespace ry::http
