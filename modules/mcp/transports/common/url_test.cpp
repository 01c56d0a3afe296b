#include "url.hpp"

#include <gtest/gtest.h>

namespace mcp_transport {
namespace {

TEST(url, parts_are_views_of_the_unchanged_text) {
  const auto v = parse_url("HTTPS://user:p%40ss@Example.org:8443/a/../b?x=1&y[]=/?#top");
  ASSERT_TRUE(v);
  EXPECT_EQ(v->scheme, "HTTPS");
  EXPECT_TRUE(v->https());
  EXPECT_EQ(v->userinfo, "user:p%40ss");
  EXPECT_EQ(v->host, "Example.org");
  EXPECT_EQ(v->port, "8443");
  EXPECT_EQ(v->path, "/a/../b");
  EXPECT_EQ(v->query, "x=1&y[]=/?");
  EXPECT_EQ(v->fragment, "top");
  EXPECT_EQ(v->origin(), "HTTPS://Example.org:8443");
  EXPECT_EQ(v->with_path("/.well-known/x"), "HTTPS://user:p%40ss@Example.org:8443/.well-known/x");
}

TEST(url, optional_parts_may_be_missing) {
  const auto u = parse_url("http://[2001:db8::1]");
  ASSERT_TRUE(u);
  EXPECT_EQ(u->host, "[2001:db8::1]");
  EXPECT_EQ(u->path, "");
  EXPECT_EQ(u->port_number(), 80);
  EXPECT_FALSE(u->has_userinfo || u->has_query || u->has_fragment);
  EXPECT_EQ(parse_url("http://[::1]:81/")->port_number(), 81);
  EXPECT_EQ(parse_url("https://h:")->port_number(), 443);
  EXPECT_TRUE(parse_url("http://h?")->has_query);
  EXPECT_EQ(parse_url("http://1.2.3.4.example/x")->host, "1.2.3.4.example");
}

TEST(url, invalid_urls_are_rejected) {
  for (const char* bad : {"",
                          "http",
                          "http:",
                          "http:/h",
                          "http://",
                          "http:///h",
                          "http://?",
                          "ftp://h/",
                          "//h/",
                          "h/",
                          "http://h:x/",
                          "http://h:65536/",
                          "http://h:-1/",
                          "http://h:0/",
                          "http://h%00/",
                          "http://h:1:2/",
                          "http://[::1",
                          "http://::1/",
                          "http://[]/",
                          "http://[x]/",
                          "http://h /",
                          "http://h/ ",
                          "http://h/\r\n",
                          "http://h/%",
                          "http://h/%4",
                          "http://h/%zz",
                          "http://h\\x/",
                          "http://h/\\",
                          "http://h/\"",
                          "http://h/<",
                          "http://h/[",
                          "http://h/\xc3\xbc",
                          "http://\xc3\xbc/",
                          "http://a@b@c/ ",
                          "http://h/#a#b",
                          "http://h^/",
                          "http://[::1]x/",
                          "1http://h/"}) {
    EXPECT_FALSE(parse_url(bad)) << bad;
  }
  EXPECT_FALSE(parse_url(std::string_view("http://h/\0", 10)));
}

TEST(url, origins_are_compared_by_scheme_host_and_port) {
  const auto same = [](const char* a, const char* b) { return parse_url(a)->same_origin(*parse_url(b)); };
  EXPECT_TRUE(same("http://h/a", "HTTP://H:80/b"));
  EXPECT_TRUE(same("https://h:", "https://h:443"));
  EXPECT_TRUE(same("https://h:0443", "https://h"));
  EXPECT_FALSE(same("http://h", "https://h"));
  EXPECT_FALSE(same("http://h:443", "https://h"));
  EXPECT_FALSE(same("http://h", "http://h.example"));
}

// RFC 3986, section 5.4, with http as the scheme.
TEST(url, references_are_resolved_as_in_rfc_3986) {
  const struct {
    const char *reference, *result;
  } cases[] = {{"g", "http://a/b/c/g"},
               {"./g", "http://a/b/c/g"},
               {"g/", "http://a/b/c/g/"},
               {"/g", "http://a/g"},
               {"//g", "http://g"},
               {"?y", "http://a/b/c/d;p?y"},
               {"g?y", "http://a/b/c/g?y"},
               {"#s", "http://a/b/c/d;p?q"},
               {"g?y#s", "http://a/b/c/g?y"},
               {";x", "http://a/b/c/;x"},
               {"", "http://a/b/c/d;p?q"},
               {".", "http://a/b/c/"},
               {"..", "http://a/b/"},
               {"../g", "http://a/b/g"},
               {"../..", "http://a/"},
               {"../../g", "http://a/g"},
               {"../../../g", "http://a/g"},
               {"/./g", "http://a/g"},
               {"/../g", "http://a/g"},
               {"g.", "http://a/b/c/g."},
               {"..g", "http://a/b/c/..g"},
               {"./g/.", "http://a/b/c/g/"},
               {"g/../h", "http://a/b/c/h"},
               {"g;x=1/../y", "http://a/b/c/y"},
               {"g?y/../x", "http://a/b/c/g?y/../x"},
               {"https://h/x", "https://h/x"}};
  for (const auto& c : cases)
    EXPECT_EQ(resolve_url("http://a/b/c/d;p?q", c.reference).value_or("refused"), c.result) << c.reference;
  EXPECT_EQ(resolve_url("http://a", "g").value_or("refused"), "http://a/g");
  EXPECT_EQ(resolve_url("http://a/x/../y?q", "?z").value_or("refused"), "http://a/x/../y?z");
  EXPECT_EQ(resolve_url("http://a/x/../y?q", "").value_or("refused"), "http://a/x/../y?q");
  for (const char* bad : {":x", "g:h", "http:g", "http:", "///g", "ftp://h/", "g h", "http://[::1", "a:?", "http:?"})
    EXPECT_FALSE(resolve_url("http://a/b/c/d;p?q", bad)) << bad;
}

}  // namespace
}  // namespace mcp_transport
