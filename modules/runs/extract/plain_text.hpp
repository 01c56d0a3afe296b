// Converts text files to UTF-8, using byte order marks, declarations and detected encodings. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

struct plain_text {
  enum class outcome { read, unknown_encoding, binary } is = outcome::binary;
  std::string text;  // UTF-8
  std::string encoding;  // the source encoding; empty: UTF-8
  bool damaged = false;  // invalid bytes were replaced by U+FFFD
};
// Whether the bytes are a whole file or the beginning of a longer one, which may end within a character.
enum class part { whole, beginning };
plain_text read_text(std::string_view bytes, part of);

// Truncates UTF-8 to at most `max_bytes` bytes without splitting a character. False: the text already fits.
bool cut_text(std::string& text, std::size_t max_bytes);

}  // namespace extract
