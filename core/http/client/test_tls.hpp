// Self-signed certificates and a TLS server for tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "core/http/client/test_server.hpp"

namespace ry::http::test {

template <auto F>
struct deleter {
  template <class T>
  void operator()(T* p) const {
    F(p);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, deleter<EVP_PKEY_free>>;
using cert_ptr = std::unique_ptr<X509, deleter<X509_free>>;
using ctx_ptr = std::unique_ptr<SSL_CTX, deleter<SSL_CTX_free>>;

// A self-signed certificate with its key.
struct self_signed_certificate {
  key_ptr key{EVP_EC_gen("P-256")};
  cert_ptr cert{X509_new()};

  explicit self_signed_certificate(const char* names, long valid_s = 3600, const char* subject = "test") {
    X509_set_version(cert.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), -7200);
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), valid_s);
    X509_set_pubkey(cert.get(), key.get());
    X509_NAME* name = X509_get_subject_name(cert.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(subject), -1, -1, 0);
    X509_set_issuer_name(cert.get(), name);
    X509_EXTENSION* alt = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(cert.get(), alt, -1);
    X509_EXTENSION_free(alt);
    X509_sign(cert.get(), key.get(), EVP_sha256());
  }
  std::string pem_file() const {
    char name[] = "/tmp/ry-ca-XXXXXX";
    FILE* f = ::fdopen(::mkstemp(name), "w");
    PEM_write_X509(f, cert.get());
    std::fclose(f);
    return name;
  }
  std::string pem() const {
    const std::unique_ptr<BIO, deleter<BIO_free>> out(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(out.get(), cert.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return {text, static_cast<std::size_t>(size)};
  }
};

struct tls_server {
  ctx_ptr ctx{SSL_CTX_new(TLS_server_method())};
  server tcp;

  tls_server(const self_signed_certificate& id, std::function<void(SSL*)> script, int version = TLS1_3_VERSION)
      : tcp([this, script](peer& p) {
          SSL* ssl = SSL_new(ctx.get());
          SSL_set_fd(ssl, p.fd());
          if (SSL_accept(ssl) == 1) script(ssl);
          SSL_free(ssl);
        }) {
    ::signal(SIGPIPE, SIG_IGN);  // writing to a connection that the client closed would raise it
    SSL_CTX_use_certificate(ctx.get(), id.cert.get());
    SSL_CTX_use_PrivateKey(ctx.get(), id.key.get());
    SSL_CTX_set_max_proto_version(ctx.get(), version);
  }
  std::string url(const std::string& host) const { return "https://" + host + ":" + std::to_string(tcp.port) + "/"; }
};

inline std::string read_request(SSL* ssl) {
  std::string in;
  char buf[4096];
  while (in.find("\r\n\r\n") == std::string::npos) {
    const int n = SSL_read(ssl, buf, sizeof buf);
    if (n <= 0) return {};
    in.append(buf, static_cast<std::size_t>(n));
  }
  return in;
}
inline void send_all(SSL* ssl, const std::string& s) {
  SSL_write(ssl, s.data(), static_cast<int>(s.size()));
}

}  // namespace ry::http::test
