#include "core/app/boot/deployment_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace ry::app {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class deployment : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ry-deployment-XXXXXX";
    dir_ = mkdtemp(name);
    fs::create_directories(dir_ / "modules.d");
    fs::create_directories(dir_ / "data");
    write("runyard.toml", "[secrets]\nkey = \"" + key_ + "\"\n", 0600);
  }
  void TearDown() override { fs::remove_all(dir_); }
  void write(const std::string& name, const std::string& text, mode_t mode) {
    std::ofstream(dir_ / name) << text;
    ::chmod((dir_ / name).c_str(), mode);
  }
  std::vector<std::string> warnings(std::vector<std::string> overrides = {}, process_circumstances now = {}) {
    overrides.push_back("data_dir=" + (dir_ / "data").string());
    overrides.push_back("modules.path=" + (dir_ / "data").string());
    const config::config c({dir_ / "runyard.toml", overrides}, {}, {"d", "m"});
    EXPECT_THAT(c.faults(), IsEmpty());
    return deployment_warnings(c, dir_ / "runyard.toml", now);
  }
  const std::string key_ = std::string(64, 'a');
  fs::path dir_;
};

TEST_F(deployment, a_secure_configuration_has_no_warnings) {
  EXPECT_THAT(warnings({"deployment.mode=local"}), IsEmpty());
}

TEST_F(deployment, a_key_set_without_issuer_or_audience_is_reported) {
  const auto both = warnings({"deployment.mode=local", "auth.jwt.jwks_url=https://id.example/jwks"});
  EXPECT_THAT(both, Contains(HasSubstr("auth.jwt.issuer")));
  EXPECT_THAT(both, Contains(HasSubstr("auth.jwt.audience")));
  EXPECT_THAT(warnings({"deployment.mode=local", "auth.jwt.jwks_url=https://id.example/jwks",
                        "auth.jwt.issuer=https://id.example", "auth.jwt.audience=[\"api\"]"}),
              IsEmpty());
}

TEST_F(deployment, files_that_other_users_can_change_or_read_are_reported) {
  write("runyard.toml", "[secrets]\nkey = \"" + key_ + "\"\n", 0644);
  EXPECT_THAT(warnings({"deployment.mode=local"}),
              Contains(HasSubstr("runyard.toml, which contains secrets, can be read by every user")));
  write("runyard.toml", "", 0644);
  EXPECT_THAT(warnings({"deployment.mode=local"}), IsEmpty()) << "without a secret";
  write("runyard.toml", "", 0666);
  EXPECT_THAT(warnings({"deployment.mode=local"}), Contains(HasSubstr("runyard.toml can be changed by every user")));
  write("runyard.toml", "", 0600);
  write("environment", "RUNYARD_SECRETS__KEY=" + key_ + "\n", 0644);
  EXPECT_THAT(warnings({"deployment.mode=local", "secrets.key=" + key_}),
              Contains(HasSubstr("environment, which contains secrets, can be read by every user")));
  fs::remove(dir_ / "environment");
  write("modules.d/a.toml", "", 0602);
  EXPECT_THAT(warnings({"deployment.mode=local"}), Contains(HasSubstr("a.toml can be changed")));
  write("modules.d/a.toml", "", 0600);
  write("data/auth.key", "x", 0644);
  EXPECT_THAT(warnings({"deployment.mode=local"}), Contains(HasSubstr("auth.key can be read")));
  ::chmod((dir_ / "data" / "auth.key").c_str(), 0600);
  ::chmod((dir_ / "modules.d").c_str(), 0777);
  ::chmod((dir_ / "data").c_str(), 0777);
  const auto dirs = warnings({"deployment.mode=local"});
  EXPECT_THAT(dirs, Contains(HasSubstr("modules.d can be changed")));
  EXPECT_THAT(dirs, Contains(HasSubstr("the module directory")));
  EXPECT_THAT(dirs, Each(Not(HasSubstr(key_)))) << "a warning contains a secret";
}

