// Changes that an account requests: settings, preferences, a device.
#pragma once

#include <optional>
#include <string>

namespace notifications {

struct settings_request {
  std::optional<bool> email, push, in_app;
};

struct preferences_request {
  std::optional<std::string> time_zone;
  bool changes_quiet_hours = false;
  std::optional<std::string> quiet_from, quiet_to;  // "22:00"; both members or neither
  std::string workflows_json = "{}";  // by workflow: an object to be merged, or null
};

struct device_request {
  std::string token, type, provider;
};

}  // namespace notifications
