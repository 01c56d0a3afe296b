#include <ry/cpp/input.hpp>
#include <ry/cpp/types.hpp>

#include <gtest/gtest.h>

namespace ry {
namespace {

TEST(uuid, parses_and_formats) {
  const auto u = uuid::parse("018F3b1c-0000-7abc-8def-0123456789ab");
  ASSERT_TRUE(u);
  EXPECT_EQ(u->to_string(), "018f3b1c-0000-7abc-8def-0123456789ab");
  EXPECT_TRUE(uuid().is_nil());
  EXPECT_FALSE(u->is_nil());
}

TEST(uuid, rejects_everything_else) {
  for (const char* bad : {"", "018f3b1c00007abc8def0123456789ab", "018f3b1c-0000-7abc-8def-0123456789a",
                          "018f3b1c-0000-7abc-8def-0123456789abc", "018f3b1c-0000-7abc-8def_0123456789ab",
                          "018f3b1c-0000-7abc-8def-0123456789ag", "{18f3b1c-0000-7abc-8def-0123456789ab",
                          "018f3b1c-00-007abc-8def-0123456789ab"}) {
    EXPECT_FALSE(uuid::parse(bad)) << bad;
  }
}

TEST(input, a_cursor_belongs_to_one_list) {
  const auto c = make_cursor("ledger:1", "42");
  EXPECT_EQ(read_cursor("ledger:1", c), "42");
  EXPECT_EQ(read_number_cursor("ledger:1", c), 42);
  for (const auto& [list, text] :
       std::vector<std::pair<std::string, std::string>>{{"ledger:2", c},
                                                        {"ledger:1", "42"},
                                                        {"ledger:1", ""},
                                                        {"ledger:1", make_cursor("ledger:1", "")},
                                                        {"ledger:1", make_cursor("ledger:1", "0")},
                                                        {"ledger:1", make_cursor("ledger:1", "7x")},
                                                        {"ledger:1", make_cursor("ledger:1", "99999999999999999999")},
                                                        {"ledger:1", make_cursor("ledger:1", std::string(300, '1'))}}) {
    try {
      read_number_cursor(list, text);
      ADD_FAILURE() << text;
    } catch (const error& e) {
      EXPECT_EQ(e.status(), RY_INVALID_ARGUMENT);
      EXPECT_EQ(e.message(), "cursor is not valid for this list");
    }
  }
}

TEST(input, a_malformed_uuid_is_a_bad_request) {
  EXPECT_FALSE(require_uuid("018f3b1c-0000-7abc-8def-0123456789ab").is_nil());
  try {
    require_uuid("x");
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_EQ(e.status(), RY_INVALID_ARGUMENT);
    EXPECT_EQ(e.message(), "Invalid UUID format");
  }
}

TEST(input, a_text_that_cannot_be_stored_is_refused_by_name) {
  EXPECT_EQ(require_text("actor", "J\xc3\xbcrgen", 1, 7), "J\xc3\xbcrgen");
  EXPECT_EQ(require_text("actor", "", 0, 7), "");
  for (const std::string& wrong : {std::string(), std::string(8, 'x'), std::string("a\0b", 3), std::string("\xff"),
                                   std::string("\xed\xa0\x80"), std::string("\xc0\xaf")}) {
    try {
      (void)require_text("actor", wrong, 1, 7);
      ADD_FAILURE() << wrong;
    } catch (const error& e) {
      EXPECT_EQ(e.http_status(), 422u);
      EXPECT_EQ(e.status(), RY_INVALID_ARGUMENT);
      EXPECT_EQ(e.message(), "actor must be UTF-8 text of 1 to 7 bytes without NUL characters");
    }
  }
}

TEST(error, carries_everything_through_its_view) {
  const error e = http_error(402, RY_RESOURCE_EXHAUSTED, "runs.no_credits", "Not enough credits", R"({"balance":0})")
                      .with_retry_after(7);
  const error copy = error::from(e.status(), [&] {
    static ry_error_view v;
    v = e.view();
    return &v;
  }());
  EXPECT_EQ(copy.status(), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(copy.reason(), "runs.no_credits");
  EXPECT_EQ(copy.message(), "Not enough credits");
  EXPECT_EQ(copy.detail_json(), R"({"balance":0})");
  EXPECT_EQ(copy.http_status(), 402u);
  EXPECT_EQ(copy.retry_after_s(), 7u);
  EXPECT_STREQ(copy.what(), "Not enough credits");
  EXPECT_EQ(copy.with_detail("[1]").detail_json(), "[1]");
  EXPECT_EQ(copy.with_detail("[1]").http_status(), 402u);
}

TEST(error, without_texts_names_its_status) {
  EXPECT_EQ(error::from(RY_ABORTED, nullptr).message(), "aborted");
  EXPECT_EQ(error(99).message(), "unknown");
}

TEST(result, value_of_an_error_throws_it) {
  result<int> good = 3;
  result<int> bad = not_found("x.not_found", "No such x");
  EXPECT_EQ(good.value(), 3);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(std::move(bad).value_or(9), 9);
  try {
    bad.value();
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.reason(), "x.not_found");
  }
  EXPECT_THROW(result<void>(error(RY_CANCELLED)).value(), error);
  EXPECT_NO_THROW(result<void>().value());
}

TEST(guard, turns_every_exception_into_a_status) {
  char text_of_error[8];
  ry_errbuf err{text_of_error, sizeof text_of_error, 0};
  EXPECT_EQ(guard([] {}), RY_OK);
  EXPECT_EQ(guard([]() -> ry_status { return RY_ABORTED; }), RY_ABORTED);
  EXPECT_EQ(guard([] { throw not_found("a", "b"); }), RY_NOT_FOUND);
  EXPECT_EQ(guard([] { throw std::bad_alloc(); }), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(guard([] { throw 3; }), RY_INTERNAL);
  EXPECT_EQ(guard([] { throw error(RY_OK); }), RY_INTERNAL);
  EXPECT_EQ(guard([] { throw std::runtime_error("longer than the buffer"); }, &err), RY_INTERNAL);
  EXPECT_EQ(std::string_view(err.ptr, err.len), "longer t");
}

// noexcept is part of the function types of the ABI: without a guard there is no conversion.
using abi_done = ry_done_fn;
static_assert(!std::is_convertible_v<void (*)(void*, ry_status, const ry_error_view*), abi_done>);
static_assert(std::is_convertible_v<void (*)(void*, ry_status, const ry_error_view*) noexcept, abi_done>);

TEST(text, json_strings_are_escaped) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01\xc3\xa4"), "\"a\\\"b\\\\c\\n\\u0001\xc3\xa4\"");
  EXPECT_EQ(json_string("a\xff\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbd\"") << "invalid UTF-8 becomes U+FFFD";
}

TEST(text, percent_decoding) {
  EXPECT_EQ(percent_decode("a%20b+c%2F"), "a b c/");
  EXPECT_FALSE(percent_decode("a%2"));
  EXPECT_FALSE(percent_decode("a%"));
  EXPECT_FALSE(percent_decode("%zz"));
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
}

TEST(text, percent_encoding_keeps_only_unreserved_characters) {
  EXPECT_EQ(percent_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encoded("a b&c=\xc3\xbc/+"), "a%20b%26c%3D%C3%BC%2F%2B");
}

TEST(text, trimming_removes_blanks_at_both_ends_only) {
  EXPECT_EQ(trimmed(" \t a b \r\n"), "a b");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed("\na\n", " "), "\na\n");
}

TEST(text, null_views_are_empty) {
  EXPECT_EQ(view(ry_str{nullptr, 0}), "");
  EXPECT_EQ(view(ry_bytes{nullptr, 0}), "");
  EXPECT_TRUE(iequals("Content-Type", "content-TYPE"));
  EXPECT_FALSE(iequals("a", "ab"));
}

}  // namespace
}  // namespace ry
