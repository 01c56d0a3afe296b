#include "server_tools.hpp"

#include <sodium.h>

#include <json/exact.hpp>
#include <json/members.hpp>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>

namespace mcp_server {
namespace {

using module_json::object_at;
using module_json::text_at;
using module_json::text_of;

// Definitions and results of MCP servers may have 128 levels, and agent.tools/1 adds some.
constexpr std::size_t max_tool_json_depth = 160;
constexpr std::size_t max_arguments_bytes = 1 << 20;
constexpr std::size_t page_tools = 100, page_bytes = 1 << 20;

json::value parse_of_source(std::string_view text) {
  boost::system::error_code failed;
  json::value v = module_json::parse_exactly(text, max_tool_json_depth, failed);
  return failed ? json::value() : v;
}

// Clients mirror arguments with this annotation in headers, which this endpoint neither needs nor checks.
void remove_header_names(json::object& schema) {
  schema.erase("x-mcp-header");
  json::value* properties = schema.if_contains("properties");
  if (properties == nullptr || !properties->is_object()) return;
  for (auto& member : properties->get_object())
    if (member.value().is_object()) remove_header_names(member.value().get_object());
}

json::object definition_of(const json::object& tool) {
  json::object out;
  out["name"] = jv(text_at(tool, "name"));
  out["description"] = jv(text_at(tool, "description"));
  const json::object* parameters = object_at(tool, "parameters");
  json::object schema = parameters != nullptr ? *parameters : json::object();
  schema["type"] = "object";
  remove_header_names(schema);
  out["inputSchema"] = std::move(schema);
  json::object annotations;
  annotations["readOnlyHint"] = module_json::flag_at(tool, "read_only");
  annotations["idempotentHint"] = module_json::flag_at(tool, "idempotent");
  out["annotations"] = std::move(annotations);
  return out;
}

bool is_finite(const json::value& v) {
  if (const double* d = v.if_double()) return std::isfinite(*d);
  if (const json::array* items = v.if_array()) return std::all_of(items->begin(), items->end(), is_finite);
  if (const json::object* members = v.if_object())
    return std::all_of(members->begin(), members->end(), [](const auto& m) { return is_finite(m.value()); });
  return true;
}

bool is_block_of(revision rev, std::string_view type) {
  constexpr std::array<std::string_view, 4> all{"text", "image", "audio", "resource"};
  if (std::find(all.begin(), all.end(), type) != all.end()) return true;
  return type == "resource_link" && rev >= revision::v2025_06_18;
}

json::object text_block(std::string_view text) {
  json::object out;
  out["type"] = "text";
  out["text"] = jv(text);
  return out;
}

// The server's own blocks. Those that the client's revision does not have become text.
json::array blocks_of(const json::array& given, revision rev) {
  json::array out;
  for (const json::value& each : given) {
    const json::object* block = each.if_object();
    if (block == nullptr) continue;
    if (is_block_of(rev, text_at(*block, "type")))
      out.push_back(*block);
    else
      out.push_back(text_block(json::serialize(*block)));
  }
  return out;
}

json::object media_block(std::string_view type, const json::object& from) {
  json::object out;
  out["type"] = jv(type);
  out["data"] = jv(text_at(from, "data"));
  out["mimeType"] = jv(text_at(from, "media_type"));
  return out;
}

json::object resource_block(const json::object& file, std::size_t number) {
  json::object resource;
  resource["uri"] = "attachment:///" + std::to_string(number);
  resource["mimeType"] = jv(text_at(file, "media_type"));
  resource["blob"] = jv(text_at(file, "data"));
  json::object out;
  out["type"] = "resource";
  out["resource"] = std::move(resource);
  return out;
}

// The blocks for a result whose original is too large.
json::array blocks_for_model(const json::object& result) {
  json::array out;
  out.push_back(text_block(text_at(result, "content")));
  for (const char* part : {"images", "files"}) {
    const json::array* all = module_json::array_at(result, part);
    if (all == nullptr) continue;
    for (const json::value& each : *all) {
      const json::object* o = each.if_object();
      if (o == nullptr) continue;
      const auto type = text_at(*o, "media_type");
      if (part == std::string_view("images"))
        out.push_back(media_block("image", *o));
      else if (type.starts_with("audio/"))
        out.push_back(media_block("audio", *o));
      else
        out.push_back(resource_block(*o, out.size()));
    }
  }
  return out;
}

}  // namespace

std::vector<server_tool> read_server_tools(std::string_view tools_json) {
  const json::value v = parse_of_source(tools_json);
  if (!v.is_array()) throw ry::internal("mcp_server.tools", "the list of tools is not an array");
  std::vector<server_tool> out;
  for (const json::value& each : v.get_array()) {
    const json::object* o = each.if_object();
    if (o == nullptr || text_at(*o, "name").empty()) continue;
    out.push_back({text_of(*o, "name"), text_of(*o, "source"), definition_of(*o)});
  }
  return out;
}

json::object tool_page(const std::vector<server_tool>& tools, std::string_view cursor,
                       const std::function<bool(std::string_view name)>& listed) {
  auto at = tools.begin();
  if (!cursor.empty()) {
    at = std::find_if(tools.begin(), tools.end(), [&](const server_tool& t) { return t.name == cursor; });
    if (at == tools.end()) throw invalid_params("cursor is not valid for this list");
    ++at;
  }
  json::array page;
  std::size_t bytes = 0;
  std::string last;
  bool more = false;
  for (; at != tools.end(); ++at) {
    if (!listed(at->name)) continue;
    const std::size_t size = json::serialize(at->definition).size();
    more = !page.empty() && (page.size() == page_tools || bytes + size > page_bytes);
    if (more) break;
    bytes += size;
    page.push_back(at->definition);
    last = at->name;
  }
  json::object out;
  out["tools"] = std::move(page);
  if (more) out["nextCursor"] = last;
  return out;
}

server_tool_call read_server_tool_call(const json::object& params) {
  server_tool_call out;
  out.name = text_of(params, "name");
  if (out.name.empty()) throw invalid_params("name must be the name of a tool");
  const json::value* given = params.if_contains("arguments");
  if (given != nullptr && !given->is_object()) throw invalid_params("arguments must be an object");
  // The tool would get null instead.
  if (given != nullptr && !is_finite(*given)) throw invalid_params("arguments contain a number that is too large");
  out.arguments = given != nullptr ? json::serialize(given->get_object()) : "{}";
  // The policy and the tool parse them on an event loop.
  if (out.arguments.size() > max_arguments_bytes) throw invalid_params("arguments must have at most 1 MiB");
  return out;
}

std::string digest_of(const server_tool_call& call) {
  std::array<unsigned char, 32> digest{};
  // A JSON array, because the end of the name must be unambiguous.
  const std::string both = json::serialize(json::array{call.name, call.arguments});
  crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const unsigned char*>(both.data()), both.size(),
                     nullptr, 0);
  return ry::to_hex(digest);
}

