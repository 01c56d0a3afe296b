#include "options.hpp"

#include <ry/svc/runs.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <set>

#include "body.hpp"
#include "errors.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::string_view agent_name = "agent", agent_prefix = "agent/";
constexpr std::string_view any_object = R"({"type":"object"})";
constexpr std::string_view neutral_prompt = "You are a helpful assistant.";
constexpr std::size_t max_model_bytes = 200, max_tools = 128, max_tool_name = 64;
constexpr std::size_t max_metadata = 16, max_metadata_key = 64, max_metadata_value = 512;
constexpr std::int64_t max_output_tokens = 10'000'000;

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

void check_tool_name(const std::string& name, const std::string& path) {
  const bool valid =
      name.size() <= max_tool_name && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
      });
  if (!valid) throw invalid(path, path + " must have 1 to 64 letters, digits, _ or -");
}

json::object read_function(const json::object& f, const std::string& path, std::set<std::string>& names) {
  json::object out;
  const std::string name = required_text(f, "name", path + ".name");
  check_tool_name(name, path + ".name");
  if (!names.insert(name).second) throw invalid(path + ".name", path + ".name is given more than once");
  out["name"] = name;
  out["description"] = text_member(f, "description", path + ".description").value_or("");
  if (const json::object* parameters = object_member(f, "parameters", path + ".parameters"))
    out["parameters"] = *parameters;
  return out;
}

// Keeps only the tools that tool_choice allows.
void keep_allowed(const json::array& allowed, const std::string& path, run_options& to) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (!allowed[i].is_object()) throw invalid(at(path, i), at(path, i) + " must be an object", "invalid_type");
    const json::object& tool = allowed[i].get_object();
    const json::object* nested = module_json::object_at(tool, "function");
    names.insert(module_json::text_of(nested != nullptr ? *nested : tool, "name"));
  }
  json::array kept;
  for (json::value& tool : to.tools)
    if (names.contains(module_json::text_of(tool.get_object(), "name"))) kept.push_back(std::move(tool));
  to.tools = std::move(kept);
}

void set_choice(std::string choice, run_options& to) {
  to.parameters.emplace_back("tool_choice", std::move(choice));
}

void read_choice_object(const json::object& choice, run_options& to) {
  const std::string type = module_json::text_of(choice, "type");
  if (type == "function") {
    const json::object* nested = module_json::object_at(choice, "function");
    const json::object name{{"name", required_text(nested != nullptr ? *nested : choice, "name", "tool_choice.name")}};
    return set_choice(json::serialize(name), to);
  }
  if (type == "allowed_tools") {
    const json::object* nested = module_json::object_at(choice, "allowed_tools");
    const json::object& from = nested != nullptr ? *nested : choice;
    if (const json::array* tools = array_member(from, "tools", "tool_choice.tools"))
      keep_allowed(*tools, "tool_choice.tools", to);
    return set_choice(module_json::text_at(from, "mode") == "required" ? "required" : "auto", to);
  }
  throw invalid("tool_choice.type", "tool_choice.type must be function or allowed_tools", "unsupported_value");
}

}  // namespace

model_reference read_model(const json::object& body) {
  model_reference out;
  out.name = text_member(body, "model", "model", max_model_bytes).value_or("");
  if (out.name == agent_name) out.is_agent = true;
  if (out.name.rfind(agent_prefix, 0) == 0) {
    out.is_agent = true;
    out.agent = ry::uuid::parse(std::string_view(out.name).substr(agent_prefix.size()));
    if (!out.agent) throw unknown_model(out.name);
  }
  return out;
}

start_fields run_options::fields(std::string system) const {
  start_fields out = parameters;
  if (!output_schema.empty()) out.emplace_back("output_schema", output_schema);
  if (model.is_agent) {
    out.emplace_back("mode", "agent");
    if (model.agent) out.emplace_back("agent_id", model.agent->to_string());
    if (!system.empty()) out.emplace_back("instructions", std::move(system));
  } else {
    out.emplace_back("mode", "chat");
    if (!model.name.empty()) out.emplace_back("model_name", model.name);
    out.emplace_back("system", system.empty() ? std::string(neutral_prompt) : std::move(system));
  }
  if (!tools.empty()) out.emplace_back("client_tools", json::serialize(tools));
  return out;
}

