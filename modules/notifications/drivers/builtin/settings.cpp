#include "settings.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace notify_builtin {

namespace json = boost::json;

notify_push::options push_options(const ry::context& ctx) {
  const auto text = ctx.settings();
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const json::object& o = doc.as_object();
  const auto string = [&o](const char* key) { return std::string(o.at(key).as_string()); };
  notify_push::options out;
  out.expo_url = string("expo_url");
  while (out.expo_url.ends_with('/')) out.expo_url.pop_back();
  out.expo_access_token = string("expo_access_token");
  if (const auto key = string("vapid_private_key"); !key.empty()) {
    try {
      out.vapid = notify_push::vapid_key::read(key);
    } catch (const ry::error& e) {
      throw ry::bad_request("notify_builtin.settings", "notify_builtin.vapid_private_key: " + std::string(e.message()));
    }
  }
  out.vapid_subject = string("vapid_subject");
  const auto page = ctx.fact("http.public_url");
  if (out.vapid_subject.empty() && page.starts_with("https://")) out.vapid_subject = page;
  for (const auto& host : o.at("web_push_hosts").as_array()) out.web_push_hosts.emplace_back(host.as_string());
  if (ctx.fact("deployment.mode") == "local") out.allowed = notify_push::endpoints::http_too;
  return out;
}

}  // namespace notify_builtin
