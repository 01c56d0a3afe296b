#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/app/admin/host_metrics.hpp"
#include "core/app/boot/data_dir_lock.hpp"
#include "core/app/boot/paths.hpp"
#include "core/app/boot/settings.hpp"

namespace ry::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class server_environment_test : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-app-XXXXXX";
    dir_ = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(dir_); }
  config::config with(std::vector<std::string> overrides) {
    return config::config({{}, std::move(overrides)}, {}, {"d", "m"});
  }
  std::vector<std::string> faults(const config::config& c) {
    std::vector<std::string> out;
    for (const auto& p : c.faults()) out.push_back(p.format());
    return out;
  }
  fs::path dir_;
};

TEST(listen, parses_addresses) {
  const auto is = [](const char* text, const char* address, int port) {
    const auto at = parse_listen(text);
    return at && at->address == address && at->port == port;
  };
  EXPECT_TRUE(is("127.0.0.1:8080", "127.0.0.1", 8080));
  EXPECT_TRUE(is("[::1]:0", "::1", 0));
  EXPECT_TRUE(is("localhost:65535", "127.0.0.1", 65535));
  EXPECT_TRUE(is("*:1", "0.0.0.0", 1));
  EXPECT_TRUE(is(":1", "0.0.0.0", 1));
  for (const auto* bad : {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8080x",
                          "::1:80", "[::1]", "[127.0.0.1]:80", "example.org:80"})
    EXPECT_FALSE(parse_listen(bad)) << bad;
  EXPECT_EQ(base_url({"::1", 0}, 81, true), "https://[::1]:81");
  EXPECT_EQ(base_url({"0.0.0.0", 0}, 82, false), "http://127.0.0.1:82");
}

TEST_F(server_environment_test, unusable_values_are_reported_at_their_key) {
  auto c = with({"http.listen=example.org:80", "http.tls.cert=/nowhere/c.pem", "http.tls.key=/nowhere/k.pem",
                 "deployment.mode=production", "auth.jwt.hs256_secret=short", "egress.ca_file=/nowhere/ca.pem",
                 "secrets.old_keys=[\"x\"]"});
  ASSERT_THAT(faults(c), IsEmpty());
  (void)http_settings(c);
  (void)auth_settings(c);
  (void)egress_settings(c);
  (void)secret_keys(c);
  EXPECT_THAT(faults(c), ElementsAre(HasSubstr("--set: http.listen: must be ADDRESS:PORT"),
                                     HasSubstr("--set: http.tls.cert: the file /nowhere/c.pem"),
                                     HasSubstr("--set: http.tls.key: the file /nowhere/k.pem"),
                                     HasSubstr("--set: auth.jwt.hs256_secret: must have at least 32"),
                                     HasSubstr("--set: egress.ca_file: the file"),
                                     HasSubstr("--set: secrets.old_keys: requires a current key"),
                                     HasSubstr("--set: secrets.old_keys: key 1 must be 32 bytes")));
}

TEST_F(server_environment_test, files_and_lists_are_validated_at_start) {
  const auto invalid_file = (dir_ / "invalid").string();
  std::ofstream(invalid_file) << "neither a certificate nor a key set";
  auto c = with({"http.tls.cert=" + invalid_file, "http.tls.key=" + invalid_file,
                 "http.cors.origins=[\"*\", \"https://a.example\", \"http://b.example:8080\", \"tauri://localhost\","
                 "\"c.example\", \"https://d.example/\", \"https://E.example\", \"https://f.example:443\"]",
                 "http.trusted_proxies=[\"10.0.0.0/8\", \"10.0.0.0/99\"]", "auth.jwt.jwks_file=" + invalid_file,
                 "egress.ca_file=" + invalid_file});
  ASSERT_THAT(faults(c), IsEmpty());
  (void)http_settings(c);
  (void)auth_settings(c);
  (void)egress_settings(c);
  EXPECT_THAT(faults(c),
              ElementsAre(HasSubstr("http.tls.cert: the file " + invalid_file + " contains no usable certificate"),
                          HasSubstr("http.cors.origins: \"c.example\" is not an origin"),
                          HasSubstr("http.cors.origins: \"https://d.example/\" is not an origin"),
                          HasSubstr("http.cors.origins: \"https://E.example\" is not an origin"),
                          HasSubstr("http.cors.origins: \"https://f.example:443\" is not an origin"),
                          HasSubstr("http.trusted_proxies: \"10.0.0.0/99\" has no usable prefix length"),
                          HasSubstr("auth.jwt.jwks_file: the file " + invalid_file + ": the key set"),
                          HasSubstr("egress.ca_file: cannot use the certificates in " + invalid_file)));
}

