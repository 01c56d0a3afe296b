#include <gtest/gtest.h>
#include <ry/testing.hpp>

#include <set>

#include "code.hpp"
#include "invitation_email.hpp"
#include "rate.hpp"
#include "referral_metrics.hpp"

using namespace referrals;

namespace {

TEST(referral_code, has_no_ambiguous_characters) {
  std::set<std::string> all;
  std::set<char> used;
  for (int i = 0; i < 2000; ++i) {
    const auto c = make_code();
    EXPECT_EQ(c.size(), 8u);
    for (const char x : c) used.insert(x);
    all.insert(c);
  }
  EXPECT_EQ(all.size(), 2000u);
  EXPECT_EQ(used, std::set<char>(code_alphabet.begin(), code_alphabet.end()));
  for (const char x : std::string("01OIL")) EXPECT_EQ(used.count(x), 0u);
}

TEST(referral_code, is_normalized_for_ascii_case_only) {
  EXPECT_EQ(normalize_code("abcd2345"), "ABCD2345");
  EXPECT_EQ(normalize_code(" AbCd2345 "), "ABCD2345");
  for (const char* bad : {"", "ABCD234", "ABCD23456", "ABCD234O", "ABCD2341", "ABC 2345", "ABCD23\xc4\xb1"}) {
    EXPECT_EQ(normalize_code(bad), "") << bad;
  }
}

TEST(referral_invitation, sanitizes_the_inviters_name) {
  const auto email =
      write_invitation("Eve <b>\r\nhttp://evil.test/x {{unsubscribe_url}}", "https://app.test/auth?ref=A&b=\"", 100);
  EXPECT_EQ(email.subject.find_first_of("\r\n<>"), std::string::npos);
  for (const auto& text : {email.text, email.html}) {
    EXPECT_EQ(text.find("http://evil"), std::string::npos);
    EXPECT_EQ(text.find("evil.test"), std::string::npos);
    EXPECT_NE(text.find("https://app.test/auth?ref=A"), std::string::npos);
    EXPECT_NE(text.find("100 credits"), std::string::npos);
    EXPECT_NE(text.find("{{unsubscribe_url}}"), std::string::npos);
  }
  EXPECT_EQ(email.html.find("Eve <b>"), std::string::npos);
  EXPECT_NE(email.html.find("href=\"https://app.test/auth?ref=A&amp;b=&quot;\""), std::string::npos);
  EXPECT_EQ(write_invitation("", "x", 1).subject, "A friend invites you to Runyard");
  std::string euros;
  for (int i = 0; i < 60; ++i) euros += "\xe2\x82\xac";
  const auto truncated = write_invitation(euros, "x", 1).subject;
  EXPECT_EQ(truncated.find(" invites"), 78u) << "truncated between characters";
}

TEST(referral_rate, counts_by_caller_and_minute) {
  rate_limiter r(2);
  EXPECT_EQ(r.acquire("a", 1'000'000), 0u);
  EXPECT_EQ(r.acquire("a", 1'000'000), 0u);
  EXPECT_EQ(r.acquire("a", 1'000'000), 60u);
  EXPECT_EQ(r.acquire("b", 1'000'000), 0u);
  EXPECT_EQ(r.acquire("a", 61'000'000), 0u);
  EXPECT_EQ(client_key("2001:db8::1"), client_key("2001:db8:0:0:ffff::9"));
  EXPECT_NE(client_key("2001:db8::1"), client_key("2001:db8:0:1::1"));
  EXPECT_EQ(client_key("192.0.2.7"), "192.0.2.7");
}

TEST(referral_metrics, counting_takes_at_most_one_percent_of_the_time) {
  for (const auto status : {RY_OK, RY_DEADLINE_EXCEEDED, RY_UNAVAILABLE}) {
    ry::testing::fake_host host;
    ry::testing::db_reply slow{{"state", "reason", "n", "referrer", "referee"}, {}, 0, ry::error(status)};
    slow.takes_ms = 10'000;
    host.db.on("referrals.reason_of", slow);
    const repository repo(host.ctx());
    referral_metrics metrics(host.ctx(), repo);
    metrics.start();
    host.advance(10'000 + 990'000);
    EXPECT_EQ(host.db.calls.size(), 1u) << status;
    host.advance(20'000);
    EXPECT_EQ(host.db.calls.size(), 2u) << status;
  }
}

}  // namespace
