#include "agent/pictures.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

TEST(pictures_test, a_message_without_images_is_plain) {
  EXPECT_EQ(user_body_with("hi", {}), R"({"role":"user","content":"hi"})");
  EXPECT_TRUE(pictures_in(R"({"role":"user","content":"the \"image\" at \"path\""})").empty());
}

TEST(pictures_test, images_with_known_bytes_are_included) {
  const std::string body = user_body_with("look", {{"uploads/a.png", "image/png"}, {"uploads/b.gif", "image/gif"}});
  EXPECT_EQ(content_of(body), "look");
  EXPECT_EQ(pictures_in(body), (std::vector<std::string>{"uploads/a.png", "uploads/b.gif"}));
  EXPECT_EQ(resolve_pictures(body, {}), R"({"role":"user","content":"look"})");
  EXPECT_EQ(
      resolve_pictures(body, {{"uploads/b.gif", "QUJD"}}),
      R"({"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/gif","data":"QUJD"}]})");
}

TEST(pictures_test, a_note_replaces_an_image_or_follows_it) {
  const std::string body = user_body_with("look", {{"uploads/a.png", "image/png"}, {"uploads/b.gif", "image/gif"}});
  EXPECT_EQ(resolve_pictures(body, {{"uploads/b.gif", "QUJD"}}, {{"uploads/a.png", "no"}, {"uploads/b.gif", "first"}}),
            R"({"role":"user","content":[{"type":"text","text":"look"},{"type":"text","text":"no"},)"
            R"({"type":"image","media_type":"image/gif","data":"QUJD"},{"type":"text","text":"first"}]})");
  EXPECT_EQ(resolve_pictures(body, {}, {{"uploads/a.png", "no"}}),
            R"({"role":"user","content":[{"type":"text","text":"look"},{"type":"text","text":"no"}]})");
}

TEST(pictures_test, images_with_inline_data_are_unchanged) {
  const std::string body =
      R"({"role":"user","content":[{"type":"text","text":"x"},{"type":"image","media_type":"image/png","data":"AAAA"}]})";
  EXPECT_TRUE(pictures_in(body).empty());
  EXPECT_EQ(resolve_pictures(body, {}), body);
}

}  // namespace
