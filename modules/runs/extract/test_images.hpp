// Creates images for tests with the libraries of their formats.
#pragma once
#include <gif_lib.h>
#include <png.h>
#include <webp/encode.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shrink.hpp"

namespace extract::test {

using painter = std::function<std::uint32_t(std::uint32_t x, std::uint32_t y)>;  // 0xRRGGBBAA

inline pixels paint(std::uint32_t width, std::uint32_t height, const painter& color) {
  pixels out;
  out.width = width;
  out.height = height;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x)
      for (int shift : {24, 16, 8, 0}) out.rgba.push_back(static_cast<std::uint8_t>(color(x, y) >> shift));
  return out;
}

// Red, green, blue and white quarters: top left, top right, bottom left, bottom right.
inline painter quarters(std::uint32_t width, std::uint32_t height) {
  return [=](std::uint32_t x, std::uint32_t y) {
    const bool right = x >= width / 2, bottom = y >= height / 2;
    return bottom ? (right ? 0xffffffffu : 0x0000ffffu) : (right ? 0x00ff00ffu : 0xff0000ffu);
  };
}

// Incompressible.
inline painter noise() {
  return [state = 1u](std::uint32_t, std::uint32_t) mutable {
    state = state * 1664525u + 1013904223u;
    return state | 0xffu;
  };
}

inline std::uint32_t color_at(const pixels& p, std::uint32_t x, std::uint32_t y) {
  std::uint32_t out = 0;
  for (std::size_t c = 0; c < 4; ++c) out = out << 8 | p.rgba[(std::size_t{y} * p.width + x) * 4 + c];
  return out;
}

inline std::string png_of(const pixels& from) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = from.width;
  image.height = from.height;
  image.format = PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string out(size, '\0');
  png_image_write_to_memory(&image, out.data(), &size, 0, from.rgba.data(), 0, nullptr);
  out.resize(size);
  return out;
}

enum class compression { lossy, lossless };
inline std::string webp_of(const pixels& from, compression how) {
  std::uint8_t* bytes = nullptr;
  const int w = static_cast<int>(from.width), h = static_cast<int>(from.height);
  const std::size_t size = how == compression::lossless ? WebPEncodeLosslessRGBA(from.rgba.data(), w, h, w * 4, &bytes)
                                                        : WebPEncodeRGBA(from.rgba.data(), w, h, w * 4, 90, &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  WebPFree(bytes);
  return out;
}

inline std::string little(std::size_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// An animation whose frames are lossless files of the same size.
inline std::string animated_webp(std::uint32_t width, std::uint32_t height, const std::vector<std::string>& files) {
  const auto chunk = [](std::string_view name, const std::string& content) {
    return std::string(name) + little(content.size(), 4) + content + (content.size() % 2 ? std::string(1, '\0') : "");
  };
  const std::string extent = little(width - 1, 3) + little(height - 1, 3);
  std::string body = chunk("VP8X", std::string("\x02\0\0\0", 4) + extent) + chunk("ANIM", std::string(6, '\0'));
  for (const std::string& file : files)
    body += chunk("ANMF", std::string(6, '\0') + extent + little(100, 3) + std::string(1, '\0') + file.substr(12));
  return "RIFF" + little(body.size() + 4, 4) + "WEBP" + body;
}

// A GIF whose frames are alternately red and green. Each frame begins at `offset` in both directions.
inline std::string gif_of(int width, int height, int frames, int offset = 0) {
  std::string out;
  int error = 0;
  GifFileType* gif = EGifOpen(
      &out,
      [](GifFileType* to, const GifByteType* bytes, int n) {
        static_cast<std::string*>(to->UserData)
            ->append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
        return n;
      },
      &error);
  const GifColorType colors[] = {{255, 0, 0}, {0, 255, 0}};
  ColorMapObject* map = GifMakeMapObject(2, colors);
  EGifSetGifVersion(gif, true);
  EGifPutScreenDesc(gif, width, height, 1, 0, map);
  for (int i = 0; i < frames; ++i) {
    EGifPutImageDesc(gif, offset, offset, width - offset, height - offset, false, nullptr);
    std::vector<GifPixelType> line(static_cast<std::size_t>(width - offset), static_cast<GifPixelType>(i % 2));
    for (int y = offset; y < height; ++y) EGifPutLine(gif, line.data(), width - offset);
  }
  EGifCloseFile(gif, &error);
  GifFreeMapObject(map);
  return out;
}

// The JPEG with an Exif block that specifies this orientation.
inline std::string with_orientation(const std::string& jpeg, int orientation) {
  std::string exif("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 25);
  exif += static_cast<char>(orientation);
  exif += std::string(6, '\0');
  const std::size_t length = exif.size() + 2;
  return jpeg.substr(0, 2) + "\xff\xe1" + static_cast<char>(length >> 8) + static_cast<char>(length & 0xff) + exif +
         jpeg.substr(2);
}

}  // namespace extract::test
