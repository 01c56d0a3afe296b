// Limits on the agents of an account and on the stored versions of each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace agents {

struct agent_limits {
  std::map<std::string, std::int64_t, std::less<>> agents;  // by tier; of another name: as "free"
  std::int64_t versions_kept = 100;

  std::int64_t agents_of(std::string_view tier) const;
};

// The settings of this module, checked against its schema and with its defaults.
agent_limits read_limits(std::string_view settings_json);

}  // namespace agents
