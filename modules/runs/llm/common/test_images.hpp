// Minimal images with valid headers, for tests. They cannot be decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "image_type.hpp"

namespace llm::test {

inline std::string big_endian(std::uint32_t n, int bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(n >> 8 * bytes & 0xff);
  return out;
}
inline std::string little_endian(std::uint32_t n, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(n >> 8 * i & 0xff);
  return out;
}

inline std::string png(std::uint32_t width, std::uint32_t height, std::size_t data_bytes = 10) {
  const auto chunk = [](std::string_view type, const std::string& data) {
    return big_endian(static_cast<std::uint32_t>(data.size()), 4) + std::string(type) + data + "csum";
  };
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", big_endian(width, 4) + big_endian(height, 4) + std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT", std::string(data_bytes, 'x')) + chunk("IEND", "");
}

inline std::string jpeg(std::uint32_t width, std::uint32_t height) {
  const auto segment = [](char marker, const std::string& data) {
    return std::string("\xff") + marker + big_endian(static_cast<std::uint32_t>(data.size() + 2), 2) + data;
  };
  return "\xff\xd8" + segment('\xe0', "JFIF \xff\xd9 of a thumbnail") +
         segment('\xc0', "\x08" + big_endian(height, 2) + big_endian(width, 2) + "\x01...") + segment('\xda', "scan") +
         "data\xff\xd9";
}

inline std::string gif(std::uint32_t width, std::uint32_t height, int frames = 1) {
  std::string out = "GIF89a" + little_endian(width, 2) + little_endian(height, 2) + std::string("\x80\0\0......", 9);
  for (int i = 0; i < frames; ++i)
    out += std::string("\x21\xf9\x04....\0", 8) + "\x2c........" + std::string("\0\x02\x03;;;\0", 7);
  return out + ";";
}

inline std::string webp(std::uint32_t width, std::uint32_t height) {
  const std::string data = "WEBPVP8X" + little_endian(10, 4) + std::string(4, '\0') + little_endian(width - 1, 3) +
                           little_endian(height - 1, 3);
  return "RIFF" + little_endian(static_cast<std::uint32_t>(data.size()), 4) + data;
}

inline std::string webp_lossy(std::uint32_t width, std::uint32_t height) {
  const std::string data =
      "WEBPVP8 " + little_endian(10, 4) + "...\x9d\x01\x2a" + little_endian(width, 2) + little_endian(height, 2);
  return "RIFF" + little_endian(static_cast<std::uint32_t>(data.size()), 4) + data;
}

inline std::string webp_lossless(std::uint32_t width, std::uint32_t height) {
  const std::string data =
      "WEBPVP8L" + little_endian(9, 4) + "\x2f" + little_endian((width - 1) | (height - 1) << 14, 4) + "......";
  return "RIFF" + little_endian(static_cast<std::uint32_t>(data.size()), 4) + data;
}

}  // namespace llm::test
