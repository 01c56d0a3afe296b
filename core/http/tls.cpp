#include "core/http/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <stdexcept>

namespace ry::http::serving {

namespace {

int select_alpn(SSL*, const unsigned char** out, unsigned char* out_len, const unsigned char* in, unsigned in_len,
                void*) {
  static constexpr unsigned char http11[] = "\x08http/1.1";
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_len, http11, sizeof http11 - 1, in, in_len) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

std::runtime_error failure(const std::string& what) {
  char text[256] = "";
  if (const auto e = ERR_get_error()) ERR_error_string_n(e, text, sizeof text);
  ERR_clear_error();
  return std::runtime_error(what + (*text ? std::string(": ") + text : std::string()));
}

}  // namespace

tls_context::tls_context(const std::string& cert_file, const std::string& key_file)
    : ctx_(SSL_CTX_new(TLS_server_method())) {
  if (!ctx_) throw failure("TLS is not available");
  try {
    SSL_CTX_set_min_proto_version(ctx_, TLS1_2_VERSION);
    SSL_CTX_set_mode(ctx_,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(ctx_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_id_context(ctx_, reinterpret_cast<const unsigned char*>("ry"), 2);
    SSL_CTX_set_alpn_select_cb(ctx_, select_alpn, nullptr);
    if (SSL_CTX_use_certificate_chain_file(ctx_, cert_file.c_str()) != 1)
      throw failure("the file " + cert_file + " contains no usable certificate");
    if (SSL_CTX_use_PrivateKey_file(ctx_, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
      throw failure("the file " + key_file + " contains no usable key");
    if (SSL_CTX_check_private_key(ctx_) != 1)
      throw failure("the key in " + key_file + " does not belong to the certificate");
  } catch (...) {
    SSL_CTX_free(ctx_);
    throw;
  }
}

std::string tls_context::valid_until() const {
  const X509* own = SSL_CTX_get0_certificate(ctx_);
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  if (!own || !out || ASN1_TIME_print(out.get(), X509_get0_notAfter(own)) != 1) return {};
  char* text = nullptr;
  const long n = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(n)};
}

tls_context::~tls_context() {
  SSL_CTX_free(ctx_);
}

tls_session::tls_session(const tls_context& ctx, int fd) : ssl_(SSL_new(ctx.native())) {
  if (!ssl_) throw std::bad_alloc();
  SSL_set_fd(ssl_, fd);
  SSL_set_accept_state(ssl_);
}

tls_session::~tls_session() {
  SSL_free(ssl_);
}

io_result tls_session::result(int r) {
  switch (SSL_get_error(ssl_, r)) {
    case SSL_ERROR_WANT_READ:
      return {io_result::kind::want_read};
    case SSL_ERROR_WANT_WRITE:
      return {io_result::kind::want_write};
    case SSL_ERROR_ZERO_RETURN:
      return {io_result::kind::closed};
    default:
      failed_ = true;
      return {io_result::kind::failed};
  }
}

io_result tls_session::read(char* data, std::size_t n) {
  if (failed_) return {io_result::kind::failed};
  ERR_clear_error();
  const int r = SSL_read(ssl_, data, static_cast<int>(std::min<std::size_t>(n, 1 << 30)));
  return r > 0 ? io_result{io_result::kind::done, static_cast<std::size_t>(r)} : result(r);
}

io_result tls_session::write(const char* data, std::size_t n) {
  if (failed_) return {io_result::kind::failed};
  ERR_clear_error();
  const int r = SSL_write(ssl_, data, static_cast<int>(std::min<std::size_t>(n, 1 << 30)));
  return r > 0 ? io_result{io_result::kind::done, static_cast<std::size_t>(r)} : result(r);
}

bool tls_session::has_pending() const noexcept {
  return SSL_has_pending(ssl_) == 1;
}

void tls_session::shutdown() noexcept {
  if (failed_ || !SSL_is_init_finished(ssl_)) return;
  ERR_clear_error();
  if (SSL_shutdown(ssl_) < 0) ERR_clear_error();
}

}  // namespace ry::http::serving