json::object server_tool_result(std::string_view result_json, revision rev) {
  const json::value v = parse_of_source(result_json);
  json::object out;
  const json::object* result = v.if_object();
  if (result == nullptr) {
    out["content"] = json::array{text_block("The tool's answer was malformed.")};
    out["isError"] = true;
    return out;
  }
  const json::object* original = object_at(*result, "mcp");
  const json::array* blocks = original != nullptr ? module_json::array_at(*original, "content") : nullptr;
  out["content"] = blocks != nullptr ? blocks_of(*blocks, rev) : blocks_for_model(*result);
  // Absent if it does not match the schema of the tool.
  const json::object* structured = object_at(*result, "structured");
  if (structured != nullptr && rev >= revision::v2025_06_18) out["structuredContent"] = *structured;
  out["isError"] = module_json::flag_at(*result, "is_error");
  return out;
}

std::string approval_state::text() const {
  json::object o;
  o["digest"] = digest;
  o["until"] = until_unix_us;
  return json::serialize(o);
}

std::optional<approval_state> read_approval_state(std::string_view text) {
  const json::value v = parse_of_source(text);
  if (!v.is_object()) return std::nullopt;
  return approval_state{text_of(v.get_object(), "digest"), module_json::integer_at(v.get_object(), "until")};
}

}  // namespace mcp_server
