// Format and dimensions of an image from its first bytes; nothing is decoded. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace extract {

struct image {
  std::string_view format;  // "png", "jpeg", "gif", "webp"
  std::uint32_t width = 0, height = 0;
};

// nullopt: none of the four, or its header is cut or says nothing sensible.
std::optional<image> read_image(std::string_view bytes);

}  // namespace extract
