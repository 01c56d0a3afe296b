#include "settings.hpp"

#include <boost/json/parse.hpp>
#include <ry/ry.hpp>

namespace bus_nats {

namespace json = boost::json;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw ry::bad_request("bus_nats.settings", "bus_nats." + what);
}

void check_port(const std::string& url) {
  const auto colon = url.rfind(':');
  if (colon == 3 || colon == 4 || url.find(']', colon) != url.npos) return;  // of the scheme or an address
  const int port = std::stoi(url.substr(colon + 1));
  if (port < 1 || port > 65535) refuse("urls: the port of " + url + " must be from 1 to 65535");
}

}  // namespace

settings read_settings(std::string_view text) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const json::object& o = doc.as_object();
  const auto string = [&](const char* key) { return std::string(o.at(key).as_string()); };
  settings s;
  for (const auto& url : o.at("urls").as_array()) {
    s.urls.emplace_back(url.as_string());
    check_port(s.urls.back());
  }
  s.user = string("user");
  s.password = string("password");
  s.token = string("token");
  s.credentials_file = string("credentials_file");
  s.ca_file = string("tls_ca_file");
  s.cert_file = string("tls_cert_file");
  s.key_file = string("tls_key_file");
  s.stream = string("stream");
  s.subject = string("subject");
  s.in_memory = o.at("storage").as_string() == "memory";
  s.replicas = o.at("replicas").as_int64();
  s.keep_seconds = o.at("keep_seconds").as_int64();
  s.keep_bytes = o.at("keep_bytes").as_int64();
  s.queue_bytes = static_cast<std::size_t>(o.at("queue_bytes").as_int64());
  if (s.user.empty() != s.password.empty()) refuse("user and password go together");
  const int ways = !s.user.empty() + !s.token.empty() + !s.credentials_file.empty();
  if (ways > 1) refuse("user, token and credentials_file: only one of them can be used");
  if (s.cert_file.empty() != s.key_file.empty()) refuse("tls_cert_file and tls_key_file go together");
  return s;
}

}  // namespace bus_nats
