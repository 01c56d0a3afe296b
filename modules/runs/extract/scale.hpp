// Converts an image to a PNG or JPEG within a model provider's limits for side length and file size.
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
  std::string bytes;  // empty: see `problem`
  std::string problem;  // predicate of a sentence about the image: "is damaged"
};

// `file`: PNG, JPEG, GIF or WebP. Transparent pictures become PNG if that is small enough, otherwise JPEG on a white
// background.
scaled_image scale_image(std::string_view file, std::uint32_t side, std::size_t max_bytes);

}  // namespace extract
