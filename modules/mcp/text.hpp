// Makes untrusted text safe to embed in our own messages. Without I/O.
#pragma once

#include <string>
#include <string_view>

namespace mcp {

// The beginning of s, at most `max_bytes` bytes, never truncated within a character.
std::string_view truncated(std::string_view s, std::size_t max_bytes) noexcept;

// Likewise, as valid UTF-8: invalid bytes become U+FFFD.
std::string valid_utf8(std::string_view s, std::size_t max_bytes);

// Whether the text has characters that are invisible or change the display order: control characters, line separators,
// bidirectional controls, tags. Word joiners and emoji joiners are allowed.
bool has_hidden(std::string_view s) noexcept;

// The text without such characters; tabs and line ends are kept.
std::string without_hidden(std::string_view s);

// Repairs a JSON text whose strings contain invalid characters: invalid UTF-8, and escaped lone surrogates, which
// JavaScript produces when it truncates a string. Both become U+FFFD.
std::string repaired_json(std::string_view json_text);

}  // namespace mcp