TEST_F(server_environment_test, the_public_url_is_validated_at_start) {
  const auto faults_of = [&](const std::string& url) {
    auto c = with({"http.public_url=\"" + url + "\""});
    (void)http_settings(c);
    return faults(c);
  };
  for (const auto* good : {"", "https://runs.example.org", "http://localhost:8080/prefix/", "https://[2001:db8::1]"})
    EXPECT_THAT(faults_of(good), IsEmpty()) << good;
  for (const auto* bad : {"https://user:secret@runs.example.org", "https://runs.example.org/a?b", "https://a.org/#top",
                          "https://a.org:99999", "https://a.org/%zz"})
    EXPECT_THAT(faults_of(bad), ElementsAre(AllOf(HasSubstr("http.public_url: "), Not(HasSubstr("secret"))))) << bad;
}

TEST_F(server_environment_test, a_brand_color_needs_contrast_with_white) {
  const auto faults_of = [&](const std::string& color) {
    auto c = with({"brand.color=\"" + color + "\""});
    check_brand(c);
    return faults(c);
  };
  for (const auto* good : {"#1d5fd1", "#000000", "#C2410C", "#767676"}) EXPECT_THAT(faults_of(good), IsEmpty()) << good;
  for (const auto* bad : {"blue", "#fff", "1d5fd1", "#12345g", "#1d5fd1 "})
    EXPECT_THAT(faults_of(bad), ElementsAre(HasSubstr("brand.color: must be a color in the form #1d5fd1"))) << bad;
  EXPECT_THAT(faults_of("#ffff00"), ElementsAre(HasSubstr("brand.color: its contrast with white is 1.1:1")));
}

TEST_F(server_environment_test, secret_keys_keep_their_order) {
  std::ofstream(dir_ / "keys") << "# rotated\n\n  key2 \nkey3\n";
  auto c = with({"secrets.key=key1", "secrets.key_file=" + (dir_ / "keys").string(), "secrets.old_keys=[\"key4\"]"});
  EXPECT_THAT(secret_keys(c), ElementsAre("key1", "key2", "key3", "key4"));
}

TEST_F(server_environment_test, the_address_guard_is_off_only_in_local_mode) {
  for (const auto* mode : {"local", "staging", "production"}) {
    auto c = with({std::string("deployment.mode=") + mode});
    EXPECT_EQ(egress_settings(c).guard == http::address_guard::off, std::string(mode) == "local");
  }
}

TEST_F(server_environment_test, only_one_server_can_use_a_data_directory) {
  const auto data = dir_ / "a" / "data";
  std::string first;
  {
    const data_dir_lock one(data);
    first = one.node_id();
    EXPECT_THAT(first, ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"));
    EXPECT_EQ(one.previous_node_id(), "");
    EXPECT_EQ(fs::status(data).permissions() & fs::perms::mask, fs::perms::owner_all);
    try {
      const data_dir_lock two(data);
      FAIL() << "a second server got the directory";
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), HasSubstr("another server uses it"));
    }
  }
  const data_dir_lock again(data);
  EXPECT_EQ(again.previous_node_id(), first);
  EXPECT_NE(again.node_id(), first);
}

