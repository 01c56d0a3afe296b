// Resources of a server (resources/list, resources/templates/list, resources/read), and how a model is told of them.
// Without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// Tools of runs that stand for all servers with resources.
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

// Collects the pages of both lists. An entry without a usable URI is left out.
class resource_collector {
 public:
  explicit resource_collector(resource_limits limits = {}) : limits_(limits) {}

  enum class list { resources, templates };
  // Takes the result of one page. The cursor of the next one, or nullopt at the end: no cursor, one that came before, or
  // a limit. Throws ry::error "mcp.malformed" when there is no list at all.
  std::optional<std::string> add_page(const json::value& result, list what);
  // Whether a limit ended it.
  bool incomplete() const noexcept { return incomplete_; }
  std::vector<resource_entry> take() { return std::move(entries_); }

 private:
  void add(const json::value& v, list what);
  const resource_limits limits_;
  std::vector<resource_entry> entries_;
  std::vector<std::string> cursors_;
  std::size_t pages_ = 0, bytes_ = 0;
  bool incomplete_ = false;
};

// What a model asks for with list_resources.
struct resource_query {
  std::string filter;      // a part of the URI, the name or the description; ASCII letters of any case
  std::size_t offset = 0;  // among the entries that match
};
// One line for each entry, as many as fit, and how to get the others.
std::string resources_text(const std::vector<resource_entry>& all, const resource_query& query, bool incomplete);

// The result of resources/read in the form of one of tools/call. Throws ry::error "mcp.malformed".
json::value contents_as_result(const json::value& read);

// The two tools for these servers, as agent.tools/1 lists them; empty without servers.
json::array resource_tools(const std::vector<std::string>& servers);

}  // namespace mcp