void read_tools(const json::object& body, tool_style style, run_options& to) {
  const json::array* tools = array_member(body, "tools", "tools");
  if (tools == nullptr) return;
  if (tools->size() > max_tools) throw invalid("tools", "tools must have at most 128 elements");
  std::set<std::string> names;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string path = at("tools", i);
    if (!(*tools)[i].is_object()) throw invalid(path, path + " must be an object", "invalid_type");
    const json::object& tool = (*tools)[i].get_object();
    if (module_json::text_at(tool, "type") != "function")
      throw invalid(path + ".type", path + ".type must be function; other tools are not supported",
                    "unsupported_value");
    if (style == tool_style::responses) {
      to.tools.push_back(read_function(tool, path, names));
      continue;
    }
    const json::object* f = object_member(tool, "function", path + ".function");
    if (f == nullptr) throw invalid(path + ".function", path + ".function is required", "missing_required_parameter");
    to.tools.push_back(read_function(*f, path + ".function", names));
  }
}

void read_tool_choice(const json::object& body, run_options& to) {
  const json::value* choice = member(body, "tool_choice");
  if (choice == nullptr) return;
  if (const json::object* o = choice->if_object()) {
    read_choice_object(*o, to);
  } else {
    const std::string text = text_member(body, "tool_choice", "tool_choice").value_or("");
    if (text != "auto" && text != "none" && text != "required")
      throw invalid("tool_choice", "tool_choice must be auto, none, required or an object");
    set_choice(text, to);
  }
  // Without tools there is nothing to choose. Agents may have tools of their own.
  if (to.tools.empty() && !to.model.is_agent)
    std::erase_if(to.parameters, [](const auto& p) { return p.first == "tool_choice"; });
}

void read_temperature(const json::object& body, run_options& to) {
  if (const std::optional<double> value = number_member(body, "temperature", "temperature", 0, 2))
    to.parameters.emplace_back("temperature", number_text(*value));
  if (const std::optional<double> value = number_member(body, "top_p", "top_p", 0, 1))
    to.parameters.emplace_back("top_p", number_text(*value));
}

void read_effort(const json::object& from, std::string_view name, const std::string& path, run_options& to) {
  const std::optional<std::string> effort = text_member(from, name, path);
  if (!effort) return;
  const std::string_view known[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
  if (std::find(std::begin(known), std::end(known), *effort) == std::end(known))
    throw invalid(path, path + " must be none, minimal, low, medium, high, xhigh or max");
  const bool highest = *effort == "xhigh" || *effort == "max";
  to.parameters.emplace_back("reasoning_effort", highest ? "high" : *effort);
}

void read_output_limit(const json::object& body, const std::vector<std::string_view>& names, run_options& to) {
  for (const std::string_view name : names) {
    const std::string path(name);
    const std::optional<std::int64_t> limit = integer_member(body, name, path, 1, max_output_tokens);
    if (!limit) continue;
    to.parameters.emplace_back("max_output_tokens", std::to_string(*limit));
    // Clients expect an answer to end at the limit that they set.
    to.parameters.emplace_back(RY_RUN_FIELD_CONTINUE_TRUNCATED, "false");
    return;
  }
}

void read_format(const json::object& format, const std::string& path, run_options& to) {
  const std::string type = required_text(format, "type", path + ".type");
  if (type == "text") return;
  if (type != "json_object" && type != "json_schema")
    throw invalid(path + ".type", path + ".type must be text, json_object or json_schema", "unsupported_value");
  to.schema_param = path;
  if (type == "json_object") {
    to.output_schema = any_object;
    return;
  }
  to.schema_param += ".schema";
  const json::object* schema = object_member(format, "schema", to.schema_param);
  if (schema == nullptr) throw invalid(to.schema_param, to.schema_param + " is required", "missing_required_parameter");
  to.output_schema = json::serialize(*schema);
}

json::object read_metadata(const json::object& body) {
  const json::object* given = object_member(body, "metadata", "metadata");
  if (given == nullptr) return {};
  if (given->size() > max_metadata) throw invalid("metadata", "metadata must have at most 16 members");
  for (const auto& m : *given) {
    const std::string path = "metadata." + std::string(m.key().substr(0, max_metadata_key));
    if (m.key().empty() || m.key().size() > max_metadata_key)
      throw invalid(path, "A key of metadata must have 1 to 64 bytes");
    if (!m.value().is_string() || m.value().get_string().size() > max_metadata_value)
      throw invalid(path, path + " must be a string of at most 512 bytes");
  }
  return *given;
}

void set_metadata(const json::object& metadata, run_options& to) {
  if (!metadata.empty()) to.parameters.emplace_back("metadata", json::serialize(metadata));
}

}  // namespace openai_api
