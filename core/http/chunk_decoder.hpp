#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ry::http {

// Decodes the chunked transfer coding of requests and responses in place. Beast cannot do this: version 1.81 asserts on
// a last chunk that arrives in pieces.
class chunk_decoder {
 public:
  // Consumes bytes of `data`, moves body bytes to `out` (at or before data.data()) and advances `out`. Returns the
  // number of consumed bytes: all, unless the body ended or is malformed.
  std::size_t decode(std::span<char> data, char*& out) { return take(data, out, false); }
  // Consumes the bytes before the next body byte and returns their number.
  std::size_t skip(std::span<char> data) {
    char* out = data.data();
    return take(data, out, true);
  }
  bool done() const noexcept { return state_ == state::done; }
  // Remaining bytes of the current chunk.
  std::uint64_t left() const noexcept { return left_; }
  bool failed() const noexcept { return state_ == state::failed; }

 private:
  enum class state : std::uint8_t {
    size_first,
    size,
    size_blank,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_first,
    trailer_name,
    trailer,
    trailer_lf,
    last_lf,
    done,
    failed
  };
  std::size_t take(std::span<char> data, char*& out, bool up_to_body);

  state state_ = state::size_first;
  std::uint8_t digits_ = 0;
  std::uint32_t overhead_ = 0;  // bytes of this chunk's extension, or of all trailers
  std::uint8_t name_size_ = 0;
  std::array<char, 18> name_{};  // start of a trailer's name, lower case
  std::uint64_t left_ = 0;
};

}  // namespace ry::http
