// Reads the format, size and completeness of an image from its bytes, whatever its declared type. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llm {

enum class image_frames { one, several };

struct image_header {
  std::string_view media_type;  // empty: not PNG, JPEG, GIF or WebP
  std::uint32_t width = 0, height = 0;
  image_frames frames = image_frames::one;
  bool complete = false;  // the size is known, and the end of the file is present
};
image_header read_image_header(std::string_view bytes);

// Accepts the standard and URL-safe alphabets, with or without padding; skips white space. nullopt: other characters,
// or an impossible length.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

// Image limits of a provider. 0: no limit.
struct image_limits {
  enum class gif { animated, still, none };
  gif gifs = gif::animated;
  std::uint32_t side = 0;  // pixels
  std::size_t encoded_bytes = 0;  // of one image, as base64
  std::size_t count = 0;  // images of one request; the oldest are skipped
  std::size_t many = 0;  // above this number of images ...
  std::uint32_t side_of_many = 0;  // ... each side is limited to this
  std::size_t total_encoded_bytes = 0;  // of all images of one request; the oldest are skipped
};

struct checked_image {
  std::string_view media_type;  // from the bytes
  std::string data;  // canonical base64; empty if `problem` is set
  std::uint32_t width = 0, height = 0;
  std::string problem;  // continues a message about the image: "is not a PNG, JPEG, GIF or WebP image"
};
// `data` is base64, or a data: URL.
checked_image check_image(std::string_view data, const image_limits& limits);

}  // namespace llm
