// The arguments of a tool call as text for people who decide about the call.
//
// Thread: any. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry_arguments {

struct shown_arguments {
  // One line "name: value" per member, in the order of the JSON text. Strings are unquoted, and their further lines are
  // indented, so that no value can imitate a member. All other values are shown as they are written, so a huge number
  // does not become hundreds of digits. Invisible characters and those that change the writing direction are escaped.
  std::string text;
  bool is_complete = true;  // false: the text was shortened, or the JSON text was
};

// json: the text of a JSON object, or its beginning. max_bytes: limit of the text, at least 3.
shown_arguments show(std::string_view json, std::size_t max_bytes);

}  // namespace ry_arguments
