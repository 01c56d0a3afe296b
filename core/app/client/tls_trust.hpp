// Which certificate a command accepts of a server.
#pragma once

#include <curl/curl.h>

#include <string>

namespace ry::app::client {

struct tls_trust {
  std::string ca_file;  // PEM; empty: $CURL_CA_BUNDLE, $SSL_CERT_FILE or the system's
  // The server is known by this key alone, "sha256//...", whatever name it is asked by: its own configuration names the
  // certificate. Empty: by name and issuer.
  std::string pinned_key;
};

void apply(const tls_trust& trust, CURL* to);
// What to do about a connection that failed for its certificate, to be appended to the reason; empty for any other failure.
std::string advice(const tls_trust& trust, CURLcode failure);

// The pin of the certificate in a PEM file. Throws std::runtime_error naming the file.
std::string pin_of(const std::string& cert_file);

}  // namespace ry::app::client
