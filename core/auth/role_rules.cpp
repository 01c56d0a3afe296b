#include "core/auth/role_rules.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

namespace ry::auth {
namespace {

namespace json = boost::json;

bool contains(const std::vector<std::string>& all, std::string_view value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

role named(std::string_view value, const role_rules& rules) {
  if (contains(rules.super_admin, value)) return role::super_admin;
  if (contains(rules.admin, value)) return role::admin;
  return role::user;
}

role of_value(const json::value& v, const role_rules& rules) {
  if (v.is_string()) return named({v.get_string().data(), v.get_string().size()}, rules);
  if (v.is_bool()) return v.get_bool() ? named("true", rules) : role::user;
  auto best = role::user;
  if (v.is_array()) {
    for (const auto& item : v.get_array())
      if (item.is_string()) best = std::max(best, named({item.get_string().data(), item.get_string().size()}, rules));
  } else if (v.is_object()) {
    for (const auto& [key, value] : v.get_object())
      if (value.is_object()) best = std::max(best, named({key.data(), key.size()}, rules));
  }
  return best;
}

// Tries each way to divide the path into names of members.
role at_path(const json::object& o, std::string_view path, const role_rules& rules) {
  auto best = role::user;
  if (const auto* v = o.if_contains(path)) best = of_value(*v, rules);
  for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    const auto* inner = o.if_contains(path.substr(0, dot));
    if (inner && inner->is_object()) best = std::max(best, at_path(inner->get_object(), path.substr(dot + 1), rules));
  }
  return best;
}

}  // namespace

role role_of(const json::object& claims, const role_rules& rules) {
  auto best = role::user;
  for (const auto& path : rules.claims) best = std::max(best, at_path(claims, path, rules));
  return best;
}

bool is_user_editable(std::string_view claim_path) {
  constexpr std::array<std::string_view, 3> theirs{"user_metadata", "unsafe_metadata", "raw_user_meta_data"};
  const auto first = claim_path.substr(0, claim_path.find('.'));
  return std::find(theirs.begin(), theirs.end(), first) != theirs.end();
}

}  // namespace ry::auth
