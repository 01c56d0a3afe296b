#include "core/http/client/tls.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace ry::http {

namespace {

int fd_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto n = ::send(fd_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto n = ::recv(fd_of(bio), data, static_cast<std::size_t>(size), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  if (n == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(n);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) ? 1 : 0;
  return 0;
}

struct x509_free {
  void operator()(X509* c) const noexcept { X509_free(c); }
};
struct bio_free {
  void operator()(BIO* b) const noexcept { BIO_free(b); }
};

// Calls take(X509*) for each certificate.
template <class Take>
void each_certificate(std::string_view pem, Take take) {
  const std::unique_ptr<BIO, bio_free> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!text) throw std::runtime_error("OpenSSL could not be initialised");
  std::size_t n = 0;
  for (;; ++n) {
    ERR_clear_error();
    const std::unique_ptr<X509, x509_free> c(PEM_read_bio_X509_AUX(text.get(), nullptr, nullptr, nullptr));
    if (!c) break;
    take(c.get());
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string problem = ended ? std::string() : tls_error_text();
  ERR_clear_error();
  if (!problem.empty())
    throw std::runtime_error("certificate " + std::to_string(n + 1) + " cannot be read: " + problem);
  if (n == 0) throw std::runtime_error("there is no certificate in PEM form in it");
}

}  // namespace

void check_certificates(std::string_view pem) {
  each_certificate(pem, [](X509*) {});
}

tls_context::tls_context(const std::string& ca_file, std::string_view pem)
    : method_(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket")),
      ctx_(SSL_CTX_new(TLS_client_method())) {
  if (!method_ || !ctx_) throw std::runtime_error("OpenSSL could not be initialised");
  BIO_meth_set_write(method_.get(), bio_write);
  BIO_meth_set_read(method_.get(), bio_read);
  BIO_meth_set_ctrl(method_.get(), bio_ctrl);
  SSL_CTX* ctx = ctx_.get();
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(ctx);
  static constexpr unsigned char alpn[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(ctx, alpn, sizeof alpn - 1);
  ERR_clear_error();
  if (!ca_file.empty() && SSL_CTX_load_verify_locations(ctx, ca_file.c_str(), nullptr) != 1)
    throw std::runtime_error("cannot use the certificates in " + ca_file + ": " + tls_error_text());
  if (pem.empty()) return;
  X509_STORE* store = SSL_CTX_get_cert_store(ctx);
  each_certificate(pem, [store](X509* c) {
    if (X509_STORE_add_cert(store, c) != 1)
      throw std::runtime_error("a certificate cannot be used: " + tls_error_text());
  });
}

tls_context::ssl_ptr tls_context::session(int fd, const guard::host& host) const {
  ssl_ptr ssl(SSL_new(ctx_.get()));
  BIO* bio = BIO_new(method_.get());
  if (!ssl || !bio) {
    BIO_free(bio);
    return nullptr;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);
  X509_VERIFY_PARAM* check = SSL_get0_param(ssl.get());
  X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool ok = host.literal ? X509_VERIFY_PARAM_set1_ip_asc(check, host.name.c_str()) == 1
                               : X509_VERIFY_PARAM_set1_host(check, host.name.data(), host.name.size()) == 1 &&
                                     SSL_set_tlsext_host_name(ssl.get(), host.name.c_str()) == 1;
  if (!ok) return nullptr;
  SSL_set_connect_state(ssl.get());
  return ssl;
}

std::string tls_error_text() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(code);
  return reason ? reason : "unknown error";
}

}  // namespace ry::http
