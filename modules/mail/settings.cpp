#include "settings.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/settings_check.hpp>

#include "address.hpp"

namespace mail {

namespace json = boost::json;

namespace {

std::string text_of(const json::object& o, const char* key) {
  return std::string(o.at(key).as_string());
}
std::string address_in(const json::object& o, const char* key, ry::settings_faults& faults) {
  auto out = text_of(o, key);
  if (!out.empty() && !is_address(out)) faults.add(key, "is not a bare e-mail address");
  return out;
}

// These addresses are sent with every message, even through a relay without SMTPUTF8.
std::string ascii_address_in(const json::object& o, const char* key, ry::settings_faults& faults) {
  const auto text = address_in(o, key, faults);
  const auto out = with_ascii_domain(text);
  if (out && needs_smtputf8(*out)) faults.add(key, "must have only ASCII characters before the @");
  return out.value_or(text);
}

}  // namespace

settings read_settings(std::string_view text, ry::settings_faults& faults) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const auto& o = doc.as_object();
  settings s;
  s.host = text_of(o, "host");
  if (s.host.find_first_of("/@?# \t\r\n") != s.host.npos) faults.add("host", "is not a host name");
  const auto kind = text_of(o, "security");
  s.security = kind == "tls" ? security::tls : kind == "none" ? security::none : security::starttls;
  s.port = static_cast<std::uint16_t>(o.at("port").as_int64());
  if (s.port == 0) {
    s.port = s.security == security::tls ? 465 : s.security == security::none ? 25 : 587;
  }
  s.username = text_of(o, "username");
  s.password = text_of(o, "password");
  if (s.security == security::none && !s.username.empty()) {
    faults.add("username", "would be sent in clear text: set mail.security to starttls or tls");
  }
  s.ca_file = text_of(o, "ca_file");
  s.from = address_in(o, "from", faults);
  if (!s.host.empty() && s.from.empty()) faults.add("from", "is required with mail.host");
  s.from_name = text_of(o, "from_name");
  s.reply_to = ascii_address_in(o, "reply_to", faults);
  s.bounce_address = ascii_address_in(o, "bounce_address", faults);
  s.unsubscribe_mailto = address_in(o, "unsubscribe_mailto", faults);
  for (const auto& selector : o.at("dkim_selectors").as_array()) s.dkim_selectors.emplace_back(selector.as_string());
  s.connections = static_cast<std::uint32_t>(o.at("connections").as_int64());
  s.timeout_ms = static_cast<std::uint64_t>(o.at("timeout_seconds").as_int64()) * 1000;
  const auto rate = o.at("rate_per_minute").as_int64();
  s.gap_ms = rate == 0 ? 0 : (60'000 + rate - 1) / rate;
  s.per_recipient_hour = o.at("per_recipient_hour").as_int64();
  s.account_per_recipient_hour = o.at("account_per_recipient_hour").as_int64();
  s.suppress_days = o.at("suppress_days").as_int64();
  s.max_attempts = o.at("max_attempts").as_int64();
  s.keep_days = o.at("keep_days").as_int64();
  return s;
}

}  // namespace mail
