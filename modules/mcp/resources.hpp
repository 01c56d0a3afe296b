// Resources of a server (resources/list, resources/templates/list, resources/read) and their presentation to the model.
// Without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// Two tools that give runs access to the resources of all servers.
inline constexpr std::string_view list_resources_tool = "list_resources";
inline constexpr std::string_view read_resource_tool = "read_resource";

struct resource_entry {
  std::string uri;  // a URI template (RFC 6570) when is_template
  std::string name, media_type, description;
  std::optional<std::int64_t> size;
  bool is_template = false;
};

struct resource_limits {
  std::size_t pages = 100, entries = 10'000;
  std::size_t bytes = 4u << 20;  // of all entries
};

// Collects the pages of both lists. Skips entries without a usable URI.
class resource_collector {
 public:
  explicit resource_collector(resource_limits limits = {}) : limits_(limits) {}

  enum class list { resources, templates };
  // Adds the result of one page. Returns the cursor of the next page, or nullopt at the end: no cursor, a repeated
  // cursor, or a limit. Throws ry::error "mcp.malformed" if the result has no list.
  std::optional<std::string> add_page(const json::value& result, list which);
  // Whether a limit truncated the list.
  bool incomplete() const noexcept { return incomplete_; }
  std::vector<resource_entry> take() { return std::move(entries_); }

 private:
  void add(const json::value& v, list which);
  const resource_limits limits_;
  std::vector<resource_entry> entries_;
  std::vector<std::string> cursors_;
  std::size_t pages_ = 0, bytes_ = 0;
  bool incomplete_ = false;
};

// The arguments of a list_resources call.
struct resource_query {
  std::string filter;  // substring of the URI, name or description; ASCII case-insensitive
  std::size_t offset = 0;  // among the matching entries
};
// One line per entry, as many as fit, and how to get the rest.
std::string resources_text(const std::vector<resource_entry>& all, const resource_query& query, bool incomplete);

// The result of resources/read in the form of a tools/call result. Throws ry::error "mcp.malformed".
json::value contents_as_result(const json::value& read);

// Definitions of the two tools for these servers, as in agent.tools/1; empty if there are no servers.
json::array resource_tools(const std::vector<std::string>& servers);

}  // namespace mcp
