#include "api/approval_page.hpp"

#include <gmock/gmock.h>

namespace runs {
namespace {

using testing::HasSubstr;
using testing::Not;

const ry_brand_page::brand brand;

approval_link link_with(const std::string& state, const std::string& arguments, const std::string& status = "pending") {
  return {state,
          R"({"approval_id" : "1", "name" : "shell", "arguments" : )" + arguments + R"(, "status" : ")" + status +
              R"(", "expires_at" : "2026-11-29T10:00:00.000Z"})",
          "Ann's <agent>", "Clean \"up\""};
}

TEST(approval_page, shows_the_call_and_two_buttons) {
  const auto page = page_of(brand, link_with("open", R"({"command":"rm <b>\nx","n":1e308})"));
  EXPECT_EQ(page.status, 200u);
  EXPECT_THAT(page.html, HasSubstr("Ann&#39;s &lt;agent&gt;"));
  EXPECT_THAT(page.html, HasSubstr("Clean &quot;up&quot;"));
  EXPECT_THAT(page.html, HasSubstr("command: rm &lt;b&gt;\n  x\nn: 1e308</pre>"));
  EXPECT_THAT(page.html, HasSubstr("2026-11-29 10:00 UTC"));
  EXPECT_THAT(page.html, HasSubstr("value=\"approve\""));
  EXPECT_THAT(page.html, HasSubstr("value=\"deny\""));
  EXPECT_THAT(page.html, Not(HasSubstr("are longer than")));
}

TEST(approval_page, shows_arguments_that_nest_as_deeply_as_a_call_allows) {
  const auto page = page_of(brand, link_with("open", R"({"x":)" + std::string(31, '[') + std::string(31, ']') + "}"));
  EXPECT_EQ(page.status, 200u);
  EXPECT_THAT(page.html, HasSubstr("value=\"approve\""));
}

TEST(approval_page, says_that_long_arguments_are_incomplete) {
  const auto page = page_of(brand, link_with("open", "{\"a\":\"" + std::string(100'000, 'x') + "\"}"));
  EXPECT_LT(page.html.size(), 30'000u);
  EXPECT_THAT(page.html, HasSubstr("are longer than"));
}

TEST(approval_page, a_closed_link_offers_no_decision_and_shows_no_arguments) {
  for (const auto& [state, status, text] : {std::tuple{"used", "approved", "already used"},
                                            {"decided", "denied", "The call was denied."},
                                            {"expired", "expired", "has expired"},
                                            {"cancelled", "cancelled", "was cancelled"}}) {
    const auto page = page_of(brand, link_with(state, R"({"command":"secret"})", status));
    EXPECT_EQ(page.status, 410u) << state;
    EXPECT_THAT(page.html, HasSubstr(text));
    EXPECT_THAT(page.html, Not(HasSubstr("<form"))) << state;
    EXPECT_THAT(page.html, Not(HasSubstr("secret"))) << state;
  }
}

TEST(approval_page, confirms_the_decision) {
  EXPECT_THAT(decided_page(brand, link_with("used", "{}", "approved")).html, HasSubstr("You approved the call"));
  EXPECT_THAT(decided_page(brand, link_with("used", "{}", "denied")).html, HasSubstr("You denied the call"));
}

}  // namespace
}  // namespace runs
