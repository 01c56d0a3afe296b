#include "body.hpp"

#include <boost/json/parse.hpp>

#include "common/tool_rules.hpp"
#include "common/unicode.hpp"
#include "errors.hpp"
#include "json/known_members.hpp"
#include "mcp_list.hpp"

namespace agents {
namespace {

namespace json = boost::json;

constexpr std::size_t max_name = 100;
constexpr std::size_t max_prompt = 64 * 1024;

enum class lines { one, many };

std::optional<std::string> text(const json::object& o, const char* name, std::size_t min, std::size_t max,
                                lines allowed) {
  const auto* v = o.if_contains(name);
  if (!v || v->is_null()) return std::nullopt;
  if (!v->is_string()) throw invalid(name, "must be a string");
  std::string s(v->get_string().data(), v->get_string().size());
  if (s.size() < min || s.size() > max) {
    throw invalid(name, "must have " + std::to_string(min) + " to " + std::to_string(max) + " bytes");
  }
  for (const unsigned char c : s) {
    const bool layout = allowed == lines::many && (c == '\n' || c == '\r' || c == '\t');
    if ((c < 0x20 && !layout) || c == 0x7f) throw invalid(name, "must not contain control characters");
  }
  return s;
}

std::optional<std::string> name_in(const json::object& o) {
  const auto* v = o.if_contains("name");
  if (!v || v->is_null()) return std::nullopt;
  if (!v->is_string()) throw invalid("name", "must be a string");
  auto s = unicode::clean_name({v->get_string().data(), v->get_string().size()});
  if (s.empty() || s.size() > max_name)
    throw invalid("name", "must have 1 to " + std::to_string(max_name) + " bytes and not be blank");
  return s;
}

std::string tool_policy_of(const json::value& list) {
  constexpr std::string_view name = "tool_policy";
  std::vector<tool_rules::tool_rule> rules;
  const std::string problem = tool_rules::read_tool_rules(name, list, rules);
  if (!problem.empty()) throw ry::http_error(422, RY_INVALID_ARGUMENT, "agents.invalid_value", problem);
  std::string out = tool_rules::rules_json(rules);
  if (out.size() > tool_rules::max_rules_bytes)
    throw invalid(name, "must have at most " + std::to_string(tool_rules::max_rules_bytes) + " bytes");
  return out;
}

}  // namespace

agent_body read_agent_body(std::string_view body) {
  json::error_code ec;
  const auto doc = json::parse(json::string_view(body.data(), body.size()), ec);
  if (ec || !doc.is_object()) throw ry::bad_request("agents.body", "The body must be a JSON object");
  const auto& o = doc.get_object();
  module_json::require_known_members(
      o, {"name", "description", "system_prompt", "model_name", "custom_mcps", "tool_policy", "agent_id",
          "expected_version", "version", "is_default", "created_at", "updated_at"});

  agent_body out;
  out.change.name = name_in(o);
  out.change.description = text(o, "description", 0, 2000, lines::many);
  out.change.system_prompt = text(o, "system_prompt", 0, max_prompt, lines::many);
  out.change.model_name = text(o, "model_name", 0, 200, lines::one);
  if (out.change.model_name) out.change.model_name = unicode::clean_name(*out.change.model_name);
  if (const auto* m = o.if_contains("model_name"); m && m->is_null()) out.change.model_name = "";
  if (const auto* v = o.if_contains("expected_version"); v && !v->is_null()) {
    if (!v->is_int64() || v->get_int64() < 1 || v->get_int64() > INT32_MAX) {
      throw invalid("expected_version", "must be a whole number of at least 1");
    }
    out.change.expected_version = static_cast<std::int32_t>(v->get_int64());
  }
  if (const auto* v = o.if_contains("is_default"); v && !v->is_null()) {
    if (!v->is_bool()) throw invalid("is_default", "must be true or false");
    out.change.is_default = v->get_bool();
  }
  if (const auto* v = o.if_contains("custom_mcps"); v && !v->is_null()) {
    require_known_mcp_members(*v);
    out.mcps = *v;
  }
  if (const auto* v = o.if_contains("tool_policy"); v && !v->is_null())
    out.change.tool_policy_json = tool_policy_of(*v);
  return out;
}

}  // namespace agents
