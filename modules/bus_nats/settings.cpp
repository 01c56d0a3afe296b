#include "settings.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/settings_check.hpp>

namespace bus_nats {

namespace json = boost::json;

namespace {

bool has_valid_port(const std::string& url) {
  const auto colon = url.rfind(':');
  if (colon == 3 || colon == 4 || url.find(']', colon) != url.npos)
    return true;  // the colon belongs to the scheme or an IPv6 address
  const int port = std::stoi(url.substr(colon + 1));
  return port >= 1 && port <= 65535;
}

}  // namespace

settings read_settings(std::string_view text, ry::settings_faults& faults) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const json::object& o = doc.as_object();
  const auto string = [&](const char* key) { return std::string(o.at(key).as_string()); };
  settings s;
  for (const auto& url : o.at("urls").as_array()) {
    s.urls.emplace_back(url.as_string());
    if (!has_valid_port(s.urls.back()))
      faults.add("urls[" + std::to_string(s.urls.size() - 1) + "]", "must have a port from 1 to 65535");
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
  if (s.user.empty() != s.password.empty())
    faults.add(s.user.empty() ? "user" : "password", "is required: user and password must be set together");
  const int credentials = !s.user.empty() + !s.token.empty() + !s.credentials_file.empty();
  if (credentials > 1)
    faults.add(s.token.empty() ? "credentials_file" : "token",
               "cannot be combined with another method: set only one of user, token and credentials_file");
  if (s.cert_file.empty() != s.key_file.empty())
    faults.add(s.cert_file.empty() ? "tls_cert_file" : "tls_key_file",
               "is required: tls_cert_file and tls_key_file must be set together");
  return s;
}

}  // namespace bus_nats
