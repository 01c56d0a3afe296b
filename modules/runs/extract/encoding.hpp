// Determines the encoding of text files from declarations in the text or by detection with uchardet (Mozilla's
// detector). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace extract {

// The encoding named in an XML declaration, an HTML <meta>, a CSS @charset or an editor's "coding:" line; empty: none.
std::string declared_encoding(std::string_view bytes);

// The iconv name of the most probable encoding of bytes that are not UTF-8; empty: unknown.
std::string detect_encoding(std::string_view bytes);

// Reads UTF-16 and UTF-32 without a byte order mark; nullopt: the bytes are neither. `cut`: as in to_utf8.
struct wide_text {
  std::string encoding, text;
};
std::optional<wide_text> read_wide(std::string_view bytes, bool cut);

}  // namespace extract
