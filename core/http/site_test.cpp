#include "core/http/site.hpp"

#include <gtest/gtest.h>

#include "core/http/test_fixture.hpp"

namespace ry::http::serving {
namespace {

site make(std::string public_url = {}, std::vector<std::string> hosts = {}, std::vector<std::string> origins = {}) {
  return site({site_settings::checks::on, site_settings::scope::everyone, std::move(public_url), std::move(hosts)},
              std::move(origins));
}

TEST(site, addresses_and_localhost_are_accepted) {
  const auto s = make();
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "[fe80::1%25eth0]:80", "10.0.0.7:1",
                           "localhost", "LocalHost:8080", "localhost.", "app.localhost:8080", ""})
    EXPECT_TRUE(s.is_own_host(host)) << host;
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
                           "127.0.0.1.nip.io", "xlocalhost", "0x7f.1", "2130706433", "127.1", "[evil.example]",
                           "[::1].evil.example", "[::1", "localhost.evil", "1"})
    EXPECT_FALSE(s.is_own_host(host)) << host;
}

TEST(site, configured_names_are_accepted) {
  const auto s = make("https://Runs.Example.org:8443/base", {"box.lan", "*.corp.example", "named:9000"});
  for (const char* host : {"runs.example.org", "RUNS.example.org:8443", "runs.example.org.", "box.lan:8080",
                           "a.corp.example", "a.b.corp.example:1", "named"})
    EXPECT_TRUE(s.is_own_host(host)) << host;
  for (const char* host :
       {"example.org", "xruns.example.org", "corp.example", "evilcorp.example", "box.lan.evil.example"})
    EXPECT_FALSE(s.is_own_host(host)) << host;
  EXPECT_TRUE(make({}, {"*"}).is_own_host("evil.example"));
}

TEST(site, decides_which_origins_may_send_changes) {
  const auto s = make("https://runs.example.org", {}, {"https://app.example.org"});
  EXPECT_TRUE(s.may_change("", "127.0.0.1:8080", ""));
  EXPECT_TRUE(s.may_change("http://127.0.0.1:8080", "127.0.0.1:8080", ""));
  EXPECT_TRUE(s.may_change("http://localhost", "localhost:80", ""));
  EXPECT_TRUE(s.may_change("https://LOCALHOST", "localhost:443", "")) << "behind a TLS proxy";
  EXPECT_TRUE(s.may_change("http://[::1]:8080", "[::1]:8080", ""));
  EXPECT_TRUE(s.may_change("https://runs.example.org", "127.0.0.1:8080", "")) << "a proxy that rewrites Host";
  EXPECT_TRUE(s.may_change("https://app.example.org", "runs.example.org", "cross-site"));
  EXPECT_TRUE(s.may_change("null", "127.0.0.1:8080", "same-origin"));
  for (const char* origin :
       {"http://evil.example", "http://evil.example:8080", "null", "http://127.0.0.1", "http://127.0.0.1:8081",
        "http://localhost:8080", "https://app.example.org.evil.example", "https://app.example.org:444", "file://",
        "http://", "127.0.0.1:8080", "http://127.0.0.1:8080.evil.example", "chrome-extension://abc"})
    EXPECT_FALSE(s.may_change(origin, "127.0.0.1:8080", "")) << origin;
  EXPECT_FALSE(s.may_change("null", "127.0.0.1:8080", "cross-site"));
  EXPECT_FALSE(s.may_change("http://evil.example", "127.0.0.1:8080", "same-origin")) << "Origin has precedence";
  EXPECT_TRUE(make({}, {}, {"null"}).may_change("null", "127.0.0.1:8080", ""));
  EXPECT_TRUE(make({}, {}, {"*"}).may_change("http://evil.example", "127.0.0.1:8080", ""));
}

TEST(site, splits_hosts_and_authorities) {
  EXPECT_EQ("a.example", host_of("https://A.example:1/x:y"));
  EXPECT_EQ("::1", host_of("http://[::1]:80/"));
  EXPECT_EQ("evil:1", authority_of("http://evil:1/x"));
  EXPECT_EQ("", authority_of("/x?u=http://evil/"));
  EXPECT_EQ("", authority_of("*"));
  EXPECT_TRUE(changes_something("POST"));
  EXPECT_TRUE(changes_something("get"));
  EXPECT_FALSE(changes_something("GET"));
}

}  // namespace
}  // namespace ry::http::serving

