// JSON strings as text without a parser, for the hot path of a stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llm {

// A JSON string without its quotes. `plain`: it needs no decoding. nullopt: it contains an unescaped quote, a control
// character or a broken escape.
struct json_body {
  bool plain = true;
  bool ascii = true;
};
std::optional<json_body> check_json_body(std::string_view body);

// Decodes a body that check_json_body() accepted. Appends to `out`. False: a broken \u escape.
bool decode_json_body(std::string_view body, std::string& out);

// `text` with U+FFFD instead of each invalid byte sequence (the longest prefix of a character counts as one). nullopt:
// the text is valid UTF-8.
std::optional<std::string> with_valid_utf8(std::string_view text);

// JSON text with \ufffd instead of each escape of a lone surrogate. nullopt: there is none.
std::optional<std::string> without_lone_surrogates(std::string_view json);

// Fast path for streams: most chunks differ in one string only. After one chunk was parsed in full, later ones are
// recognised by the text before and after that string.
class delta_template {
 public:
  // The text in `chunk` if it differs from the learned chunk in that string only. A view of `chunk` or of an internal
  // buffer, valid until the next call; always UTF-8.
  std::optional<std::string_view> match(std::string_view chunk);
  // Learns from a chunk whose only content is the string value of `key` ("\"content\":\"" with both quotes and colon).
  // False: the key does not occur exactly once.
  bool learn(std::string_view chunk, std::string_view key);
  // The learned chunk with another text, to verify what was learned.
  std::string with(std::string_view text) const { return before_ + std::string(text) + after_; }
  void forget() { before_.clear(); }

 private:
  std::string before_, after_, decoded_;
};

}  // namespace llm
