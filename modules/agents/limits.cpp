#include "limits.hpp"

#include <boost/json/parse.hpp>

namespace agents {

namespace json = boost::json;

std::int64_t agent_limits::max_agents(std::string_view tier) const {
  const auto it = agents.find(tier);
  return it != agents.end() ? it->second : agents.at("free");
}

agent_limits read_limits(std::string_view settings_json) {
  agent_limits out;
  out.agents = {{"free", 50}, {"pro", 500}, {"enterprise", 5000}};
  const auto doc = json::parse(settings_json.empty() ? json::string_view("{}")
                                                     : json::string_view(settings_json.data(), settings_json.size()));
  const auto& o = doc.as_object();
  if (const auto* tiers = o.if_contains("max_agents")) {
    for (const auto& [name, limit] : tiers->as_object()) {
      out.agents.insert_or_assign(std::string(name), limit.as_int64());
    }
  }
  if (const auto* kept = o.if_contains("versions_kept")) out.versions_kept = kept->as_int64();
  if (const auto* kept = o.if_contains("versions_kept_mb")) out.versions_kept_mb = kept->as_int64();
  return out;
}

}  // namespace agents
