// Reads the records of Excel's binary formats and the strings in them. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "little_endian.hpp"

namespace extract {

// A record with its continuations, which are read as one record.
struct biff_record {
  unsigned type = 0;
  std::vector<std::string_view> parts;  // at least one
  little_endian body() const { return little_endian(parts.front()); }
};

// Reads the records of a stream one after the other.
class biff_stream {
 public:
  explicit biff_stream(std::string_view stream, std::size_t from = 0) : stream_(stream), at_(from) {}
  // False: end of the stream.
  bool next(biff_record& out);
  std::size_t position() const { return at_; }

 private:
  const little_endian stream_;
  std::size_t at_;
};

// Reads numbers and strings that may extend over several parts of a record.
class biff_reader {
 public:
  biff_reader(const biff_record& record, unsigned code_page, bool unicode, std::size_t part = 0, std::size_t at = 0)
      : parts_(record.parts), code_page_(code_page), unicode_(unicode), part_(part), at_(at) {}
  bool at_end();
  std::uint8_t u8();
  std::uint16_t u16();
  std::uint32_t u32();
  void skip(std::size_t n);
  // Reads a string of `n` characters as UTF-8. In Unicode, options precede the string: the width of the characters,
  // formatting runs, phonetics.
  std::string string(std::size_t n);

 private:
  std::string characters(std::size_t n, bool wide);
  const std::vector<std::string_view>& parts_;
  const unsigned code_page_;
  const bool unicode_;
  std::size_t part_, at_;
};

}  // namespace extract
