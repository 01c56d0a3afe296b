#include "settings.hpp"

#include <boost/json/parse.hpp>
#include <ry/ry.hpp>

namespace notify_novu {

namespace json = boost::json;

settings read_settings(std::string_view text) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const json::object& o = doc.as_object();
  settings s;
  s.base_url = std::string(o.at("base_url").as_string());
  while (s.base_url.ends_with('/')) s.base_url.pop_back();
  for (const char* version : {"/v1", "/v2"}) {
    if (s.base_url.ends_with(version)) {
      throw ry::bad_request("notify_novu.settings", std::string("notify_novu.base_url must not end in ") + version);
    }
  }
  s.api_key = std::string(o.at("api_key").as_string());
  if (s.api_key.find_first_of(" \t\r\n") != s.api_key.npos) {
    throw ry::bad_request("notify_novu.settings", "notify_novu.api_key must not contain spaces");
  }
  s.timeout_ms = static_cast<std::uint64_t>(o.at("timeout_seconds").as_int64()) * 1000;
  for (const auto& [provider, id] : o.at("integrations").as_object()) {
    s.integrations.emplace(std::string(provider), std::string(id.as_string()));
  }
  s.step_conditions = o.at("step_conditions").as_bool();
  s.bulk_size = static_cast<std::size_t>(o.at("bulk_size").as_int64());
  s.bulk_wait_ms = static_cast<std::uint64_t>(o.at("bulk_wait_ms").as_int64());
  return s;
}

}  // namespace notify_novu
