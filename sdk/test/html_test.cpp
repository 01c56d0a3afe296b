#include <ry/cpp/html.hpp>

#include <gtest/gtest.h>

namespace {

TEST(escaped_html, escapes_tags_and_attribute_quotes) {
  EXPECT_EQ(ry::escaped_html("<b a=\"1\" c='2'>&amp;</b>"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(ry::escaped_html(""), "");
  EXPECT_EQ(ry::escaped_html("Zo\xc3\xab \xf0\x9f\x91\x8b"), "Zo\xc3\xab \xf0\x9f\x91\x8b");
}

}  // namespace
