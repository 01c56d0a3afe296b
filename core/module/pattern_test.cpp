#include "core/module/pattern.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace ry::module {
namespace {

overlap of(std::string_view a, std::string_view b) {
  return compare(pattern(a), pattern(b));
}

TEST(pattern, parses_literals_parameters_and_rest) {
  const pattern p("/threads/{id}/files/{path...}");
  ASSERT_EQ(p.segments().size(), 4u);
  EXPECT_EQ(p.segments()[0].what, pattern_segment::kind::literal);
  EXPECT_EQ(p.segments()[1].what, pattern_segment::kind::param);
  EXPECT_EQ(p.segments()[1].text, "id");
  EXPECT_EQ(p.segments()[3].what, pattern_segment::kind::rest);
  EXPECT_EQ(p.segments()[3].text, "path");
  EXPECT_EQ(pattern("/").segments().size(), 1u);
  EXPECT_EQ(pattern("/a/").segments().size(), 2u);
}

TEST(pattern, rejects_invalid_patterns_with_a_message) {
  for (std::string bad :
       {"",     "a",   "//", "/a//b", "/{}",  "/{1a}",  "/a{b}", "/{a}b", "/{a...}/b", "/{a}/{a}", "/a b",
        "/%2f", "/?x", "/#", "/..",   "/./a", "/{a..}", "/\n",   "/{a",   "/a}",       "/\xff"}) {
    try {
      pattern p(bad);
      FAIL() << bad;
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("pattern"), std::string::npos);
    }
  }
  EXPECT_THROW(pattern("/" + std::string(600, 'a')), std::invalid_argument);
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "/a";
  EXPECT_THROW(pattern{deep}, std::invalid_argument);
}

TEST(pattern, distinguishes_duplicates_narrower_and_ambiguous_patterns) {
  EXPECT_EQ(of("/a/{x}", "/a/{y}"), overlap::same);
  EXPECT_EQ(of("/a/{x...}", "/a/{y...}"), overlap::same);
  EXPECT_EQ(of("/a/b", "/a/{x}"), overlap::first_narrower);
  EXPECT_EQ(of("/a/{x}", "/a/b"), overlap::second_narrower);
  EXPECT_EQ(of("/a/{x...}", "/a/{x}/b"), overlap::second_narrower);
  EXPECT_EQ(of("/a/", "/a/{x...}"), overlap::first_narrower);
  EXPECT_EQ(of("/", "/{x...}"), overlap::first_narrower);
  EXPECT_EQ(of("/a/{x}", "/{y}/b"), overlap::ambiguous);
  EXPECT_EQ(of("/a/{x...}", "/{y}/b"), overlap::ambiguous);
  EXPECT_EQ(of("/a", "/b"), overlap::none);
  EXPECT_EQ(of("/a", "/a/b"), overlap::none);
  EXPECT_EQ(of("/a", "/a/"), overlap::none);
  EXPECT_EQ(of("/a", "/a/{x...}"), overlap::none);
  EXPECT_EQ(of("/a/", "/a/{x}"), overlap::none);
}

TEST(pattern, validates_methods) {
  EXPECT_TRUE(known_method("GET"));
  EXPECT_FALSE(known_method("get"));
  EXPECT_FALSE(known_method("TRACE"));
  EXPECT_FALSE(known_method(""));
}

}  // namespace
}  // namespace ry::module
