#include "core/app/client/tls_trust.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace ry::app::client {

namespace {

// The curl program reads these variables; libcurl reads neither.
std::string ca_file_of_environment() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (const char* value = std::getenv(name); value && *value) return value;
  return {};
}

}  // namespace

void apply(const tls_trust& trust, CURL* to) {
  if (!trust.pinned_key.empty()) {
    curl_easy_setopt(to, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(to, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(to, CURLOPT_PINNEDPUBLICKEY, trust.pinned_key.c_str());
    return;
  }
  const auto ca_file = trust.ca_file.empty() ? ca_file_of_environment() : trust.ca_file;
  if (!ca_file.empty()) curl_easy_setopt(to, CURLOPT_CAINFO, ca_file.c_str());
}

std::string advice(const tls_trust& trust, CURLcode failure) {
  switch (failure) {
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return "; the server does not use the certificate in http.tls.cert. If that file was renewed, make the server reload it "
             "with SIGHUP (`systemctl reload runyard`)";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "; pass the issuing CA certificate with --ca-file, and use a host name that the certificate contains";
    case CURLE_SSL_CACERT_BADFILE:
      return "; the file " + (trust.ca_file.empty() ? ca_file_of_environment() : trust.ca_file) +
             " contains no certificates or cannot be read";
    default:
      return {};
  }
}

std::string pin_of(const std::string& cert_file) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_file(cert_file.c_str(), "r"), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> cert(
      in ? PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr) : nullptr, X509_free);
  unsigned char* key = nullptr;
  const int size = cert ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(cert.get()), &key) : -1;
  if (size <= 0) throw std::runtime_error("the file " + cert_file + " contains no readable certificate");
  unsigned char digest[32];
  const bool hashed = EVP_Digest(key, static_cast<std::size_t>(size), digest, nullptr, EVP_sha256(), nullptr) == 1;
  OPENSSL_free(key);
  if (!hashed) throw std::runtime_error("SHA-256 is not available");
  unsigned char text[48];  // 44 characters and a NUL
  EVP_EncodeBlock(text, digest, sizeof digest);
  return "sha256//" + std::string(reinterpret_cast<const char*>(text));
}

}  // namespace ry::app::client
