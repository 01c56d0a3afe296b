#include "retry_hint.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cstdint>
#include <string_view>

namespace {

TEST(retry_hint, reads_the_retry_after_header) {
  constexpr std::int64_t now = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT
  EXPECT_EQ(llm::retry_after("7", now), 7u);
  EXPECT_EQ(llm::retry_after(" 7 ", now), 7u);
  EXPECT_EQ(llm::retry_after("1.5", now), 2u);
  EXPECT_EQ(llm::retry_after("99999999999", now), 86'400u);
  EXPECT_EQ(llm::retry_after("1e400", now), 0u);
  EXPECT_EQ(llm::retry_after("-3", now), 0u);
  EXPECT_EQ(llm::retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now), 30u);
  EXPECT_EQ(llm::retry_after("Fri, 31 Dec 1999 23:59:59 GMT", now), 86'400u);
  EXPECT_EQ(llm::retry_after("Sat, 05 Nov 1994 08:50:07 GMT", now), 0u) << "in the past";
  EXPECT_EQ(llm::retry_after("soon", now), 0u);
  EXPECT_EQ(llm::retry_after("nan", now), 0u);
  EXPECT_EQ(llm::retry_after("", now), 0u);
}

TEST(retry_hint, reads_durations) {
  const struct {
    const char* text;
    std::uint64_t ms;
  } cases[] = {{"3.5s", 3500}, {"120ms", 120},          {"1m2s", 62'000}, {"2 minutes and 5 seconds", 125'000},
               {"7", 7000},    {"20 seconds.", 20'000}, {"1h", 3'600'000}};
  for (const auto& c : cases) EXPECT_EQ(llm::read_duration_ms(c.text), c.ms) << c.text;
  for (const char* bad : {"", "soon", "-1s", "5 apples"}) EXPECT_FALSE(llm::read_duration_ms(bad)) << bad;
  EXPECT_EQ(llm::seconds_rounded_up(1), 1u);
  EXPECT_EQ(llm::seconds_rounded_up(2000), 2u);
  EXPECT_EQ(llm::seconds_rounded_up(1'000'000'000'000), 86'400u);
}

TEST(retry_hint, reads_the_delay_in_an_error_message) {
  EXPECT_EQ(llm::retry_ms_of_message("Rate limit reached. Please try again in 7.66s. Visit the page."), 7660u);
  EXPECT_EQ(llm::retry_ms_of_message("Please retry after 26 seconds."), 26'000u);
  EXPECT_EQ(llm::retry_ms_of_message("Please try again later."), 0u);
  EXPECT_EQ(llm::retry_ms_of_message("The limit is 30000 tokens per minute."), 0u);
}

TEST(retry_hint, reads_the_delay_in_members_of_an_error) {
  const auto of = [](std::string_view json) { return llm::retry_ms_of_error(boost::json::parse(json).as_object(), 0); };
  EXPECT_EQ(of(R"({"details":[{"@type":"type.googleapis.com/google.rpc.Help"},
                              {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"21s"}]})"),
            21'000u);
  EXPECT_EQ(of(R"({"retry_after_ms":1500})"), 1500u);
  EXPECT_EQ(of(R"({"retry_after":"2.5"})"), 2500u);
  EXPECT_EQ(of(R"({"metadata":{"headers":{"Retry-After":"9"}}})"), 9000u);
  EXPECT_EQ(of(R"({"message":"no","details":"x","metadata":3})"), 0u);
}

TEST(retry_hint, reads_the_delay_or_the_reset_time_in_headers) {
  llm::retry_headers asked;
  asked.add("Retry-After", "7", 0);
  asked.add("retry-after-ms", "250", 0);
  EXPECT_EQ(asked.requested_ms(), 250u) << "retry-after-ms is more precise";
  llm::retry_headers limits;
  limits.add("x-ratelimit-remaining-requests", "5", 0);
  limits.add("x-ratelimit-reset-requests", "120ms", 0);
  limits.add("x-ratelimit-remaining-tokens", "0", 0);
  limits.add("x-ratelimit-reset-tokens", "6s", 0);
  EXPECT_EQ(limits.requested_ms(), 0u);
  EXPECT_EQ(limits.reset_ms(), 6000u) << "the reset time of the exhausted limit";
}

}  // namespace
