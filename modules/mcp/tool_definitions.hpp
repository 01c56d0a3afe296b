// Definitions of tools that an account has accepted, and what to do when a server changes one: a server must not get a
// harmless tool approved and then describe it otherwise.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "servers.hpp"

namespace mcp {

// The server of a configuration, whatever its name, its credentials and its other settings are.
std::string definition_key(const configured& c);

// A tool of an agent whose definition is another than the accepted one.
struct changed_definition {
  std::string tool;
  std::vector<std::string> parts;  // "description", "parameters", "result", "annotations"
};

class tool_definitions {
 public:
  explicit tool_definitions(const ry::context& ctx) : ctx_(ctx) {}

  // Those of the configuration's enabled tools that changed. What is seen for the first time is accepted.
  ry::task<std::vector<changed_definition>> changes(const configured& c, std::string account, tool_list_ptr list) const;
  // Throws RY_NOT_FOUND "mcp.definition" when no definition of that tool was accepted before.
  ry::task<void> accept(const configured& c, std::string account, std::string tool, std::string fingerprint) const;
  // Those of an account that was deleted.
  ry::task<void> forget(ry::uuid account) const;
  // Writes changes to the log and accepts them, once for each list of a server. Never throws.
  ry::task<void> log_changes(configured c, server_ptr s, tool_list_ptr list);

 private:
  bool is_logged(const std::string& key, const tool_list_ptr& list);

  const ry::context& ctx_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const tool_list>> logged_;  // by the key of the server
};

}  // namespace mcp