TEST_F(deployment, secret_files_named_by_settings_are_checked) {
  write("tls.cert", "", 0644);
  write("tls.key", "", 0644);
  write("keys", "", 0640);
  const auto found =
      warnings({"deployment.mode=local", "http.tls.cert=" + (dir_ / "tls.cert").string(),
                "http.tls.key=" + (dir_ / "tls.key").string(), "secrets.key_file=" + (dir_ / "keys").string()});
  EXPECT_THAT(found, ElementsAre(HasSubstr("tls.key can be read by every user")));
}

TEST_F(deployment, unneeded_privileges_are_reported) {
  process_circumstances strong;
  strong.capabilities = {"CAP_SYS_ADMIN"};
  strong.groups = {"docker"};
  EXPECT_THAT(warnings({"deployment.mode=staging"}, strong),
              ElementsAre(HasSubstr("capability CAP_SYS_ADMIN"), HasSubstr("group docker")));
  EXPECT_THAT(warnings({"deployment.mode=local"}, strong), IsEmpty());
  strong.is_root = strong.in_container = true;
  EXPECT_THAT(warnings({"deployment.mode=staging"}, strong), IsEmpty()) << "root has these privileges anyway";
}

TEST_F(deployment, root_and_disabled_limits_are_reported_outside_local_mode) {
  process_circumstances root;
  root.is_root = true;
  const auto limited = std::vector<std::string>{"deployment.mode=production", "http.limits.address_per_minute=600",
                                                "http.limits.account_per_minute=600", "http.limits.account_streams=50"};
  EXPECT_THAT(warnings(limited), IsEmpty());
  EXPECT_THAT(warnings(limited, root), Contains(HasSubstr("runs as root")));
  root.in_container = true;
  EXPECT_THAT(warnings(limited, root), IsEmpty());
  const auto open = warnings({"deployment.mode=production"});
  for (const char* key : {"address_per_minute", "account_per_minute", "account_streams"})
    EXPECT_THAT(open, Contains(HasSubstr(key)));
  EXPECT_EQ(open.size(), 3u) << "the other limits are enabled";
  EXPECT_THAT(warnings({"deployment.mode=staging"}), IsEmpty());
  for (const std::string key :
       {"http.limits.address_connections", "http.limits.account_uploads", "http.limits.uploads",
        "http.limits.account_upload_bytes", "http.limits.upload_bytes", "http.limits.account_unsent_bytes",
        "http.limits.unsent_bytes", "http.body_min_rate_bytes", "http.read_min_rate_bytes", "http.body_timeout_seconds",
        "database.statement_timeout_seconds"}) {
    auto without = limited;
    without.push_back(key + "=0");
    EXPECT_THAT(warnings(without), ElementsAre(key + " = 0 disables this protection"));
  }
}

TEST_F(deployment, disabled_protections_of_modules_are_reported) {
  const auto with = [&](const std::string& mode, const std::string& reserve, const std::string& sandbox) {
    config::config c(
        {dir_ / "runyard.toml",
         {"data_dir=" + (dir_ / "data").string(), "modules.path=" + (dir_ / "data").string(), "deployment.mode=" + mode,
          "http.limits.address_per_minute=600", "http.limits.account_per_minute=600", "http.limits.account_streams=50",
          "box.reserve=" + reserve, "box.driver.sandbox=\"" + sandbox + "\""}},
        {}, {"d", "m"});
    c.check_names({"box"});
    EXPECT_TRUE(c.module_settings("box", R"({"properties": {
      "reserve": {"type": "number", "off": 0, "default": 5},
      "driver": {"type": "object", "properties": {"sandbox": {"type": "string", "off": "none"}}}}})"));
    return deployment_warnings(c, dir_ / "runyard.toml", {});
  };
  EXPECT_THAT(with("production", "1", "bubblewrap"), IsEmpty());
  EXPECT_THAT(with("production", "0.0", "none"),
              ElementsAre(HasSubstr("box.reserve = 0"), HasSubstr("box.driver.sandbox = \"none\"")));
  EXPECT_THAT(with("staging", "0", "none"), IsEmpty());
}

}  // namespace
}  // namespace ry::app
