#include "settings.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <ry/cpp/settings_check.hpp>
#include <set>

#include "webhook_signature.hpp"

namespace webhooks {

namespace json = boost::json;

bool receiver::wants(std::string_view kind) const {
  return std::any_of(events.begin(), events.end(), [&](std::string_view e) {
    if (!e.ends_with(".*")) return e == kind;
    e.remove_suffix(1);
    return kind.starts_with(e);
  });
}

const receiver* settings::find(std::string_view name) const {
  const auto it = std::find_if(receivers.begin(), receivers.end(), [&](const receiver& r) { return r.name == name; });
  return it == receivers.end() ? nullptr : &*it;
}

std::string settings::kinds() const {
  std::set<std::string_view> all;
  for (const auto& r : receivers) all.insert(r.events.begin(), r.events.end());
  std::string out;
  for (const auto e : all) out += (out.empty() ? "" : ",") + std::string(e);
  return out;
}

settings read_settings(std::string_view text, ry::settings_faults& faults) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const json::object& o = doc.as_object();
  settings s;
  s.disable_after_hours = o.at("disable_after_hours").as_int64();
  s.max_attempts = static_cast<std::int32_t>(o.at("max_attempts").as_int64());
  for (const auto& [name, value] : o.at("endpoints").as_object()) {
    const json::object& e = value.as_object();
    const std::string where = "webhooks.endpoints." + std::string(name);
    receiver r;
    r.name = std::string(name);
    r.to.name = where;
    r.to.url = std::string(e.at("url").as_string());
    for (const auto& secret : e.at("secrets").as_array()) {
      auto key = standard_webhooks::read_secret(std::string(secret.as_string()));
      if (!key) {
        faults.add("endpoints." + ry::settings_faults::quoted(name) + ".secrets[" +
                       std::to_string(&secret - e.at("secrets").as_array().data()) + "]",
                   "must be \"whsec_\" and 24 to 64 bytes in Base64");
        continue;
      }
      r.to.keys.push_back(*std::move(key));
    }
    if (const auto* events = e.if_contains("events")) {
      for (const auto& kind : events->as_array()) r.events.emplace_back(kind.as_string());
    } else {
      r.events = {"account.*", "credits.*", "payment.*", "referral.*", "run.*"};
    }
    s.receivers.push_back(std::move(r));
  }
  return s;
}

}  // namespace webhooks
