// Settings of the module; immutable once the module is created.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ry {
class settings_faults;
}

namespace notifications {

inline constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "allowed_modes": {"type": "array",
      "items": {"type": "string", "enum": ["local", "staging", "production"]}, "default": ["staging"],
      "description": "Values of deployment.mode in which notifications are available; otherwise the endpoints respond with 403, and nothing is sent"},
    "orchestrator": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$", "form": "the name of a driver, such as builtin", "default": "builtin",
      "driver_of": "notify.orchestrator/1", "description": "Driver that delivers the notifications: builtin, novu, or another loaded one"},
    "webhook_secrets": {"type": "array", "maxItems": 5, "items": {"type": "string", "secret": true}, "default": [],
      "description": "Keys (whsec_...) that verify the orchestrator's webhooks; without a key, webhooks are only logged"},
    "app_url": {"type": "string", "pattern": "^(https?://[^\\s?#]+)?$", "form": "a URL without ? and #, such as https://app.example.org, or empty", "default": "",
      "description": "Base URL of the links in notifications; empty: http.public_url with http.base_path"},
    "task_url": {"type": "string", "default": "{app_url}/#/threads/{thread_id}",
      "description": "URL of a task; {app_url}, {thread_id}, {project_id} and {run_id} are replaced"},
    "settings_url": {"type": "string", "default": "{app_url}/#/inbox",
      "description": "URL of the notification settings, for the footer of e-mails; {app_url} is replaced"},
    "task_email_minutes": {"type": "integer", "minimum": 0, "maximum": 1440, "default": 0,
      "description": "E-mails about tasks are sent only for runs that took at least this many minutes; min_minutes in an account's preferences overrides it"},
    "templates_dir": {"type": "string", "default": "",
      "description": "Directory with custom templates; empty: the built-in ones"},
    "urgent": {"type": "array", "items": {"type": "string"}, "default": ["payment-failed"],
      "description": "Workflows that are not delayed by quiet hours or digests"},
    "mandatory": {"type": "array", "items": {"type": "string"}, "default": [],
      "description": "Workflows that an account's preferences cannot turn off"},
    "presence_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 120,
      "description": "Seconds for which a thread counts as viewed after the latest presence update"},
    "ttl_hours": {"type": "integer", "minimum": 1, "maximum": 720, "default": 24,
      "description": "Hours after which an undelivered notification expires"},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10,
      "description": "Maximum number of delivery attempts per notification; after the last one, it is dead-lettered"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 30,
      "description": "Time limit of the delivery of one notification to the driver, in seconds"},
    "concurrency": {"type": "integer", "minimum": 1, "maximum": 256, "default": 16,
      "description": "Maximum number of concurrent deliveries per node"},
    "tokens_per_provider": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
      "description": "Maximum number of devices of one account per push provider; the newest are kept",
      "limit": {"resource": "Devices for push messages", "per": "account, provider; twice the number for all providers", "answer": "older devices are removed", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "inbox_entries": {
      "type": "object",
      "description": "Maximum number of entries of an inbox, by tier; older entries are removed. Custom tiers have the limit of free",
      "properties": {
        "free": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000},
        "pro": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 5000},
        "enterprise": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 10000}
      },
      "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 1000000},
      "limit": {"resource": "Entries of the inbox", "per": "account", "answer": "older entries are removed", "default": "free 1000, pro 5000, enterprise 10000", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "keep_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 90,
      "description": "Days for which inbox entries, the delivery log and finished notifications are kept"}
  }
})";

struct settings {
  std::vector<std::string> allowed_modes;
  std::string orchestrator;
  std::vector<std::string> webhook_keys;  // decoded
  std::string app_url;
  std::string task_url;
  std::string settings_url;
  std::int64_t task_email_minutes = 0;
  std::string templates_dir;
  std::vector<std::string> urgent;
  std::vector<std::string> mandatory;
  std::int64_t presence_seconds = 120;
  std::int64_t ttl_seconds = 24 * 3600;
  std::int64_t max_attempts = 10;
  std::uint64_t timeout_ms = 30'000;
  std::uint32_t concurrency = 16;
  std::int64_t tokens_per_provider = 100;
  std::int64_t keep_days = 90;
  std::map<std::string, std::int64_t, std::less<>> inbox_entries;  // by tier

  std::int64_t inbox_entries_of(std::string_view tier) const;
};

// Adds unusable values to `faults`.
settings read_settings(std::string_view json, ry::settings_faults& faults);

}  // namespace notifications
