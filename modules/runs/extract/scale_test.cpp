#include "scale.hpp"

#include <gtest/gtest.h>

#include "decode.hpp"
#include "image.hpp"
#include "test_images.hpp"

using namespace extract;
using namespace extract::test;

namespace {

constexpr std::size_t plenty = 4u << 20;

bool close_to(std::uint32_t a, std::uint32_t b, int tolerance = 24) {
  for (int shift : {24, 16, 8, 0})
    if (std::abs(static_cast<int>(a >> shift & 0xff) - static_cast<int>(b >> shift & 0xff)) > tolerance) return false;
  return true;
}

// Compares the colors at the centers of the four quarters: top left, top right, bottom left, bottom right.
void expect_quarters(const pixels& p, std::vector<std::uint32_t> wanted) {
  ASSERT_GE(p.width, 4u);
  ASSERT_GE(p.height, 4u);
  std::size_t i = 0;
  for (const std::uint32_t y : {p.height / 4, p.height * 3 / 4})
    for (const std::uint32_t x : {p.width / 4, p.width * 3 / 4}) {
      EXPECT_TRUE(close_to(color_at(p, x, y), wanted[i])) << i << ": " << std::hex << color_at(p, x, y);
      ++i;
    }
}
const std::vector<std::uint32_t> upright = {0xff0000ff, 0x00ff00ff, 0x0000ffff, 0xffffffff};

pixels read_back(const scaled_image& image) {
  return image.format == "png" ? decode_png(image.bytes, 0).picture : decode_jpeg(image.bytes, 0).picture;
}

std::string jpeg_of(const pixels& from) {
  // A lossy source becomes JPEG; a lossless one would become PNG.
  const std::string webp = webp_of(from, compression::lossy);
  const scaled_image out = scale_image(webp, 1u << 16, plenty);
  EXPECT_EQ(out.format, "jpeg");
  return out.bytes;
}

}  // namespace

TEST(scale_test, sizes_fit_and_keep_their_aspect_ratio) {
  const auto fit = [](std::uint32_t w, std::uint32_t h, std::uint32_t side) {
    const extent e = fit_within({w, h}, side);
    return std::pair(e.width, e.height);
  };
  EXPECT_EQ(fit(4000, 3000, 2000), std::pair(2000u, 1500u));
  EXPECT_EQ(fit(100, 50, 2000), std::pair(100u, 50u));
  EXPECT_EQ(fit(1000000, 1, 2000), std::pair(2000u, 1u));
  EXPECT_EQ(fit(1, 1000000, 3), std::pair(1u, 3u));
  EXPECT_EQ(fit(7, 9, 0), std::pair(7u, 9u));
}

TEST(scale_test, a_pixel_is_the_mean_of_its_area) {
  const pixels checked = paint(6, 4, [](auto x, auto y) { return (x + y) % 2 ? 0xffffffffu : 0x000000ffu; });
  const pixels half = shrink(checked, {3, 2});
  for (std::uint32_t x = 0; x < 3; ++x) EXPECT_EQ(color_at(half, x, 1), 0x808080ffu);
  const pixels thirds = shrink(paint(3, 1, [](auto x, auto) { return x == 1 ? 0xff0000ffu : 0x000000ffu; }), {2, 1});
  EXPECT_EQ(color_at(thirds, 0, 0), 0x550000ffu) << "one third of the pixel";
  EXPECT_EQ(color_at(thirds, 1, 0), 0x550000ffu);
  const pixels clear = shrink(paint(2, 1, [](auto x, auto) { return x ? 0xff0000ffu : 0x00ff0000u; }), {1, 1});
  EXPECT_EQ(color_at(clear, 0, 0), 0xff000080u) << "transparent pixels contribute no color";
  const pixels same = paint(5, 3, noise());
  EXPECT_EQ(shrink(same, {5, 3}).rgba, same.rgba);
}

