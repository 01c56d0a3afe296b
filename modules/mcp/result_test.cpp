// Binary data in results: which files are passed on, and what the model reads.
#include "result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

json::object converted(const char* content, std::size_t max_bytes = 1000, std::size_t max_files = 1000) {
  return parse(result_json(parse(std::string(R"({"content":)") + content + "}"), max_bytes, {}, max_files))
      .get_object();
}

TEST(result_test, audio_and_binary_resources_are_passed_on_as_files) {
  const auto out = converted(R"([{"type":"audio","mimeType":"audio/wav","data":"QUJD"},
      {"type":"resource","resource":{"uri":"file:///a/b/report.pdf?x#y","mimeType":"application/pdf","blob":"QUJD"}},
      {"type":"resource","resource":{"uri":"urn:uuid:7","blob":"/+8="}},
      {"type":"resource","resource":{"uri":"x:a.csv","mimeType":"text/csv","blob":"YSxi"}}])");
  EXPECT_EQ(
      json::serialize(out.at("files")),
      R"([{"name":"audio","media_type":"audio/wav","data":"QUJD"},)"
      R"({"name":"report.pdf","media_type":"application/pdf","data":"QUJD"},{"name":"7","media_type":"","data":"/+8="}])");
  EXPECT_THAT(text_of(out, "content"), HasSubstr("[audio, audio/wav, 3 bytes]"));
  EXPECT_THAT(text_of(out, "content"), HasSubstr("a,b"));
  EXPECT_THAT(text_of(out, "content"), Not(HasSubstr("QUJD")));
}

TEST(result_test, images_become_files_only_beyond_the_limit) {
  const std::string large(2000, 'A');
  const auto out = converted(
      (R"([{"type":"image","mimeType":"image/png","data":"QUJD"},{"type":"image","mimeType":"image/png","data":")" +
       large + R"("}])")
          .c_str(),
      1000, 3000);
  EXPECT_EQ(out.at("images").as_array().size(), 1u);
  ASSERT_EQ(out.at("files").as_array().size(), 1u);
  EXPECT_EQ(text_of(out.at("files").at(0).as_object(), "data"), large);
  EXPECT_FALSE(converted(R"([{"type":"image","mimeType":"image/png","data":"QUJD"}])").contains("files"));
}

TEST(result_test, the_limits_apply_to_all_files_of_a_result_together) {
  const char* two =
      R"([{"type":"audio","mimeType":"audio/wav","data":"QUJDQUJD"},{"type":"audio","mimeType":"audio/wav","data":"QUJDQUJD"}])";
  const auto out = converted(two, 1000, 15);
  EXPECT_EQ(out.at("files").as_array().size(), 1u);
  EXPECT_THAT(text_of(out, "content"), HasSubstr("[omitted: too large]"));
  EXPECT_FALSE(converted(two, 1000, 0).contains("files"));
  EXPECT_FALSE(converted(R"([{"type":"audio","mimeType":"audio/wav","data":""}])").contains("files"));
  std::string many = "[";
  for (int i = 0; i < 150; ++i)
    many += std::string(i == 0 ? "" : ",") + R"({"type":"audio","mimeType":"audio/wav","data":"QUJD"})";
  EXPECT_EQ(converted((many + "]").c_str(), 100'000, 100'000).at("files").as_array().size(), 100u);
}

TEST(result_test, the_number_of_images_is_limited) {
  std::string many = "[";
  for (int i = 0; i < 150; ++i)
    many += std::string(i == 0 ? "" : ",") + R"({"type":"image","mimeType":"image/png","data":"QUJD"})";
  const auto out = converted((many + "]").c_str(), 100'000, 100'000);
  EXPECT_EQ(out.at("images").as_array().size(), 100u);
  EXPECT_FALSE(out.contains("files"));
  EXPECT_THAT(text_of(out, "content"), HasSubstr("[further images were omitted]"));
}

TEST(result_test, data_of_blocks_is_replaced_wherever_it_occurs_in_a_text) {
  const std::string a(200, 'A'), b = std::string(150, 'A') + "B", c(100, 'C');
  const auto content_with_text = [&](const std::string& text) {
    const json::object audio{{"type", "audio"}, {"mimeType", "audio/wav"}, {"data", jv(a)}};
    json::object other = audio, small = audio;
    other["data"] = b;
    small["data"] = c;
    const json::value all = json::array{audio, other, small, json::object{{"type", "text"}, {"text", jv(text)}}};
    const auto content = text_of(converted(json::serialize(all).c_str(), 100'000), "content");
    return content.substr(content.find_last_of('|') + 1);
  };
  EXPECT_EQ(content_with_text("|" + a), "[150 bytes]");
  EXPECT_EQ(content_with_text("|x=" + a + "\nrest"), "x=[150 bytes]\nrest");
  EXPECT_EQ(content_with_text("|" + a + b + "," + a), "[150 bytes][111 bytes],[150 bytes]");
  EXPECT_EQ(content_with_text("|" + a + "AA"), "[150 bytes]AA");
  EXPECT_EQ(content_with_text("|" + a.substr(1)), a.substr(1)) << "a part of the data is not replaced";
  EXPECT_EQ(content_with_text("|" + c), c) << "short data may be a word";
  EXPECT_EQ(content_with_text("|data:image/png;base64," + a.substr(1) + "; data:audio/wav;x=y;base64," + a +
                              ";data:text/plain;base64," + c),
            "data:image/png;base64,[147 bytes]; data:audio/wav;x=y;base64,[150 bytes];data:text/plain;base64," + c);
  const std::string other(130, 'Z');
  EXPECT_EQ(content_with_text("|data:video/mp4;base64," + other + "data:image/gif;base64," + other),
            "data:video/mp4;base64,[99 bytes]:image/gif;base64,[96 bytes]")
      << "the scheme of the next data URL looks like base64";
}

// A server controls the texts and the blocks. In quadratic time, these inputs would take hours.
TEST(result_test, filtering_binary_data_takes_linear_time) {
  const auto text = [](std::string t) { return json::object{{"type", "text"}, {"text", jv(t)}}; };
  const auto repeated = [](std::string_view piece, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += piece;
    return out;
  };
  const auto image = [](std::size_t i, char filler) {
    auto data = std::string(200, filler) + std::to_string(i);
    return json::object{{"type", "image"}, {"mimeType", "image/png"}, {"data", jv(data)}};
  };
  json::array blocks{text(repeated("data:image/", 1'000'000)),
                     text(repeated("data:image/png;base64," + std::string(128, 'A') + " ", 60'000))};
  json::array strings;
  for (std::size_t i = 0; i < 30'000; ++i) {
    blocks.push_back(image(i, 'A'));
    strings.push_back(jv(std::string(200, 'A') + std::to_string(40'000 + i)));
  }
  blocks.push_back(text(std::string(8u << 20, 'A')));
  for (std::size_t i = 0; i < 20'000; ++i) blocks.push_back(text(std::string(190, 'A')));
  blocks.push_back(text(std::string(8u << 20, 'B')));
  const json::object result{{"content", std::move(blocks)},
                            {"structuredContent", json::object{{"strings", std::move(strings)}}}};
  const auto out = result_json(result, 1u << 20, {}, 12u << 20);
  EXPECT_THAT(out.substr(out.size() - 500), HasSubstr("[cut: the result has "));
}

}  // namespace
}  // namespace mcp
