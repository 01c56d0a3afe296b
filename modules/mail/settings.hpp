// Settings of the module; immutable once the module is created.
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
  const std::string& envelope_sender() const noexcept { return bounce_address.empty() ? from : bounce_address; }

  std::string host;  // empty: no relay
  std::uint16_t port = 0;
  mail::security security = mail::security::starttls;
  std::string username;
  std::string password;
  std::string ca_file;
  std::string from;  // bare address
  std::string from_name;  // may be empty
  std::string reply_to;  // empty: no Reply-To
  std::string bounce_address;  // empty: `from`
  std::string unsubscribe_mailto;
  std::vector<std::string> dkim_selectors;
  std::uint32_t connections = 4;
  std::uint64_t timeout_ms = 60'000;
  std::int64_t gap_ms = 0;  // minimum time between two messages of the deployment; 0: none
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
      "description": "SMTP relay that accepts the e-mails; empty: no e-mail can be sent"},
    "port": {"type": "integer", "minimum": 0, "maximum": 65535, "default": 0,
      "description": "Port of the relay; 0: 587 with starttls, 465 with tls, 25 with none"},
    "security": {"type": "string", "enum": ["starttls", "tls", "none"], "default": "starttls",
      "description": "Encryption of the connection to the relay; starttls and tls never fall back to clear text"},
    "username": {"type": "string", "default": "",
      "description": "User name for the relay; empty: no authentication. Not allowed with security = none"},
    "password": {"type": "string", "default": "", "secret": true,
      "description": "Password for the relay"},
    "ca_file": {"type": "string", "default": "",
      "description": "PEM file of the certificate authorities that are trusted for the relay; empty: those of the system"},
    "from": {"type": "string", "default": "", "description": "Address in the From header; required with a relay"},
    "from_name": {"type": "string", "maxLength": 100, "default": "", "description": "Name in the From header"},
    "reply_to": {"type": "string", "default": "", "description": "Address for replies, in the Reply-To header; empty: replies go to mail.from"},
    "bounce_address": {"type": "string", "default": "",
      "description": "Envelope sender (MAIL FROM), to which other mail servers send bounces; empty: mail.from"},
    "unsubscribe_mailto": {"type": "string", "default": "",
      "description": "E-mail address that also accepts requests to unsubscribe"},
    "dkim_selectors": {"type": "array", "maxItems": 10, "items": {"type": "string", "pattern": "^[A-Za-z0-9]([A-Za-z0-9._-]{0,62})$", "form": "a DKIM selector such as s1"}, "default": [],
      "description": "Selectors of the DKIM keys that the relay signs with; only `runyard check --mail` uses them"},
    "connections": {"type": "integer", "minimum": 1, "maximum": 64, "default": 4,
      "description": "Maximum number of concurrent connections to the relay per node, and the same number again for account mail; each is used for many messages"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60,
      "description": "Time limit of the delivery of one message to the relay, in seconds"},
    "rate_per_minute": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 0,
      "description": "Maximum number of messages per minute of all nodes together; 0: no limit"},
    "per_recipient_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 20,
      "description": "Maximum number of messages to one address within an hour; bulk mail and account mail are counted separately"},
    "account_per_recipient_hour": {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 60,
      "description": "Maximum number of account messages (confirmations, password resets, security notices) to one address within an hour"},
    "suppress_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 90,
      "description": "Days for which an address gets no mail after the relay reported that it does not exist; account mail is sent anyway"},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 30,
      "description": "Maximum number of delivery attempts per message; after the last one, it is dead-lettered"},
    "keep_days": {"type": "integer", "minimum": 1, "maximum": 3650, "default": 30,
      "description": "Days for which messages are kept after the end of their delivery"}
  }
})";

// Adds unusable values to `faults`.
settings read_settings(std::string_view json, ry::settings_faults& faults);

}  // namespace mail
