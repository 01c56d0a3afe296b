#include "core/http/client/proxy.hpp"

#include <gtest/gtest.h>

namespace {

using ry::http::environment_proxies;
using ry::http::parse_proxy;
using ry::http::parse_target;
using ry::http::proxy;
using ry::http::target;

std::string read(std::string_view text) {
  const auto p = parse_proxy(text);
  if (const auto* problem = std::get_if<std::string>(&p)) return "! " + *problem;
  const auto& good = std::get<proxy>(p);
  return good.authority + "|" + good.authorization;
}

// The proxy for a URL: its authority, "direct", or "! problem".
std::string chosen(const environment_proxies& from, std::string_view url) {
  const auto found = from.of(std::get<target>(parse_target(url)));
  if (const auto* problem = std::get_if<std::string>(&found)) return "! " + *problem;
  const auto* p = std::get_if<proxy>(&found);
  return p != nullptr ? p->authority : "direct";
}

TEST(proxy, reads_addresses_and_credentials) {
  EXPECT_EQ(read("http://proxy.example:3128"), "proxy.example:3128|");
  EXPECT_EQ(read("http://proxy.example:3128/"), "proxy.example:3128|");
  EXPECT_EQ(read("HTTP://Proxy.Example"), "proxy.example:80|");
  EXPECT_EQ(read("proxy.example:3128"), "proxy.example:3128|");
  EXPECT_EQ(read("http://[2001:db8::1]:3128"), "[2001:db8::1]:3128|");
  // "ann:p@ss:word" in base64
  EXPECT_EQ(read("http://ann:p%40ss%3Aword@proxy.example:3128"), "proxy.example:3128|Basic YW5uOnBAc3M6d29yZA==");
  EXPECT_EQ(read("http://ann@10.0.0.1:8080"), "10.0.0.1:8080|Basic YW5uOg==");
}

TEST(proxy, rejects_invalid_proxies_without_echoing_credentials) {
  for (const char* text :
       {"https://ann:secret@proxy.example", "socks5://ann:secret@proxy.example", "http://", "http://ann:secret@",
        "http://ann:secret@proxy.example:0", "http://ann:secret@proxy.example:99999", "http://ann:secret@proxy example",
        "http://ann%3Ax:secret@proxy.example", "http://ann:secret@proxy.example/path"}) {
    const auto error = read(text);
    EXPECT_EQ(error.substr(0, 2), "! ") << text;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

TEST(proxy, connections_are_not_shared_between_credentials) {
  const auto key = [](const char* text) { return std::get<proxy>(parse_proxy(text)).key(); };
  EXPECT_EQ(key("http://a:b@p:1"), key("http://a:b@P:1/"));
  EXPECT_NE(key("http://a:b@p:1"), key("http://a:c@p:1"));
  EXPECT_NE(key("http://a:b@p:1"), key("http://p:1"));
  EXPECT_NE(key("http://p:2"), key("http://p:1"));
  EXPECT_EQ(key("http://a:b@p:1").find(' '), std::string::npos);
}

TEST(environment_proxies, choose_by_scheme) {
  const environment_proxies both({"http://plain:1", "http://secure:2", ""});
  EXPECT_EQ(chosen(both, "http://a.example/"), "plain:1");
  EXPECT_EQ(chosen(both, "https://a.example/"), "secure:2");
  const environment_proxies one({"", "secure:2", ""});
  EXPECT_EQ(chosen(one, "http://a.example/"), "direct");
  EXPECT_EQ(chosen(environment_proxies(), "https://a.example/"), "direct");
}

TEST(environment_proxies, no_proxy) {
  const struct {
    const char* no_proxy;
    const char* url;
    bool direct;
  } rows[] = {
      {"example.org", "https://example.org/", true},
      {"example.org", "https://api.example.org/", true},
      {"example.org", "https://notexample.org/", false},
      {".example.org", "https://api.example.org/", true},
      {"*.example.org", "https://api.example.org/", true},
      {"Example.ORG", "https://API.example.org/", true},
      {"other.example, example.org", "https://example.org/", true},
      {"other.example example.org", "https://example.org/", true},
      {"example.org:8443", "https://example.org:8443/", true},
      {"example.org:8443", "https://example.org/", false},
      {"*", "https://example.org/", true},
      {"127.0.0.1", "https://127.0.0.1:5/", true},
      {"127.0.0.1:6", "https://127.0.0.1:5/", false},
      {"127.0.0.1", "https://127.0.0.2/", false},
      {"10.0.0.0/8", "https://10.1.2.3/", true},
      {"10.0.0.0/8", "https://11.1.2.3/", false},
      {"10.0.0.0/8", "https://ten.example/", false},
      {"0.0.0.0/0", "https://11.1.2.3/", true},
      {"::1", "https://[::1]/", true},
      {"[::1]", "https://[::1]/", true},
      {"[::1]:443", "https://[::1]/", true},
      {"fd00::/8", "https://[fd12::1]/", true},
      {"fd00::/8", "https://[fe12::1]/", false},
      {"localhost", "https://localhost:11434/", true},
      // Invalid entries are ignored; the other entries still apply.
      {"10.0.0.0/99,a b:c:d,,example.org", "https://example.org/", true},
      {"10.0.0.0/99", "https://10.0.0.1/", false},
      {"", "https://localhost/", false},
  };
  for (const auto& r : rows)
    EXPECT_EQ(chosen(environment_proxies({"", "p:1", r.no_proxy}), r.url), r.direct ? "direct" : "p:1")
        << r.no_proxy << " " << r.url;
}

TEST(environment_proxies, requests_fail_if_their_proxy_is_unusable) {
  const environment_proxies bad({"", "socks5://u:secret@p:1", "example.org"});
  EXPECT_EQ(chosen(bad, "http://a.example/"), "direct");
  EXPECT_EQ(chosen(bad, "https://example.org/"), "direct");
  EXPECT_EQ(chosen(bad, "https://a.example/"),
            "! HTTPS_PROXY is not a usable proxy: only http:// proxies are supported");
  ASSERT_EQ(bad.problems().size(), 1u);
  EXPECT_EQ(bad.problems()[0].find("secret"), std::string::npos);
}

}  // namespace
