// Reads numbers in the binary Office formats, which are little-endian. Reading past the end yields zeros and empty
// views, so damaged offsets need no separate check. Pure.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace extract {

class little_endian {
 public:
  explicit little_endian(std::string_view bytes = {}) : bytes_(bytes) {}
  std::size_t size() const { return bytes_.size(); }
  std::uint8_t u8(std::size_t at) const {
    return at < bytes_.size() ? static_cast<std::uint8_t>(bytes_[at]) : std::uint8_t{0};
  }
  std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t u32(std::size_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
  double f64(std::size_t at) const { return std::bit_cast<double>(number(at, 8)); }
  std::string_view slice(std::size_t at, std::size_t n) const {
    return at < bytes_.size() ? bytes_.substr(at, n) : std::string_view();
  }

 private:
  std::uint64_t number(std::size_t at, std::size_t n) const {
    if (at > bytes_.size() || bytes_.size() - at < n) return 0;
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < n; ++i)
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
    return out;
  }
  std::string_view bytes_;
};

}  // namespace extract
