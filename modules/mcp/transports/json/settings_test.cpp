#include "settings.hpp"

#include <gmock/gmock.h>
#include <ry/cpp/settings_check.hpp>
#include <ry/cpp/types.hpp>

namespace mcp_json {
namespace {

constexpr char any[] = R"({"allow_any_command":true})";

std::vector<std::string> faults_of(std::string_view json, std::string_view mode, std::string_view private_paths = {}) {
  ry::settings_faults faults;
  (void)read_settings(json, mode, private_paths, faults);
  std::vector<std::string> out;
  for (const auto& f : faults.all()) out.push_back(f.key);
  return out;
}

settings read(std::string_view json, std::string_view mode) {
  ry::settings_faults faults;
  return read_settings(json, mode, {}, faults);
}

TEST(settings, no_command_is_allowed_by_default) {
  for (const char* mode : {"local", "staging", "production"}) {
    EXPECT_FALSE(read("{}", mode).any_command);
    EXPECT_FALSE(allowed(read("{}", mode), read_command(R"({"command":"/bin/sh"})")));
  }
}

TEST(settings, any_command_can_be_allowed_in_local_mode_only) {
  EXPECT_TRUE(read(any, "local").any_command);
  EXPECT_TRUE(faults_of(any, "local").empty());
  for (const char* mode : {"staging", "production"}) {
    EXPECT_FALSE(read(any, mode).any_command);
    EXPECT_THAT(faults_of(any, mode), testing::ElementsAre("allow_any_command"));
  }
  EXPECT_THAT(faults_of(R"({"allow_any_command":true,"allowed_commands":["uvx"]})", "local"),
              testing::ElementsAre("allow_any_command"));
}

TEST(settings, readable_paths_must_not_overlap_the_servers_own_files) {
  constexpr std::string_view private_paths = "/srv/ry/data\n/etc/runyard\n/keys/tls.pem\n";
  const auto faults = [&](const char* path) {
    return faults_of(R"({"readable":["/opt/ok",")" + std::string(path) + R"("]})", "production", private_paths).size();
  };
  for (const char* path :
       {"/srv/ry/data", "/srv/ry/data/", "/srv/ry", "/srv", "/", "/srv/ry/data/workspaces", "/srv/./ry//data",
        "/opt/../srv/ry", "/etc", "/etc/runyard/modules.d", "/keys", "/keys/tls.pem"})
    EXPECT_EQ(1u, faults(path)) << path;
  for (const char* path : {"/srv/ry/data2", "/srv/r", "/srv/ry/dat", "/etc/runyard2", "/keys/tls", "/opt"})
    EXPECT_EQ(0u, faults(path)) << path;
  EXPECT_THAT(faults_of(R"({"readable":["/opt"],"writable":["/a","/srv"]})", "local", private_paths),
              testing::ElementsAre("writable[1]"));
  EXPECT_TRUE(faults_of(any, "local", private_paths).empty()) << "the default directories hide private paths";
}

TEST(settings, programs_run_in_a_sandbox_by_default) {
  EXPECT_EQ(read("{}", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read(R"({"sandbox":"none"})", "local").sandbox, "");
  EXPECT_EQ(read("{}", "production").sandbox, "bubblewrap");
  EXPECT_EQ(read(R"({"allowed_commands":["uvx"]})", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read(R"({"sandbox":"bubblewrap"})", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read(R"({"sandbox":"none"})", "production").sandbox, "");
  const auto s = read(R"({"readable":["/opt/a"],"writable":["/srv/b"],"network":false})", "production");
  EXPECT_THAT(s.readable, testing::ElementsAre("/opt/a"));
  EXPECT_THAT(s.writable, testing::ElementsAre("/srv/b"));
  EXPECT_FALSE(s.network);
}

TEST(settings, with_any_command_allowed_the_usual_program_directories_are_readable) {
  EXPECT_THAT(read(any, "local").readable, testing::Contains("/home"));
  EXPECT_THAT(read("{}", "local").readable, testing::IsEmpty());
  EXPECT_THAT(read(R"({"allow_any_command":true,"readable":[]})", "local").readable, testing::IsEmpty());
  EXPECT_THAT(read(R"({"allowed_commands":["uvx"]})", "local").readable, testing::IsEmpty());
  EXPECT_THAT(read("{}", "production").readable, testing::IsEmpty());
  EXPECT_THAT(read("{}", "local").writable, testing::IsEmpty());
}

TEST(settings, the_allow_list_matches_exactly) {
  const auto s = read(R"({"allowed_commands":["uvx","npx -y @a/server","/opt/x"]})", "production");
  const auto is_allowed = [&](const char* config) { return allowed(s, read_command(config)); };
  EXPECT_TRUE(is_allowed(R"({"command":"uvx","args":["anything"]})"));
  EXPECT_TRUE(is_allowed(R"({"command":"npx","args":["-y","@a/server","/data"]})"));
  EXPECT_TRUE(is_allowed(R"({"command":"/opt/x"})"));
  EXPECT_FALSE(is_allowed(R"({"command":"npx","args":["-y","@a/server2"]})"));
  EXPECT_FALSE(is_allowed(R"({"command":"npx"})"));
  EXPECT_FALSE(is_allowed(R"({"command":"/tmp/uvx"})"));
  EXPECT_FALSE(is_allowed(R"({"command":"sh","args":["-c","uvx"]})"));
  EXPECT_FALSE(is_allowed(R"({"command":"npx -y @a/server"})"));
}

TEST(settings, invalid_configurations_are_rejected) {
  for (const char* config :
       {"", "[]", "{}", R"({"command":""})", R"({"command":7})", R"({"command":"a","args":[7]})",
        R"({"command":"a","env":{"LD_PRELOAD":"x"}})", R"({"command":"a","env":{"NODE_OPTIONS":"-r x"}})",
        R"({"command":"a","env":{"PATH":"/tmp"}})", R"({"command":"a","env":{"A=B":"x"}})",
        R"({"command":"a","args":["b\u0000c"]})"}) {
    EXPECT_THROW(read_command(config), ry::error) << config;
  }
  const auto c = read_command(R"({"command":"a","args":["b"],"env":{"TOKEN":"t"}})");
  EXPECT_EQ(c.argv, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c.env.size(), 1u);
}

TEST(settings, variables_must_be_listed_if_commands_are_listed) {
  const auto c = read_command(R"({"command":"npx","env":{"TOKEN":"t","npm_config_registry":"https://evil.example"}})");
  EXPECT_EQ(disallowed_variable(read(R"({"allowed_commands":["npx"]})", "local"), c), "TOKEN");
  EXPECT_EQ(disallowed_variable(read(R"({"allowed_commands":["npx"],"allowed_env":["TOKEN"]})", "production"), c),
            "npm_config_registry");
  EXPECT_EQ(disallowed_variable(read(any, "local"), c), "");
  EXPECT_THROW(read_command(R"({"command":"npx","env":{"HOME":"/x"}})"), ry::error);
}

TEST(settings, the_exceeded_limit_of_a_program_is_reported) {
  const auto s = read(
      R"({"processes":64,"memory_mb":100,"open_files":99,"file_mb":7,"scratch_mb":5,"wall_seconds":9,"package_cache_mb":3})",
      "local");
  const auto limit_of = [&](std::int32_t code, std::int32_t reason, std::string_view errors, bool sandboxed = true) {
    return limit_reached(s, sandboxed, code, reason, errors);
  };
  EXPECT_EQ(limit_of(1, 0, "Error: spawn /usr/bin/node EAGAIN"), "processes = 64");
  EXPECT_EQ(limit_of(134, 0, "Assertion failed: uv_thread_create"), "processes = 64");
  EXPECT_EQ(limit_of(2, 0, "sh: 0: Cannot fork"), "processes = 64");
  EXPECT_EQ(
      limit_of(-9, RY_REASON_OVERLOAD, "sandbox: terminated: its processes took more than 100 MiB of memory together"),
      "memory_mb = 100");
  EXPECT_EQ(limit_of(134, 0, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
            "memory_mb = 100");
  EXPECT_EQ(limit_of(-9, RY_REASON_OVERLOAD, "sandbox: terminated: its cache is larger than 3 MiB"),
            "package_cache_mb = 3");
  EXPECT_EQ(limit_of(1, 0, "Error: EMFILE: too many open files"), "open_files = 99");
  EXPECT_EQ(limit_of(153, 0, ""), "file_mb = 7");
  EXPECT_EQ(limit_of(1, 0, "ENOSPC: no space left on device, write"), "scratch_mb = 5");
  EXPECT_EQ(limit_of(-9, RY_REASON_DEADLINE, ""), "wall_seconds = 9");
  EXPECT_EQ(limit_of(1, 0, "cannot reach the database"), "");
  // Only the sandbox prints these messages.
  EXPECT_EQ(limit_of(1, 0, "EAGAIN", false), "");
}

TEST(settings, termination_for_lack_of_machine_resources_is_not_a_limit_of_the_program) {
  EXPECT_TRUE(machine_is_short_of_resources("\nsandbox: terminated: the server's disk is nearly full\n"));
  EXPECT_TRUE(machine_is_short_of_resources("error\nsandbox: terminated: the server is nearly out of memory\n"));
  EXPECT_FALSE(
      machine_is_short_of_resources("sandbox: terminated: its processes took more than 100 MiB of memory together"));
  EXPECT_FALSE(machine_is_short_of_resources("the server is nearly out of memory"));
}

TEST(settings, package_runners_get_cache_variables) {
  const auto names = [](const char* program) {
    std::vector<std::string> out;
    for (const auto& [name, value] : cache_variables({{program}, {}}, "/cache")) out.push_back(name);
    return out;
  };
  EXPECT_EQ(cache_variables({{"npx"}, {}}, "/cache").front(),
            (std::pair<std::string, std::string>("npm_config_cache", "/cache/npm")));
  EXPECT_FALSE(names("/usr/local/bin/npx").empty());
  EXPECT_FALSE(names("uvx").empty());
  EXPECT_TRUE(names("node").empty());
  EXPECT_TRUE(names("/tmp/npx/server").empty());
}

}  // namespace
}  // namespace mcp_json
