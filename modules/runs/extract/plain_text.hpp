// Text files as UTF-8: byte order marks, declarations and detected encodings. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace extract {

struct plain_text {
  enum class outcome { read, unknown_encoding, binary } is = outcome::binary;
  std::string text;  // UTF-8
  std::string encoding;  // what it was converted from; empty: it is UTF-8
  bool damaged = false;  // bytes that are not valid became U+FFFD
};
// `whole`: false for the beginning of a longer file.
enum class part { whole, beginning };
plain_text read_text(std::string_view bytes, part of);

// Cuts UTF-8 to at most `most` bytes and leaves no half character at the end. False: it fits.
bool cut_text(std::string& text, std::size_t most);

}  // namespace extract
