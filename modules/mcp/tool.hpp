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
  std::string name;         // the server's
  std::string description;  // with the title when there is nothing else
  json::value parameters;   // inputSchema, as it came
  json::value output_schema;  // null: none
  bool read_only = false, idempotent = false;  // what the server claims
  task_support as_task = task_support::forbidden;  // of a legacy server
  std::vector<mirrored_argument> mirrored;
  std::string hash;  // of all that a model or a person was shown, hex
  std::string fingerprint;  // of its definition by parts, whatever the order of members
};

// What a server offered at one time. Immutable once shared.
struct tool_list {
  std::vector<tool> tools;                // in order of their names
  std::vector<std::string> left_out;      // "name: why"
  std::optional<std::int64_t> ttl_ms;     // as the server said; none: it said nothing
  std::string server_name;
  std::string instructions;               // of the server for the model, at most 16 KiB
  bool has_resources = false;             // the server has the capability
  bool introduced = false;                // all three come from the server's answer to initialize or server/discover
  std::size_t bytes = 0;                  // of memory, about

  const tool* find(std::string_view name) const noexcept;
};
using tool_list_ptr = std::shared_ptr<const tool_list>;

// Limits on what one server may describe.
struct tool_limits {
  std::size_t tools = 1000;
  std::size_t pages = 100;
  std::size_t tool_bytes = 256 * 1024;        // as text
  std::size_t list_bytes = 8 * 1024 * 1024;   // of memory
  bool task_calls = false;  // tools may be called as tasks; those that must be are left out otherwise
};

// Collects the pages of tools/list. One bad tool does not lose the others: it stands in left_out.
class tool_collector {
 public:
  explicit tool_collector(tool_limits limits);

  // Takes the result of one page. The cursor of the next one, or nullopt at the end: no cursor, one
  // that came before, or a limit. Throws ry::error "mcp.malformed" when there is no list at all.
  std::optional<std::string> add_page(const json::value& result);
  tool_list finish();

 private:
  void add(const json::value& v);
  tool_limits limits_;
  json::storage_ptr memory_;  // of the schemas of the list, all in one piece
  tool_list list_;
  std::vector<std::string> cursors_;
  std::size_t pages_ = 0;
  bool full_ = false;
};

// What changed between two lists: names of tools that came, went, or are described differently.
struct list_change {
  std::vector<std::string> added, removed, changed;
  bool none() const noexcept { return added.empty() && removed.empty() && changed.empty(); }
};
list_change compare(const tool_list& before, const tool_list& after);

}  // namespace mcp
