#include "consent_browser.hpp"

#include <gtest/gtest.h>

namespace mcp_prebuilt {
namespace {

const std::string value(43, 'a');

TEST(consent_browser, finds_its_cookie_among_others) {
  EXPECT_EQ(cookie_value("x=1; ry_mcp_00=" + value + "; y=2", "ry_mcp_00"), value);
  EXPECT_EQ(cookie_value("ry_mcp_000=" + value, "ry_mcp_00"), "");
  EXPECT_EQ(cookie_value("xry_mcp_00=" + value, "ry_mcp_00"), "");
  EXPECT_EQ(cookie_value("ry_mcp_00=short", "ry_mcp_00"), "");
  EXPECT_EQ(cookie_value("", "ry_mcp_00"), "");
}

TEST(consent_browser, rejects_duplicate_cookies) {
  EXPECT_EQ(cookie_value("ry_mcp_00=" + value + "; ry_mcp_00=" + std::string(43, 'b'), "ry_mcp_00"), "");
}

TEST(consent_browser, keeps_the_cookie_to_this_host_over_https) {
  const auto name = cookie_name(std::string("\x01\xff", 2) + "345678rest", true);
  EXPECT_EQ(name, "__Host-ry_mcp_01ff333435363738");
  EXPECT_EQ(cookie_header(name, value, true),
            name + "=" + value + "; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure");
  EXPECT_EQ(cookie_name(std::string("\x01\xff", 2) + "345678", false), "ry_mcp_01ff333435363738");
}

TEST(consent_browser, form_token_depends_on_cookie_and_ticket) {
  EXPECT_NE(form_token("a", "t"), form_token("b", "t"));
  EXPECT_NE(form_token("a", "t"), form_token("a", "u"));
  EXPECT_EQ(form_token("a", "t").size(), 43U);
}

}  // namespace
}  // namespace mcp_prebuilt
