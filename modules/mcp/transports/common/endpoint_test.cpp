#include "endpoint.hpp"

#include <gmock/gmock.h>

namespace mcp_transport {
namespace {

ry::mcp::target target(const std::string& config) {
  ry_mcp_target t{};
  t.config_json = ry::str(config);
  return ry::mcp::target(t);
}

TEST(endpoint, reads_the_url_and_skips_reserved_headers) {
  const auto e = read_endpoint(
      target(R"({"url":"https://h/mcp","headers":{"Authorization":"Bearer x","Content-Length":"7","HOST":"evil"}})"));
  EXPECT_EQ(e.url, "https://h/mcp");
  ASSERT_EQ(e.fields.size(), 1u);
  EXPECT_EQ(e.fields[0].second, "Bearer x");
  for (const char* bad : {"", "{}", "[]", R"({"url":7})", R"({"url":"http://h","headers":{"a":7}})"}) {
    EXPECT_THROW(read_endpoint(target(bad)), ry::error) << bad;
  }
}

TEST(endpoint, message_urls_must_have_the_same_origin) {
  const std::string base = "http://Example.org/a/sse?x=1";
  EXPECT_EQ(same_origin_url(base, "/message?s=1"), "http://Example.org/message?s=1");
  EXPECT_EQ(same_origin_url(base, "message"), "http://Example.org/a/message");
  EXPECT_EQ(same_origin_url(base, "http://example.org:80/m"), "http://example.org:80/m");
  for (const char* bad : {"https://example.org/m", "http://example.org:81/m", "http://other.org/m", "//other.org/m",
                          "http://example.org@other.org/m", "http://u:p@example.org/m", "ftp://example.org/m", "a:?",
                          "a:", "http:?", "http:m", "not a url\r\n", "http://[::1"}) {
    EXPECT_EQ(same_origin_url(base, bad), "") << bad;
  }
}

TEST(endpoint, media_types_are_compared_without_parameters) {
  EXPECT_EQ(media_type("Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(media_type(""), "");
}

TEST(endpoint, fields_of_one_name_are_joined) {
  const ry_header raw[] = {{ry::str("WWW-Authenticate"), ry::str("Basic realm=\"a, b\"")},
                           {ry::str("X"), ry::str("y")},
                           {ry::str("www-authenticate"), ry::str("Bearer scope=\"s\"")}};
  ry_client_response r{};
  r.headers = raw;
  r.n_headers = std::size(raw);
  ry::headers same;
  for (const auto& h : raw) same.emplace_back(ry::text(h.name), ry::text(h.value));
  const auto both = R"(Basic realm="a, b", Bearer scope="s")";
  EXPECT_EQ(fields_of(r, "www-authenticate"), both);
  EXPECT_EQ(fields_of(same, "www-authenticate"), both);
  EXPECT_EQ(fields_of(same, "x"), "y");
  EXPECT_EQ(fields_of(same, "z"), "");
}

TEST(endpoint, the_idle_timeout_exceeds_all_limits_of_calls_and_sessions) {
  constexpr std::uint64_t day_ms = 24 * 3'600'000;
  EXPECT_GT(read_endpoint(target(R"({"url":"https://h/mcp"})")).idle_ms, day_ms);
}

TEST(errors, network_errors_hide_addresses_and_keep_the_cause_for_the_log) {
  for (const char* reason : {"http_client.resolve", "http_client.connect", "http_client.connect_timeout",
                             "http_client.proxy", "http_client.tls", "http_client.reset", "http_client.truncated",
                             "http_client.idle_timeout", "http_client.new"}) {
    const auto raw = ry::error(RY_UNAVAILABLE, reason, "10.0.0.7:3128 said \"no\"");
    const auto view = raw.view();
    const auto e = error_of(RY_UNAVAILABLE, &view);
    EXPECT_EQ(e.status(), RY_UNAVAILABLE);
    EXPECT_EQ(e.message().find("10.0"), std::string_view::npos) << e.message();
    EXPECT_FALSE(e.message().empty());
    EXPECT_EQ(e.detail_json(), R"({"cause":"10.0.0.7:3128 said \"no\""})");
  }
  const auto refused = ry::error(RY_PERMISSION_DENIED, "http_client.address_refused", "10.0.0.7 is private");
  const auto view = refused.view();
  EXPECT_EQ(error_of(RY_PERMISSION_DENIED, &view).message(), "MCP URL points to a private or local address");
}

}  // namespace
}  // namespace mcp_transport
