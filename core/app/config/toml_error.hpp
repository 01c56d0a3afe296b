// A syntax error of a configuration file in the words of its operator: what is wrong in the line, and how to write it.
// No I/O; never quotes a value, which may be a secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry::app::config {

// `text` is the whole file, `line` counts from 1, `description` is what the parser says.
std::string syntax_sentence(std::string_view text, std::size_t line, std::string_view description);

}  // namespace ry::app::config
