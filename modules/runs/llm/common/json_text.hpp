// JSON strings as text, without a parser: for the one hot path of a stream.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llm {

// The text between two quotes of a JSON string: `plain` is true when it needs no decoding. nullopt
// when it holds an unescaped quote, a control character or a broken escape.
struct json_body {
  bool plain = true;
  bool ascii = true;
};
std::optional<json_body> check_json_body(std::string_view body);

// Decodes such a body that was checked. Appends to `out`. False: a broken \u escape.
bool decode_json_body(std::string_view body, std::string& out);

// `text` with U+FFFD in place of each run of bytes that is no UTF-8 (the longest part of a character that was begun
// counts as one). nullopt: it is UTF-8.
std::optional<std::string> with_valid_utf8(std::string_view text);

// JSON text with \ufffd in place of each escape of a surrogate that has no partner. nullopt: there
// is none.
std::optional<std::string> without_lone_surrogates(std::string_view json);

// Chunks of one stream differ in one string only. After one of them was understood in full, the
// following ones are recognised by what stands before and after that string.
class delta_template {
 public:
  // The text inside `chunk` when it differs from the learned chunk in that string only; a view of
  // `chunk` or of an own buffer, valid until the next call. It is UTF-8 whatever the chunk is.
  std::optional<std::string_view> match(std::string_view chunk);
  // Learns from a chunk whose only content is the string value of `key` ("\"content\":\"" with both
  // quotes and colon). False: the key stands there not exactly once.
  bool learn(std::string_view chunk, std::string_view key);
  // The learned chunk with another text in place, for proving what was learned.
  std::string with(std::string_view text) const { return before_ + std::string(text) + after_; }
  void forget() { before_.clear(); }

 private:
  std::string before_, after_, decoded_;
};

}  // namespace llm
