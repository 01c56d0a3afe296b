// Settings of the driver; they do not change after the driver was created.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace notify_novu {

struct settings {
  std::string base_url;  // without a slash at the end
  std::string api_key;  // empty: nothing can be sent
  std::uint64_t timeout_ms = 15'000;
  std::map<std::string, std::string, std::less<>> integrations;  // push provider -> identifier
  bool step_conditions = false;  // Novu's steps check payload.channels
  std::size_t bulk_size = 1;  // triggers in one request; 1: each alone
  std::uint64_t bulk_wait_ms = 20;
};

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "base_url": {"type": "string", "pattern": "^https?://[^\\s?#]+$", "form": "a URL without ? and #, such as https://api.novu.co", "default": "https://api.novu.co",
      "description": "Base URL of Novu's API, without /v1"},
    "api_key": {"type": "string", "default": "", "secret": true, "description": "Secret key of the Novu environment"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 15,
      "description": "Time limit of one request, in seconds"},
    "integrations": {"type": "object", "default": {}, "additionalProperties": {"type": "string", "maxLength": 200},
      "description": "Identifier of the integration by push provider, if the environment has several integrations of one provider"},
    "step_conditions": {"type": "boolean", "default": false,
      "description": "true: each step of the workflows has the condition that payload.channels.<its channel> is not false. false: notifications with a disabled channel are delivered by notify_builtin instead of Novu"},
    "bulk_size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1,
      "description": "Maximum number of notifications in one request; 1: one request for each"},
    "bulk_wait_ms": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 20,
      "description": "Milliseconds that a notification waits for others to be sent in the same request"}
  }
})json";

// `text` must match the schema and include its defaults. Throws ry::error whose message names the setting.
settings read_settings(std::string_view text);

}  // namespace notify_novu
