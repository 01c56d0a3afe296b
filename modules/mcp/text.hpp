// Text of others in our own sentences. Without I/O.
#pragma once

#include <string>
#include <string_view>

namespace mcp {

// The beginning of s, at most `most` bytes, without a character that would be cut in two.
std::string_view cut(std::string_view s, std::size_t most) noexcept;

// The same as valid UTF-8: what is none becomes U+FFFD.
std::string clean(std::string_view s, std::size_t most);

// Whether the text has a character that is invisible or changes the display order of others: controls, line separators,
// bidirectional controls, tags. Joiners of words and emoji are allowed.
bool has_hidden(std::string_view s) noexcept;

// The text without them, but with its tabs and line ends.
std::string without_hidden(std::string_view s);

// A JSON text whose strings hold what is no character: bytes that are no UTF-8, and escapes of one half of
// a surrogate pair, which JavaScript writes for a text that it cut there. Both become U+FFFD.
std::string mended(std::string_view json_text);

}  // namespace mcp
