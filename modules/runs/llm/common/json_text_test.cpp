#include "json_text.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <random>

#include "answer.hpp"

namespace {

TEST(json_text, accepts_and_decodes_the_same_strings_as_the_json_parser) {
  std::mt19937 rng(5);
  const std::string_view alphabet[] = {"a",  "\\n", "\\\"", "\\\\",     "\\u00e4", "\\ud83d", "\\ude00", "\\u12",
                                       "\"", "\\x", "\n",   "\xc3\xa4", "/",       "\\/",     "\\"};
  int decoded_count = 0;
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
      ++decoded_count;
      ASSERT_EQ(decoded, std::string(v.as_string())) << body;
      ASSERT_EQ(checked->plain, body.find('\\') == std::string::npos);
    }
  }
  EXPECT_GT(decoded_count, 1000);
}

TEST(json_text, replaces_only_escapes_of_lone_surrogates) {
  const auto repaired = [](std::string_view in) { return llm::without_lone_surrogates(in).value_or("unchanged"); };
  EXPECT_EQ(repaired(R"("\ud83d")"), R"("\ufffd")");
  EXPECT_EQ(repaired(R"("\uDE00 and \uD83Dx")"), R"("\ufffd and \ufffdx")");
  EXPECT_EQ(repaired(R"("\ud83d\ud83d\ude00\ude00")"), R"("\ufffd\ud83d\ude00\ufffd")");
  EXPECT_EQ(repaired(R"("\ude00\ud83d")"), R"("\ufffd\ufffd")");
  EXPECT_EQ(repaired(R"("\ud83d\u0041\n")"), R"("\ufffd\u0041\n")");
  EXPECT_EQ(repaired(R"("\\ud83d\\\ud83d\\\\ud83d")"), R"("\\ud83d\\\ufffd\\\\ud83d")");
  EXPECT_EQ(repaired(R"("\ud83d\\ude00")"), R"("\ufffd\\ude00")");
  for (const char* valid :
       {R"("\ud83d\ude00")", R"("\\ud83d")", R"("\u00e4")", R"("\ud83)", R"("\u)", R"(\)", "ud83d", ""})
    EXPECT_EQ(repaired(valid), "unchanged") << valid;
}

TEST(json_text, an_event_with_lone_surrogates_is_parsed) {
  std::mt19937 rng(7);
  const std::string_view alphabet[] = {"a", "\\n", "\\\\", "\\u00e4", "\\ud83d", "\\ude00", "\\\"", "ud83d"};
  for (int i = 0; i < 20000; ++i) {
    std::string body;
    for (unsigned k = rng() % 8; k > 0; --k) body += alphabet[rng() % std::size(alphabet)];
    const auto v = llm::parse_event("\"" + body + "\"");
    ASSERT_TRUE(v && v->is_string()) << body;
  }
  EXPECT_EQ(llm::parse_event(R"("a\ud83d\ud83d\ude00")")->as_string(), "a\xef\xbf\xbd\xf0\x9f\x98\x80");
  EXPECT_EQ(llm::parse_event(R"("\\ud83d\ud83d")")->as_string(), "\\ud83d\xef\xbf\xbd");
  for (const char* broken : {"", "{", R"({"a":"\ud83d")", R"("\ud83d\x")", R"("\ud83")", "nonsense"})
    EXPECT_FALSE(llm::parse_event(broken)) << broken;
}

