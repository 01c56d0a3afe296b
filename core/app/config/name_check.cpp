#include "core/app/config/name_check.hpp"

#include <algorithm>
#include <vector>

#include "core/app/config/nearest.hpp"
#include "core/app/config/schema_lookup.hpp"

namespace ry::app::config {

namespace json = boost::json;

namespace {

std::vector<std::string> texts(const json::value& rule, std::string_view key) {
  std::vector<std::string> out;
  const auto* list = member(rule, key);
  if (const auto* all = list ? list->if_array() : nullptr)
    for (const auto& one : *all)
      if (one.is_string()) out.emplace_back(one.get_string());
  return out;
}

// "accounts.tier" -> "tier"
std::string word_of(std::string kind) {
  if (kind.ends_with('/')) kind.pop_back();
  return kind.substr(kind.find('.') + 1);
}

bool is_list_of_texts(const json::value& v) {
  const auto* all = v.if_array();
  return all && std::all_of(all->begin(), all->end(), [](const auto& one) { return one.is_string(); });
}

}  // namespace

void name_check::collect(const json::value& value, const json::value& schema) {
  const auto* table = value.if_object();
  if (!table) return;
  if (const auto* rule = member(schema, "defines"))
    if (const auto* kind = member(*rule, "kind"); kind && kind->is_string()) {
      auto& names = names_[std::string(kind->get_string())];
      for (const auto& name : texts(*rule, "predefined")) names.insert(name);
      for (const auto& entry : *table) names.emplace(entry.key());
    }
  for (const auto& entry : *table)
    if (const auto* s = schema_of(schema, entry.key())) collect(entry.value(), *s);
  // A table that is not set still defines its predefined names.
  const auto* properties = member(schema, "properties");
  if (const auto* all = properties ? properties->if_object() : nullptr)
    for (const auto& p : *all)
      if (!table->contains(p.key()) && member(p.value(), "defines")) collect(json::object(), p.value());
}

void name_check::check(const json::value& rule, const std::string& name, const node* given, const key_path& path,
                       problems& out) const {
  const auto also = texts(rule, "also");
  if (std::find(also.begin(), also.end(), name) != also.end()) return;
  const auto kinds = texts(rule, "kinds");
  std::vector<std::string> known;
  for (const auto& kind : kinds) {
    const bool matches_prefix = kind.ends_with('/');
    const auto defined = names_.find(matches_prefix ? kind.substr(0, kind.size() - 1) : kind);
    if (defined == names_.end()) return;
    const auto slash = name.find('/');
    if (matches_prefix && (slash == std::string::npos || slash + 1 == name.size())) continue;
    if (defined->second.contains(matches_prefix ? name.substr(0, slash) : name)) return;
    for (const auto& one : defined->second) known.push_back(matches_prefix ? one + name.substr(slash) : one);
  }
  if (kinds.empty()) return;
  const auto meant = nearest(name, known);
  std::string message = "\"" + name + "\" is not a known " + word_of(kinds.front());
  if (!meant.empty()) message += "; did you mean \"" + meant + "\"?";
  out.push_back({given ? given->where : "default", to_text(path), std::move(message)});
}

void name_check::find_faults(const json::value& value, const json::value& schema, const node* given, key_path path,
                             problems& out) const {
  const auto* value_rule = member(schema, "refers_to");
  if (value_rule && value.is_string() && !value.get_string().empty())
    check(*value_rule, std::string(value.get_string()), given, path, out);
  if (const auto* list = value.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!value_rule || !(*list)[i].is_string()) continue;
      path.push_back("[" + std::to_string(i) + "]");
      check(*value_rule, std::string((*list)[i].get_string()),
            given && i < given->items.size() ? &given->items[i] : given, path, out);
      path.pop_back();
    }
  }
  const auto* table = value.if_object();
  if (!table) return;
  const auto* key_rule = member(schema, "keys_refer_to");
  for (const auto& entry : *table) {
    const std::string key(entry.key());
    const auto* where = given ? given->find(key) : nullptr;
    path.push_back(key);
    if (key_rule && where) check(*key_rule, key, where, path, out);
    if (const auto* s = schema_of(schema, key)) find_faults(entry.value(), *s, where, path, out);
    path.pop_back();
  }
}

std::string name_rule_fault(const json::value& schema) {
  if (const auto* rule = member(schema, "defines")) {
    const auto* kind = member(*rule, "kind");
    const auto* more = member(*rule, "predefined");
    if (!kind || !kind->is_string()) return "\"defines\" needs a string \"kind\"";
    if (more && !is_list_of_texts(*more)) return "\"predefined\" of \"defines\" must be a list of strings";
  }
  for (const auto* word : {"refers_to", "keys_refer_to"}) {
    const auto* rule = member(schema, word);
    if (!rule) continue;
    const auto* kinds = member(*rule, "kinds");
    const auto* also = member(*rule, "also");
    if (!kinds || !is_list_of_texts(*kinds)) return "\"" + std::string(word) + "\" needs a list of strings \"kinds\"";
    if (also && !is_list_of_texts(*also)) return "\"also\" of \"" + std::string(word) + "\" must be a list of strings";
  }
  return {};
}

}  // namespace ry::app::config
