// Scales pictures down: each pixel of the result is the mean of the area that it covers. Pure.
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
// The largest size with the same aspect ratio and no side longer than `side`; never larger than `of`. 0: no limit.
extent fit_within(extent of, std::uint32_t side);

// Receives a picture row by row, so only the result is in memory.
class shrinker {
 public:
  // `to` is not larger than `from`; neither is empty, no side is longer than 2^20.
  shrinker(extent from, extent to);

  // `rgba`: from.width pixels. Call it from.height times.
  void add_row(const std::uint8_t* rgba);
  // Rows that were not added are transparent.
  pixels take();

 private:
  void finish_row();

  const extent from_, to_;
  std::vector<std::uint64_t> row_, sum_;  // premultiplied channels of the pixels of the result
  std::uint64_t y_ = 0;  // position of the next row; a result row is from_.height units high
  std::uint32_t out_y_ = 0;
  pixels out_;
};

pixels shrink(const pixels& from, extent to);

// `orientation`: 1 to 8, as in Exif.
pixels turned(pixels from, int orientation);

}  // namespace extract
