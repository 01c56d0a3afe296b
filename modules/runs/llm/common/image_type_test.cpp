#include "image_type.hpp"

#include <gtest/gtest.h>

#include "test_images.hpp"

namespace {

using namespace llm;
using namespace llm::test;

TEST(image_type, format_and_size_are_read_from_the_bytes) {
  const struct {
    std::string bytes;
    std::string_view type;
    std::uint32_t width, height;
  } cases[] = {{png(9000, 20), "image/png", 9000, 20},
               {jpeg(640, 480), "image/jpeg", 640, 480},
               {gif(300, 7), "image/gif", 300, 7},
               {webp(8001, 3), "image/webp", 8001, 3},
               {webp_lossy(320, 200), "image/webp", 320, 200},
               {webp_lossless(16000, 2), "image/webp", 16000, 2}};
  for (const auto& c : cases) {
    const auto h = read_image_header(c.bytes);
    EXPECT_EQ(h.media_type, c.type);
    EXPECT_EQ(h.width, c.width) << c.type;
    EXPECT_EQ(h.height, c.height) << c.type;
    EXPECT_TRUE(h.complete) << c.type;
  }
}

TEST(image_type, an_image_truncated_at_any_byte_is_incomplete) {
  for (const auto& image : {png(3, 3), jpeg(3, 3), gif(3, 3), webp(3, 3), webp_lossy(3, 3), webp_lossless(3, 3)})
    for (std::size_t n = 0; n < image.size(); ++n)
      EXPECT_FALSE(read_image_header(std::string_view(image).substr(0, n)).complete) << n << " of " << image.size();
}

TEST(image_type, trailing_bytes_are_ignored) {
  for (const auto& image : {png(3, 3), jpeg(3, 3), gif(3, 3), webp(3, 3)})
    EXPECT_TRUE(read_image_header(image + std::string(5, '\0')).complete);
}

TEST(image_type, detects_animations) {
  EXPECT_EQ(read_image_header(gif(2, 2, 1)).frames, image_frames::one);
  EXPECT_EQ(read_image_header(gif(2, 2, 3)).frames, image_frames::several);
}

TEST(image_type, other_files_have_no_media_type) {
  for (std::string_view other : {"", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "BM bitmap", "%PDF-1.7",
                                 "II*\0tiff", "RIFF....WAVE", "\xff\xd8", "GIF90a"})
    EXPECT_TRUE(read_image_header(other).media_type.empty()) << other;
}

TEST(image_type, an_image_without_a_size_is_not_complete) {
  EXPECT_FALSE(read_image_header(png(0, 5)).complete);
  EXPECT_FALSE(read_image_header(jpeg(5, 0)).complete);
  EXPECT_FALSE(read_image_header("\xff\xd8\xff\xe0").complete);
}

TEST(base64, round_trip_of_all_lengths) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(encode_base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
}

TEST(base64, accepts_line_breaks_missing_padding_and_the_url_alphabet) {
  EXPECT_EQ(decode_base64("YW55\r\nIGNh cm5h\tbCBwbGVhcw"), "any carnal pleas");
  EXPECT_EQ(decode_base64("-_-_"), decode_base64("+/+/"));
}

TEST(base64, rejects_malformed_input) {
  for (const char* bad : {"<svg/>", "A", "AAAAA", "AA=A", "A===", "AAAA=.", "d\xc3\xa9"})
    EXPECT_FALSE(decode_base64(bad)) << bad;
}

image_limits some_limits() {
  image_limits l;
  l.side = 8000;
  l.encoded_bytes = 4096;
  l.gifs = image_limits::gif::still;
  return l;
}

TEST(check_image, valid_images_are_kept_with_their_real_type) {
  for (const auto& [bytes, type] : {std::pair(png(8000, 1), "image/png"), std::pair(jpeg(1, 8000), "image/jpeg"),
                                    std::pair(gif(5, 5), "image/gif"), std::pair(webp(5, 5), "image/webp")}) {
    const auto checked = check_image(encode_base64(bytes), some_limits());
    EXPECT_EQ(checked.problem, "");
    EXPECT_EQ(checked.media_type, type);
    EXPECT_EQ(checked.data, encode_base64(bytes));
  }
}

TEST(check_image, data_is_canonical_base64) {
  std::string data = encode_base64(png(5, 5));
  const std::string canonical = data;
  while (data.ends_with('=')) data.pop_back();
  data.insert(20, "\n");
  EXPECT_EQ(check_image(data, {}).data, canonical);
  EXPECT_EQ(check_image("data:image/jpeg;base64," + canonical, {}).data, canonical);
}

TEST(check_image, reports_why_an_image_is_unusable) {
  const struct {
    std::string data;
    const char* problem;
  } cases[] = {{"", "has no valid base64 data"},
               {"<svg/>", "has no valid base64 data"},
               {"data:image/png;base64", "has no valid base64 data"},
               {encode_base64("<svg/>"), "is not a PNG, JPEG, GIF or WebP image"},
               {encode_base64(png(5, 5)).substr(0, 60), "is damaged or incomplete"},
               {encode_base64(png(9000, 20)), "has 9000 x 20 pixels, above the limit of 8000 pixels for a side"},
               {encode_base64(jpeg(20, 8001)), "has 20 x 8001 pixels, above the limit of 8000 pixels for a side"},
               {encode_base64(png(5, 5, 4000)), "takes 0.1 MiB as base64, above the limit of 0.1 MiB"},
               {encode_base64(gif(5, 5, 2)), "is an animated GIF, which the model's provider does not accept"}};
  for (const auto& c : cases) {
    const auto checked = check_image(c.data, some_limits());
    EXPECT_EQ(checked.problem, c.problem);
    EXPECT_EQ(checked.data, "");
  }
  auto limits = some_limits();
  limits.gifs = image_limits::gif::none;
  EXPECT_EQ(check_image(encode_base64(gif(5, 5)), limits).problem,
            "is a GIF, which the model's provider does not accept");
}

}  // namespace
