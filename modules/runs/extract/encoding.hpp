// Encodings of text files: the one that the bytes declare or have. uchardet (Mozilla's detector) detects them. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace extract {

// What an XML declaration, an HTML <meta>, a CSS @charset or an editor's "coding:" line names; empty: nothing.
std::string declared_encoding(std::string_view bytes);

// The probable encoding of bytes that are not UTF-8, as iconv names it; empty: unknown.
std::string detect_encoding(std::string_view bytes);

// UTF-16 and UTF-32 without a byte order mark; nullopt: it is neither.
struct wide_text {
  std::string encoding, text;
};
std::optional<wide_text> read_wide(std::string_view bytes, bool cut);

}  // namespace extract
