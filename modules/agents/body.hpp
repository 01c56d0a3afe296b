// Parses the bodies of requests that create or change an agent. Throws a 400 if the body is not a JSON object, and a
// 422 that names the field of an invalid value.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "types.hpp"

namespace agents {

struct agent_body {
  revision change;  // without the MCP configurations
  std::optional<boost::json::value> mcps;  // as sent
};

// Ignores the read-only fields that GET returns (agent_id, version, updated_at, ...), so that clients can send back
// what they read. Rejects other unknown fields.
agent_body read_agent_body(std::string_view text);

}  // namespace agents
