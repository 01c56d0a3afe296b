// Encodings of text files: which one the bytes declare or have, and their conversion to UTF-8. Detection is by uchardet
// (Mozilla's detector), conversion by iconv. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace extract {

// Strict: nullopt for bytes that the encoding does not have, for an unknown name, and for a result with control characters that
// texts do not contain. `cut`: the bytes are the beginning of a longer text, so an incomplete last character is left out.
std::optional<std::string> to_utf8(std::string_view bytes, const std::string& encoding, bool cut);

// Of UTF-16 and UTF-32: what is not valid becomes U+FFFD.
std::string repaired_utf8(std::string_view bytes, const std::string& encoding);

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
