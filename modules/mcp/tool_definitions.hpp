// Tool definitions that an account has accepted, and the handling of changed ones: a server must not get a harmless
// tool approved and then change its definition.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "servers.hpp"

namespace mcp {

// Identifies the server of a configuration, independently of its name, credentials and other settings.
std::string definition_key(const configured& c);

// A tool of an agent whose definition differs from the accepted one.
struct changed_definition {
  std::string tool;
  std::vector<std::string> parts;  // "description", "parameters", "result", "annotations"
};

class tool_definitions {
 public:
  explicit tool_definitions(const ry::context& ctx) : ctx_(ctx) {}

  // Returns the configuration's enabled tools that have changed. A definition that is seen for the first time is
  // accepted.
  ry::task<std::vector<changed_definition>> changes(const configured& c, std::string account, tool_list_ptr list) const;
  // Throws RY_NOT_FOUND "mcp.definition" if no definition of that tool was accepted before.
  ry::task<void> accept(const configured& c, std::string account, std::string tool, std::string fingerprint) const;
  // Deletes the definitions of an account that was deleted.
  ry::task<void> remove_all(ry::uuid account) const;
  // Logs changes and accepts them, once per list of a server. Never throws.
  ry::task<void> log_changes(configured c, server_ptr s, tool_list_ptr list);

 private:
  bool mark_logged(const std::string& key, const tool_list_ptr& list);

  const ry::context& ctx_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const tool_list>> logged_;  // by the server's key
};

}  // namespace mcp
