// Sans-io parser of one HTTP/1.1 response. Strict: an ambiguous response is an error. Decodes chunked bodies in place,
// in the caller's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/chunk_decoder.hpp"

namespace ry::http {

// The head of a response. Views point into `text`.
struct response_head {
  struct field {
    std::uint32_t name_at, name_size, value_at, value_size;
  };
  unsigned status = 0;
  bool keep_alive = false;
  std::string text;
  std::vector<field> fields;

  std::string_view name(const field& f) const { return std::string_view(text).substr(f.name_at, f.name_size); }
  std::string_view value(const field& f) const { return std::string_view(text).substr(f.value_at, f.value_size); }
  // The value of the first field with this name (lower case); empty if there is none.
  std::string_view find(std::string_view lower_name) const;
};

class response_reader {
 public:
  static constexpr std::size_t max_head = 64 * 1024;
  static constexpr std::size_t max_fields = 512;
  static constexpr int max_interim = 16;  // 1xx responses before the final one

  enum class outcome {
    more,  // all input consumed; feed more
    done,  // the response is complete
    malformed,  // see problem()
  };
  struct piece {
    bool head = false;  // these bytes completed the head: see head()
    std::string_view body;  // valid until the next feed() and as long as the fed buffer
    std::size_t unused = 0;  // bytes after a complete response
  };

  // `head_only`: the answer to a HEAD request.
  enum class body_rule : std::uint8_t { normal, head_only };
  explicit response_reader(body_rule rule = body_rule::normal) : rule_(rule) {}

  outcome feed(std::span<char> data, piece& out);
  // The peer closed the connection: returns done, or malformed if the response is truncated.
  outcome eof();

  response_head& head() noexcept { return head_; }
  bool started() const noexcept { return started_; }  // at least one byte was received
  bool head_complete() const noexcept { return head_complete_; }
  // The reason, a string literal; empty if the response is truncated.
  std::string_view problem() const noexcept { return problem_; }

 private:
  enum class framing : std::uint8_t { none, length, chunked, until_close };

  outcome fail(std::string_view problem) {
    problem_ = problem;
    return outcome::malformed;
  }
  outcome feed_body(std::span<char> data, piece& out);
  // Parses complete head blocks at the front. Sets `consumed`.
  outcome take_heads(std::string_view from, std::size_t& consumed);
  bool parse_head(std::string_view block);

  body_rule rule_;
  framing framing_ = framing::none;
  bool started_ = false;
  bool head_complete_ = false;
  std::uint8_t interim_ = 0;
  std::uint64_t left_ = 0;
  std::size_t searched_ = 0;
  chunk_decoder chunks_;
  response_head head_;
  std::string partial_;  // an incomplete head
  std::string_view problem_;
};

}  // namespace ry::http
