#include "text.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <ry/cpp/utf8.hpp>

#include "stream/event_text.hpp"

using namespace runs;

namespace {

TEST(json_string_test, escapes_special_characters_and_replaces_invalid_utf8) {
  EXPECT_EQ(json_string("a\"b\\c\n\r\t\x01"), R"("a\"b\\c\n\r\t\u0001")");
  EXPECT_EQ(json_string("gr\xC3\xBC\xC3\x9F \xF0\x9F\x90\x8D"), "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x90\x8D\"");
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(json_string("\xFF"), "\"" + replacement + "\"");
  EXPECT_EQ(json_string("x\xC3"), "\"x" + replacement + "\"");
  EXPECT_EQ(json_string("\xC0\xAF"), "\"" + replacement + replacement + "\"") << "overlong encoding";
  EXPECT_EQ(json_string("\xED\xA0\x80"), "\"" + replacement + replacement + replacement + "\"") << "surrogate";
  EXPECT_EQ(json_string(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(json_string_test, every_pair_of_bytes_gives_valid_json) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const char text[] = {static_cast<char>(a), static_cast<char>(b)};
      boost::system::error_code error;
      boost::json::parse(json_string({text, 2}), error);
      ASSERT_FALSE(error) << a << " " << b;
    }
  }
}

TEST(json_string_test, every_byte_is_escaped_or_replaced_at_every_position) {
  for (int b = 0; b < 256; ++b) {
    const std::string byte(1, static_cast<char>(b));
    const std::string quoted = json_string(byte), escaped = quoted.substr(1, quoted.size() - 2);
    for (std::size_t position = 0; position < 25; ++position) {
      std::string text(25, 'a');
      text[position] = byte[0];
      std::string expected = "\"" + std::string(25, 'a') + "\"";
      expected.replace(position + 1, 1, escaped);
      ASSERT_EQ(json_string(text), expected) << b << " at " << position;
    }
  }
}

TEST(shorten_test, keeps_both_ends) {
  const std::string text = shorten(std::string(100, 'a') + std::string(100, 'b'), 40);
  EXPECT_EQ(text, std::string(20, 'a') + "\n[... 160 bytes omitted ...]\n" + std::string(20, 'b'));
  EXPECT_EQ(shorten("short", 40), "short");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "\xE2\x82\xAC";
  for (std::size_t n = 10; n < 30; ++n) EXPECT_TRUE(ry::is_utf8(shorten(many, n))) << n;
}

TEST(number_text_test, formats_sizes_credits_and_milliseconds) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KB");
  EXPECT_EQ(size_text(10 << 20), "10.0 MB");
  EXPECT_EQ(credits_text(0), "0");
  EXPECT_EQ(credits_text(1500000), "1.5");
  EXPECT_EQ(credits_text(1), "0.000001");
  EXPECT_EQ(credits_text(-2000010), "-2.00001");
  EXPECT_EQ(credits_text(INT64_MIN), "-9223372036854.775808");
  EXPECT_EQ(milliseconds_text(1234), "1.234");
  EXPECT_EQ(milliseconds_text(5), "0.005");
}

TEST(text_test, json_strings_contain_no_unicode_line_separators) {
  const std::string text =
      "a\xE2\x80\xA8"
      "b\xE2\x80\xA9"
      "c\xC2\x85"
      "d\xE2\x82\xAC\xC2\xA7";
  const std::string escaped = "\"a\\u2028b\\u2029c\\u0085d\xE2\x82\xAC\xC2\xA7\"";
  EXPECT_EQ(json_string(text), escaped);
  EXPECT_EQ(escape_line_ends("\"" + text + "\""), escaped);
  EXPECT_EQ(escape_line_ends("[1]"), "[1]");
  EXPECT_EQ(boost::json::parse(json_string(text)).as_string(), text);
}

TEST(text_test, external_messages_are_made_safe_to_store) {
  EXPECT_EQ(plain_sentence(std::string_view("a\0b\nc\x7f", 6)), "a b c ");
  EXPECT_EQ(plain_sentence("\xFF full \xC3\xA4 \xE2\x82"), "\xEF\xBF\xBD full \xC3\xA4 \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(cursor_test, round_trips_and_rejects_invalid_cursors) {
  const auto c = decode_cursor("threads", encode_cursor("threads", "1732", "0192f0c1-2d3e-7f00-8a1b-0123456789ab"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->first, "1732");
  EXPECT_EQ(c->second, "0192f0c1-2d3e-7f00-8a1b-0123456789ab");
  EXPECT_FALSE(decode_cursor("threads", "!!"));
  EXPECT_FALSE(decode_cursor("threads", "AAAA"));
  EXPECT_FALSE(decode_cursor("threads", std::string(5000, 'A')));
  EXPECT_FALSE(decode_cursor("runs", encode_cursor("threads", "1732")));
  EXPECT_FALSE(decode_cursor("run", encode_cursor("runs", "1732")));
  EXPECT_FALSE(decode_cursor("runs:completed", encode_cursor("runs", "1732")));
}

TEST(event_text_test, has_the_spacing_that_deployed_clients_search_for) {
  std::string out;
  event_text(out, 7, "status")
      .text("status", "completed")
      .integer("n", -1)
      .json("usage", "{\"a\":1}")
      .boolean("b", true);
  EXPECT_EQ(out,
            "id: 7\ndata: {\"type\": \"status\", \"sequence\": 7, \"status\": \"completed\", \"n\": -1, "
            "\"usage\": {\"a\":1}, \"b\": true}\n\n");
}

TEST(event_text_test, events_are_parsed_one_by_one) {
  std::string out;
  event_text(out, 7, "llm_response_chunk").text("content", "a\n\nid: 9\ndata: {}");
  event_text(out, 8, "status").text("status", "failed");
  std::string_view rest = out;
  const event_view first = next_event(rest), second = next_event(rest), none = next_event(rest);
  EXPECT_EQ(first.sequence, 7u);
  EXPECT_EQ(second.sequence, 8u);
  EXPECT_EQ(none.sequence, 0u);
  EXPECT_EQ(std::string(first.wire) + std::string(second.wire), out);
  EXPECT_EQ(boost::json::parse(std::string(first.payload)).at("content").as_string(), "a\n\nid: 9\ndata: {}");
  EXPECT_FALSE(is_terminal(first.payload));
  EXPECT_TRUE(is_terminal(second.payload));
  EXPECT_FALSE(is_terminal(R"({"type": "status", "sequence": 1, "status": "running"})"));
  EXPECT_FALSE(is_terminal(R"({"type": "message", "content": "\"status\": \"failed\""})"));
}

TEST(is_blank_test, only_texts_without_visible_characters_are_blank) {
  for (const char* blank : {"", " ", "\t\r\n\f\v", "\xC2\xA0", "\xC2\x85", "\xE1\x9A\x80", "\xE2\x80\x83",
                            "\xE2\x80\x8B", "\xE2\x80\xA8", "\xE2\x80\xAE", "\xE2\x81\xA0", "\xE3\x80\x80",
                            "\xEF\xBB\xBF", "\xC2\xAD", "\xF3\xA0\x80\xA0", "\x01", " \xE2\x80\x8B\n"})
    EXPECT_TRUE(is_blank(blank)) << json_string(blank);
  for (const char* visible :
       {"x", " . ", "0", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x99\x82", "\xFF", "\xE2\x80", "\xC0\x80"})
    EXPECT_FALSE(is_blank(visible)) << json_string(visible);
}

}  // namespace
