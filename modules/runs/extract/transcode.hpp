// Converts text of any encoding to UTF-8, by iconv. Pure.
#pragma once
#include <utf8proc.h>

#include <optional>
#include <string>
#include <string_view>

namespace extract {

// Strict: nullopt for bytes that the encoding does not have, for an unknown name, and for a result with control characters that
// texts do not contain. `cut`: the bytes are the beginning of a longer text, so an incomplete last character is left out.
std::optional<std::string> to_utf8(std::string_view bytes, const std::string& encoding, bool cut);

// Of UTF-16 and UTF-32: what is not valid becomes U+FFFD.
std::string repaired_utf8(std::string_view bytes, const std::string& encoding);

// A control character that text does not contain.
inline bool is_text_control(char32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B) || c == 0x7F ||
         (c >= 0x80 && c < 0xA0 && c != 0x85);
}

// Calls `each` with the characters of valid UTF-8 until it returns false.
template <class Each>
bool all_characters(std::string_view text, Each each) {
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (auto left = static_cast<utf8proc_ssize_t>(text.size()); left > 0;) {
    utf8proc_int32_t c = 0;
    const utf8proc_ssize_t n = utf8proc_iterate(at, left, &c);
    if (n <= 0 || !each(static_cast<char32_t>(c))) return false;
    at += n;
    left -= n;
  }
  return true;
}

}  // namespace extract
