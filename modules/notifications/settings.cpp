#include "settings.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/settings_check.hpp>

#include "webhook_signature.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

std::vector<std::string> strings_of(const json::value& list) {
  std::vector<std::string> out;
  for (const auto& v : list.as_array()) out.emplace_back(v.as_string());
  return out;
}

}  // namespace

std::int64_t settings::inbox_entries_of(std::string_view tier) const {
  const auto found = inbox_entries.find(tier);
  return found != inbox_entries.end() ? found->second : inbox_entries.at("free");
}

settings read_settings(std::string_view text, ry::settings_faults& faults) {
  const auto doc = json::parse(json::string_view(text.data(), text.size()));
  const auto& o = doc.as_object();
  const auto number = [&o](const char* key) { return o.at(key).as_int64(); };
  const auto string = [&o](const char* key) { return std::string(o.at(key).as_string()); };
  settings s;
  s.allowed_modes = strings_of(o.at("allowed_modes"));
  s.orchestrator = string("orchestrator");
  const auto secrets = strings_of(o.at("webhook_secrets"));
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    if (auto key = standard_webhooks::read_secret(secrets[i]))
      s.webhook_keys.push_back(*std::move(key));
    else
      faults.add("webhook_secrets[" + std::to_string(i) + "]", "must be \"whsec_\" and 24 to 64 bytes in Base64");
  }
  s.app_url = string("app_url");
  while (!s.app_url.empty() && s.app_url.back() == '/') s.app_url.pop_back();
  s.task_url = string("task_url");
  s.settings_url = string("settings_url");
  s.task_email_minutes = number("task_email_minutes");
  s.templates_dir = string("templates_dir");
  s.urgent = strings_of(o.at("urgent"));
  s.mandatory = strings_of(o.at("mandatory"));
  s.presence_seconds = number("presence_seconds");
  s.ttl_seconds = number("ttl_hours") * 3600;
  s.max_attempts = number("max_attempts");
  s.timeout_ms = static_cast<std::uint64_t>(number("timeout_seconds")) * 1000;
  s.concurrency = static_cast<std::uint32_t>(number("concurrency"));
  s.tokens_per_provider = number("tokens_per_provider");
  s.keep_days = number("keep_days");
  s.inbox_entries = {{"free", 1000}, {"pro", 5000}, {"enterprise", 10000}};
  if (const auto* tiers = o.if_contains("inbox_entries")) {
    for (const auto& [name, limit] : tiers->as_object())
      s.inbox_entries.insert_or_assign(std::string(name), limit.as_int64());
  }
  return s;
}

}  // namespace notifications
