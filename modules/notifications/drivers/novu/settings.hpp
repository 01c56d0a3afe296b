// Settings of the driver; immutable after it was created.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace notify_novu {

struct settings {
  std::string base_url;  // without a slash at its end
  std::string api_key;   // empty: nothing can be sent
  std::uint64_t timeout_ms = 15'000;
  std::map<std::string, std::string, std::less<>> integrations;  // push provider -> identifier
  bool step_conditions = false;  // Novu's steps look at payload.channels
  std::size_t bulk_size = 1;  // triggers in one request; 1 = each its own
  std::uint64_t bulk_wait_ms = 20;
};

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "base_url": {"type": "string", "pattern": "^https?://[^\\s?#]+$", "default": "https://api.novu.co",
      "description": "Where Novu's API answers, without /v1"},
    "api_key": {"type": "string", "default": "", "secret": true, "description": "Secret key of the environment"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 15,
      "description": "For one request"},
    "integrations": {"type": "object", "default": {}, "additionalProperties": {"type": "string", "maxLength": 200},
      "description": "Push provider to the identifier of its integration, where an environment has several of one provider"},
    "step_conditions": {"type": "boolean", "default": false,
      "description": "Each step of the workflows has the condition that payload.channels.<its channel> is not false; without it, notifications of which a channel is turned off are delivered by notify_builtin instead of Novu"},
    "bulk_size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1,
      "description": "Notifications that go together in one request; 1 = each by itself"},
    "bulk_wait_ms": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20,
      "description": "How long the first of them waits for the others"}
  }
})json";

// `text` fits the schema and has its defaults. Throws ry::error naming the key.
settings read_settings(std::string_view text);

}  // namespace notify_novu
