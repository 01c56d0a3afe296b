#include "tool_set.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "json/exact.hpp"
#include "tool_ids.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::size_t max_tool_name = 64;
constexpr std::size_t max_argument_depth = 64;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_valid_name(std::string_view name, tool_rules::name_start start) {
  if (name.empty() || name.size() > max_tool_name) return false;
  if (start == tool_rules::name_start::letter && !is_letter(name.front()) && name.front() != '_') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

std::string make_valid_name(std::string_view stored, tool_rules::name_start start) {
  std::string out;
  for (const char c : stored) {
    if (is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-')
      out += c;
    else if (!out.ends_with('_'))
      out += '_';
  }
  if (out.find_first_not_of("_-") == std::string::npos) out = "tool_" + short_hash(stored, 0, 6);
  if (start == tool_rules::name_start::letter && !is_letter(out.front()) && out.front() != '_') out.insert(0, 1, '_');
  if (out.size() > max_tool_name) out = out.substr(0, max_tool_name - 7) + "_" + short_hash(stored, 0, 6);
  return out;
}

// The first names of a list and the number of the others, for a message.
std::string abbreviated_list(const std::vector<std::string>& names) {
  constexpr std::size_t max_names = 10;
  std::string out;
  for (std::size_t i = 0; i < std::min(max_names, names.size()); ++i) out.append(i == 0 ? "" : ", ").append(names[i]);
  if (names.size() > max_names) out += " and " + std::to_string(names.size() - max_names) + " more";
  return out;
}

std::string_view chosen_tool(const json::object& request) {
  const auto* choice = object_at(request, "tool_choice");
  return choice ? text_at(*choice, "name") : std::string_view();
}

}  // namespace

std::string call_names::name(std::string_view wire) const {
  const auto found = renamed.find(wire);
  return found == renamed.end() ? std::string(wire) : found->second.original_name;
}

std::string call_names::arguments(std::string_view wire_name, std::string_view text) const {
  const auto found = renamed.find(wire_name);
  if (found == renamed.end() || found->second.original_properties.empty()) return std::string(text);
  boost::system::error_code ec;
  json::value v = module_json::parse_exactly(text, max_argument_depth, ec);
  if (ec) return std::string(text);
  return json::serialize(rename_keys(std::move(v), found->second.original_properties));
}

tool_set::tool_set(const json::object& request, const tool_rules& rules, std::vector<notice>& notices) : rules_(rules) {
  const auto* list = array_at(request, "tools");
  if (list == nullptr) return;
  std::vector<std::string> too_many;
  const auto chosen = chosen_tool(request);
  std::size_t slots_left = rules.count > 0 ? rules.count : list->size();
  const auto is_chosen = [chosen](const json::value& t) {
    return !chosen.empty() && t.is_object() && text_at(t.get_object(), "name") == chosen;
  };
  bool chosen_is_ahead = std::any_of(list->begin(), list->end(), is_chosen);
  for (const auto& t : *list) {
    const auto* tool = t.if_object();
    const std::string stored(tool ? text_at(*tool, "name") : std::string_view());
    if (stored.empty() || wire_names_.contains(stored)) {
      notices.push_back({"tool_skipped", stored.empty() ? "A tool without a name was omitted."
                                                        : "The second tool named " + stored + " was omitted."});
      continue;
    }
    if (slots_left == 0 || (slots_left == 1 && chosen_is_ahead && !is_chosen(t))) {
      too_many.push_back(stored);
      continue;
    }
    auto parameters = normalise_parameters(tool->if_contains("parameters"), rules.schemas);
    if (!parameters) {
      notices.push_back(
          {"tool_skipped", "The tool " + stored + " was omitted: its schema does not describe an object."});
      continue;
    }
    --slots_left;
    if (is_chosen(t)) chosen_is_ahead = false;
    offered_tool out;
    out.name = wire_name(stored);
    out.description = text_at(*tool, "description");
    if (!parameters->alternatives.empty())
      out.description += std::string(out.description.empty() ? "" : "\n") +
                         "One of these sets of parameters is required: " + parameters->alternatives;
    out.description = shorten_description(out.description, rules.description_chars);
    if (is_blank(out.description)) out.description.clear();
    out.parameters = std::move(parameters->schema);
    if (!parameters->original_names.empty()) {
      for (const auto& [now, before] : parameters->original_names) new_properties_[stored][before] = now;
      call_names_.renamed[out.name] = {stored, std::move(parameters->original_names)};
    }
    offered_.push_back(std::move(out));
  }
  if (!too_many.empty())
    notices.push_back({"tool_skipped", "The provider accepts " + std::to_string(rules.count) +
                                           " tools. These were omitted: " + abbreviated_list(too_many) + "."});
}

bool tool_set::offers(std::string_view wire_name) const {
  return std::any_of(offered_.begin(), offered_.end(), [&](const offered_tool& t) { return t.name == wire_name; });
}

std::string tool_set::wire_name(std::string_view stored) {
  if (const auto known = wire_names_.find(stored); known != wire_names_.end()) return known->second;
  std::string name = is_valid_name(stored, rules_.names) ? std::string(stored) : make_valid_name(stored, rules_.names);
  const std::string base = name.substr(0, max_tool_name - 7);
  for (std::uint64_t salt = 1; !taken_names_.insert(name).second; ++salt)
    name = base + "_" + short_hash(stored, salt, 6);
  wire_names_.emplace(stored, name);
  if (name != stored) call_names_.renamed[name].original_name = stored;
  return name;
}

json::object tool_set::wire_arguments(std::string_view stored, json::object arguments) const {
  const auto found = new_properties_.find(stored);
  if (found == new_properties_.end()) return arguments;
  return std::move(rename_keys(std::move(arguments), found->second).get_object());
}

std::shared_ptr<const call_names> tool_set::names() const {
  if (call_names_.renamed.empty()) return nullptr;
  return std::make_shared<const call_names>(call_names_);
}

tool_choice read_tool_choice(const json::object& request, tool_set& tools, std::vector<notice>& notices) {
  const auto* given = request.if_contains("tool_choice");
  if (given == nullptr || given->is_null() || tools.offered().empty()) return {};
  if (const auto* mode = given->if_string(); mode && (*mode == "auto" || *mode == "none" || *mode == "required"))
    return {std::string(*mode), {}};
  const auto chosen = chosen_tool(request);
  std::string name = chosen.empty() ? std::string() : tools.wire_name(chosen);
  if (!name.empty() && tools.offers(name)) return {"tool", std::move(name)};
  notices.push_back({"parameter_skipped",
                     chosen.empty() ? "tool_choice has an unknown value and was omitted."
                                    : "tool_choice was omitted: the tool " + std::string(chosen) + " is not offered."});
  return {};
}

std::string shorten_description(std::string_view text, std::size_t max_units) {
  constexpr std::string_view ellipsis = "…";
  std::size_t units = 0, end_of_text = 0, word_end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[at]);
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
    units += lead >= 0xf0 ? 2 : 1;
    if (units < max_units) {  // one unit is for the ellipsis
      end_of_text = end;
      if (lead == ' ' || lead == '\n' || lead == '\t') word_end = at;
    }
    at = end;
  }
  if (max_units == 0 || units <= max_units) return std::string(text);
  if (word_end > end_of_text / 2) end_of_text = word_end;
  return std::string(text.substr(0, end_of_text)) + std::string(ellipsis);
}

}  // namespace llm
