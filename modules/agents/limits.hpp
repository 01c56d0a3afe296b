// Limits on the number of agents per account and of stored versions per agent.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace agents {

struct agent_limits {
  std::map<std::string, std::int64_t, std::less<>>
      agents;  // by tier; tiers that are not listed have the limit of "free"
  std::int64_t versions_kept = 100;
  std::int64_t versions_kept_mb = 8;

  std::int64_t max_agents(std::string_view tier) const;
};

// Parses the module's settings, which its schema has validated; missing ones get their defaults.
agent_limits read_limits(std::string_view settings_json);

}  // namespace agents
