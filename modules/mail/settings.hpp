// Settings of the module; immutable after it was created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ry {
class settings_faults;
}

namespace mail {

enum class security { starttls, tls, none };

struct settings {
  std::string host;  // empty: no relay
  std::uint16_t port = 0;
  mail::security security = mail::security::starttls;
  std::string username;
  std::string password;
  std::string ca_file;
  std::string from;       // bare address
  std::string from_name;  // may be empty
  std::string unsubscribe_mailto;
  std::vector<std::string> dkim_selectors;
  std::uint32_t connections = 4;
  std::uint64_t timeout_ms = 60'000;
  std::int64_t gap_ms = 0;  // between two messages of the whole deployment; 0 = none
  std::int64_t per_recipient_hour = 20;
  std::int64_t account_per_recipient_hour = 60;
  std::int64_t suppress_days = 90;
  std::int64_t max_attempts = 30;
  std::int64_t keep_days = 30;
};

inline constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "host": {"type": "string", "default": "",
      "description": "Relay (SMTP server) that takes the mail; empty = none"},
    "port": {"type": "integer", "minimum": 0, "maximum": 65535, "default": 0,
      "description": "0 = 587 with starttls, 465 with tls, 25 with none"},
    "security": {"type": "string", "enum": ["starttls", "tls", "none"], "default": "starttls",
      "description": "starttls and tls never fall back to clear text"},
    "username": {"type": "string", "default": ""},
    "password": {"type": "string", "default": "", "secret": true},
    "ca_file": {"type": "string", "default": "",
      "description": "PEM file of the authorities that vouch for the relay; empty = the system's"},
    "from": {"type": "string", "default": "", "description": "Address in From; required with a relay"},
    "from_name": {"type": "string", "maxLength": 100, "default": "", "description": "Name in From"},
    "unsubscribe_mailto": {"type": "string", "default": "",
      "description": "Address that also takes requests to unsubscribe"},
    "dkim_selectors": {"type": "array", "maxItems": 10, "items": {"type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9._-]{0,62})$"}, "default": [],
      "description": "Selectors of the DKIM keys that the relay signs with; only `runyard check --mail` uses them"},
    "connections": {"type": "integer", "minimum": 1, "maximum": 64, "default": 4,
      "description": "Connections to the relay at once, and as many for account mail; each is used for many messages"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60,
      "description": "For handing over one message"},
    "rate_per_minute": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 0,
      "description": "Messages per minute, all nodes together; 0 = any"},
    "per_recipient_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20,
      "description": "Messages that one address gets within an hour; bulk mail and account mail are counted separately"},
    "account_per_recipient_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 60,
      "description": "Account messages (confirmations, password resets, security notices) that one address gets within an hour"},
    "suppress_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 90,
      "description": "How long an address gets no mail after the relay reported that it does not exist; account mail is tried anyway"},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 30,
      "description": "Attempts to hand one message over"},
    "keep_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 30,
      "description": "How long messages that ended are kept"}
  }
})";

// What cannot be used is added to the faults.
settings read_settings(std::string_view json, ry::settings_faults& faults);

}  // namespace mail
