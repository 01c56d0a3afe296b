#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "body.hpp"
#include "mcp_list.hpp"

using namespace agents;
using testing::HasSubstr;
using testing::Not;
namespace json = boost::json;

namespace {

template <class F>
ry::error error_of(F f) {
  try {
    f();
  } catch (const ry::error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return ry::error(RY_OK);
}

std::string fake_seal(std::string_view plain) {
  return std::string(plain.rbegin(), plain.rend());
}

std::string read(const std::string& given, std::string_view stored = "[]") {
  return read_mcp_list(json::parse(given), stored, fake_seal);
}

const std::string weather = R"({"name":"weather","type":"http","config":{"url":"https://w.example/mcp",)"
                            R"("headers":{"Authorization":"Bearer top-secret"}},"enabledTools":["forecast"]})";

}  // namespace

TEST(mcp_list, stores_secrets_sealed_and_returns_them_masked) {
  const auto stored = read("[" + weather + "]");
  EXPECT_THAT(stored, Not(HasSubstr("top-secret")));
  EXPECT_THAT(stored, HasSubstr(R"("sealed":)"));
  const auto shown = json::serialize(masked_mcp_list(stored));
  EXPECT_THAT(shown, HasSubstr(R"("headers":{"Authorization":"********"})"));
  EXPECT_THAT(shown, Not(HasSubstr("sealed")));

  const auto updated = read(shown, stored);
  EXPECT_EQ(json::parse(updated), json::parse(stored)) << "the mask keeps the stored value";
  const auto e = error_of([&] { read(shown, "[]"); });
  EXPECT_EQ(e.http_status(), 422u);
  EXPECT_THAT(std::string(e.message()), HasSubstr("custom_mcps[0].config.headers.Authorization"));
}

TEST(mcp_list, a_mask_keeps_the_value_of_the_same_server) {
  const auto stored = read("[" + weather + "]");
  const auto sealed = json::parse(stored).at(0).at("config").at("headers").at("Authorization");
  for (const std::string server : {R"("name":"other name","type":"http","config":{"url":"https://w.example/mcp",)",
                                   R"("name":"weather","type":"http","config":{"url":"HTTPS://W.example:443/mcp",)"}) {
    for (const char* header : {"Authorization", "authorization", "AUTHORIZATION"}) {
      const auto updated =
          read("[{" + server + R"("headers":{")" + header + R"(":"********"}},"enabledTools":[]}])", stored);
      EXPECT_EQ(json::parse(updated).at(0).at("config").at("headers").at(header), sealed) << server << header;
    }
  }
}

TEST(mcp_list, a_mask_prefers_the_configuration_with_the_same_name) {
  const auto item = [](const std::string& name, const std::string& value) {
    return R"({"name":")" + name + R"(","type":"http","config":{"url":"http://x","headers":{"K":")" + value +
           R"("}},"enabledTools":[]})";
  };
  const auto stored = read("[" + item("a", "1") + "," + item("b", "2") + "]");
  const auto updated = read("[" + item("b", "********") + "," + item("a", "********") + "]", stored);
  EXPECT_EQ(json::parse(updated).at(0), json::parse(stored).at(1));
  EXPECT_EQ(json::parse(updated).at(1), json::parse(stored).at(0));
}

TEST(mcp_list, names_of_environment_variables_are_case_sensitive) {
  const auto item = [](const std::string& variable) {
    return R"([{"name":"a","type":"json","config":{"command":"x","env":)" + variable + R"(},"enabledTools":[]}])";
  };
  const auto stored = read(item(R"({"KEY":"v"})"));
  EXPECT_EQ(json::parse(read(item(R"({"KEY":"********"})"), stored)), json::parse(stored));
  EXPECT_EQ(error_of([&] { read(item(R"({"key":"********"})"), stored); }).http_status(), 422u);
}

