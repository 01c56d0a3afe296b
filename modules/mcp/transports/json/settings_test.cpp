#include "settings.hpp"

#include <gmock/gmock.h>
#include <ry/cpp/types.hpp>

namespace mcp_json {
namespace {

TEST(Settings, OnlyLocalModeAllowsEverythingByItself) {
  EXPECT_TRUE(read_settings("{}", "local").any_command);
  EXPECT_FALSE(read_settings("{}", "staging").any_command);
  EXPECT_FALSE(read_settings("{}", "production").any_command);
  EXPECT_FALSE(read_settings(R"({"allowed_commands":[]})", "local").any_command);
}

TEST(Settings, ProgramsRunInASandboxUnlessTheOperatorWantsNone) {
  EXPECT_EQ(read_settings("{}", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read_settings(R"({"sandbox":"none"})", "local").sandbox, "");
  EXPECT_EQ(read_settings("{}", "production").sandbox, "bubblewrap");
  EXPECT_EQ(read_settings(R"({"allowed_commands":["uvx"]})", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read_settings(R"({"sandbox":"bubblewrap"})", "local").sandbox, "bubblewrap");
  EXPECT_EQ(read_settings(R"({"sandbox":"none"})", "production").sandbox, "");
  const auto s = read_settings(R"({"readable":["/opt/a"],"writable":["/srv/b"],"network":false})", "production");
  EXPECT_THAT(s.readable, testing::ElementsAre("/opt/a"));
  EXPECT_THAT(s.writable, testing::ElementsAre("/srv/b"));
  EXPECT_FALSE(s.network);
}

TEST(Settings, WhereEverythingMayBeStartedTheUsualPlacesOfProgramsAreSeen) {
  EXPECT_THAT(read_settings("{}", "local").readable, testing::Contains("/home"));
  EXPECT_THAT(read_settings(R"({"readable":[]})", "local").readable, testing::IsEmpty());
  EXPECT_THAT(read_settings(R"({"allowed_commands":["uvx"]})", "local").readable, testing::IsEmpty());
  EXPECT_THAT(read_settings("{}", "production").readable, testing::IsEmpty());
  EXPECT_THAT(read_settings("{}", "local").writable, testing::IsEmpty());
}

TEST(Settings, TheAllowListIsExact) {
  const auto s = read_settings(R"({"allowed_commands":["uvx","npx -y @a/server","/opt/x"]})", "production");
  const auto may = [&](const char* config) { return allowed(s, read_command(config)); };
  EXPECT_TRUE(may(R"({"command":"uvx","args":["anything"]})"));
  EXPECT_TRUE(may(R"({"command":"npx","args":["-y","@a/server","/data"]})"));
  EXPECT_TRUE(may(R"({"command":"/opt/x"})"));
  EXPECT_FALSE(may(R"({"command":"npx","args":["-y","@a/server2"]})"));
  EXPECT_FALSE(may(R"({"command":"npx"})"));
  EXPECT_FALSE(may(R"({"command":"/tmp/uvx"})"));
  EXPECT_FALSE(may(R"({"command":"sh","args":["-c","uvx"]})"));
  EXPECT_FALSE(may(R"({"command":"npx -y @a/server"})"));
}

TEST(Settings, BadConfigurationsAreRefused) {
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

TEST(Settings, VariablesAreListedWhereCommandsAre) {
  const auto c = read_command(R"({"command":"npx","env":{"TOKEN":"t","npm_config_registry":"https://evil.example"}})");
  EXPECT_EQ(refused_variable(read_settings(R"({"allowed_commands":["npx"]})", "local"), c), "TOKEN");
  EXPECT_EQ(refused_variable(read_settings(R"({"allowed_commands":["npx"],"allowed_env":["TOKEN"]})", "production"), c),
            "npm_config_registry");
  EXPECT_EQ(refused_variable(read_settings("{}", "local"), c), "");
  EXPECT_THROW(read_command(R"({"command":"npx","env":{"HOME":"/x"}})"), ry::error);
}

TEST(Settings, TheLimitThatEndedAProgramIsNamed) {
  const auto s = read_settings(R"({"processes":64,"memory_mb":100,"open_files":99,"file_mb":7,"scratch_mb":5,"wall_seconds":9,"package_cache_mb":3})", "local");
  const auto named = [&](std::int32_t code, std::int32_t why, std::string_view errors, bool sandboxed = true) {
    return limit_reached(s, sandboxed, code, why, errors);
  };
  EXPECT_EQ(named(1, 0, "Error: spawn /usr/bin/node EAGAIN"), "processes = 64");
  EXPECT_EQ(named(134, 0, "Assertion failed: uv_thread_create"), "processes = 64");
  EXPECT_EQ(named(2, 0, "sh: 0: Cannot fork"), "processes = 64");
  EXPECT_EQ(named(-9, RY_WHY_OVERLOAD, "sandbox: ended, its processes took more than 100 MiB of memory together"), "memory_mb = 100");
  EXPECT_EQ(named(134, 0, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"), "memory_mb = 100");
  EXPECT_EQ(named(-9, RY_WHY_OVERLOAD, "sandbox: ended, its cache is larger than 3 MiB"), "package_cache_mb = 3");
  EXPECT_EQ(named(1, 0, "Error: EMFILE: too many open files"), "open_files = 99");
  EXPECT_EQ(named(153, 0, ""), "file_mb = 7");
  EXPECT_EQ(named(1, 0, "ENOSPC: no space left on device, write"), "scratch_mb = 5");
  EXPECT_EQ(named(-9, RY_WHY_DEADLINE, ""), "wall_seconds = 9");
  EXPECT_EQ(named(1, 0, "cannot reach the database"), "");
  // These are the sandbox's.
  EXPECT_EQ(named(1, 0, "EAGAIN", false), "");
}

TEST(Settings, PackageRunnersKeepTheirPackages) {
  const auto names = [](const char* program) {
    std::vector<std::string> out;
    for (const auto& [name, value] : cache_variables({{program}, {}}, "/cache")) out.push_back(name);
    return out;
  };
  EXPECT_EQ(cache_variables({{"npx"}, {}}, "/cache").front(), (std::pair<std::string, std::string>("npm_config_cache", "/cache/npm")));
  EXPECT_FALSE(names("/usr/local/bin/npx").empty());
  EXPECT_FALSE(names("uvx").empty());
  EXPECT_TRUE(names("node").empty());
  EXPECT_TRUE(names("/tmp/npx/server").empty());
}

}  // namespace
}  // namespace mcp_json
