// Names under which the model sees the tools of an agent's servers: <server>__<tool>, unique, letters, digits, '_' and
// '-' only, at most 64 characters. Without I/O.
//
// The names depend on the configuration alone, so they are the same in every list and call of an agent version,
// regardless of what the servers send.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct named_tool {
  std::size_t server;  // index in the configuration
  std::string tool;  // the server's own name
  std::string name;  // for the model
};

struct enabled_tools {
  std::string server;
  std::vector<std::string> tools;
};

std::vector<named_tool> name_tools(const std::vector<enabled_tools>& servers);

}  // namespace mcp
