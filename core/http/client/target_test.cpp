#include "core/http/client/target.hpp"

#include <gtest/gtest.h>

namespace {

using ry::http::parse_target;
using ry::http::resolve_location;
using ry::http::target;

TEST(target, splits_a_url) {
  auto t = std::get<target>(parse_target("HTTPS://API.example.com/v1/chat?x=%20y#frag"));
  EXPECT_TRUE(t.tls);
  EXPECT_EQ(t.host.name, "api.example.com");
  EXPECT_EQ(t.port, 443);
  EXPECT_EQ(t.authority, "API.example.com");
  EXPECT_EQ(t.path, "/v1/chat?x=%20y");
  t = std::get<target>(parse_target("http://[::1]:8080"));
  EXPECT_EQ(t.authority, "[::1]:8080");
  EXPECT_EQ(t.path, "/");
  EXPECT_EQ(t.host.literal->to_string(), "::1");
  EXPECT_EQ(std::get<target>(parse_target("http://h:80/?")).path, "/?");
  EXPECT_EQ(std::get<target>(parse_target("http://h:80/")).authority, "h");
  EXPECT_EQ(std::get<target>(parse_target("http://h:00081/")).port, 81);
  EXPECT_EQ(std::get<target>(parse_target("http://h:65535/")).port, 65535);
}

TEST(target, refuses_urls_that_are_not_plain_http) {
  for (const char* url : {"",
                          "example.com",
                          "/path",
                          "ftp://example.com/",
                          "file:///etc/passwd",
                          "http://",
                          "http:///x",
                          "http://user:pw@example.com/",
                          "http://example.com:0/",
                          "http://example.com:65536/",
                          "http://example.com:99999/",
                          "http://example.com:4294967376/",
                          "http://exa mple.com/",
                          "http://a\r\nb/",
                          "http://h/\r\nX: y",
                          "a:?",
                          "http:?",
                          "http://[fe80::1%25eth0]/",
                          "http://%6c%6fcalhost/",
                          "javascript:alert(1)",
                          "http://h/ x"})
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_target(url))) << url;
  EXPECT_TRUE(std::holds_alternative<std::string>(parse_target("http://h/" + std::string(9000, 'a'))));
}

TEST(target, resolves_redirects_and_compares_hosts) {
  const auto base = std::get<target>(parse_target("http://example.com/a/b?c"));
  const auto at = [&](const char* loc) { return std::get<target>(resolve_location(base, loc)); };
  EXPECT_EQ(at("d").path, "/a/d");
  EXPECT_EQ(at("/e?f").path, "/e?f");
  EXPECT_TRUE(same_host(base, at("https://EXAMPLE.com/x")));
  EXPECT_FALSE(same_host(base, at("https://example.com:8443/x")));
  EXPECT_FALSE(same_host(base, at("http://example.com:8080/x")));
  EXPECT_FALSE(same_host(base, at("//other.com/x")));
  const auto secure = std::get<target>(parse_target("https://example.com/"));
  EXPECT_FALSE(same_host(secure, base));
  EXPECT_TRUE(std::holds_alternative<std::string>(resolve_location(base, "ftp://example.com/")));
  EXPECT_TRUE(std::holds_alternative<std::string>(resolve_location(base, "http://[")));
}

}  // namespace
