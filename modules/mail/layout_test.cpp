#include "layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/cpp/color.hpp>

#include "subscription_page.hpp"

using namespace mail;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

const brand default_brand;
std::string html_of(std::string_view fragment, std::string_view text = "Text", std::string_view link = "") {
  return apply_layout(default_brand, "Subject", text, fragment, link).html;
}

double contrast_of(const std::string& a, const std::string& b) {
  return ry::contrast(*ry::color::parse(a), *ry::color::parse(b));
}

TEST(mail_layout, any_brand_color_is_legible_in_both_color_schemes) {
  for (const char* color : {"#1d5fd1", "#000000", "#767676", "#d97706", "#00994d", "#7f1d1d", "#ff00ff", "#14532d"}) {
    brand b;
    b.color = color;
    for (const auto& p : {light_palette(b), dark_palette(b)}) {
      for (const auto& on : {p.card, p.page, p.quote}) EXPECT_GE(contrast_of(p.link, on), 4.5) << color;
      EXPECT_GE(contrast_of(p.button_text, p.button), 4.5) << color;
      EXPECT_GE(contrast_of(p.button, p.card), 3) << color;
      EXPECT_GE(contrast_of(p.text, p.card), 7);
      EXPECT_GE(contrast_of(p.soft, p.page), 4.5);
      EXPECT_GE(contrast_of(p.soft, p.card), 4.5);
      EXPECT_GE(contrast_of(p.text, p.quote), 4.5);
    }
  }
}

TEST(mail_layout, adds_page_and_styles_to_a_fragment) {
  const auto html = html_of(
      "<preheader>In short</preheader><h1>Title</h1><p><a class=\"button\" href=\"https://x.test\">Go</a></p>"
      "<footer>Because. <a href=\"https://x.test/s\">Settings</a></footer>");
  EXPECT_THAT(html, AllOf(HasSubstr("<!doctype html>"), HasSubstr("name=\"viewport\""),
                          HasSubstr("name=\"color-scheme\""), HasSubstr("prefers-color-scheme:dark"),
                          HasSubstr("<title>Subject</title>"), HasSubstr("sans-serif")));
  EXPECT_THAT(html, HasSubstr("<a class=\"ry-button button\" href=\"https://x.test\" style=\"display:inline-block"));
  EXPECT_THAT(html, HasSubstr("<a class=\"ry-link\" href=\"https://x.test/s\" style="));
  EXPECT_LT(html.find("In short"), html.find("Title"));
  EXPECT_LT(html.find("Title"), html.find("Because."));
  EXPECT_THAT(html, Not(HasSubstr("<preheader>")));
  EXPECT_THAT(html, Not(HasSubstr("<footer>")));
  EXPECT_THAT(html, HasSubstr(">Runyard</span>"));
}

TEST(mail_layout, shows_the_text_if_no_html_is_visible) {
  for (const char* fragment : {"", "<p></p>", "<p><a class=\"button\" href=\"\">Open</a></p>", "<footer>F</footer>",
                               "<preheader>P</preheader> "}) {
    const auto html = html_of(fragment, "Hello Ann,\n\nYour account is <ready>:\nhttps://x.test/a?b=1&c=2.\n");
    EXPECT_THAT(html, HasSubstr("Your account is &lt;ready&gt;:<br>")) << fragment;
    EXPECT_THAT(html, HasSubstr("href=\"https://x.test/a?b=1&amp;c=2\"")) << fragment;
  }
  EXPECT_EQ(html_of("", std::string(200'000, 'x')), "") << "a long text has no HTML part";
}

TEST(mail_layout, does_not_change_complete_documents_and_existing_styles) {
  EXPECT_EQ(html_of(" <!DOCTYPE html><p>x</p>"), " <!DOCTYPE html><p>x</p>");
  EXPECT_EQ(html_of("<HTML><p>x</p></HTML>"), "<HTML><p>x</p></HTML>");
  EXPECT_THAT(html_of("<p style=\"color:red\">x</p>"), HasSubstr("<p style=\"color:red\">x</p>"));
  EXPECT_THAT(html_of("<p>1 < 2 <br/>x</p>"), HasSubstr(">1 < 2 <br/>x</p>"));
}

TEST(mail_layout, shows_the_unsubscribe_link_once) {
  const std::string link = "https://x.test/mail/unsubscribe/1";
  const auto without = apply_layout(default_brand, "S", "Text", "<p>x</p>", link);
  EXPECT_THAT(without.html, HasSubstr("href=\"" + link + "\""));
  EXPECT_THAT(without.text, HasSubstr("Unsubscribe: " + link));
  const auto with_link = apply_layout(default_brand, "S", "Stop: " + link,
                                      "<p>x</p><footer><a href=\"" + link + "\">Stop</a></footer>", link);
  EXPECT_EQ(with_link.text, "Stop: " + link);
  EXPECT_EQ(with_link.html.find(link), with_link.html.rfind(link));
  EXPECT_THAT(html_of("<p>x</p>"), Not(HasSubstr("Unsubscribe")));
}

TEST(mail_layout, the_default_preheader_is_the_first_sentence) {
  EXPECT_THAT(html_of("<p>x</p>", "Hello Ann,\n\nYour task is done.\nhttps://x.test\n"),
              HasSubstr(">Your task is done.&#847;"));
}

TEST(mail_layout, uses_the_configured_brand) {
  const brand b{"Acme & Co", "#14532d", "https://acme.test/logo.png?a=1&b=2"};
  const auto html = apply_layout(b, "S", "T", "<p><a class=\"button\" href=\"https://x.test\">Go</a></p>", "").html;
  EXPECT_THAT(html, HasSubstr("<img src=\"https://acme.test/logo.png?a=1&amp;b=2\" alt=\"Acme &amp; Co\""));
  EXPECT_THAT(html, HasSubstr("background:#14532d;color:#ffffff"));
  EXPECT_THAT(html, Not(HasSubstr("Runyard")));
}

TEST(mail_pages, name_the_subscription_and_the_address_and_offer_to_resubscribe) {
  const auto ask = confirm_page(default_brand, {"ann@x.test", "promotional", false});
  EXPECT_THAT(ask, AllOf(HasSubstr("news and offers"), HasSubstr("ann@x.test"), HasSubstr("<form method=\"post\">")));
  EXPECT_THAT(done_page(default_brand, {"<b>@x.test", "my_list", true}),
              AllOf(HasSubstr("my list"), HasSubstr("&lt;b&gt;@x.test"), HasSubstr("name=\"undo\"")));
  EXPECT_THAT(done_page(default_brand, {"a@x.test", "my_list", false}), HasSubstr("subscribed again"));
  EXPECT_THAT(unknown_link_page(default_brand), HasSubstr("This link does not work"));
}

}  // namespace
