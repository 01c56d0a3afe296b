// Makes text of other parties safe to embed in our own messages. Without I/O.
#pragma once

#include <string>
#include <string_view>

namespace mcp {

// The beginning of s, at most `most` bytes, never cut within a character.
std::string_view cut(std::string_view s, std::size_t most) noexcept;

// The same as valid UTF-8: invalid bytes become U+FFFD.
std::string clean(std::string_view s, std::size_t most);

// Whether the text has characters that are invisible or change the display order: control characters, line separators,
// bidirectional controls, tags. Word joiners and emoji joiners are allowed.
bool has_hidden(std::string_view s) noexcept;

// The text without such characters, but with its tabs and line ends.
std::string without_hidden(std::string_view s);

// Repairs a JSON text whose strings contain invalid characters: invalid UTF-8, and escaped lone surrogates, which
// JavaScript produces when it cuts a string. Both become U+FFFD.
std::string repaired(std::string_view json_text);

}  // namespace mcp
