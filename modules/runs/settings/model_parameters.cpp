#include "settings/model_parameters.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <ry/cpp/text.hpp>

#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::string_view names[] = {"temperature", "top_p", "max_output_tokens", "reasoning_effort", "tool_choice"};
constexpr std::string_view efforts[] = {"none", "minimal", "low", "medium", "high"};
constexpr std::string_view choices[] = {"auto", "none", "required"};
constexpr std::int64_t max_output_tokens = 10'000'000;
constexpr std::size_t max_tool_name_length = 256;

template <std::size_t N>
bool is_one_of(const std::string_view (&all)[N], std::string_view text) {
  return std::find(std::begin(all), std::end(all), text) != std::end(all);
}

// A finite decimal number from 0 to `max`.
std::optional<double> number_up_to(std::string_view text, double max) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value <= max ? std::optional(value) : std::nullopt;
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

// The tool name in {"name":"..."}; empty if the text is anything else or has further members.
std::string tool_of(std::string_view text) {
  boost::system::error_code bad;
  const json::value v = json::parse(text, bad);
  if (bad || !v.is_object() || v.as_object().size() != 1) return {};
  const json::value* name = v.as_object().if_contains("name");
  return name != nullptr && name->is_string() ? std::string(name->as_string()) : std::string();
}

}  // namespace

bool is_model_parameter(std::string_view name) {
  return is_one_of(names, name);
}

std::string set_parameter(model_parameters& to, std::string_view name, std::string_view text) {
  if (name == "temperature") {
    const auto value = number_up_to(text, 2);
    if (!value) return "must be a number from 0 to 2";
    to.temperature = value;
  } else if (name == "top_p") {
    const auto value = number_up_to(text, 1);
    if (!value) return "must be a number from 0 to 1";
    to.top_p = value;
  } else if (name == "max_output_tokens") {
    const auto value = parse_int(text);
    if (!value || *value < 1 || *value > max_output_tokens)
      return "must be an integer from 1 to " + std::to_string(max_output_tokens);
    to.max_output_tokens = value;
  } else if (name == "reasoning_effort") {
    const std::string effort = ry::lower_ascii(text);
    if (!is_one_of(efforts, effort)) return "must be none, minimal, low, medium or high";
    to.reasoning_effort = effort;
  } else {
    const std::string tool = tool_of(text);
    if (const std::string choice = ry::lower_ascii(text); is_one_of(choices, choice))
      to.tool_choice = json_string(choice);
    else if (!tool.empty() && tool.size() <= max_tool_name_length)
      to.tool_choice = "{\"name\":" + json_string(tool) + "}";
    else
      return "must be auto, none, required or {\"name\":\"<tool>\"}";
  }
  return {};
}

std::string members_of(const model_parameters& p) {
  std::string out;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!out.empty()) out += ',';
    out.append("\"").append(name).append("\":").append(value);
  };
  if (p.temperature) add("temperature", number_text(*p.temperature));
  if (p.top_p) add("top_p", number_text(*p.top_p));
  if (p.max_output_tokens) add("max_output_tokens", std::to_string(*p.max_output_tokens));
  if (!p.reasoning_effort.empty()) add("reasoning_effort", json_string(p.reasoning_effort));
  if (!p.tool_choice.empty()) add("tool_choice", p.tool_choice);
  return out;
}

model_parameters read_parameters(std::string_view text) {
  model_parameters out;
  boost::system::error_code bad;
  json::parse_options options;
  options.max_depth = max_stored_depth;
  const json::value v = json::parse(text, bad, {}, options);
  if (bad || !v.is_object()) return out;
  for (const auto& member : v.as_object()) {
    if (!is_model_parameter(member.key())) continue;
    const json::value& value = member.value();
    (void)set_parameter(out, member.key(), value.is_string() ? std::string(value.as_string()) : json::serialize(value));
  }
  return out;
}

model_parameters merged(const model_parameters& first, const model_parameters& second) {
  model_parameters out = first;
  if (!out.temperature) out.temperature = second.temperature;
  if (!out.top_p) out.top_p = second.top_p;
  if (!out.max_output_tokens) out.max_output_tokens = second.max_output_tokens;
  if (out.reasoning_effort.empty()) out.reasoning_effort = second.reasoning_effort;
  if (out.tool_choice.empty()) out.tool_choice = second.tool_choice;
  return out;
}

bool demands_call(const model_parameters& p) {
  return !p.tool_choice.empty() && p.tool_choice != "\"auto\"" && p.tool_choice != "\"none\"";
}

std::string named_tool(const model_parameters& p) {
  return tool_of(p.tool_choice);
}

}  // namespace runs
