#include "revision.hpp"

#include <json/members.hpp>

#include <algorithm>
#include <boost/json/array.hpp>
#include <ry/cpp/base64.hpp>

namespace mcp_server {
namespace {

using module_json::object_at;
using module_json::text_at;

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view tasks_extension = "io.modelcontextprotocol/tasks";
constexpr std::size_t max_token_bytes = 256;

rpc_error malformed_meta(std::string text) {
  return rpc_error(rpc_code::invalid_params, std::move(text), 400);
}

rpc_error mismatch(std::string text) {
  return rpc_error(rpc_code::header_mismatch, "Header mismatch: " + std::move(text), 400);
}

// The value of a header that may be in the form =?base64?...?=.
std::string decoded(std::string_view header) {
  constexpr std::string_view prefix = "=?base64?", suffix = "?=";
  if (!header.starts_with(prefix) || !header.ends_with(suffix) || header.size() < prefix.size() + suffix.size())
    return std::string(header);
  const auto inner = header.substr(prefix.size(), header.size() - prefix.size() - suffix.size());
  auto bytes = ry::base64_decode(inner, ry::base64_alphabet::standard, ry::base64_padding::required);
  if (!bytes) throw mismatch("Mcp-Name is not valid base64");
  return std::move(*bytes);
}

// The member of params that Mcp-Name repeats; empty: none.
std::string_view named_member(std::string_view method) noexcept {
  if (method == "tools/call") return "name";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return {};
}

void check_headers(const message& m, const request_headers& h) {
  if (h.method.empty()) throw mismatch("the header Mcp-Method is missing");
  if (h.method != m.method) throw mismatch("Mcp-Method does not match the method in the body");
  const auto member = named_member(m.method);
  if (member.empty() || text_at(m.params, member).empty()) return;
  if (h.name.empty()) throw mismatch("the header Mcp-Name is missing");
  if (decoded(h.name) != text_at(m.params, member))
    throw mismatch("Mcp-Name does not match " + std::string(member) + " in the body");
}

json::value progress_token(const json::object* meta) {
  const json::value* token = meta != nullptr ? meta->if_contains("progressToken") : nullptr;
  if (token == nullptr || token->is_null()) return nullptr;
  const bool good =
      token->is_int64() || token->is_uint64() || (token->is_string() && token->get_string().size() <= max_token_bytes);
  if (!good) throw invalid_params("_meta.progressToken must be an integer or a string of at most 256 bytes");
  return *token;
}

client read_stateless(const message& m, const request_headers& h, const json::object& meta) {
  const json::value& given = *meta.if_contains(jv(version_key));
  if (!given.is_string()) throw malformed_meta("_meta." + std::string(version_key) + " must be a string");
  const std::string_view version = text_at(meta, version_key);
  if (h.protocol_version.empty()) throw mismatch("the header MCP-Protocol-Version is missing");
  if (h.protocol_version != version) throw mismatch("MCP-Protocol-Version does not match the version in _meta");
  const auto rev = parse_revision(version);
  if (!rev || *rev < revision::v2026_07_28) throw unsupported_version(version);
  const json::object* capabilities = object_at(meta, capabilities_key);
  if (capabilities == nullptr) throw malformed_meta("_meta." + std::string(capabilities_key) + " must be an object");
  check_headers(m, h);
  client out;
  out.rev = *rev;
  const json::object* extensions = object_at(*capabilities, "extensions");
  out.tasks = extensions != nullptr && object_at(*extensions, tasks_extension) != nullptr;
  out.elicitation = supports_forms(*capabilities);
  out.progress_token = progress_token(&meta);
  return out;
}

}  // namespace

// An empty object declares forms.
bool supports_forms(const json::object& capabilities) {
  const json::object* elicitation = object_at(capabilities, "elicitation");
  return elicitation != nullptr && (elicitation->empty() || object_at(*elicitation, "form") != nullptr);
}

std::optional<revision> parse_revision(std::string_view name) noexcept {
  constexpr std::array all{revision::v2026_07_28, revision::v2025_11_25, revision::v2025_06_18, revision::v2025_03_26};
  const auto at = std::find(revision_names.begin(), revision_names.end(), name);
  if (at == revision_names.end()) return std::nullopt;
  return all[static_cast<std::size_t>(at - revision_names.begin())];
}

std::string_view name_of(revision r) noexcept {
  return revision_names[revision_names.size() - 1 - static_cast<std::size_t>(r)];
}

revision negotiated(std::string_view requested) noexcept {
  const auto r = parse_revision(requested);
  return r && *r < revision::v2026_07_28 ? *r : revision::v2025_11_25;
}

client read_client(const message& m, const request_headers& h) {
  const json::object* meta = object_at(m.params, "_meta");
  if (meta != nullptr && meta->contains(jv(version_key))) return read_stateless(m, h, *meta);
  client out;
  // The header is not defined for initialize, which negotiates the revision.
  if (m.method != "initialize" || h.protocol_version == name_of(revision::v2026_07_28)) {
    out.rev = revision_of_notification(h);
    if (out.stateless()) throw malformed_meta("_meta." + std::string(version_key) + " is required");
  }
  out.progress_token = progress_token(meta);
  return out;
}

revision revision_of_notification(const request_headers& h) {
  // Clients of 2025-03-26 do not send the header.
  if (h.protocol_version.empty()) return revision::v2025_03_26;
  const auto rev = parse_revision(h.protocol_version);
  if (!rev) throw unsupported_version(h.protocol_version);
  return *rev;
}

rpc_error unknown_method(const message& m, const client& c) {
  return rpc_error(rpc_code::method_not_found, "Method not found: " + m.method, c.stateless() ? 404 : 200);
}

rpc_error unsupported_version(std::string_view requested) {
  json::array supported;
  for (const auto name : revision_names) supported.push_back(json::string(jv(name)));
  json::object data;
  data["supported"] = std::move(supported);
  data["requested"] = jv(clipped(requested, 64));
  return rpc_error(rpc_code::unsupported_version, "Unsupported protocol version", 400, std::move(data));
}

rpc_error tasks_not_declared() {
  json::object extension;
  extension[jv(tasks_extension)] = json::object();
  json::object required;
  required["extensions"] = std::move(extension);
  json::object data;
  data["requiredCapabilities"] = std::move(required);
  return rpc_error(rpc_code::missing_capability,
                   "The client did not declare the extension " + std::string(tasks_extension), 400, std::move(data));
}

}  // namespace mcp_server
