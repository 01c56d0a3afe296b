#include "elicitation.hpp"

#include <json/members.hpp>

#include <boost/json/serialize.hpp>

namespace mcp_server {
namespace {

using module_json::text_at;
using module_json::text_of;

constexpr std::string_view id_prefix = "approval:", call_prefix = "call:";
constexpr std::size_t max_reason = 2000;
constexpr std::uint8_t version_mask = 0xf0, with_elicitation = 0x80, without_elicitation = 0x70;

json::object requested_schema() {
  json::object decision{{"type", "string"},
                        {"title", "Decision"},
                        {"description", "approve: the call is made; deny: it is not made"},
                        {"enum", json::array{"approve", "deny"}}};
  json::object reason{{"type", "string"},
                      {"title", "Reason"},
                      {"description", "The agent gets the reason for a denial"},
                      {"maxLength", max_reason}};
  json::object properties;
  properties["decision"] = std::move(decision);
  properties["reason"] = std::move(reason);
  json::object out;
  out["type"] = "object";
  out["properties"] = std::move(properties);
  out["required"] = json::array{"decision"};
  return out;
}

}  // namespace

ry::uuid session_id(ry::uuid random, bool elicitation) {
  const std::uint8_t version = elicitation ? with_elicitation : without_elicitation;
  random.bytes[6] = static_cast<std::uint8_t>((random.bytes[6] & ~version_mask) | version);
  return random;
}

bool session_has_elicitation(const ry::uuid& session) {
  return (session.bytes[6] & version_mask) == with_elicitation;
}

bool is_call_approval(const json::object& approval) {
  const std::string_view kind = text_at(approval, "kind");
  return kind.empty() || kind == "approval";
}

json::object approval_form(const json::object& approval, revision rev) {
  const json::value* arguments = module_json::member_at(approval, "arguments");
  const std::string text = arguments != nullptr ? json::serialize(*arguments) : "{}";
  json::object params;
  if (rev >= revision::v2025_11_25) params["mode"] = "form";
  params["message"] =
      jv("The agent asks to call the tool " + clipped(text_at(approval, "name"), 100) + " (" +
         clipped(text_at(approval, "source"), 100) + ") with the arguments " + clipped(text, max_form_arguments));
  params["requestedSchema"] = requested_schema();
  return {{"method", "elicitation/create"}, {"params", std::move(params)}};
}

std::string form_id(std::string_view run_id, std::string_view approval_id) {
  return std::string(id_prefix).append(run_id).append(":").append(approval_id);
}

std::optional<form_reference> read_form_id(const json::value& id) {
  if (!id.is_string()) return std::nullopt;
  std::string_view text(id.get_string());
  if (text.substr(0, id_prefix.size()) != id_prefix) return std::nullopt;
  text.remove_prefix(id_prefix.size());
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const auto run = ry::uuid::parse(text.substr(0, colon)), approval = ry::uuid::parse(text.substr(colon + 1));
  if (!run || !approval) return std::nullopt;
  return form_reference{run->to_string(), *approval};
}

std::string call_form_id(const ry::uuid& call) {
  return std::string(call_prefix).append(call.to_string());
}

std::optional<ry::uuid> read_call_form_id(const json::value& id) {
  if (!id.is_string()) return std::nullopt;
  const std::string_view text(id.get_string());
  if (!text.starts_with(call_prefix)) return std::nullopt;
  return ry::uuid::parse(text.substr(call_prefix.size()));
}

json::object input_requests(const json::array& approvals, revision rev) {
  json::object out;
  for (const json::value& v : approvals)
    if (v.is_object()) out[jv(text_at(v.get_object(), "approval_id"))] = approval_form(v.get_object(), rev);
  return out;
}

std::optional<std::string> decision_of(const json::object& elicit_result) {
  const std::string_view action = text_at(elicit_result, "action");
  if (action == "cancel") return std::nullopt;
  json::object out;
  if (action == "decline") {
    out["decision"] = "deny";
    return json::serialize(out);
  }
  if (action != "accept") throw invalid_params("action must be accept, decline or cancel");
  const json::object* content = module_json::object_at(elicit_result, "content");
  const std::string decision = content != nullptr ? text_of(*content, "decision") : std::string();
  if (decision != "approve" && decision != "deny") throw invalid_params("content.decision must be approve or deny");
  out["decision"] = decision;
  const std::string reason = text_of(*content, "reason");
  if (reason.size() > max_reason) throw invalid_params("content.reason must have at most 2000 bytes");
  if (!reason.empty()) out["reason"] = reason;
  return json::serialize(out);
}

}  // namespace mcp_server
