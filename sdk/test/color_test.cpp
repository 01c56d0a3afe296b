#include <ry/cpp/color.hpp>

#include <gtest/gtest.h>

namespace {

TEST(color, accepts_only_the_six_digit_form) {
  EXPECT_EQ(ry::color::parse("#1D5fd1")->text(), "#1d5fd1");
  for (const char* bad : {"", "#fff", "1d5fd1", "#1d5fd1 ", "#1d5fg1", "rgb(0,0,0)"})
    EXPECT_FALSE(ry::color::parse(bad)) << bad;
}

TEST(color, computes_the_contrast_of_wcag) {
  const ry::color white{255, 255, 255}, black{};
  EXPECT_NEAR(ry::contrast(white, black), 21, 1e-9);
  EXPECT_NEAR(ry::contrast(white, *ry::color::parse("#767676")), 4.54, 0.005);
  EXPECT_NEAR(ry::contrast(*ry::color::parse("#767676"), white), 4.54, 0.005);
  EXPECT_EQ(white.towards(black, 0.5).text(), "#808080");
  EXPECT_EQ(white.towards(black, 1).text(), "#000000");
}

}  // namespace
