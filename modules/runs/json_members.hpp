// Members of the JSON that models and tool sources write; missing members and members of other types have the default.
#pragma once
#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

inline std::string text_of(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = o.if_contains(key);
  return v != nullptr && v->is_string() ? std::string(v->as_string()) : std::string();
}

inline std::int64_t int_of(const boost::json::object& o, std::string_view key, std::int64_t otherwise) {
  const boost::json::value* v = o.if_contains(key);
  return v != nullptr && v->is_int64() ? v->as_int64() : otherwise;
}

inline bool bool_of(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = o.if_contains(key);
  return v != nullptr && v->is_bool() && v->as_bool();
}

}  // namespace runs
