// Bodies of requests that make or change an agent. 400 for what is no JSON object, 422 naming the
// field for a value that is not valid.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "types.hpp"

namespace agents {

struct agent_body {
  revision change;                         // without the MCP configurations
  std::optional<boost::json::value> mcps;  // as sent
};

// What GET shows and nobody may set (agent_id, version, updated_at, ...) is let pass, so that what
// was read can be sent back; other unknown fields are refused.
agent_body read_agent_body(std::string_view text);

}  // namespace agents
