#include "resources.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>

#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_uri = 4096, max_name = 200, max_description = 300;
constexpr std::size_t max_listed_bytes = 32 * 1024, max_listed = 500;

// Replaces line breaks and tabs, because each entry of a list is one line.
std::string one_line(std::string_view s, std::size_t max_bytes) {
  auto out = without_hidden(valid_utf8(s, max_bytes));
  for (char& c : out) c = c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return out;
}

bool matches(const resource_entry& e, const std::string& filter) {
  if (filter.empty()) return true;
  for (const auto* text : {&e.uri, &e.name, &e.description}) {
    if (ry::lower_ascii(*text).find(filter) != std::string::npos) return true;
  }
  return false;
}

std::string line_of(const resource_entry& e) {
  std::string out = (e.is_template ? "template " : "") + e.uri;
  std::string details = e.name == e.uri ? "" : e.name;
  const auto add = [&details](const std::string& text) {
    if (!text.empty()) details += (details.empty() ? "" : ", ") + text;
  };
  add(e.media_type);
  if (e.size) add(std::to_string(*e.size) + " bytes");
  if (!details.empty()) out += " (" + details + ")";
  if (!e.description.empty()) out += ": " + e.description;
  return out + "\n";
}

}  // namespace

std::optional<std::string> resource_collector::add_page(const json::value& result, list which) {
  const bool templates = which == list::templates;
  const auto* o = result.if_object();
  const auto* entries = o != nullptr ? array_at(*o, templates ? "resourceTemplates" : "resources") : nullptr;
  if (entries == nullptr) {
    throw ry::error(RY_DATA_LOSS, "mcp.malformed",
                    std::string("answered resources/") + (templates ? "templates/list" : "list") + " without a list");
  }
  for (const auto& each : *entries) add(each, which);
  const auto* next = o->if_contains("nextCursor");
  if (next == nullptr || !next->is_string()) {
    cursors_.clear();
    return std::nullopt;
  }
  const std::string cursor(sv(next->get_string()));
  if (incomplete_ || ++pages_ >= limits_.pages ||
      std::find(cursors_.begin(), cursors_.end(), cursor) != cursors_.end()) {
    incomplete_ = true;
    return std::nullopt;
  }
  cursors_.push_back(cursor);
  return cursor;
}

void resource_collector::add(const json::value& v, list which) {
  const auto* o = v.if_object();
  if (o == nullptr) return;
  resource_entry e;
  e.is_template = which == list::templates;
  e.uri = text_of(*o, e.is_template ? "uriTemplate" : "uri");
  if (e.uri.empty() || e.uri.size() > max_uri || has_hidden(e.uri)) return;
  auto name = text_of(*o, "title");
  if (name.empty()) name = text_of(*o, "name");
  e.name = one_line(name, max_name);
  e.media_type = one_line(text_of(*o, "mimeType"), max_name);
  e.description = one_line(text_of(*o, "description"), max_description);
  const auto* size = o->if_contains("size");
  if (size != nullptr && size->is_int64() && size->get_int64() >= 0) e.size = size->get_int64();
  const auto bytes = sizeof e + e.uri.size() + e.name.size() + e.media_type.size() + e.description.size();
  if (entries_.size() >= limits_.entries || bytes_ + bytes > limits_.bytes) {
    incomplete_ = true;
    return;
  }
  bytes_ += bytes;
  entries_.push_back(std::move(e));
}

std::string resources_text(const std::vector<resource_entry>& all, const resource_query& query, bool incomplete) {
  const auto filter = ry::lower_ascii(query.filter);
  std::string lines;
  std::size_t matching = 0, listed = 0;
  bool full = false;
  for (const auto& each : all) {
    if (!matches(each, filter) || matching++ < query.offset || full) continue;
    const auto line = line_of(each);
    full = listed == max_listed || lines.size() + line.size() > max_listed_bytes;
    if (full) continue;
    lines += line;
    ++listed;
  }
  std::string out;
  if (matching == 0) {
    out = filter.empty() ? "The server has no resources.\n" : "No resource matches the filter.\n";
  } else if (listed == 0) {
    out = "There are " + std::to_string(matching) + " resources; the offset is beyond the last.\n";
  } else if (listed == matching) {
    out = std::to_string(matching) + (matching == 1 ? " resource:\n" : " resources:\n") + lines;
  } else {
    const auto end = query.offset + listed;
    out = "Resources " + std::to_string(query.offset + 1) + " to " + std::to_string(end) + " of " +
          std::to_string(matching) + ":\n" + lines;
    if (end < matching) out += "[to list more: offset " + std::to_string(end) + ", or a filter]\n";
  }
  if (incomplete) out += "[the server has more resources than are listed]\n";
  out.pop_back();
  return out;
}

json::value contents_as_result(const json::value& read) {
  const auto* o = read.if_object();
  const auto* contents = o != nullptr ? array_at(*o, "contents") : nullptr;
  if (contents == nullptr) {
    throw ry::error(RY_DATA_LOSS, "mcp.malformed", "answered resources/read without contents");
  }
  json::array blocks;
  for (const auto& each : *contents) {
    blocks.push_back(json::object{{"type", "resource"}, {"resource", each}});
  }
  if (blocks.empty()) blocks.push_back(json::object{{"type", "text"}, {"text", "[the resource is empty]"}});
  return json::object{{"content", std::move(blocks)}};
}

json::array resource_tools(const std::vector<std::string>& servers) {
  if (servers.empty()) return {};
  json::array names;
  for (const auto& each : servers) names.emplace_back(each);
  const json::object server{{"type", "string"}, {"enum", std::move(names)}, {"description", "Name of the server"}};
  const auto tool = [&](std::string_view name, const char* description, json::object properties, json::array required) {
    properties["server"] = server;
    if (servers.size() > 1) required.emplace_back("server");
    json::object parameters{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) parameters["required"] = std::move(required);
    return json::object{{"name", jv(name)},           {"source", "mcp"},
                        {"description", description}, {"parameters", std::move(parameters)},
                        {"read_only", true},          {"idempotent", true}};
  };
  json::array out;
  out.push_back(tool(
      list_resources_tool,
      "Lists the resources of an MCP server: files, records and other data that it offers for reading. A line "
      "that begins with \"template\" is a URI template whose variables are to be filled in.",
      json::object{
          {"filter", json::object{{"type", "string"},
                                  {"description", "Only resources whose URI, name or description contains this"}}},
          {"offset", json::object{{"type", "integer"}, {"minimum", 0}, {"description", "How many resources to skip"}}}},
      json::array()));
  out.push_back(
      tool(read_resource_tool,
           "Reads a resource of an MCP server, for example one that list_resources or the result of a tool names. "
           "Binary contents are stored in the workspace.",
           json::object{{"uri", json::object{{"type", "string"}, {"description", "URI of the resource"}}}},
           json::array{"uri"}));
  return out;
}

}  // namespace mcp