TEST_F(server_environment_test, a_data_directory_that_is_a_file_is_rejected) {
  std::ofstream(dir_ / "f") << "x";
  EXPECT_THROW(data_dir_lock(dir_ / "f"), std::runtime_error);
  EXPECT_THROW(data_dir_lock(dir_ / "f" / "below"), std::runtime_error);
}

TEST_F(server_environment_test, default_paths_follow_the_build_tree_or_the_installation) {
  fs::create_directories(dir_ / "bin");
  EXPECT_EQ(default_paths(dir_ / "bin").modules_path, "/usr/lib/runyard/modules");
  fs::create_directories(dir_ / "modules");
  EXPECT_EQ(default_paths(dir_ / "bin").modules_path, (dir_ / "modules").string());
  EXPECT_EQ(default_paths(dir_ / "bin").data_dir, ".runyard");
  fs::create_directories(dir_ / "lib/runyard/modules");
  EXPECT_EQ(default_paths(dir_ / "bin").modules_path, (dir_ / "lib/runyard/modules").string());
  EXPECT_EQ(default_paths("/usr/bin").data_dir, "/var/lib/runyard");
}

TEST(host_metrics, renders_prometheus_text) {
  http::server_stats s;
  s.connections = 3;
  http::route_stats r{"GET", "/a/{id}", {{200, 4}, {404, 1}}, {}, 1'500'000};
  r.latency[0] = 3;
  r.latency[13] = 2;
  s.routes.push_back(r);
  const auto text = render(s);
  EXPECT_THAT(text, HasSubstr("\nrunyard_http_connections 3\n"));
  EXPECT_THAT(text, HasSubstr("runyard_http_requests_total{method=\"GET\",route=\"/a/{id}\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_bucket{method=\"GET\",route=\"/a/{id}\",le=\"0.0001\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_bucket{method=\"GET\",route=\"/a/{id}\",le=\"+Inf\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_sum{method=\"GET\",route=\"/a/{id}\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("request_seconds_count{method=\"GET\",route=\"/a/{id}\"} 5\n"));
}

TEST(host_metrics, renders_queue_depths) {
  jobs::queue_stats s;
  s.depths.push_back({{4, 3, 2, 1}, "mail", 62.5});
  s.kind_depths["mail.send"] = {4, 0, 2, 0};
  s.kinds["mail.send"] = {7, 1, 0};
  const auto text = render(s);
  for (const char* line :
       {"depth{queue=\"mail\",state=\"ready\"} 4\n", "depth{queue=\"mail\",state=\"scheduled\"} 3\n",
        "depth{queue=\"mail\",state=\"running\"} 2\n", "depth{queue=\"mail\",state=\"dead\"} 1\n",
        "oldest_ready_seconds{queue=\"mail\"} 62.5\n", "kind_depth{kind=\"mail.send\",state=\"running\"} 2\n",
        "ended_total{kind=\"mail.send\",outcome=\"done\"} 7\n",
        "ended_total{kind=\"mail.send\",outcome=\"retried\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(std::string("\nrunyard_jobs_") + line));
}

TEST(host_metrics, renders_connection_pool_counters) {
  db::pool_stats s;
  s.connections = 5;
  s.in_use = 2;
  s.waits[0] = 3;
  s.waits[2] = 4;
  s.wait_sum_us = 2'500'000;
  s.failures[RY_UNAVAILABLE] = 6;
  const auto text = render(s);
  for (const char* line :
       {"connections{state=\"in_use\"} 2\n", "connections{state=\"idle\"} 3\n",
        "wait_seconds_bucket{le=\"0.0001\"} 3\n", "wait_seconds_bucket{le=\"0.0005\"} 3\n",
        "wait_seconds_bucket{le=\"0.001\"} 7\n", "wait_seconds_bucket{le=\"+Inf\"} 7\n", "wait_seconds_sum 2.5\n",
        "wait_seconds_count 7\n", "failures_total{error=\"unavailable\"} 6\n"})
    EXPECT_THAT(text, HasSubstr(std::string("\nrunyard_database_") + line));
}

}  // namespace
}  // namespace ry::app
