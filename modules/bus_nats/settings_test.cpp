#include "settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>
#include <ry/cpp/settings_check.hpp>

namespace json = boost::json;

namespace {

// The schema's defaults, with `changes` applied.
std::string with(json::object changes) {
  const auto schema =
      json::parse(json::string_view(bus_nats::settings_schema.data(), bus_nats::settings_schema.size()));
  json::object o;
  for (const auto& [key, s] : schema.at("properties").as_object())
    if (const auto* value = s.as_object().if_contains("default")) o[key] = *value;
  for (auto& [key, v] : changes) o[key] = v;
  return json::serialize(o);
}

std::string fault_of(json::object changes) {
  ry::settings_faults faults;
  (void)bus_nats::read_settings(with(std::move(changes)), faults);
  std::string out;
  for (const auto& f : faults.all()) out += f.key + " " + f.message + "\n";
  return out;
}

const json::array servers{"nats://127.0.0.1:4222", "tls://[::1]", "nats://nats-2.example"};

TEST(settings, reads_servers_and_defaults) {
  ry::settings_faults faults;
  const auto s = bus_nats::read_settings(with({{"urls", servers}, {"token", "t0p-secret"}}), faults);
  EXPECT_TRUE(faults.all().empty());
  EXPECT_EQ(s.urls.size(), 3u);
  EXPECT_EQ(s.token, "t0p-secret");
  EXPECT_TRUE(s.in_memory);
  EXPECT_EQ(s.stream, "RUNYARD");
}

TEST(settings, faults_name_their_key) {
  EXPECT_THAT(fault_of({{"urls", json::array{"nats://h:0"}}}), testing::HasSubstr("port"));
  EXPECT_THAT(fault_of({{"urls", json::array{"nats://h:70000"}}}), testing::HasSubstr("port"));
  EXPECT_THAT(fault_of({{"urls", json::array{"tls://[::1]:99999"}}}), testing::HasSubstr("port"));
  EXPECT_THAT(fault_of({{"urls", servers}, {"user", "u"}}), testing::HasSubstr("password"));
  EXPECT_THAT(fault_of({{"urls", servers}, {"user", "u"}, {"password", "p"}, {"token", "t"}}),
              testing::HasSubstr("only one"));
  EXPECT_THAT(fault_of({{"urls", servers}, {"tls_key_file", "k"}}), testing::StartsWith("tls_cert_file is required"));
  EXPECT_EQ(fault_of({{"urls", json::array{"nats://h:1", "nats://h:0"}}, {"password", "p"}, {"tls_cert_file", "c"}}),
            "urls[1] must have a port from 1 to 65535\n"
            "user is required: user and password must be set together\n"
            "tls_key_file is required: tls_cert_file and tls_key_file must be set together\n");
}

TEST(settings, the_schema_accepts_only_urls_of_servers) {
  const auto schema =
      json::parse(json::string_view(bus_nats::settings_schema.data(), bus_nats::settings_schema.size()));
  const std::regex url(std::string(schema.at("properties").at("urls").at("items").at("pattern").as_string()));
  for (const auto& good : servers) EXPECT_TRUE(std::regex_match(std::string(good.as_string()), url));
  for (const char* bad : {"", "127.0.0.1:4222", "http://h:1", "nats://", "nats://u:p@h:1", "nats://h:1/x",
                          "nats://h:1,nats://g:1", "nats://h :1", "nats://h:123456"})
    EXPECT_FALSE(std::regex_match(bad, url)) << bad;
}

}  // namespace
