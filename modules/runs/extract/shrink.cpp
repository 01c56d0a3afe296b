#include "shrink.hpp"

#include <algorithm>
#include <utility>

namespace extract {

bool pixels::opaque() const {
  for (std::size_t i = 3; i < rgba.size(); i += 4)
    if (rgba[i] != 255) return false;
  return true;
}

extent fit_within(extent of, std::uint32_t side) {
  const std::uint64_t longest = std::max(of.width, of.height);
  if (side == 0 || longest <= side) return of;
  const auto scaled = [&](std::uint32_t n) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>((std::uint64_t{n} * side + longest / 2) / longest, 1));
  };
  return {scaled(of.width), scaled(of.height)};
}

shrinker::shrinker(extent from, extent to)
    : from_(from), to_(to), row_(std::size_t{to.width} * 4), sum_(std::size_t{to.width} * 4) {
  out_.width = to.width;
  out_.height = to.height;
  out_.rgba.resize(std::size_t{to.width} * to.height * 4);
}

// A source row is to_.height units high and a result row from_.height units; the same applies horizontally. So every
// sum is exact: at most 255 * 255 * 2^20 * 2^20.
void shrinker::add_row(const std::uint8_t* rgba) {
  if (out_y_ >= to_.height) return;
  std::fill(row_.begin(), row_.end(), 0);
  std::uint64_t end_of_target = from_.width, at = 0;
  std::size_t x = 0;
  for (std::uint32_t i = 0; i < from_.width; ++i, rgba += 4) {
    const std::uint64_t alpha = rgba[3];
    const std::uint64_t channels[] = {rgba[0] * alpha, rgba[1] * alpha, rgba[2] * alpha, alpha * 255};
    std::uint64_t remaining = to_.width;
    while (remaining > 0) {
      const std::uint64_t part = std::min(remaining, end_of_target - at);
      for (std::size_t c = 0; c < 4; ++c) row_[x * 4 + c] += channels[c] * part;
      at += part;
      remaining -= part;
      if (at == end_of_target && x + 1 < to_.width) {
        ++x;
        end_of_target += from_.width;
      }
    }
  }
  std::uint64_t remaining = to_.height;
  while (remaining > 0 && out_y_ < to_.height) {
    const std::uint64_t end = std::uint64_t{out_y_ + 1} * from_.height;
    const std::uint64_t part = std::min(remaining, end - y_);
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += row_[i] * part;
    y_ += part;
    remaining -= part;
    if (y_ == end) finish_row();
  }
}

void shrinker::finish_row() {
  const std::uint64_t area = std::uint64_t{from_.width} * from_.height;
  std::uint8_t* out = out_.rgba.data() + std::size_t{out_y_} * to_.width * 4;
  for (std::size_t i = 0; i < sum_.size(); i += 4, out += 4) {
    const std::uint64_t alpha = sum_[i + 3] / 255;  // sum over the area, times 255
    if (alpha > 0)
      for (std::size_t c = 0; c < 3; ++c)
        out[c] = static_cast<std::uint8_t>(std::min<std::uint64_t>((sum_[i + c] + alpha / 2) / alpha, 255));
    out[3] = static_cast<std::uint8_t>(std::min<std::uint64_t>((alpha + area / 2) / area, 255));
  }
  std::fill(sum_.begin(), sum_.end(), 0);
  ++out_y_;
}

pixels shrinker::take() {
  return std::move(out_);
}

pixels shrink(const pixels& from, extent to) {
  shrinker s({from.width, from.height}, to);
  for (std::uint32_t y = 0; y < from.height; ++y) s.add_row(from.rgba.data() + std::size_t{y} * from.width * 4);
  return s.take();
}

pixels turned(pixels from, int orientation) {
  if (orientation < 2 || orientation > 8) return from;
  const bool swapped = orientation >= 5;
  pixels out;
  out.width = swapped ? from.height : from.width;
  out.height = swapped ? from.width : from.height;
  out.rgba.resize(from.rgba.size());
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (std::uint32_t y = 0; y < out.height; ++y)
    for (std::uint32_t x = 0; x < out.width; ++x) {
      std::uint32_t sx = swapped ? y : x, sy = swapped ? x : y;
      if (from_right) sx = from.width - 1 - sx;
      if (from_bottom) sy = from.height - 1 - sy;
      const std::uint8_t* source = from.rgba.data() + (std::size_t{sy} * from.width + sx) * 4;
      std::copy_n(source, 4, out.rgba.data() + (std::size_t{y} * out.width + x) * 4);
    }
  return out;
}

}  // namespace extract
