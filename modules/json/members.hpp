// Reads members of JSON that no schema has validated: from models, providers, MCP servers and other services, and
// stored documents. A missing member, or one of another type, yields the default. Pure functions.
//
// Functions named `..._at` return a view or pointer into the object, which is valid as long as the object; text_of
// returns a copy.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace module_json {

// nullptr if the object has no such member.
inline const boost::json::value* member_at(const boost::json::object& o, std::string_view key) {
  return o.if_contains(boost::json::string_view(key.data(), key.size()));
}

inline std::string_view text_at(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr && v->is_string() ? std::string_view(v->get_string().data(), v->get_string().size())
                                        : std::string_view();
}

inline std::string text_of(const boost::json::object& o, std::string_view key, std::string_view default_value = {}) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr && v->is_string() ? std::string(v->get_string().data(), v->get_string().size())
                                        : std::string(default_value);
}

// Only accepts a number that is written as an integer.
inline std::int64_t integer_at(const boost::json::object& o, std::string_view key, std::int64_t default_value = 0) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr && v->is_int64() ? v->get_int64() : default_value;
}

inline bool flag_at(const boost::json::object& o, std::string_view key, bool default_value = false) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr && v->is_bool() ? v->get_bool() : default_value;
}

inline const boost::json::object* object_at(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr ? v->if_object() : nullptr;
}

inline const boost::json::array* array_at(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = member_at(o, key);
  return v != nullptr ? v->if_array() : nullptr;
}

}  // namespace module_json
