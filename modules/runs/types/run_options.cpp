#include "types/run_options.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "json/exact.hpp"
#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_client_tools = 128, max_client_tools_bytes = 256 << 10, max_name_length = 64;

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_length && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

std::string read_client_tools(std::string_view text, std::string& tools) {
  if (text.size() > max_client_tools_bytes)
    return "client_tools must have at most " + size_text(max_client_tools_bytes);
  boost::system::error_code bad;
  const json::value v = json::parse(text, bad);
  if (bad || !v.is_array()) return "client_tools must be a JSON array of tools";
  if (v.as_array().size() > max_client_tools)
    return "client_tools must have at most " + std::to_string(max_client_tools) + " tools";
  json::array out;
  std::set<std::string> names;
  for (const json::value& item : v.as_array()) {
    const std::string at = "client_tools[" + std::to_string(out.size()) + "]";
    if (!item.is_object()) return at + " must be an object";
    const json::object& tool = item.as_object();
    const std::string name = module_json::text_of(tool, "name");
    if (!is_tool_name(name)) return at + ".name must have 1 to 64 letters, digits, _ or -";
    if (!names.insert(name).second) return at + ".name is given more than once";
    json::object copy{{"name", name}, {"description", module_json::text_of(tool, "description")}};
    const json::value* parameters = module_json::member_at(tool, "parameters");
    if (parameters == nullptr || parameters->is_null())
      copy["parameters"] = json::object{{"type", "object"}, {"properties", json::object()}};
    else if (parameters->is_object())
      copy["parameters"] = *parameters;
    else
      return at + ".parameters must be a JSON Schema object";
    out.push_back(std::move(copy));
  }
  tools = out.empty() ? std::string() : json::serialize(out);
  return {};
}

std::string stored_parameters(const model_parameters& parameters, const run_options& options) {
  std::string out = members_of(parameters);
  const auto add = [&out](std::string_view name, std::string_view json) {
    if (!out.empty()) out += ',';
    out.append("\"").append(name).append("\":").append(json);
  };
  if (!options.system.empty()) add("system", json_string(options.system));
  if (!options.instructions.empty()) add("instructions", json_string(options.instructions));
  if (!options.client_tools.empty()) add("client_tools", options.client_tools);
  if (!options.output_schema.empty()) add("output_schema", options.output_schema);
  if (!options.tool_rules.empty()) add("tool_policy", rules_json(options.tool_rules));
  if (options.parks_client_calls) add("parks_client_calls", "true");
  if (options.questions) add("questions", *options.questions ? "true" : "false");
  if (options.has_webhook) add("has_webhook", "true");
  if (!options.continue_truncated) add("continue_truncated", "false");
  return out.empty() ? out : "{" + out + "}";
}

run_options read_options(std::string_view text) {
  run_options out;
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(text, max_stored_depth, bad);
  if (bad || !v.is_object()) return out;
  const json::object& o = v.as_object();
  out.system = module_json::text_of(o, "system");
  out.instructions = module_json::text_of(o, "instructions");
  if (const json::array* tools = module_json::array_at(o, "client_tools")) out.client_tools = json::serialize(*tools);
  if (const json::object* schema = module_json::object_at(o, "output_schema"))
    out.output_schema = json::serialize(*schema);
  if (const json::value* rules = module_json::member_at(o, "tool_policy"))
    (void)read_tool_rules("tool_policy", *rules, out.tool_rules);
  out.parks_client_calls = module_json::flag_at(o, "parks_client_calls");
  if (o.contains("questions")) out.questions = module_json::flag_at(o, "questions");
  out.has_webhook = module_json::flag_at(o, "has_webhook");
  out.continue_truncated = module_json::flag_at(o, "continue_truncated", true);
  return out;
}

}  // namespace runs
