// Which server certificate a command accepts.
#pragma once

#include <curl/curl.h>

#include <string>

namespace ry::app::client {

struct tls_trust {
  std::string ca_file;  // PEM; empty: $CURL_CA_BUNDLE, $SSL_CERT_FILE or the system's
  // Accept only the server with this public key, "sha256//...", regardless of its host name: the client's
  // configuration names the certificate. Empty: verify name and issuer.
  std::string pinned_key;
};

void apply(const tls_trust& trust, CURL* to);
// Advice to append to the reason of a connection that failed because of its certificate; empty for any other
// failure.
std::string advice(const tls_trust& trust, CURLcode failure);

// The pin of the certificate in a PEM file. Throws std::runtime_error naming the file.
std::string pin_of(const std::string& cert_file);

}  // namespace ry::app::client
