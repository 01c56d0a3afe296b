#include "webhooks.hpp"

#include <gtest/gtest.h>

#include "settings.hpp"

using namespace runs;

namespace {

// Computed with the reference library (npm standardwebhooks).
TEST(webhook_signature, is_that_of_standard_webhooks) {
  const settings s = parse_settings(
      R"({"webhooks": {"a": {"url": "https://x.test/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}})");
  ASSERT_EQ(s.webhooks.size(), 1u);
  EXPECT_EQ(webhook_signature(s.webhooks[0].key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
                              R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(webhook_settings, say_what_is_wrong) {
  const auto fault = [](const char* text) -> std::string {
    try {
      parse_settings(std::string(R"({"webhooks": {"a": )") + text + "}}");
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  const std::string secret = R"("secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")";
  EXPECT_EQ(fault(("{\"url\": \"https://x.test/a\", " + secret + "}").c_str()), "");
  EXPECT_NE(fault(("{\"url\": \"ftp://x\", " + secret + "}").c_str()).find("runs.webhooks.a.url"), std::string::npos);
  for (const char* bad : {"", "plain", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ="})
    EXPECT_NE(fault((R"({"url": "https://x.test/", "secret": ")" + std::string(bad) + "\"}").c_str())
                  .find("runs.webhooks.a.secret"),
              std::string::npos)
        << bad;
  EXPECT_NE(fault(("{\"url\": \"https://x.test/\", \"statuses\": [\"done\"], " + secret + "}").c_str()).find("statuses"),
            std::string::npos);
}

TEST(webhook_settings, choose_who_hears_of_what) {
  const settings s = parse_settings(
      R"({"webhooks": {"all": {"url": "http://x/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
          "bad": {"url": "http://x/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "statuses": ["failed"]}}})");
  EXPECT_EQ(s.webhooks_for("completed"), std::vector<std::string>{"all"});
  EXPECT_EQ(s.webhooks_for("failed"), (std::vector<std::string>{"all", "bad"}));
}

TEST(retry_after_ms, reads_seconds_and_dates) {
  EXPECT_EQ(retry_after_ms("120", 0), 120'000u);
  EXPECT_EQ(retry_after_ms(" 0 ", 0), 0u);
  EXPECT_EQ(retry_after_ms("99999999", 0), 24u * 3600 * 1000);
  EXPECT_EQ(retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT", 946684799 - 60), 60'000u);
  for (const char* bad : {"", "soon", "-5", "Fri, 31 Dec 1999", "1e3"}) EXPECT_FALSE(retry_after_ms(bad, 946684799)) << bad;
  EXPECT_FALSE(retry_after_ms("Fri, 31 Dec 1999 23:59:59 GMT", 2000000000)) << "past";
}

}  // namespace
