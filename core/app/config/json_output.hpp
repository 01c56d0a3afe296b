// Printing of the JSON that a command returns with --json. Any thread.
#pragma once

#include <cstdio>
#include <ry/cpp/utf8.hpp>
#include <string>
#include <string_view>

namespace ry::app {

// Prints one line to standard output. Arguments, file names and texts of modules may contain invalid UTF-8, which JSON
// does not allow: each invalid byte becomes U+FFFD.
inline void print_json(std::string_view json) {
  const auto line = to_valid_utf8(json) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
}

}  // namespace ry::app
