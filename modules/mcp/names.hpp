// Names under which the tools of an agent's servers reach the model: <server>__<tool>, letters, digits,
// '_' and '-' only, at most 64 characters, no two alike. Without I/O.
//
// The names follow from the configuration alone, so that they are the same in every list and every
// call of one version of an agent, whatever its servers say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct named_tool {
  std::size_t server;  // its place in the configuration
  std::string tool;    // the server's own name
  std::string name;    // for the model
};

struct enabled_tools {
  std::string server;
  std::vector<std::string> tools;
};

std::vector<named_tool> name_tools(const std::vector<enabled_tools>& servers);

}  // namespace mcp
