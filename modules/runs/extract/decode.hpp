// Decoders of PNG, JPEG, GIF and WebP that give a picture in the size that is wanted. Of an animation the first frame.
// Meant for the sandbox: files are hostile, memory and time are limited there.
#pragma once
#include <string>
#include <string_view>

#include "shrink.hpp"

namespace extract {

struct decoded {
  pixels picture;  // empty when `problem` says why
  bool lossless = false;  // how the file was compressed
  bool animated = false;
  std::string problem;  // "is damaged", for a sentence about the image
};

// Pixels of a picture that has to be in memory as a whole (interlaced PNG, GIF, animated WebP).
inline constexpr std::uint64_t max_pixels_in_memory = 100'000'000;

// The picture with no side above `side`, as upright as its metadata says.
decoded decode_png(std::string_view file, std::uint32_t side);
decoded decode_jpeg(std::string_view file, std::uint32_t side);
decoded decode_gif(std::string_view file, std::uint32_t side);
decoded decode_webp(std::string_view file, std::uint32_t side);

// The orientation in an Exif block ("Exif\0\0" and TIFF); 1 when there is none.
int exif_orientation(std::string_view exif);

}  // namespace extract
