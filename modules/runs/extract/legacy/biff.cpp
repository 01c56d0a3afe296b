#include "biff.hpp"

#include <algorithm>

#include "code_pages.hpp"

namespace extract {
namespace {
constexpr unsigned continuation = 0x3C;
}

bool biff_stream::next(biff_record& out) {
  if (at_ + 4 > stream_.size()) return false;
  const auto take = [&] {
    const std::size_t n = stream_.u16(at_ + 2);
    out.parts.push_back(stream_.slice(at_ + 4, n));
    at_ += 4 + n;
  };
  out.type = stream_.u16(at_);
  out.parts.clear();
  take();
  while (at_ + 4 <= stream_.size() && stream_.u16(at_) == continuation) take();
  return true;
}

bool biff_reader::at_end() {
  while (part_ < parts_.size() && at_ >= parts_[part_].size()) {
    ++part_;
    at_ = 0;
  }
  return part_ >= parts_.size();
}

std::uint8_t biff_reader::u8() {
  return at_end() ? std::uint8_t{0} : static_cast<std::uint8_t>(parts_[part_][at_++]);
}

std::uint16_t biff_reader::u16() {
  const unsigned low = u8();
  return static_cast<std::uint16_t>(low | static_cast<unsigned>(u8()) << 8);
}

std::uint32_t biff_reader::u32() {
  const std::uint32_t low = u16();
  return low | static_cast<std::uint32_t>(u16()) << 16;
}

void biff_reader::skip(std::size_t n) {
  while (n > 0 && !at_end()) {
    const std::size_t here = std::min(n, parts_[part_].size() - at_);
    at_ += here;
    n -= here;
  }
}

std::string biff_reader::characters(std::size_t n, bool wide) {
  std::string out;
  while (n > 0 && part_ < parts_.size()) {
    if (at_ >= parts_[part_].size()) {
      if (at_end()) break;
      // In a continuation, the rest of a string begins with the width of its characters.
      wide = (u8() & 1) != 0;
      continue;
    }
    out += static_cast<char>(u8());
    out += wide ? static_cast<char>(u8()) : '\0';
    --n;
  }
  return out;
}

std::string biff_reader::string(std::size_t n) {
  std::string out;
  if (!unicode_) {
    for (; n > 0 && !at_end(); --n) out += static_cast<char>(u8());
    std::replace(out.begin(), out.end(), '\0', ' ');
    return from_code_page(out, code_page_);
  }
  constexpr unsigned is_wide = 1, has_phonetics = 4, has_runs = 8;
  const unsigned options = u8();
  const std::size_t runs = (options & has_runs) != 0 ? u16() : 0,
                    phonetics = (options & has_phonetics) != 0 ? u32() : 0;
  out = characters(n, (options & is_wide) != 0);
  skip(runs * 4 + phonetics);
  return from_utf16(out);
}

}  // namespace extract
