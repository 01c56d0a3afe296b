// Reads the format and dimensions of an image from its header without decoding it. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace extract {

struct image {
  std::string_view format;  // "png", "jpeg", "gif", "webp"
  std::uint32_t width = 0, height = 0;
};

// nullopt: the bytes are none of the four formats, or the header is truncated or invalid.
std::optional<image> read_image(std::string_view bytes);

}  // namespace extract
