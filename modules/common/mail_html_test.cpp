#include "mail_html.hpp"

#include <gtest/gtest.h>

using namespace ry_mail_html;

namespace {

TEST(mail_html, tags_are_found_among_text_that_resembles_tags) {
  const std::string_view html = "a < b <!-- <p> --><P Class='x>y'>z</p >";
  const auto first = next_tag(html, 0);
  EXPECT_EQ(first.name, "p");
  EXPECT_EQ(html.substr(first.begin, first.end - first.begin), "<P Class='x>y'>");
  const auto second = next_tag(html, first.end);
  EXPECT_TRUE(second.closes);
  EXPECT_EQ(second.end, html.size());
  for (const char* none : {"", "<", "< p>", "<!-- <p>", "<p", "<a href=\">"})
    EXPECT_EQ(next_tag(none, 0).name, "") << none;
}

TEST(mail_html, attributes_are_found_in_any_form) {
  const auto value = [](std::string_view tag) {
    const auto a = find_attribute(tag, "href");
    return a.found ? "[" + std::string(tag.substr(a.begin, a.end - a.begin)) + "]" : std::string("none");
  };
  EXPECT_EQ(value("<a HREF = \"x y\">"), "[x y]");
  EXPECT_EQ(value("<a title='href=1' href='x'>"), "[x]");
  EXPECT_EQ(value("<a href=x>"), "[x]");
  EXPECT_EQ(value("<a href>"), "[]");
  EXPECT_EQ(value("<a data-href='x'>"), "none");
  EXPECT_EQ(value("<a / = \" >"), "none");
}

TEST(mail_html, links_without_an_address_keep_their_text_and_buttons_are_removed) {
  const std::pair<const char*, const char*> rows[] = {
      {"<p>Your task <a href=\"\">Poem</a> is done.</p>", "<p>Your task Poem is done.</p>"},
      {"<p>A</p><p><a class=\"button\" href=\"\">Open</a></p>", "<p>A</p>"},
      {"<p><a href=''></a></p><ul><li><a href=' '> </a></li><li>B</li></ul>", "<ul><li>B</li></ul>"},
      {"<p><a href=>x</a> <a href=\"https://a.test\">y</a></p>", "<p>x <a href=\"https://a.test\">y</a></p>"},
      {"<footer>Note. <a class='x optional' href=''>Settings</a></footer>", "<footer>Note. </footer>"},
      {"<p></p><a name=\"top\">z</a>", "<p></p><a name=\"top\">z</a>"},
      {"<a href=\"\">never closed", "<a href=\"\">never closed"}};
  for (const auto& [html, expected] : rows) EXPECT_EQ(without_dead_links(html), expected);
}

TEST(mail_html, white_space_is_not_visible_text) {
  for (const char* blank : {"", " \n", "<p> &nbsp;</p>", "<p>\xc2\xa0</p>", "<!-- x --><br>"}) {
    EXPECT_FALSE(has_visible_text(blank)) << blank;
  }
  for (const char* visible : {"a", "<p>&amp;</p>", "<img src=x>", "a < b"})
    EXPECT_TRUE(has_visible_text(visible)) << visible;
}

}  // namespace
