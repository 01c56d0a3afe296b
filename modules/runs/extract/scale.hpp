// An image as one that a provider of models takes: no side and no file larger than it may be, PNG or JPEG.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace extract {

struct scaled_image {
  std::string_view format;  // "png" or "jpeg"
  std::uint32_t width = 0, height = 0;
  bool first_frame = false;  // of an animation
  std::string bytes;  // empty when `problem` says why
  std::string problem;  // "is damaged", for a sentence about the image
};

// `file`: PNG, JPEG, GIF or WebP. Transparent pictures stay PNG where that is small enough; as JPEG they lie on white.
scaled_image scale_image(std::string_view file, std::uint32_t side, std::size_t max_bytes);

}  // namespace extract
