#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/cpp/settings_check.hpp>

#include "settings.hpp"

using namespace webhooks;

namespace {

constexpr const char* secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

settings read(const std::string& endpoints, ry::settings_faults& faults) {
  return read_settings(R"({"endpoints":)" + endpoints + R"(,"disable_after_hours":120,"max_attempts":30})", faults);
}
settings read(const std::string& endpoints) {
  ry::settings_faults faults;
  settings out = read(endpoints, faults);
  EXPECT_TRUE(faults.all().empty());
  return out;
}

TEST(webhook_settings, events_are_selected_per_receiver) {
  const settings s = read(std::string(R"({"a":{"url":"https://x/","secrets":[")") + secret +
                          R"("],"events":["run.*","credits.low"]},"b":{"url":"https://y/","secrets":[")" + secret +
                          R"("],"events":["run.completed"]}})");
  ASSERT_EQ(s.receivers.size(), 2u);
  EXPECT_EQ(s.kinds(), "credits.low,run.*,run.completed");
  EXPECT_TRUE(s.find("a")->wants("run.failed"));
  EXPECT_TRUE(s.find("a")->wants("credits.low"));
  EXPECT_FALSE(s.find("a")->wants("credits.lower"));
  EXPECT_FALSE(s.find("a")->wants("running.late"));
  EXPECT_TRUE(s.find("b")->wants("run.completed"));
  EXPECT_FALSE(s.find("b")->wants("run.failed"));
  EXPECT_EQ(s.find("c"), nullptr);
  EXPECT_EQ(s.find("a")->to.keys.size(), 1u);
}

TEST(webhook_settings, without_endpoints_nothing_is_sent) {
  EXPECT_TRUE(read("{}").kinds().empty());
  EXPECT_FALSE(read(std::string(R"({"a":{"url":"https://x/","secrets":[")") + secret + "\"]}}").kinds().empty());
}

TEST(webhook_settings, an_invalid_secret_is_named_but_not_shown) {
  for (const char* bad : {"", "plain-secret-text", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ="}) {
    ry::settings_faults faults;
    read(std::string(R"({"a":{"url":"https://x/","secrets":[")") + secret + "\",\"" + bad +
             "\"]},"
             R"("b/c":{"url":"https://y/","secrets":[")" +
             bad + "\"]}}",
         faults);
    ASSERT_EQ(faults.all().size(), 2u) << bad;
    EXPECT_EQ(faults.all()[0].key, "endpoints.a.secrets[1]");
    EXPECT_EQ(faults.all()[1].key, "endpoints.\"b/c\".secrets[0]");
    EXPECT_EQ(faults.all()[0].message.find("plain-secret-text"), std::string::npos);
  }
}

}  // namespace
