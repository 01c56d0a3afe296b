#include "json_text.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <random>

#include "answer.hpp"

namespace {

TEST(json_text, agrees_with_the_parser) {
  std::mt19937 rng(5);
  const std::string_view alphabet[] = {"a",       "\\n",      "\\\"",  "\\\\", "\\u00e4",
                                       "\\ud83d", "\\ude00",  "\\u12", "\"",   "\\x",
                                       "\n",      "\xc3\xa4", "/",     "\\/",  "\\"};
  int good = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string body;
    for (unsigned k = rng() % 6; k > 0; --k) body += alphabet[rng() % std::size(alphabet)];
    boost::system::error_code ec;
    const auto v = boost::json::parse("\"" + body + "\"", ec);
    const auto checked = llm::check_json_body(body);
    std::string decoded;
    const bool ok = checked && llm::decode_json_body(body, decoded);
    ASSERT_EQ(ok, !ec) << body;
    if (ok) {
      ++good;
      ASSERT_EQ(decoded, std::string(v.as_string())) << body;
      ASSERT_EQ(checked->plain, body.find('\\') == std::string::npos);
    }
  }
  EXPECT_GT(good, 1000);
}

TEST(delta_template, recognises_only_chunks_that_differ_in_the_text) {
  llm::delta_template t;
  EXPECT_FALSE(t.match(R"({"c":"x"})"));
  EXPECT_TRUE(t.learn(R"({"id":1,"content":"he\"y","end":null})", "\"content\":\""));
  EXPECT_EQ(t.match(R"({"id":1,"content":"abc","end":null})"), "abc");
  EXPECT_EQ(t.match(R"({"id":1,"content":"a\nb","end":null})"), "a\nb");
  EXPECT_EQ(t.match(R"({"id":1,"content":"","end":null})"), "");
  EXPECT_FALSE(t.match(R"({"id":2,"content":"abc","end":null})"));
  EXPECT_FALSE(t.match(R"({"id":1,"content":"abc","end":"stop"})"));
  EXPECT_FALSE(t.match(R"({"id":1,"content":"a","tool":"b","end":null})"));
  EXPECT_FALSE(t.match(R"({"id":1,"content":"end":null})"));
  EXPECT_EQ(t.with("Z"), R"({"id":1,"content":"Z","end":null})");
  EXPECT_FALSE(t.learn(R"({"content":"a","x":{"content":"b"}})", "\"content\":\""));
  EXPECT_FALSE(t.match(R"({"id":1,"content":"abc","end":null})"));
  EXPECT_FALSE(t.learn(R"({"content":"a\)", "\"content\":\""));
}

TEST(answer, hides_secrets_in_what_people_see) {
  EXPECT_EQ(llm::presentable("key topsecret was refused", "topsecret"), "key *** was refused");
  EXPECT_EQ(llm::presentable("Incorrect API key provided: sk-abcdefgh1234.", ""),
            "Incorrect API key provided: ***.");
  EXPECT_EQ(llm::presentable("risk-free\nline", ""), "risk-free line");
  EXPECT_LE(llm::presentable(std::string(2000, 'x'), "").size(), 510u);
}

TEST(answer, reads_retry_after) {
  constexpr std::int64_t now = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(llm::retry_after("7", now), 7u);
  EXPECT_EQ(llm::retry_after(" 7 ", now), 7u);
  EXPECT_EQ(llm::retry_after("1.5", now), 2u);
  EXPECT_EQ(llm::retry_after("99999999999", now), 86'400u);
  EXPECT_EQ(llm::retry_after("1e400", now), 0u);
  EXPECT_EQ(llm::retry_after("-3", now), 0u);
  EXPECT_EQ(llm::retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now), 30u);
  EXPECT_EQ(llm::retry_after("Fri, 31 Dec 1999 23:59:59 GMT", now), 86'400u);
  EXPECT_EQ(llm::retry_after("Sat, 05 Nov 1994 08:50:07 GMT", now), 0u) << "it is over";
  EXPECT_EQ(llm::retry_after("soon", now), 0u);
  EXPECT_EQ(llm::retry_after("nan", now), 0u);
  EXPECT_EQ(llm::retry_after("", now), 0u);
}

TEST(answer, knows_statuses) {
  EXPECT_EQ(llm::failure_of_status(401, "").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(llm::failure_of_status(404, "").status, RY_NOT_FOUND);
  EXPECT_EQ(llm::failure_of_status(429, "").status, RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(llm::failure_of_status(529, "").status, RY_UNAVAILABLE);
  EXPECT_EQ(llm::failure_of_status(422, "").status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(llm::failure_of_status(302, "").status, RY_DATA_LOSS);
}

}  // namespace
