// Text functions: JSON strings that are always valid UTF-8, sizes, credits, numbers, UUIDs, cursors of pages. Pure
// functions.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/unicode.hpp"

namespace runs {

// Appends `text` as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD, so that one bad byte from a tool
// cannot break a client's parser. U+0085, U+2028 and U+2029 are escaped, so that every reader sees one line.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);
// Adds the same escapes to the strings of a valid JSON text.
std::string escape_line_ends(std::string json);

// A message from an external source, made safe to store and show: invalid UTF-8 becomes U+FFFD, control characters
// become spaces.
std::string plain_sentence(std::string_view text);
// The text if it has at most max_bytes; otherwise its beginning and end, together at most max_bytes, with a note about
// the omitted part between them.
std::string shorten(std::string_view text, std::size_t max_bytes);

// The number of code points of a UTF-8 text.
std::size_t count_characters(std::string_view text);
// "532 B", "1.5 KB", "10.0 MB" (1 KB = 1024 B).
std::string size_text(std::uint64_t bytes);
// Micro-credits as a JSON number of credits without an exponent: 1500000 -> 1.5.
std::string credits_text(std::int64_t micro);
// The inverse: "1.5" -> 1500000. nullopt: the text is not a plain decimal number, or has more than six decimal places,
// or is more than 1 billion credits.
std::optional<std::int64_t> micro_of_credits(std::string_view text);
// Milliseconds with three decimal places.
std::string milliseconds_text(std::int64_t microseconds);

std::optional<std::int64_t> parse_int(std::string_view text);
std::string trim(std::string_view text);
using unicode::is_blank;
// Whether a character is invisible or changes how others are displayed: C1 controls, soft hyphens, bidirectional marks
// and overrides, joiners, line separators, tags.
bool is_invisible(char32_t c);

// The UUID in lower case; nullopt if the text is not a UUID.
std::optional<std::string> canonical_uuid(std::string_view text);

// Opaque cursors of keyset pages: base64url of the list's name and the key. decode_cursor: nullopt if the text is not
// a cursor, or is a cursor of another list.
std::string encode_cursor(std::string_view list, std::string_view first, std::string_view second = {});
struct cursor {
  std::string first, second;
};
std::optional<cursor> decode_cursor(std::string_view list, std::string_view text);

}  // namespace runs
