// Checks and decodes JSON strings without a JSON parser, for the hot path of a stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llm {

// A JSON string without its quotes. `plain`: it needs no decoding.
struct json_body {
  bool plain = true;
  bool ascii = true;
};
// nullopt: the body contains an unescaped quote, a control character or an invalid escape.
std::optional<json_body> check_json_body(std::string_view body);

// Decodes a body that check_json_body() accepted. Appends to `out`. False: an invalid \u escape.
bool decode_json_body(std::string_view body, std::string& out);

// Replaces each invalid byte sequence with U+FFFD (the longest prefix of a character counts as one). nullopt: the text
// is valid UTF-8.
std::optional<std::string> with_valid_utf8(std::string_view text);

// Replaces each escape of a lone surrogate in JSON text with \ufffd. nullopt: there is none.
std::optional<std::string> without_lone_surrogates(std::string_view json);

// Fast path for streams: most chunks differ in one string only. After one chunk has been parsed in full, later ones
// are recognised by the text before and after that string.
class delta_template {
 public:
  // Returns the string in `chunk` if the rest equals the learned chunk. The view points into `chunk` or an internal
  // buffer and is valid until the next call; it is always UTF-8.
  std::optional<std::string_view> match(std::string_view chunk);
  // Learns from a chunk whose only content is the string value of `key` ("\"content\":\"" with both quotes and colon).
  // False: the key does not occur exactly once.
  bool learn(std::string_view chunk, std::string_view key);
  // The learned chunk with another text, to verify what was learned.
  std::string with(std::string_view text) const { return prefix_ + std::string(text) + suffix_; }
  void forget() { prefix_.clear(); }

 private:
  std::string prefix_, suffix_, decoded_;
};

}  // namespace llm
