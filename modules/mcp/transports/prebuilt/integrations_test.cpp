#include "integrations.hpp"

#include <gmock/gmock.h>
#include <ry/cpp/types.hpp>

namespace mcp_prebuilt {
namespace {

namespace json = boost::json;

constexpr char settings[] = R"({"integrations":{"tracker":{"url":"https://t.example/mcp",
  "headers":{"Authorization":"Bearer {token}","X-Team":"{team}/{team}","X-Fixed":"a{b"}},"open":{"url":"http://o"}}})";

TEST(integrations, credentials_fill_the_headers) {
  const auto all = read_integrations(settings);
  const auto& tracker = all.at("tracker");
  EXPECT_THAT(tracker.fields(), testing::UnorderedElementsAre("token", "team"));
  const auto given = json::parse(R"({"token":"s3cret","team":"{token}"})");
  const auto headers = filled_headers(tracker, read_credentials(tracker, &given));
  EXPECT_EQ(headers.at("Authorization"), "Bearer s3cret");
  EXPECT_EQ(headers.at("X-Team"), "{token}/{token}");  // values are not templates
  EXPECT_EQ(headers.at("X-Fixed"), "a{b");
  EXPECT_NO_THROW(read_credentials(all.at("open"), nullptr));
}

TEST(integrations, invalid_credentials_are_rejected) {
  const auto all = read_integrations(settings);
  for (const char* text : {"{}", "7", R"({"token":"x"})", R"({"token":"x","team":7})", R"({"token":"","team":"a"})",
                           R"({"token":"x\r\nX: y","team":"a"})", R"({"token":"x","team":"a","more":"b"})"}) {
    const auto v = json::parse(text);
    EXPECT_THROW(read_credentials(all.at("tracker"), &v), ry::error) << text;
  }
  EXPECT_THROW(read_integrations(R"({"integrations":{"x":{"url":"file:///etc"}}})"), std::invalid_argument);
  EXPECT_TRUE(read_integrations("{}").empty());
}

// `more`: additional OAuth settings.
std::string with_oauth(const std::string& more) {
  return R"({"integrations":{"tracker":{"url":"https://t.example/mcp","oauth":{"client_id":"me")" + more + "}}}}";
}

TEST(integrations, a_secret_requires_an_issuer) {
  const std::string secret = R"(,"client_secret":"s3cret")", issuer = R"(,"issuer":"https://as.example")";
  EXPECT_NO_THROW(read_integrations(with_oauth("")));
  EXPECT_EQ(read_integrations(with_oauth(secret + issuer)).at("tracker").oauth->issuer, "https://as.example");
  try {
    read_integrations(with_oauth(secret));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("mcp_prebuilt.integrations.tracker.oauth.issuer is required"));
    EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace mcp_prebuilt
