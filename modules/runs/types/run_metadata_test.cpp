#include "types/run_metadata.hpp"

#include <gtest/gtest.h>

namespace runs {
namespace {

std::string error_of(const std::string& json) {
  std::string out;
  return read_metadata(json, out);
}

std::string pairs(int n) {
  std::string out = "{";
  for (int i = 0; i < n; ++i) out += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"\"";
  return out + "}";
}

TEST(run_metadata, reads_an_object_of_strings) {
  std::string out = "before";
  EXPECT_EQ(read_metadata(R"( {"user": "u1", "empty": "", "\u00e4": "\u20ac"} )", out), "");
  EXPECT_EQ(out, "{\"user\":\"u1\",\"empty\":\"\",\"\xc3\xa4\":\"\xe2\x82\xac\"}");
  EXPECT_EQ(read_metadata("{}", out), "");
  EXPECT_EQ(out, "");
}

TEST(run_metadata, errors_name_the_key) {
  for (const char* wrong : {"", "[]", "\"x\"", "{", "null", "{\"a\":\"b\"}x"})
    EXPECT_EQ(error_of(wrong), "metadata must be a JSON object of strings") << wrong;
  for (const char* wrong : {"{\"a\":1}", "{\"a\":null}", "{\"a\":{}}", "{\"x\":\"\",\"a\":[\"b\"]}"})
    EXPECT_EQ(error_of(wrong), "metadata.a must be a string") << wrong;
  EXPECT_EQ(error_of("{\"\":\"x\"}"), "metadata.: the key must have 1 to 64 characters");
  EXPECT_EQ(error_of(R"({"a":"\u0000"})"), "metadata.a: the value must be UTF-8 without NUL characters");
  EXPECT_EQ(error_of(R"({"a\u0000":""})"), "metadata.a : the key must be UTF-8 without NUL characters");
}

// The limits count characters, not bytes.
TEST(run_metadata, limits_are_those_of_the_openai_api) {
  const auto euros = [](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += "\xe2\x82\xac";
    return out;
  };
  EXPECT_EQ(error_of(pairs(16)), "");
  EXPECT_EQ(error_of(pairs(17)), "metadata must have at most 16 keys");
  EXPECT_EQ(error_of("{\"" + euros(64) + "\":\"" + euros(512) + "\"}"), "");
  EXPECT_EQ(error_of("{\"a\":\"" + euros(513) + "\"}"), "metadata.a: the value must have at most 512 characters");
  EXPECT_EQ(error_of("{\"" + std::string(65, 'a') + "\":\"\"}"),
            "metadata." + std::string(64, 'a') + ": the key must have 1 to 64 characters");
  EXPECT_EQ(error_of("{\"a\":\"" + std::string(200'000, 'x') + "\"}"), "metadata must have at most 128.0 KB");
}

TEST(run_metadata, filters_are_the_parameters_with_a_key) {
  EXPECT_EQ(metadata_filter_key("metadata[a]"), "a");
  EXPECT_EQ(metadata_filter_key("metadata[a[b]]"), "a[b]");
  EXPECT_EQ(metadata_filter_key("metadata[a"), std::nullopt);
  EXPECT_EQ(metadata_filter_key("metadata"), std::nullopt);
  EXPECT_EQ(read_metadata_filter({{"limit", "5"}, {"metadata", "x"}}).json, std::nullopt);
  EXPECT_EQ(read_metadata_filter({{"metadata[a]", "1"}, {"status", "running"}, {"metadata[b]", "2"}}).json,
            R"({"a":"1","b":"2"})");
  const metadata_filter bad = read_metadata_filter({{"metadata[a]", std::string(513, 'x')}});
  EXPECT_EQ(bad.json, std::nullopt);
  EXPECT_EQ(bad.error, "metadata[a]: the value must have at most 512 characters");
}

}  // namespace
}  // namespace runs
