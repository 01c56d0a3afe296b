#include "url.hpp"

#include <gtest/gtest.h>

namespace urls {
namespace {

TEST(url, equivalent_urls_are_the_same) {
  for (const char* other :
       {"HTTPS://mcp.example/v1", "https://MCP.Example/v1", "https://mcp.example:443/v1", "https://mcp.example:/v1",
        "https://mcp.example/./v1", "https://mcp.example/x/../v1", "https://mcp.example/%761",
        "https://mcp.example/v1#top", "https://mcp.example/a/b/../../v1", "https://mcp.example/../v1"}) {
    EXPECT_TRUE(same("https://mcp.example/v1", other)) << other;
  }
  EXPECT_TRUE(same("http://mcp.example", "http://mcp.example/"));
  EXPECT_TRUE(same("http://mcp.example/a%2fb", "http://mcp.example/a%2Fb"));
  EXPECT_TRUE(same("http://[2001:DB8::1]/", "http://[2001:db8::1]:80"));
}

TEST(url, different_urls_are_not_the_same) {
  for (const char* other : {"http://mcp.example/v1", "https://mcp.example/v1/", "https://mcp.example/V1",
                            "https://mcp.example/v1?", "https://mcp.example:444/v1", "https://user@mcp.example/v1",
                            "https://mcp.example/v1?a=b", "https://mcp.example%2Fv1", ""}) {
    EXPECT_FALSE(same("https://mcp.example/v1", other)) << other;
  }
  EXPECT_FALSE(same("http://mcp.example/a/b", "http://mcp.example/a%2Fb"));
  EXPECT_FALSE(same("http://mcp.example/?a=%26b", "http://mcp.example/?a=&b"));
  EXPECT_FALSE(same("http://mcp.example/a/..", "http://mcp.example/a"));
  EXPECT_FALSE(same("http://mcp.example@evil.example/", "http://mcp.example/"));
  EXPECT_FALSE(same("http://mcp.example#@evil.example/", "http://evil.example/"));
}

TEST(url, text_that_is_not_a_url_is_unchanged) {
  for (const char* text : {"", "name", "/path", "http://", "http://a b/", "http://exa\xffmple/", "http://a/%",
                           "http://a/%4", "http://a/%zz", "https://h:99999/"}) {
    EXPECT_TRUE(same(text, text));
    EXPECT_FALSE(same(text, "http://mcp.example/")) << text;
  }
  EXPECT_EQ(normal("not a url"), "not a url");
}

}  // namespace
}  // namespace urls