TEST(mcp_list, removes_duplicate_tool_names) {
  const auto stored =
      read(R"([{"name":"a","type":"http","config":{"url":"http://x"},"enabledTools":["add","sub","add","add"]}])");
  EXPECT_EQ(json::parse(stored).at(0).at("enabledTools"), (json::array{"add", "sub"}));
}

TEST(mcp_list, only_changed_servers_are_checked_again) {
  const auto stored = read("[" + weather + "]");
  const auto shown = json::value(masked_mcp_list(stored));
  EXPECT_EQ(unchecked_mcp_list(shown, read(json::serialize(shown), stored), stored), "");
  auto edited = shown;
  edited.at(0).at("name") = "renamed";
  edited.at(0).at("enabledTools") = json::array{"other"};
  EXPECT_EQ(unchecked_mcp_list(edited, read(json::serialize(edited), stored), stored), "");
  edited.as_array().push_back(
      json::parse(R"({"name":"n","type":"sse","config":{"url":"http://n"},"enabledTools":[]})"));
  const auto checked = json::parse(unchecked_mcp_list(edited, read(json::serialize(edited), stored), stored));
  EXPECT_TRUE(checked.at(0).is_null());
  EXPECT_EQ(checked.at(1), edited.at(1));
  edited.at(0).at("config").at("headers").at("Authorization") = "new";
  EXPECT_TRUE(json::parse(unchecked_mcp_list(edited, read(json::serialize(edited), stored), stored)).at(0).is_object());
}

TEST(mcp_list, a_mask_does_not_reuse_the_value_of_another_server) {
  const auto stored = read("[" + weather + "]");
  for (const std::string server : {R"("name":"weather","type":"http","config":{"url":"https://evil.example/mcp",)",
                                   R"("name":"weather","type":"http","config":{"url":"http://w.example/mcp",)",
                                   R"("name":"weather","type":"sse","config":{"url":"https://w.example/mcp",)"})
    EXPECT_EQ(error_of([&] {
                read("[{" + server + R"("headers":{"Authorization":"********"}},"enabledTools":[]}])", stored);
              }).http_status(),
              422u)
        << server;
}

TEST(mcp_list, does_not_validate_addresses_of_custom_transports) {
  const auto stored =
      read(R"([{"name":"a","type":"http","customType":"custom","config":{"url":"custom:address"},"enabledTools":[]}])");
  EXPECT_NE(stored.find("custom:address"), std::string::npos);
  EXPECT_EQ(error_of([&] {
              read(R"([{"name":"a","type":"http","config":{"url":"custom:address"},"enabledTools":[]}])");
            }).http_status(),
            422u);
}

TEST(mcp_list, reads_all_types_and_both_spellings) {
  const auto stored = read(
      R"([{"name":"a","type":"json","config":{"command":"npx","args":["-y","x"],"env":{"K":"v-secret"}},
           "enabled_tools":[],"custom_type":"local"},
          {"name":"b","type":"prebuilt","config":{"profile_id":"p1","ignored":1},"enabledTools":["t"]},
          {"name":"c","type":"composio","config":{"profile_id":"p2"},"enabledTools":[]},
          {"name":"d","type":"sse","config":{"url":"http://x","reuse":true},"enabledTools":[]},
          {"name":"e","type":"sse","config":{"url":"http://x","reuse":false},"enabledTools":[]}])");
  const auto list = json::parse(stored).as_array();
  EXPECT_EQ(list[3].at("config").at("reuse"), true);
  EXPECT_FALSE(list[4].at("config").as_object().contains("reuse"));
  EXPECT_EQ(list[0].at("customType"), "local");
  EXPECT_EQ(list[0].at("enabledTools").as_array().size(), 0u);
  EXPECT_THAT(stored, Not(HasSubstr("v-secret")));
  EXPECT_THAT(stored, Not(HasSubstr("ignored")));
  EXPECT_EQ(list[2].at("type"), "composio");
}

TEST(mcp_list, stores_the_revision_and_the_time_limit_for_every_type) {
  for (const char* config : {R"("type":"http","config":{"url":"http://x")", R"("type":"json","config":{"command":"x")",
                             R"("type":"prebuilt","config":{"profile_id":"p")"}) {
    const auto list = json::parse(
        read(R"([{"name":"a",)" + std::string(config) +
             R"(,"revision":"2025-06-18","timeout_seconds":7200,"session":"call","tasks":false},"enabledTools":[]}])"));
    EXPECT_EQ(list.at(0).at("config").at("session"), "call") << config;
    EXPECT_EQ(list.at(0).at("config").at("tasks"), false) << config;
    EXPECT_EQ(list.at(0).at("config").at("revision"), "2025-06-18") << config;
    EXPECT_EQ(list.at(0).at("config").at("timeout_seconds"), 7200) << config;
  }
  const auto automatic =
      read(R"([{"name":"a","type":"http","config":{"url":"http://x","revision":"auto"},"enabledTools":[]}])");
  EXPECT_THAT(automatic, Not(HasSubstr("revision")));
}

TEST(mcp_list, stores_the_members_that_a_run_uses) {
  for (const char* config : {R"("type":"http","config":{"url":"http://x")", R"("type":"json","config":{"command":"x")",
                             R"("type":"prebuilt","config":{"profile_id":"p")"}) {
    const auto list =
        json::parse(read(R"([{"name":"a",)" + std::string(config) +
                         R"(,"instructions":false,"resources":true,"on_tool_change":"ask"},"enabledTools":[]}])"));
    const auto& stored = list.at(0).at("config");
    EXPECT_EQ(stored.at("instructions"), false) << config;
    EXPECT_EQ(stored.at("resources"), true) << config;
    EXPECT_EQ(stored.at("on_tool_change"), "ask") << config;
  }
  const auto with_default =
      read(R"([{"name":"a","type":"http","config":{"url":"http://x","on_tool_change":"log"},"enabledTools":[]}])");
  EXPECT_THAT(with_default, Not(HasSubstr("on_tool_change")));
}

TEST(mcp_list, rejections_name_the_member) {
  const auto item = [](const std::string& rest) { return "[{" + rest + "}]"; };
  const std::string tail = R"(,"enabledTools":[])";
  for (const auto& [given, place] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "custom_mcps"},
           {"[7]", "custom_mcps[0]"},
           {item(R"("type":"http")"), "custom_mcps[0].name"},
           {item(R"("name":"a")"), "custom_mcps[0].type"},
           {item(R"("name":"a","type":"ftp")"), "custom_mcps[0].type"},
           {item(R"("name":"\u0000","type":"http")"), "custom_mcps[0].name"},
           {item(R"("name":"a","type":"http")" + tail), "custom_mcps[0].config"},
           {item(R"("name":"a","type":"http","config":{})" + tail), "custom_mcps[0].config.url"},
           {item(R"("name":"a","type":"http","config":{"url":"file:///etc/passwd"})" + tail),
            "custom_mcps[0].config.url"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","headers":[1]})" + tail),
            "custom_mcps[0].config.headers"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","headers":{"A":1}})" + tail),
            "custom_mcps[0].config.headers.A"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","headers":{"A":"b\r\nc"}})" + tail),
            "custom_mcps[0].config.headers.A"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","headers":{"a b":"x"}})" + tail),
            "custom_mcps[0].config.headers.a b"},
           {item(R"("name":"a","type":"sse","config":{"url":"http://x","headers":{"\u00e4":"x"}})" + tail),
            "custom_mcps[0].config.headers.\xC3\xA4"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","headers":{"":"x"}})" + tail),
            "custom_mcps[0].config.headers."},
           {item(R"("name":"a","type":"json","config":{"command":""})" + tail), "custom_mcps[0].config.command"},
           {item(R"("name":"a","type":"json","config":{"command":"x","args":[1]})" + tail),
            "custom_mcps[0].config.args[0]"},
           {item(R"("name":"a","type":"prebuilt","config":{})" + tail), "custom_mcps[0].config.profile_id"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","reuse":"yes"})" + tail),
            "custom_mcps[0].config.reuse"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","revision":"newest"})" + tail),
            "custom_mcps[0].config.revision"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","revision":20250618})" + tail),
            "custom_mcps[0].config.revision"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","timeout_seconds":0})" + tail),
            "custom_mcps[0].config.timeout_seconds"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","timeout_seconds":"60"})" + tail),
            "custom_mcps[0].config.timeout_seconds"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","instructions":"no"})" + tail),
            "custom_mcps[0].config.instructions"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","resources":1})" + tail),
            "custom_mcps[0].config.resources"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","on_tool_change":"ignore"})" + tail),
            "custom_mcps[0].config.on_tool_change"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","session":"forever"})" + tail),
            "custom_mcps[0].config.session"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x","tasks":"no"})" + tail),
            "custom_mcps[0].config.tasks"},
           {item(R"("name":"a","type":"json","config":{"command":"x","cwd":"/srv"})" + tail),
            "custom_mcps[0].config.cwd"},
           {item(R"("name":"a","type":"http","config":{"url":"http://x"})"), "custom_mcps[0].enabledTools"},
           {"[" + weather + "," + weather + "]", "custom_mcps[1].name"}}) {
    const auto e = error_of([&] { read(given); });
    EXPECT_EQ(e.http_status(), 422u) << given;
    EXPECT_THAT(std::string(e.message()), testing::StartsWith(place + " ")) << given;
  }
}

