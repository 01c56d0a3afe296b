// Reads JSON Schema documents.
#pragma once
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace ry::app::config {

// The member of an object; nullptr if the value is not an object or has no such member.
inline const boost::json::value* member(const boost::json::value& v, std::string_view key) {
  const auto* o = v.if_object();
  return o ? o->if_contains(key) : nullptr;
}

// The schema of a key of a table: its own, or that of all others. nullptr if the key is not allowed.
inline const boost::json::value* schema_of(const boost::json::value& schema, std::string_view key) {
  const auto* properties = member(schema, "properties");
  if (const auto* own = properties ? member(*properties, key) : nullptr) return own;
  const auto* others = member(schema, "additionalProperties");
  return others && others->is_object() ? others : nullptr;
}

}  // namespace ry::app::config
