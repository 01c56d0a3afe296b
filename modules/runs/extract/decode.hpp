// Decoders for PNG, JPEG, GIF and WebP that return a picture scaled to the requested size. For an animation, the first
// frame is returned. Run these only inside the sandbox: files may be hostile, and the sandbox limits memory and time.
#pragma once
#include <string>
#include <string_view>

#include "shrink.hpp"

namespace extract {

struct decoded {
  pixels picture;  // empty: see `problem`
  bool lossless = false;  // compression of the file
  bool animated = false;
  std::string problem;  // predicate of a sentence about the image: "is damaged"
};

// Applies to pictures that must be completely in memory (interlaced PNG, GIF, animated WebP).
inline constexpr std::uint64_t max_pixels_in_memory = 100'000'000;

// The picture with no side longer than `side`, rotated as its metadata specifies.
decoded decode_png(std::string_view file, std::uint32_t side);
decoded decode_jpeg(std::string_view file, std::uint32_t side);
decoded decode_gif(std::string_view file, std::uint32_t side);
decoded decode_webp(std::string_view file, std::uint32_t side);

// The orientation in an Exif block ("Exif\0\0" followed by TIFF data); 1: not specified.
int exif_orientation(std::string_view exif);

}  // namespace extract
