// Converts text in any encoding to UTF-8 using iconv. Pure.
#pragma once
#include <utf8proc.h>

#include <optional>
#include <string>
#include <string_view>

namespace extract {

// Strict: nullopt for invalid bytes, for an unknown encoding, and for a result with control characters that do not
// occur in text. `cut`: the bytes are the beginning of a longer text, so an incomplete last character is dropped.
std::optional<std::string> to_utf8(std::string_view bytes, const std::string& encoding, bool cut);

// For UTF-16 and UTF-32: invalid code units become U+FFFD.
std::string repaired_utf8(std::string_view bytes, const std::string& encoding);

// Whether a character is a control character that does not occur in text.
inline bool is_text_control(char32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B) || c == 0x7F ||
         (c >= 0x80 && c < 0xA0 && c != 0x85);
}

// Calls `each` for each character until it returns false. False: `each` returned false, or the text is not valid UTF-8.
template <class Each>
bool all_characters(std::string_view text, Each each) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (auto remaining = static_cast<utf8proc_ssize_t>(text.size()); remaining > 0;) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t n = utf8proc_iterate(at, remaining, &c);
    if (n <= 0 || !each(static_cast<char32_t>(c))) return false;
    at += n;
    remaining -= n;
  }
  return true;
}

}  // namespace extract