TEST(delta_template, matches_only_chunks_that_differ_in_the_text) {
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

TEST(answer, masks_secrets_in_messages) {
  EXPECT_EQ(llm::presentable("key topsecret of other was refused", {"topsecret", "other"}),
            "key *** of *** was refused");
  EXPECT_EQ(llm::presentable("Incorrect API key provided: sk-abcdefgh1234.", {}), "Incorrect API key provided: ***.");
  for (const char* key : {"gsk_1abcdefgh", "xai-abcd1234", "AIzaSyA1234567", "hf_abcdef12", "sk-proj-abcdefgh"})
    EXPECT_EQ(llm::presentable("no such key: " + std::string(key) + ".", {}), "no such key: ***.") << key;
  EXPECT_EQ(llm::presentable("Bearer abc123def456 is wrong", {}), "*** is wrong");
  EXPECT_EQ(llm::presentable("Bearer authentication is wanted", {}), "Bearer authentication is wanted");
  EXPECT_EQ(llm::presentable("risk-free\nline", {}), "risk-free line");
  EXPECT_LE(llm::presentable(std::string(2000, 'x'), {}).size(), 510u);
}

TEST(answer, token_counts_out_of_range_are_ignored) {
  const auto count = [](std::string_view json) { return llm::count_at(boost::json::parse(json).as_object(), "n"); };
  EXPECT_EQ(count(R"({"n":0})"), 0);
  EXPECT_EQ(count(R"({"n":7})"), 7);
  EXPECT_EQ(count(R"({"n":2.5})"), 3);
  EXPECT_EQ(count(R"({"n":1e3})"), 1000);
  EXPECT_EQ(count(R"({"n":1000000000})"), 1'000'000'000);
  for (const char* none : {"{}", R"({"n":null})", R"({"n":"7"})", R"({"n":-1})", R"({"n":-0.4})", R"({"n":true})",
                           R"({"n":[7]})", R"({"n":1000000001})", R"({"n":18446744073709551615})", R"({"n":1e99})"})
    EXPECT_FALSE(count(none)) << none;
}

TEST(answer, estimates_unreported_usage) {
  llm::usage u;
  const auto expect_usage = [&](std::int64_t input, std::int64_t output, std::int64_t cached) {
    const auto got = llm::with_estimates(u, 50, 40);
    EXPECT_EQ(got.input, input);
    EXPECT_EQ(got.output, output);
    EXPECT_EQ(got.cached, cached);
  };
  expect_usage(50, 10, 0);
  u = {true, true, 9, 4, 5};
  expect_usage(9, 4, 5);
  u = {true, true, 0, 0, 0};
  expect_usage(50, 10, 0);
  u = {true, true, 0, 4, 0};
  expect_usage(50, 4, 0);
  u = {true, true, 9, 0, 0};
  expect_usage(9, 10, 0);
  u = {true, false, 9, 0, 5};
  expect_usage(9, 10, 5);
  u = {false, true, 0, 4, 0};
  expect_usage(50, 4, 0);
  u = {true, false, 0, 12, 0};
  expect_usage(50, 12, 0);
  u = {false, false, 100, 1, 100};
  expect_usage(100, 10, 100);
  u = {true, true, 9, 4, 70};
  expect_usage(9, 4, 9);
  EXPECT_TRUE(llm::with_estimates({true, true, 9, 0, 0}, 50, 0).reported()) << "an answer of zero bytes";
  EXPECT_FALSE(llm::with_estimates({true, true, 9, 0, 0}, 50, 1).reported());
}

TEST(answer, http_statuses_are_mapped) {
  EXPECT_EQ(llm::failure_of_status(401, "").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(llm::failure_of_status(404, "").status, RY_NOT_FOUND);
  EXPECT_EQ(llm::failure_of_status(429, "").status, RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(llm::failure_of_status(529, "").status, RY_UNAVAILABLE);
  EXPECT_EQ(llm::failure_of_status(422, "").status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(llm::failure_of_status(302, "").status, RY_DATA_LOSS);
}

TEST(json_text, invalid_utf8_becomes_replacement_characters) {
  const std::string fffd = "\xef\xbf\xbd";
  const struct {
    std::string text, valid;
  } cases[] = {{"a\xf0\x9f\"", "a" + fffd + "\""},
               {"\x80\x80", fffd + fffd},
               {"\xc0\xaf", fffd + fffd},
               {"\xed\xa0\x80", fffd + fffd + fffd},
               {"\xf4\x90\x80\x80", fffd + fffd + fffd + fffd},
               {"a\xe2\x82", "a" + fffd},
               {"\xff", fffd},
               {"\xe2\x82\xc3\xa4", fffd + "\xc3\xa4"}};
  for (const auto& c : cases) {
    const auto out = llm::with_valid_utf8(c.text);
    ASSERT_TRUE(out) << testing::PrintToString(c.text);
    EXPECT_EQ(*out, c.valid) << testing::PrintToString(c.text);
  }
  for (const char* decoded_count : {"", "plain", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"})
    EXPECT_FALSE(llm::with_valid_utf8(decoded_count));
}

TEST(delta_template, a_match_is_always_valid_utf8) {
  llm::delta_template t;
  ASSERT_TRUE(t.learn(R"({"content":"x"})", "\"content\":\""));
  EXPECT_EQ(t.match("{\"content\":\"a\xf0\x9f\"}"), "a\xef\xbf\xbd");
  EXPECT_EQ(t.match("{\"content\":\"\\n\xff\"}"), "\n\xef\xbf\xbd");
  EXPECT_EQ(t.match("{\"content\":\"\xc3\xa4\"}"), "\xc3\xa4");
}

}  // namespace
