#include "settings.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <ry/cpp/text.hpp>

namespace referrals {

namespace json = boost::json;

settings read_settings(std::string_view text) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const auto& o = doc.as_object();
  const auto number = [&o](const char* key) { return o.at(key).as_int64(); };
  settings s;
  s.app_url = o.at("app_url").as_string().c_str();
  while (!s.app_url.empty() && s.app_url.back() == '/') s.app_url.pop_back();
  s.qualify = o.at("qualify").as_string().c_str();
  s.hold_hours = number("hold_hours");
  s.bonus = number("bonus_credits");
  s.cap = number("cap_credits");
  s.flag_score = number("flag_score");
  s.velocity = number("velocity_per_day");
  for (const auto& domain : o.at("disposable_domains").as_array()) {
    s.disposable.push_back(ry::lower_ascii(std::string_view(domain.as_string())));
  }
  s.refreshes = number("refreshes_per_day");
  s.invites_hour = number("invites_per_hour");
  s.invites_day = number("invites_per_day");
  s.reinvite_days = number("reinvite_days");
  s.send_wait_ms = static_cast<std::uint64_t>(number("send_wait_seconds")) * 1000;
  s.validate_per_minute = number("validate_per_minute");
  return s;
}

}  // namespace referrals
