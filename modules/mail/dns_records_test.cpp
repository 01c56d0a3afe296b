#include "dns_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/cpp/base64.hpp>

using namespace mail;
using testing::HasSubstr;

namespace {

TEST(mail_dns, spf_requires_one_record_that_rejects_other_servers) {
  const auto result_of = [](std::vector<std::string> txt) { return evaluate_spf(txt).result; };
  EXPECT_EQ(result_of({"v=spf1 include:_spf.relay.test -all", "other"}), grade::good);
  EXPECT_EQ(result_of({"V=SPF1 ip4:192.0.2.1 ~ALL"}), grade::good);
  EXPECT_EQ(result_of({"v=spf1 redirect=_spf.relay.test"}), grade::good);
  EXPECT_EQ(result_of({"v=spf1 a ?all"}), grade::warning);
  EXPECT_EQ(result_of({"v=spf1 a mx"}), grade::warning);
  for (const std::vector<std::string>& bad :
       std::vector<std::vector<std::string>>{{},
                                             {"v=spf10 -all"},
                                             {"v=spf1 -all", "v=spf1 ~all"},
                                             {"v=spf1 +all"},
                                             {"v=spf1 all"},
                                             {"v=spf1 a mx ptr a:1 a:2 a:3 a:4 a:5 a:6 include:x exists:y -all"}}) {
    EXPECT_EQ(result_of(bad), grade::failure) << testing::PrintToString(bad);
  }
}

TEST(mail_dns, control_characters_are_shown_as_text) {
  EXPECT_EQ(with_escaped_controls("v=spf1 \x1b[31m\a\r\nok: DMARC: fine\x7f\t-all"),
            "v=spf1 \\x1b[31m\\x07\\x0d\\x0aok: DMARC: fine\\x7f\\x09-all");
  EXPECT_EQ(with_escaped_controls("\xc2\x9b"
                                  "2J \xc3\xa4 \xc2\xa9 \xc2"),
            "\\x9b"
            "2J \xc3\xa4 \xc2\xa9 \xc2");
}

TEST(mail_dns, dkim_requires_a_complete_key_of_sufficient_length) {
  const auto key = [](std::size_t n) {
    return ry::base64_encode(std::string(n, 'k'), ry::base64_alphabet::standard, true);
  };
  const auto evaluated = [&](const std::string& record) { return evaluate_dkim("s1", {record}); };
  EXPECT_EQ(evaluated("v=DKIM1; k=rsa; p=" + key(294)).result, grade::good);
  EXPECT_EQ(evaluated("p=" + key(294)).result, grade::good);
  EXPECT_EQ(evaluated("v=DKIM1; p=" + key(162)).result, grade::warning);
  EXPECT_EQ(evaluated("v=DKIM1; t=y; p=" + key(294)).result, grade::warning);
  EXPECT_EQ(evaluated("v=DKIM1; k=ed25519; p=" + key(32)).result, grade::warning);
  EXPECT_EQ(evaluated("v=DKIM1; p=").result, grade::failure);
  EXPECT_EQ(evaluated("v=DKIM1; p=a$b").result, grade::failure);
  EXPECT_EQ(evaluate_dkim("s1", {}).result, grade::failure);
  EXPECT_EQ(evaluate_dkim("s1", {}).topic, "DKIM s1");
}

TEST(mail_dns, dmarc_requires_one_record_with_a_policy) {
  const auto result_of = [](std::vector<std::string> txt) { return evaluate_dmarc(txt).result; };
  EXPECT_EQ(result_of({"v=DMARC1; p=quarantine"}), grade::good);
  EXPECT_EQ(result_of({"v=DMARC1;p=REJECT;rua=mailto:x@y.test"}), grade::good);
  EXPECT_EQ(result_of({"v=DMARC1; p=none"}), grade::warning);
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
           {}, {"v=spf1 -all"}, {"v=DMARC1"}, {"v=DMARC1; p=x"}, {"v=DMARC1; p=none", "v=DMARC1; p=reject"}}) {
    EXPECT_EQ(result_of(bad), grade::failure) << testing::PrintToString(bad);
  }
  EXPECT_THAT(evaluate_dmarc({}).text, HasSubstr("v=DMARC1"));
}

}  // namespace
