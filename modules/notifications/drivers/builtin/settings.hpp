// Settings of the driver.
#pragma once

#include <string_view>

#include "sender.hpp"

namespace notify_builtin {

inline constexpr std::string_view settings_schema = R"json({
  "type": "object",
  "properties": {
    "expo_url": {"type": "string", "pattern": "^https?://[^\\s?#]+$", "form": "a URL without ? and #, such as https://exp.host", "default": "https://exp.host",
      "description": "URL of Expo's push service"},
    "expo_access_token": {"type": "string", "default": "", "secret": true,
      "description": "Access token of the Expo project, if it requires push messages to be authorized"},
    "vapid_private_key": {"type": "string", "default": "", "secret": true,
      "description": "VAPID key that identifies this server to the push services of browsers: 32 bytes in base64url; empty: one is generated and stored"},
    "vapid_subject": {"type": "string", "pattern": "^((mailto:|https://)[^\\s]+)?$", "form": "an address such as mailto:ops@example.org or a URL that begins with https://, or empty", "default": "",
      "description": "Contact for operators of push services (mailto: or https:); empty: http.public_url"},
    "web_push_hosts": {"type": "array", "items": {"type": "string", "pattern": "^[a-z0-9.-]+$", "form": "a host name in lower case, such as push.example.org"}, "default": [],
      "description": "Browser push services that may be used, as host names (subdomains included); empty: any public host"}
  }
})json";

// The push settings for the deployment's mode. Throws ry::error that names the invalid setting.
notify_push::options push_options(const ry::context& ctx);

}  // namespace notify_builtin
