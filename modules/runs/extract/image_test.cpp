#include "image.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace extract;
using namespace std::string_literals;

namespace {

const std::string png = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xE0\x08\6\0\0\0"s;
const std::string gif = "GIF89a\x40\1\xC8\0\0\0\0"s;
const std::string jpeg = "\xFF\xD8\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xFF\xFF\xC2\0\x11\x08\1\xE0\2\x80\3\1\x22\0"s;
const std::string vp8x = "RIFF\x1A\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x7F\2\0\xDF\1\0"s;
const std::string vp8l = "RIFF\x1A\0\0\0WEBPVP8L\x0A\0\0\0\x2F\x7F\xC2\x77\0\0\0\0\0\0"s;
const std::string vp8 = "RIFF\x1A\0\0\0WEBPVP8 \x0A\0\0\0\0\0\0\x9D\1\x2A\x80\2\xE0\1"s;

TEST(image_test, headers_of_each_format_are_read) {
  const auto is = [](const std::string& bytes, std::string_view format, unsigned width, unsigned height) {
    const auto i = read_image(bytes);
    ASSERT_TRUE(i) << format;
    EXPECT_EQ(i->format, format);
    EXPECT_EQ(i->width, width);
    EXPECT_EQ(i->height, height);
  };
  is(png, "png", 640, 480);
  is(gif, "gif", 320, 200);
  is(jpeg, "jpeg", 640, 480);
  is(vp8x, "webp", 640, 480);
  is(vp8l, "webp", 640, 480);
  is(vp8, "webp", 640, 480);
}

TEST(image_test, truncated_and_corrupted_headers_are_handled) {
  for (const std::string* whole : {&png, &gif, &jpeg, &vp8x, &vp8l, &vp8}) {
    for (std::size_t n = 0; n < whole->size(); ++n) (void)read_image(whole->substr(0, n));
    for (std::size_t n = 0; n < whole->size(); ++n)
      for (int bit = 0; bit < 8; ++bit) {
        std::string other = *whole;
        other[n] = static_cast<char>(other[n] ^ (1 << bit));
        const auto i = read_image(other);
        EXPECT_TRUE(!i || (i->width != 0 && i->height != 0));
      }
  }
  EXPECT_FALSE(read_image(png.substr(0, 20)));
  EXPECT_FALSE(read_image("\xFF\xD8\xFF\xDA\0\x02"s + std::string(50, 'x')));
  EXPECT_FALSE(read_image("plain text"));
  EXPECT_FALSE(read_image(""));
}

}  // namespace
