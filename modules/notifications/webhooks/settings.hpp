// Settings of the module; they do not change after the module was created.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "webhook_delivery.hpp"

namespace ry {
class settings_faults;
}

namespace webhooks {

// A receiver of webhooks and the events that are sent to it.
struct receiver {
  std::string name;
  standard_webhooks::endpoint to;
  std::vector<std::string> events;  // kinds, or prefixes that end in ".*"
  bool wants(std::string_view kind) const;
};

struct settings {
  std::vector<receiver> receivers;
  std::int64_t disable_after_hours = 120;
  std::int32_t max_attempts = 30;

  const receiver* find(std::string_view name) const;
  // The kinds of events to subscribe to: those of all receivers, separated by commas.
  std::string kinds() const;
};

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "endpoints": {"type": "object", "default": {}, "description": "Receivers of event webhooks, by name",
      "additionalProperties": {"type": "object", "required": ["url", "secrets"], "properties": {
        "url": {"type": "string", "pattern": "^https?://[^\\s]+$", "form": "a URL such as https://example.org/hook", "description": "URL that messages are sent to"},
        "secrets": {"type": "array", "minItems": 1, "maxItems": 5, "items": {"type": "string", "secret": true},
          "description": "Keys (whsec_...); each message is signed with all of them, so that keys can be rotated"},
        "events": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[a-z]+\\.([a-z_]+|\\*)$", "form": "a kind of event such as run.completed or run.*"},
          "default": ["account.*", "credits.*", "payment.*", "referral.*", "run.*"],
          "description": "Kinds of events that are sent; run.* means all kinds that begin with run."}}}},
    "disable_after_hours": {"type": "integer", "minimum": 1, "maximum": 8760, "default": 120,
      "description": "Hours of failures without a success after which a receiver is disabled"},
    "max_attempts": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 30,
      "description": "Maximum number of delivery attempts per message, with pauses that double from 5 s to an hour"}
  }
})json";

// Adds errors of unusable values to `faults`.
settings read_settings(std::string_view text, ry::settings_faults& faults);

}  // namespace webhooks
