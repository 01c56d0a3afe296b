#include <gtest/gtest.h>

#include "settings/settings_test.hpp"

using namespace runs;

namespace {

TEST(webhook_settings, faults_name_the_invalid_key) {
  const auto fault = [](const char* text) { return faults_of(std::string(R"({"webhooks": {"a": )") + text + "}}"); };
  const std::string secret = R"("secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")";
  EXPECT_EQ(fault(("{\"url\": \"https://x.test/a\", " + secret + "}").c_str()), "");
  EXPECT_NE(fault(("{\"url\": \"ftp://x\", " + secret + "}").c_str()).find("webhooks.a.url"), std::string::npos);
  for (const char* bad : {"", "plain", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ="})
    EXPECT_NE(fault((R"({"url": "https://x.test/", "secret": ")" + std::string(bad) + "\"}").c_str())
                  .find("webhooks.a.secret"),
              std::string::npos)
        << bad;
  EXPECT_NE(fault(("{\"url\": \"https://x.test/\", \"statuses\": [\"done\"], " + secret + "}").c_str())
                .find("webhooks.a.statuses[0]"),
            std::string::npos);
}

TEST(webhook_settings, endpoints_are_selected_by_status) {
  const settings s = settings_of(
      R"({"webhooks": {"all": {"url": "http://x/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
          "bad": {"url": "http://x/", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "statuses": ["failed"]}}})");
  EXPECT_EQ(s.webhooks_for("completed"), std::vector<std::string>{"all"});
  EXPECT_EQ(s.webhooks_for("failed"), (std::vector<std::string>{"all", "bad"}));
}

}  // namespace
