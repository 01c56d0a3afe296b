// Formats the part of a log line after time and level, as text or as members of a JSON object. For any input, the
// result is one line of valid UTF-8 without control characters. Pure functions; they may throw std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observe/redactor.hpp"

namespace ry::observe {

// Longer messages and values are truncated and marked.
inline constexpr std::size_t max_log_text = 16 * 1024;

struct line_field {
  std::string key;
  std::string value;  // text, or JSON when `json`
  bool json = false;
};

// [component] message key=value key="a value"
std::string text_line(const redactor& secrets, std::string_view component, std::string_view message,
                      const std::vector<line_field>& fields);
// "component":"...","msg":"...","key":"value"   (no braces)
std::string json_line(const redactor& secrets, std::string_view component, std::string_view message,
                      const std::vector<line_field>& fields);

// Converts the members of one JSON object to fields. Any other text becomes one text field named "fields".
std::vector<line_field> fields_of_json(std::string_view fields_json);

}  // namespace ry::observe
