// Settings of the driver.
#pragma once

#include <string_view>

#include "sender.hpp"

namespace notify_builtin {

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "expo_url": {"type": "string", "pattern": "^https?://[^\\s?#]+$", "default": "https://exp.host",
      "description": "Expo's push service"},
    "expo_access_token": {"type": "string", "default": "", "secret": true,
      "description": "Of the project, when it wants push messages to be authorized"},
    "vapid_private_key": {"type": "string", "default": "", "secret": true,
      "description": "Key by which the push services of browsers know this server: 32 bytes in base64url; empty = one is made and kept"},
    "vapid_subject": {"type": "string", "pattern": "^((mailto:|https://)[^\\s]+)?$", "default": "",
      "description": "Whom a push service asks when something is wrong; empty = http.public_url"},
    "web_push_hosts": {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9.-]+$"}, "default": [],
      "description": "Push services of browsers that are sent to; empty = any public one"}
  }
})json";

// What the settings and the deployment's mode say of push messages. Throws ry::error naming the
// key.
notify_push::options push_options(const ry::context& ctx);

}  // namespace notify_builtin
