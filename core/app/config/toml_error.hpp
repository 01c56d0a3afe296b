// Explains a syntax error in a configuration file to the operator: what is wrong in the line, and the correct form.
// No I/O. Never quotes a value, because it may be a secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ry::app::config {

// `text` is the whole file, `line` counts from 1, `description` is the parser's message.
std::string syntax_sentence(std::string_view text, std::size_t line, std::string_view description);

}  // namespace ry::app::config