TEST(scale_test, pictures_are_rotated_by_their_orientation) {
  const pixels p = paint(8, 12, quarters(8, 12));
  const auto r = 0xff0000ffu, g = 0x00ff00ffu, b = 0x0000ffffu, w = 0xffffffffu;
  const std::vector<std::vector<std::uint32_t>> wanted = {{r, g, b, w}, {g, r, w, b}, {w, b, g, r}, {b, w, r, g},
                                                          {r, b, g, w}, {b, r, w, g}, {w, g, b, r}, {g, w, r, b}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const pixels t = turned(p, orientation);
    EXPECT_EQ(t.width, orientation < 5 ? 8u : 12u);
    expect_quarters(t, wanted[static_cast<std::size_t>(orientation - 1)]);
  }
  EXPECT_EQ(turned(p, 9).rgba, p.rgba);
}

TEST(scale_test, a_png_that_is_small_enough_remains_a_png) {
  const scaled_image out = scale_image(png_of(paint(900, 600, quarters(900, 600))), 300, plenty);
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.format, "png");
  EXPECT_EQ(std::pair(out.width, out.height), std::pair(300u, 200u));
  expect_quarters(read_back(out), upright);
  const auto header = read_image(out.bytes);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->width, 300u);
}

TEST(scale_test, an_image_too_large_as_png_becomes_jpeg) {
  const std::string file = png_of(paint(600, 600, noise()));
  const scaled_image jpeg = scale_image(file, 600, 400'000);
  EXPECT_EQ(jpeg.format, "jpeg");
  EXPECT_EQ(jpeg.width, 600u);
  EXPECT_LE(jpeg.bytes.size(), 400'000u);
  const scaled_image less = scale_image(file, 600, 20'000);
  EXPECT_EQ(less.problem, "");
  EXPECT_LT(less.width, 600u) << "fewer pixels if reduced quality is not enough";
  EXPECT_LE(less.bytes.size(), 20'000u);
  EXPECT_EQ(scale_image(file, 600, 100).problem, "does not become small enough");
}

TEST(scale_test, transparency_is_kept_or_replaced_by_white) {
  const pixels p =
      paint(400, 400, [n = noise()](auto x, auto y) mutable { return x < 200 ? 0u : (n(x, y) & ~0xffu) | 0x80u; });
  const scaled_image png = scale_image(png_of(p), 200, plenty);
  EXPECT_EQ(png.format, "png");
  EXPECT_EQ(color_at(read_back(png), 50, 100) & 0xff, 0u);
  const scaled_image jpeg = scale_image(png_of(p), 200, 30'000);
  ASSERT_EQ(jpeg.format, "jpeg");
  EXPECT_TRUE(close_to(color_at(read_back(jpeg), 50, 100), 0xffffffff));
}

TEST(scale_test, a_jpeg_is_rotated_by_its_exif_orientation) {
  const std::string file = jpeg_of(paint(1600, 800, quarters(1600, 800)));
  const scaled_image plain = scale_image(file, 200, plenty);
  EXPECT_EQ(std::pair(plain.width, plain.height), std::pair(200u, 100u));
  expect_quarters(read_back(plain), upright);
  const scaled_image turned = scale_image(with_orientation(file, 6), 200, plenty);
  EXPECT_EQ(std::pair(turned.width, turned.height), std::pair(100u, 200u));
  expect_quarters(read_back(turned), {0x0000ffff, 0xff0000ff, 0xffffffff, 0x00ff00ff});
}

TEST(scale_test, invalid_exif_is_ignored) {
  using namespace std::string_view_literals;
  for (const auto exif : {""sv, "Exif"sv, "Exif\0\0MM\0*"sv, "Exif\0\0MM\0*\xff\xff\xff\xff"sv,
                          "Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01"sv,
                          "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0"sv})
    EXPECT_EQ(exif_orientation(exif), 1);
  EXPECT_EQ(exif_orientation("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x08\0\0\0"sv), 8);
}

TEST(scale_test, webp_lossy_and_lossless) {
  const pixels p = paint(640, 480, quarters(640, 480));
  const scaled_image lossy = scale_image(webp_of(p, compression::lossy), 160, plenty);
  EXPECT_EQ(lossy.format, "jpeg");
  EXPECT_EQ(std::pair(lossy.width, lossy.height), std::pair(160u, 120u));
  expect_quarters(read_back(lossy), upright);
  const scaled_image lossless = scale_image(webp_of(p, compression::lossless), 160, plenty);
  EXPECT_EQ(lossless.format, "png");
  expect_quarters(read_back(lossless), upright);
  EXPECT_FALSE(lossless.first_frame);
}

TEST(scale_test, the_first_frame_of_an_animation_is_used) {
  const scaled_image gif = scale_image(gif_of(300, 200, 3), 150, plenty);
  EXPECT_EQ(gif.problem, "");
  EXPECT_EQ(gif.format, "png");
  EXPECT_TRUE(gif.first_frame);
  EXPECT_EQ(std::pair(gif.width, gif.height), std::pair(150u, 100u));
  EXPECT_EQ(color_at(read_back(gif), 75, 50), 0xff0000ffu);
  const scaled_image still = scale_image(gif_of(300, 200, 1, 100), 300, plenty);
  EXPECT_FALSE(still.first_frame);
  EXPECT_EQ(color_at(read_back(still), 50, 50) & 0xff, 0u) << "outside the frame";
  EXPECT_EQ(color_at(read_back(still), 150, 150), 0xff0000ffu);

  const std::string one = webp_of(paint(64, 64, [](auto, auto) { return 0xff0000ffu; }), compression::lossless);
  const std::string two = webp_of(paint(64, 64, [](auto, auto) { return 0x00ff00ffu; }), compression::lossless);
  const scaled_image webp = scale_image(animated_webp(64, 64, {one, two}), 32, plenty);
  EXPECT_EQ(webp.problem, "");
  EXPECT_TRUE(webp.first_frame);
  EXPECT_EQ(webp.width, 32u);
  EXPECT_EQ(color_at(read_back(webp), 16, 16), 0xff0000ffu);
}

TEST(scale_test, damaged_files_are_reported) {
  const pixels p = paint(64, 64, noise());
  const std::string files[] = {png_of(p), webp_of(p, compression::lossless), gif_of(64, 64, 2)};
  for (const std::string& file : files)
    for (const std::size_t keep : {file.size() / 8, file.size() / 2}) {
      const scaled_image out = scale_image(std::string_view(file).substr(0, keep), 32, plenty);
      EXPECT_TRUE(out.problem.starts_with("is ")) << out.problem;
      EXPECT_TRUE(out.bytes.empty());
    }
  EXPECT_EQ(scale_image("no image", 32, plenty).problem, "is not a PNG, JPEG, GIF or WebP image");
  EXPECT_EQ(scale_image("", 32, plenty).problem, "is not a PNG, JPEG, GIF or WebP image");
  std::string noise_in = jpeg_of(p);
  noise_in.resize(200);
  EXPECT_NE(scale_image(noise_in, 32, plenty).problem, "");
  // Corrupted files yield either an image or a problem.
  for (std::string file : {files[0], files[1], files[2], jpeg_of(p)})
    for (std::size_t i = 20; i < file.size(); i += file.size() / 40 + 1) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ 0x55);
      const scaled_image out = scale_image(changed, 32, plenty);
      EXPECT_NE(out.problem.empty(), out.bytes.empty());
    }
}

TEST(scale_test, huge_images_use_little_memory_or_are_rejected) {
  // Compressed by a factor of more than 15; decoded row by row.
  const std::string wide = png_of(paint(30'000, 300, [](auto, auto) { return 0x336699ffu; }));
  EXPECT_LT(wide.size(), 2u << 20);
  const scaled_image out = scale_image(wide, 2000, plenty);
  EXPECT_EQ(std::pair(out.width, out.height), std::pair(2000u, 20u));
  EXPECT_EQ(color_at(read_back(out), 1000, 10), 0x336699ffu);

  std::string gif = gif_of(64, 64, 1);
  for (const std::size_t at : {6, 7, 8, 9}) gif[at] = '\xff';
  EXPECT_EQ(scale_image(gif, 32, plenty).problem, "has too many pixels");
  std::string png = png_of(paint(4, 4, noise()));
  for (const std::size_t at : {16, 20})
    png[at] = '\x7f';  // about 2^31 pixels per side, in a header with a wrong checksum
  EXPECT_NE(scale_image(png, 32, plenty).problem, "");
}
