#include "settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string error_message(std::string_view config) {
  try {
    const auto c = llm::parse_config(config, {"own"});
    llm::read_endpoint("p", c, "https://default.example");
    llm::number_setting(c, "own", 5, 1, 10);
  } catch (const ry::error& e) {
    return std::string(e.message());
  }
  return "";
}

TEST(settings, reads_an_endpoint) {
  const auto c = llm::parse_config(
      R"({"kind":"x","base_url":"http://h:1/v1//","api_key":"k","headers":{"A":"b"},"timeout_seconds":3,"own":7})",
      {"own"});
  const auto e = llm::read_endpoint("p", c, "https://default.example");
  EXPECT_EQ(e.name, "p");
  EXPECT_EQ(e.url, "http://h:1/v1");
  EXPECT_EQ(e.secret, "k");
  EXPECT_EQ(e.total_ms, 3000u);
  EXPECT_EQ(e.idle_ms, 120'000u);
  ASSERT_EQ(e.headers.size(), 1u);
  EXPECT_EQ(llm::number_setting(c, "own", 5, 1, 10), 7);
  EXPECT_EQ(llm::read_endpoint("p", {}, "https://default.example").url, "https://default.example");
}

TEST(settings, errors_name_the_invalid_key) {
  EXPECT_EQ(error_message("{}"), "");
  EXPECT_NE(error_message("[]"), "");
  EXPECT_NE(error_message(R"({"base_ur":"x"})").find("base_ur"), std::string::npos);
  EXPECT_NE(error_message(R"({"other":1})").find("other"), std::string::npos);
  EXPECT_NE(error_message(R"({"base_url":"ftp://x"})").find("base_url"), std::string::npos);
  EXPECT_NE(error_message(R"({"api_key":5})").find("api_key"), std::string::npos);
  EXPECT_NE(error_message(R"({"headers":{"A":1}})").find("headers.A"), std::string::npos);
  EXPECT_NE(error_message(R"({"headers":{"a b":"x"}})").find("headers.a b is not a header name"), std::string::npos);
  EXPECT_NE(error_message("{\"headers\":{\"a\":\"x\\ny\"}}").find("headers.a contains"), std::string::npos);
  EXPECT_NE(error_message(R"({"timeout_seconds":0})").find("timeout_seconds"), std::string::npos);
  EXPECT_NE(error_message(R"({"own":11})").find("own"), std::string::npos);
}

llm::endpoint endpoint_of(std::string_view config) {
  return llm::read_endpoint("p", llm::parse_config(config, {}), "https://default.example");
}

TEST(settings, collects_the_secrets_to_mask_in_messages) {
  const auto e = endpoint_of(
      R"({"base_url":"https://h/v1?api-version=2025-04-01&api_key=inquery&x=1","api_key":"thekey","proxy":"http://u:proxypass@h:1",)"
      R"("headers":{"Authorization":"Bearer theheader","X-Title":"the title","X-Gateway-Token":"gateway","Api-Key":"abc"}})");
  EXPECT_EQ(e.secrets,
            (std::vector<std::string>{"Bearer theheader", "theheader", "proxypass", "gateway", "inquery", "thekey"}));
  EXPECT_TRUE(endpoint_of(R"({"base_url":"https://h/@cf/a:b","proxy":"http://h:3128"})").secrets.empty());
}

TEST(settings, reads_the_proxy) {
  using from = llm::endpoint::proxy_from;
  const struct {
    const char* config;
    from proxied;
    const char* proxy;
  } rows[] = {{"{}", from::environment, ""},
              {R"({"proxy":null})", from::environment, ""},
              {R"({"proxy":"environment"})", from::environment, ""},
              {R"({"proxy":"none"})", from::none, ""},
              {R"({"proxy":""})", from::none, ""},
              {R"({"proxy":"http://u:p@h:3128"})", from::setting, "http://u:p@h:3128"}};
  for (const auto& r : rows) {
    const auto e = endpoint_of(r.config);
    EXPECT_EQ(e.proxied, r.proxied) << r.config;
    EXPECT_EQ(e.proxy, r.proxy) << r.config;
  }
  for (const char* wrong :
       {"https://u:hush@h", "socks5://u:hush@h", "hush", "http://u:hush@", "http://u:hush@a b", "http://"}) {
    const auto message = error_message("{\"proxy\":\"" + std::string(wrong) + "\"}");
    EXPECT_TRUE(message.starts_with("proxy must be ")) << wrong << ": " << message;
    EXPECT_EQ(message.find("hush"), std::string::npos) << message;
  }
  EXPECT_TRUE(error_message(R"({"proxy":1})").starts_with("proxy "));
}

TEST(settings, reads_the_ca_file) {
  char name[] = "/tmp/ry-ca-XXXXXX";
  const int fd = ::mkstemp(name);
  ASSERT_GE(fd, 0);
  const std::string config = "{\"ca_file\":\"" + std::string(name) + "\"}";
  EXPECT_TRUE(error_message(config).starts_with("ca_file cannot be read, or is empty: /tmp/")) << error_message(config);
  ASSERT_EQ(::write(fd, "PEM", 3), 3);
  EXPECT_EQ(endpoint_of(config).ca_pem, "PEM");
  ::close(fd);
  ::unlink(name);
  EXPECT_TRUE(error_message(config).starts_with("ca_file cannot be read"));
  EXPECT_EQ(endpoint_of(R"({"ca_file":""})").ca_pem, "");
}

TEST(settings, a_configured_header_replaces_the_header_of_the_driver) {
  auto e = endpoint_of(R"({"headers":{"authorization":"Custom x"}})");
  llm::add_header(e, "Authorization", "Bearer k");
  llm::add_header(e, "X-Other", "y");
  ASSERT_EQ(e.headers.size(), 2u);
  EXPECT_EQ(e.headers[0].second, "Custom x");
  EXPECT_EQ(e.headers[1].first, "X-Other");
}

TEST(settings, a_path_is_inserted_before_the_query) {
  const struct {
    const char* base;
    const char* expected;
  } rows[] = {{"https://h/v1", "https://h/v1/chat"},
              {"https://h/v1/", "https://h/v1/chat"},
              {"https://h/v1/chat", "https://h/v1/chat"},
              {"https://h/d1?api-version=1", "https://h/d1/chat?api-version=1"},
              {"https://h/d1/?api-version=1/", "https://h/d1/chat?api-version=1/"},
              {"https://h", "https://h/chat"}};
  for (const auto& r : rows) EXPECT_EQ(llm::with_path(r.base, "/chat"), r.expected) << r.base;
}

TEST(settings, an_endpoint_keeps_its_query) {
  const auto c = llm::parse_config(R"({"base_url":"https://h/v1/?api-version=1#top"})", {});
  EXPECT_EQ(llm::read_endpoint("p", c, "").url, "https://h/v1?api-version=1");
}

TEST(settings, reads_the_host_of_a_url) {
  for (const auto& [url, host] :
       {std::pair("https://API.OpenAI.com/v1", "api.openai.com"), std::pair("http://h:1/v1", "h"),
        std::pair("https://u:p@h?x=@y", "h"), std::pair("http://[::1]:8/v1", "[::1]"), std::pair("none", "")})
    EXPECT_EQ(llm::host_of(url), host);
}

TEST(settings, reads_flags_and_extra_body) {
  const auto c = llm::parse_config(R"({"on":true,"extra_body":{"a":1}})", {"on", "extra_body"});
  EXPECT_TRUE(llm::flag_setting(c, "on", false));
  EXPECT_TRUE(llm::flag_setting(c, "absent", true));
  EXPECT_TRUE(llm::extra_body_setting(c).contains("a"));
  EXPECT_THROW((void)llm::flag_setting(llm::parse_config(R"({"on":"yes"})", {"on"}), "on", false), ry::error);
  EXPECT_THROW((void)llm::extra_body_setting(llm::parse_config(R"({"extra_body":1})", {"extra_body"})), ry::error);
}

}  // namespace
