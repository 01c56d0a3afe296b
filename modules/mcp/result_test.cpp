// Bytes in results: what is handed on to be stored, and what the model reads of it.
#include "result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mcp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

json::object handed(const char* content, std::size_t max_bytes = 1000, std::size_t max_files = 1000) {
  return parse(result_json(parse(std::string(R"({"content":)") + content + "}"), max_bytes, {}, max_files)).get_object();
}

TEST(result_test, sound_and_binary_resources_are_handed_on_as_files) {
  const auto got = handed(R"([{"type":"audio","mimeType":"audio/wav","data":"QUJD"},
      {"type":"resource","resource":{"uri":"file:///a/b/report.pdf?x#y","mimeType":"application/pdf","blob":"QUJD"}},
      {"type":"resource","resource":{"uri":"urn:uuid:7","blob":"/+8="}},
      {"type":"resource","resource":{"uri":"x:a.csv","mimeType":"text/csv","blob":"YSxi"}}])");
  EXPECT_EQ(json::serialize(got.at("files")),
            R"([{"name":"audio","media_type":"audio/wav","data":"QUJD"},)"
            R"({"name":"report.pdf","media_type":"application/pdf","data":"QUJD"},{"name":"7","media_type":"","data":"/+8="}])");
  EXPECT_THAT(text_of(got, "content"), HasSubstr("[audio, audio/wav, 3 bytes]"));
  EXPECT_THAT(text_of(got, "content"), HasSubstr("a,b"));
  EXPECT_THAT(text_of(got, "content"), Not(HasSubstr("QUJD")));
}

TEST(result_test, images_are_files_only_beyond_the_limit) {
  const std::string large(2000, 'A');
  const auto got = handed((R"([{"type":"image","mimeType":"image/png","data":"QUJD"},{"type":"image","mimeType":"image/png","data":")" + large +
                           R"("}])").c_str(), 1000, 3000);
  EXPECT_EQ(got.at("images").as_array().size(), 1u);
  ASSERT_EQ(got.at("files").as_array().size(), 1u);
  EXPECT_EQ(text_of(got.at("files").at(0).as_object(), "data"), large);
  EXPECT_FALSE(handed(R"([{"type":"image","mimeType":"image/png","data":"QUJD"}])").contains("files"));
}

TEST(result_test, files_are_bounded_together) {
  const char* two = R"([{"type":"audio","mimeType":"audio/wav","data":"QUJDQUJD"},{"type":"audio","mimeType":"audio/wav","data":"QUJDQUJD"}])";
  const auto got = handed(two, 1000, 15);
  EXPECT_EQ(got.at("files").as_array().size(), 1u);
  EXPECT_THAT(text_of(got, "content"), HasSubstr("too large to be passed on"));
  EXPECT_FALSE(handed(two, 1000, 0).contains("files"));
  EXPECT_FALSE(handed(R"([{"type":"audio","mimeType":"audio/wav","data":""}])").contains("files"));
  std::string many = "[";
  for (int i = 0; i < 150; ++i) many += std::string(i == 0 ? "" : ",") + R"({"type":"audio","mimeType":"audio/wav","data":"QUJD"})";
  EXPECT_EQ(handed((many + "]").c_str(), 100'000, 100'000).at("files").as_array().size(), 100u);
}

}  // namespace
}  // namespace mcp
