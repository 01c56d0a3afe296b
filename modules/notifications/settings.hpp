// Settings of the module; immutable after it was created.
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
      "description": "Values of deployment.mode in which there are notifications"},
    "orchestrator": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,31}$", "default": "builtin",
      "driver_of": "notify.orchestrator/1", "description": "Driver that carries them: builtin, novu, or another one that is loaded"},
    "webhook_secrets": {"type": "array", "maxItems": 5, "items": {"type": "string", "secret": true}, "default": [],
      "description": "whsec_...: keys by which the orchestrator's webhooks are signed; none = they are only logged"},
    "app_url": {"type": "string", "pattern": "^(https?://[^\\s?#]+)?$", "default": "",
      "description": "Where the page is that links lead to; empty = http.public_url"},
    "task_url": {"type": "string", "default": "{app_url}/#/threads/{thread_id}",
      "description": "Page of a task; {app_url}, {thread_id}, {project_id}, {run_id} are replaced"},
    "settings_url": {"type": "string", "default": "{app_url}/#/inbox",
      "description": "Page of the notification settings, for the footer of e-mails; {app_url} is replaced"},
    "task_email_minutes": {"type": "integer", "minimum": 0, "maximum": 1440, "default": 0,
      "description": "E-mails about tasks are sent only for runs that took at least so many minutes, unless min_minutes in an account's preferences says otherwise"},
    "templates_dir": {"type": "string", "default": "",
      "description": "Folder with the operator's texts; empty = the built-in ones"},
    "urgent": {"type": "array", "items": {"type": "string"}, "default": ["payment-failed"],
      "description": "Workflows that neither quiet hours nor digests hold back"},
    "mandatory": {"type": "array", "items": {"type": "string"}, "default": [],
      "description": "Workflows that preferences of an account cannot turn off"},
    "presence_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 120,
      "description": "How long an open thread counts as viewed after its tab was heard of"},
    "ttl_hours": {"type": "integer", "minimum": 1, "maximum": 720, "default": 24,
      "description": "After this a notification is of no use any more"},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10,
      "description": "Attempts to hand one over, then it is a dead letter"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 30,
      "description": "For handing over one notification"},
    "concurrency": {"type": "integer", "minimum": 1, "maximum": 256, "default": 16,
      "description": "Notifications handed over at once, per node"},
    "tokens_per_provider": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
      "description": "Devices of one account with one provider; the newest are kept",
      "limit": {"resource": "Devices for push messages", "per": "account, provider; twice as many of all providers", "answer": "older devices are removed", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "inbox_entries": {
      "type": "object",
      "description": "Entries that an inbox keeps, the newest, by tier; a tier of another name has what free has",
      "properties": {
        "free": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1000},
        "pro": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 5000},
        "enterprise": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 10000}
      },
      "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 1000000},
      "limit": {"resource": "Entries of the inbox", "per": "account", "answer": "older entries are removed", "default": "free 1000, pro 5000, enterprise 10000", "metric": "runyard_account_limits_reached_total", "alert": "RunyardAccountsAtLimits"}},
    "keep_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 90,
      "description": "How long the inbox, the delivery log and notifications that ended are kept"}
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

// What cannot be used is added to the faults.
settings read_settings(std::string_view json, ry::settings_faults& faults);

}  // namespace notifications