namespace ry::http::test {
namespace {

struct site_checks : ::testing::Test {
  settings s = server_fixture::defaults();
  std::unique_ptr<server_fixture> w;
  std::atomic<int> handled{0};
  void SetUp() override { s.site.check = site_settings::checks::on; }
  void start() {
    w = std::make_unique<server_fixture>(s);
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
      w->route(method, "/thing", [this](auto&, auto* r) {
        ++handled;
        return reply(r, 200, "done");
      });
    w->srv->add_host_route({"GET", "/healthz", [](const ry_request_view&) {
                              return host_answer{200, "text/plain", "ok"};
                            }});
    w->start();
  }
  response ask(std::string_view method, std::string_view host, std::string_view lines = {},
               std::string_view target = "/thing") {
    return client(*w).ask(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(host) +
                          "\r\nContent-Length: 0\r\n" + std::string(lines) + "\r\n");
  }
};

TEST_F(site_checks, foreign_hosts_are_rejected) {
  start();
  EXPECT_EQ(200, ask("GET", "127.0.0.1").status);
  EXPECT_EQ(200, ask("POST", "localhost:8080").status);
  const auto refused = ask("POST", "evil.example:8080");
  EXPECT_EQ(403, refused.status);
  EXPECT_NE(refused.body.find("http.allowed_hosts"), std::string::npos) << refused.body;
  EXPECT_NE(refused.body.find(R"("error_code":"HOST_NOT_ALLOWED")"), std::string::npos) << refused.body;
  EXPECT_EQ(403, ask("GET", "evil.example").status);
  EXPECT_EQ(403, ask("GET", "127.0.0.1", {}, "http://evil.example/thing").status)
      << "the host of an absolute target is checked too";
  EXPECT_EQ(403, ask("GET", "evil.example", {}, "http://127.0.0.1/thing").status);
  EXPECT_EQ(2, handled);
  EXPECT_EQ(200, ask("GET", "evil.example", {}, "/healthz").status) << "host routes accept any name, for monitoring";
}

TEST_F(site_checks, in_local_mode_every_route_and_proxy_is_checked) {
  s.site.applies_to = site_settings::scope::everyone;
  s.trusted_proxies = {"127.0.0.0/8"};
  start();
  EXPECT_EQ(403, ask("GET", "evil.example", {}, "/healthz").status);
  EXPECT_EQ(403, ask("GET", "evil.example").status);
  EXPECT_EQ(200, ask("GET", "localhost", {}, "/healthz").status);
}

TEST_F(site_checks, a_trusted_proxy_may_send_any_host) {
  s.trusted_proxies = {"127.0.0.0/8"};
  start();
  EXPECT_EQ(200, ask("POST", "upstream").status);
  EXPECT_EQ(403, ask("POST", "upstream", "Origin: https://evil.example\r\n").status);
}

TEST_F(site_checks, changes_from_foreign_origins_are_rejected) {
  s.cors.origins = {"https://app.example.org"};
  start();
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    for (const char* origin : {"http://evil.example", "null", "http://127.0.0.1:9"}) {
      const auto refused = ask(method, "127.0.0.1:8080", "Origin: " + std::string(origin) + "\r\n");
      EXPECT_EQ(403, refused.status) << method << ' ' << origin;
      EXPECT_NE(refused.body.find(R"("error_code":"ORIGIN_NOT_ALLOWED")"), std::string::npos) << refused.body;
    }
    EXPECT_EQ(200, ask(method, "127.0.0.1:8080", "Origin: http://127.0.0.1:8080\r\n").status);
    EXPECT_EQ(200, ask(method, "127.0.0.1:8080", "Origin: https://app.example.org\r\n").status);
    EXPECT_EQ(200, ask(method, "127.0.0.1:8080", "Origin: null\r\nSec-Fetch-Site: same-origin\r\n").status);
    EXPECT_EQ(200, ask(method, "127.0.0.1:8080").status);
  }
  EXPECT_EQ(16, handled);
  EXPECT_EQ(200, ask("GET", "127.0.0.1:8080", "Origin: http://evil.example\r\n").status)
      << "CORS prevents it from reading";
}

TEST_F(site_checks, checks_are_off_without_a_known_host_name) {
  s.site.check = site_settings::checks::off;
  start();
  EXPECT_EQ(200, ask("POST", "evil.example", "Origin: http://other.example\r\n").status);
}

}  // namespace
}  // namespace ry::http::test
