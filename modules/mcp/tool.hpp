// Tools as a server describes them, and lists of them. Without I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "header_values.hpp"
#include "remote_task.hpp"

namespace mcp {

struct tool {
  std::string name;  // as given by the server
  std::string description;  // the title if there is no description
  json::value parameters;  // inputSchema, unchanged
  json::value output_schema;  // null: none
  bool read_only = false, idempotent = false;  // hints of the server
  task_support as_task = task_support::forbidden;  // of a legacy server
  std::vector<mirrored_argument> mirrored;
  std::string hash;  // hex hash of everything that a model or a user sees
  std::string fingerprint;  // of the definition by parts, independent of member order
};

// The tools that a server offered at one time. Immutable once shared.
struct tool_list {
  std::vector<tool> tools;  // sorted by name
  std::vector<std::string> skipped;  // "name: reason" of tools that cannot be used
  std::optional<std::int64_t> ttl_ms;  // as sent by the server; nullopt: not sent
  std::string server_name;
  std::string instructions;  // for the model, at most 16 KiB
  bool has_resources = false;  // the server has the capability
  bool has_server_info = false;  // the three members above come from initialize or server/discover
  std::size_t bytes = 0;  // approximate memory use

  const tool* find(std::string_view name) const noexcept;
};
using tool_list_ptr = std::shared_ptr<const tool_list>;

// Limits on the tool descriptions of one server.
struct tool_limits {
  std::size_t tools = 1000;
  std::size_t pages = 100;
  std::size_t tool_bytes = 256 * 1024;  // as text
  std::size_t list_bytes = 8 * 1024 * 1024;  // in memory
  bool task_calls = false;  // tools may be called as tasks; otherwise tools that require it are skipped
};

// Collects the pages of tools/list. An invalid tool is skipped and does not affect the others.
class tool_collector {
 public:
  explicit tool_collector(tool_limits limits);

  // Adds the result of one page. Returns the cursor of the next page, or nullopt at the end: no cursor, a repeated
  // cursor, or a limit. Throws ry::error "mcp.malformed" if the result has no list.
  std::optional<std::string> add_page(const json::value& result);
  tool_list finish();

 private:
  void add(const json::value& v);
  tool_limits limits_;
  json::storage_ptr memory_;  // one memory resource for all schemas of the list
  tool_list list_;
  std::vector<std::string> cursors_;
  std::size_t pages_ = 0;
  bool full_ = false;
};

// Differences between two lists: names of added, removed and changed tools.
struct list_change {
  std::vector<std::string> added, removed, changed;
  bool none() const noexcept { return added.empty() && removed.empty() && changed.empty(); }
};
list_change compare(const tool_list& before, const tool_list& after);

}  // namespace mcp