TEST(mcp_list, tolerates_malformed_stored_lists) {
  for (const char* stored : {"", "{", "{}", "null", R"([1,{"config":7},{"config":{"headers":7}}])"}) {
    EXPECT_LE(masked_mcp_list(stored).size(), 3u);
    EXPECT_EQ(read("[]", stored), "[]");
  }
}

TEST(agent_body, reads_the_present_members) {
  const auto b = read_agent_body(
      R"({"name":"A","system_prompt":"one\ntwo","model_name":null,"expected_version":3,
          "agent_id":"x","is_default":true,"version":9})");
  EXPECT_EQ(b.change.name, "A");
  EXPECT_EQ(b.change.system_prompt, "one\ntwo");
  EXPECT_EQ(b.change.model_name, "");
  EXPECT_EQ(b.change.description, std::nullopt);
  EXPECT_EQ(b.change.expected_version, 3);
  EXPECT_FALSE(b.mcps);
  EXPECT_TRUE(read_agent_body(R"({"custom_mcps":[]})").mcps);
}

TEST(agent_body, rejections_name_the_field) {
  for (const auto& [text, field] : std::vector<std::pair<std::string, std::string>>{
           {R"({"name":""})", "name"},
           {R"({"name":"\u200b \u202e"})", "name"},
           {R"({"name":5})", "name"},
           {R"({"name":")" + std::string(101, 'x') + "\"}", "name"},
           {R"({"system_prompt":"a\u0000b"})", "system_prompt"},
           {R"({"system_prompt":")" + std::string(64 * 1024 + 1, 'x') + "\"}", "system_prompt"},
           {R"({"model_name":[]})", "model_name"},
           {R"({"expected_version":0})", "expected_version"},
           {R"({"expected_version":"1"})", "expected_version"},
           {R"({"promt":"x"})", "promt"}}) {
    const auto e = error_of([&] { read_agent_body(text); });
    EXPECT_EQ(e.http_status(), 422u) << text.substr(0, 40);
    EXPECT_THAT(std::string(e.message()), HasSubstr(field));
  }
  EXPECT_EQ(read_agent_body(R"({"name":" a\u0007\u202eb\u00a0"})").change.name, "ab");
  for (const char* text : {"", "[]", "{", "\"x\""}) {
    EXPECT_EQ(error_of([&] { read_agent_body(text); }).reason(), "agents.body") << text;
  }
}
