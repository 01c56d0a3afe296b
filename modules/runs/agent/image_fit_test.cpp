#include "agent/image_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "agent/context.hpp"
#include "llm/common/image_type.hpp"
#include "llm/common/test_images.hpp"
#include "workspace/image_cache.hpp"

using namespace runs;
using testing::HasSubstr;

namespace {

std::string image_json(const std::string& bytes, const std::string& prefix = "") {
  return R"({"type":"image","media_type":"image/png","data":")" + prefix + llm::encode_base64(bytes) + "\"}";
}

chat_message user_with(const std::string& images) {
  return {"user", R"({"role":"user","content":[{"type":"text","text":"see"},)" + images + "]}", belongs::to_this_run,
          1};
}

chat_message result_with(const std::string& images) {
  return {"tool", tool_body({"c1", "shot", "{}"}, {"done", false, images}), belongs::to_this_run, 2};
}

ry_llm_limits limits(std::uint32_t side, std::uint64_t bytes = 0) {
  ry_llm_limits out{};
  out.image_side = side;
  out.image_bytes = bytes;
  return out;
}

using positions = std::vector<std::pair<std::size_t, std::size_t>>;
positions unsupported_positions(const std::vector<chat_message>& messages, const ry_llm_limits& l) {
  positions out;
  for (const unsupported_image& m : find_unsupported_images(messages, l)) out.emplace_back(m.message, m.part);
  return out;
}

}  // namespace

TEST(image_fit_test, images_with_too_many_pixels_are_found) {
  const std::vector<chat_message> messages = {
      user_with(image_json(llm::test::png(8000, 10)) + "," + image_json(llm::test::jpeg(10, 8001))),
      {"user", user_body("\"image\" \"data\":"), belongs::to_this_run, 1},
      result_with(image_json(llm::test::webp(9000, 9000), "data:image/webp;base64,"))};
  EXPECT_EQ(unsupported_positions(messages, limits(8000)), (positions{{0, 2}, {2, 1}}));
  EXPECT_EQ(unsupported_positions(messages, limits(0)), positions{});
  EXPECT_EQ(find_unsupported_images(messages, limits(8000))[1].bytes, llm::test::webp(9000, 9000));
}

TEST(image_fit_test, images_with_too_many_bytes_are_found) {
  const std::string large = llm::test::png(10, 10, 200'000);
  const std::vector<chat_message> messages = {user_with(image_json(large) + "," + image_json(llm::test::png(10, 10)))};
  EXPECT_EQ(unsupported_positions(messages, limits(0, 250'000)), (positions{{0, 1}}));
  EXPECT_EQ(unsupported_positions(messages, limits(0, 300'000)), positions{});
}

TEST(image_fit_test, many_images_have_a_lower_limit) {
  ry_llm_limits l = limits(8000);
  l.many_images = 2;
  l.image_side_of_many = 2000;
  const std::string image = image_json(llm::test::png(3000, 10)), small = image_json(llm::test::png(2000, 10));
  EXPECT_EQ(unsupported_positions({user_with(image + "," + small)}, l), positions{});
  EXPECT_EQ(unsupported_positions({user_with(image + "," + small), result_with(image)}, l),
            (positions{{0, 1}, {1, 1}}));
}

TEST(image_fit_test, gifs_are_checked_against_the_provider_limits) {
  const std::vector<chat_message> messages = {
      user_with(image_json(llm::test::gif(5, 5)) + "," + image_json(llm::test::gif(5, 5, 3)))};
  ry_llm_limits l{};
  EXPECT_EQ(unsupported_positions(messages, l), positions{});
  l.gifs = RY_LLM_GIF_STILL;
  EXPECT_EQ(unsupported_positions(messages, l), (positions{{0, 2}}));
  // The second frame is beyond the part that is decoded for other formats.
  EXPECT_EQ(unsupported_positions({user_with(image_json(llm::test::gif(5, 5, 8000)))}, l), (positions{{0, 1}}));
  l.gifs = RY_LLM_GIF_NONE;
  EXPECT_EQ(unsupported_positions(messages, l), (positions{{0, 1}, {0, 2}}));
}

TEST(image_fit_test, unreadable_images_are_passed_to_the_driver) {
  const std::vector<chat_message> messages = {
      user_with(image_json("no image") + R"(,{"type":"image","media_type":"image/png","data":"%%%"},)" +
                R"({"type":"image","media_type":"image/png","path":"uploads/a.png"},7)"),
      {"user", "{\"image\" \"data\":", belongs::to_this_run, 1}};
  EXPECT_EQ(unsupported_positions(messages, limits(1, 1)), positions{});
}

TEST(image_fit_test, targets_are_within_the_limits) {
  EXPECT_EQ(target_for({}).side, 2000u);
  EXPECT_EQ(target_for(limits(8000, 5u << 20)).bytes, 1536u << 10);
  EXPECT_EQ(target_for(limits(512, 4000)).side, 512u);
  EXPECT_EQ(target_for(limits(512, 4000)).bytes, 3000u);
  ry_llm_limits many = limits(8000);
  many.many_images = 20;
  many.image_side_of_many = 1500;
  EXPECT_EQ(target_for(many).side, 1500u) << "it need not be scaled again when more images follow";
}

TEST(image_fit_test, an_image_is_replaced_with_a_scaled_one_or_a_text) {
  chat_message m = result_with(image_json(llm::test::png(9000, 9000)) + "," + image_json(llm::test::png(1, 1)));
  scaled_picture to;
  to.media_type = "image/jpeg";
  to.data = "QUJD";
  to.first_frame = true;
  replace_image(m, 1, to);
  const boost::json::value body = boost::json::parse(m.body);
  const auto& content = body.at("content").as_array();
  ASSERT_EQ(content.size(), 4u);
  EXPECT_EQ(content[1].at("media_type").as_string(), "image/jpeg");
  EXPECT_EQ(content[1].at("data").as_string(), "QUJD");
  EXPECT_EQ(content[2].at("media_type").as_string(), "image/png") << "other images keep their positions";
  EXPECT_EQ(content_of(m.body), "done\n" + std::string(first_frame_note));
  EXPECT_EQ(answered_id(m), "c1");

  scaled_picture none;
  none.problem = "is damaged";
  replace_image(m, 2, none);
  EXPECT_THAT(content_of(m.body), HasSubstr("[An image was omitted: it is damaged.]"));
  replace_image(m, 99, none);
}

TEST(image_fit_test, the_cache_evicts_the_least_recently_used) {
  image_cache cache(3000);
  const auto image = [](std::size_t bytes) {
    auto out = std::make_shared<scaled_picture>();
    out->data = std::string(bytes, 'x');
    return out;
  };
  for (const char* key : {"a", "b"}) cache.put(key, image(500));
  EXPECT_NE(cache.find("a"), nullptr);
  cache.put("c", image(500));
  EXPECT_EQ(cache.find("b"), nullptr) << "the least recently used";
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_LE(cache.bytes(), 3000u);
  cache.put("large", image(5000));
  EXPECT_EQ(cache.find("large"), nullptr);
  EXPECT_NE(cache.find("a"), nullptr) << "an image that is too large evicts nothing";
  cache.put("a", image(1));
  EXPECT_EQ(cache.find("a")->data.size(), 500u);
  image_cache none(0);
  none.put("a", image(1));
  EXPECT_EQ(none.find("a"), nullptr);
}
