#include "settings.hpp"

#include <gtest/gtest.h>

namespace {

std::string refusal(std::string_view config) {
  try {
    const auto c = llm::parse_config(config, {"own"});
    llm::read_endpoint("p", c, "https://default.example");
    llm::number_setting(c, "own", 5, 1, 10);
  } catch (const ry::error& e) {
    return std::string(e.message());
  }
  return "";
}

TEST(settings, reads_an_endpoint) {
  const auto c = llm::parse_config(
      R"({"kind":"x","base_url":"http://h:1/v1//","api_key":"k","headers":{"A":"b"},"timeout_seconds":3,"own":7})",
      {"own"});
  const auto e = llm::read_endpoint("p", c, "https://default.example");
  EXPECT_EQ(e.name, "p");
  EXPECT_EQ(e.url, "http://h:1/v1");
  EXPECT_EQ(e.secret, "k");
  EXPECT_EQ(e.total_ms, 3000u);
  EXPECT_EQ(e.idle_ms, 120'000u);
  ASSERT_EQ(e.headers.size(), 1u);
  EXPECT_EQ(llm::number_setting(c, "own", 5, 1, 10), 7);
  EXPECT_EQ(llm::read_endpoint("p", {}, "https://default.example").url, "https://default.example");
}

TEST(settings, names_what_is_wrong) {
  EXPECT_EQ(refusal("{}"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal(R"({"base_ur":"x"})").find("base_ur"), std::string::npos);
  EXPECT_NE(refusal(R"({"other":1})").find("other"), std::string::npos);
  EXPECT_NE(refusal(R"({"base_url":"ftp://x"})").find("base_url"), std::string::npos);
  EXPECT_NE(refusal(R"({"api_key":5})").find("api_key"), std::string::npos);
  EXPECT_NE(refusal(R"({"headers":{"A":1}})").find("headers.A"), std::string::npos);
  EXPECT_NE(refusal(R"({"timeout_seconds":0})").find("timeout_seconds"), std::string::npos);
  EXPECT_NE(refusal(R"({"own":11})").find("own"), std::string::npos);
}

}  // namespace
