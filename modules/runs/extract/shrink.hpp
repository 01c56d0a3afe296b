// Pixels, and how they become fewer: each pixel of the result is the mean of the area that it covers. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace extract {

struct pixels {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgba;  // not premultiplied, width * height * 4

  bool opaque() const;
};

struct extent {
  std::uint32_t width = 0, height = 0;
};
// The size of the same picture whose sides are at most `side`; never larger than it is.
extent fit_within(extent of, std::uint32_t side);

// Takes a picture row by row, so that only the result is in memory.
class shrinker {
 public:
  // `to` is not larger than `from`; neither is empty, no side is longer than 2^20.
  shrinker(extent from, extent to);

  // RGBA of from.width pixels; from.height times.
  void add_row(const std::uint8_t* rgba);
  // Rows that did not come are transparent.
  pixels take();

 private:
  void finish_row();

  const extent from_, to_;
  std::vector<std::uint64_t> row_, sum_;  // premultiplied channels of the result's pixels
  std::uint64_t y_ = 0;  // of the next row, in units of a result row's part
  std::uint32_t out_y_ = 0;
  pixels out_;
};

pixels shrink(const pixels& from, extent to);

// As EXIF counts them: how a picture has to be turned, 1 to 8.
pixels turned(pixels from, int orientation);

}  // namespace extract
