#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/svc/accounts.h>
#include <ry/cpp/input.hpp>
#include <ry/testing.hpp>

using testing::HasSubstr;
using testing::Not;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string agent_id = "33333333-3333-4333-8333-333333333333";

// A fake accounts/1 with one account of the tier free, which allows one MCP server.
ry_status ensure(void*, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept;
const ry_tier_view* no_tier(void*, ry_str) noexcept {
  return nullptr;
}
ry_status no_find(void*, const ry_uuid*, ry_exec*, ry_account_fn, void*) noexcept {
  return RY_UNIMPLEMENTED;
}
constexpr ry_accounts_v1 accounts_table{sizeof(ry_accounts_v1), 0, ensure, no_tier, no_find};

class agent_routes : public testing::Test {
 protected:
  agent_routes() {
    host_.services[RY_SVC_ACCOUNTS_1] = {&accounts_table, &host_};
    current = &host_;
    host_.load(*ry_module_entry());
  }
  void stored(const std::string& mcps) {
    host_.db.on("where a.id = $2",
                {{"id", "account_id", "is_default", "current_version", "version", "name", "description",
                  "system_prompt", "model_name", "mcps", "tool_policy", "created_at"},
                 {{agent_id, ann, "f", "1", "1", "A", "", "", std::nullopt, mcps, "[]", "2026-01-01T00:00:00.000Z"}}});
  }
  ry::testing::answer put(const std::string& body) {
    ry::testing::call_options o;
    o.body = body;
    return host_.call("PUT", "/agents/" + agent_id, o);
  }
  ry::testing::fake_host host_;

 public:
  static ry::testing::fake_host* current;
};
ry::testing::fake_host* agent_routes::current = nullptr;

ry_status ensure(void*, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
  agent_routes::current->ctx().post(exec, [fn, ctx] {
    ry_tier_view tier{};
    tier.struct_size = sizeof tier;
    tier.name = ry::str("free");
    tier.custom_mcps = 1;
    ry_account_view v{};
    v.struct_size = sizeof v;
    v.account_id = *ry::uuid::parse(ann);
    v.account_id_text = ry::str(ann);
    v.tier = &tier;
    fn(ctx, RY_OK, &v, nullptr);
  });
  return RY_OK;
}

std::string server(const std::string& name, const std::string& secret) {
  return R"({"name":")" + name + R"(","type":"http","config":{"url":"https://x","headers":{"A":")" + secret +
         R"("}},"enabledTools":[]})";
}

}  // namespace

TEST_F(agent_routes, unknown_ids_are_404_and_malformed_ones_400) {
  host_.db.on("where a.id = $2", {});
  const auto a = host_.call("GET", "/agents/" + agent_id);
  EXPECT_EQ(a.status, 404u);
  EXPECT_EQ(a.failure.message(), "Worker not found");
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    const auto b = host_.call(method, "/agents/nonsense");
    EXPECT_EQ(b.status, 400u) << method;
    EXPECT_EQ(b.failure.message(), "Invalid UUID format");
  }
}

TEST_F(agent_routes, a_cursor_of_another_list_is_refused) {
  for (const auto& cursor : {agent_id, std::string("1"), ry::make_cursor("versions:" + agent_id, "1"),
                             ry::make_cursor("agents", "not-a-uuid")}) {
    const auto a = host_.call("GET", "/agents?cursor=" + cursor);
    EXPECT_EQ(a.status, 400u) << cursor;
    EXPECT_EQ(a.failure.message(), "cursor is not valid for this list");
  }
  const auto of_another_agent = ry::make_cursor("versions:" + ann, "1");
  for (const auto& cursor : {std::string("1"), of_another_agent, ry::make_cursor("agents", agent_id)}) {
    EXPECT_EQ(host_.call("GET", "/agents/" + agent_id + "/versions?cursor=" + cursor).status, 400u) << cursor;
  }
}

TEST_F(agent_routes, is_default_is_passed_to_the_database) {
  stored("[]");
  host_.db.on("agents.change_agent", {{"revise"}, {{"1"}}});
  EXPECT_EQ(put(R"({"is_default":true})").status, 200u);
  bool revised = false;
  for (const auto& c : host_.db.calls) {
    if (c.sql.find("agents.change_agent") == std::string::npos) continue;
    revised = true;
    EXPECT_EQ(c.params.at(8), "t");
  }
  EXPECT_TRUE(revised);
  EXPECT_EQ(put(R"({"is_default":"yes"})").status, 422u);
}

TEST_F(agent_routes, returns_secrets_masked) {
  stored("[" + server("w", "x") + "]");
  const auto a = host_.call("GET", "/agents/" + agent_id);
  EXPECT_EQ(a.status, 200u);
  EXPECT_THAT(a.body, HasSubstr(R"("headers":{"A":"********"})"));
  EXPECT_THAT(a.body, HasSubstr(R"("model_name":null)"));
}

TEST_F(agent_routes, seals_secrets_before_they_reach_the_database) {
  stored("[]");
  host_.db.on("agents.change_agent", {{"revise"}, {{"2"}}});
  const auto a = put(R"({"custom_mcps":[)" + server("w", "plain-secret") + "]}");
  EXPECT_EQ(a.status, 200u) << a.failure.message();
  bool revised = false;
  for (const auto& c : host_.db.calls) {
    for (const auto& p : c.params) EXPECT_THAT(p.value_or(""), Not(HasSubstr("plain-secret")));
    if (c.sql.find("agents.change_agent") == std::string::npos) continue;
    revised = true;
    EXPECT_EQ(c.params.at(2), "1") << "bound to the version that was read";
    EXPECT_THAT(c.params.at(7).value_or(""), HasSubstr("sealed"));
  }
  EXPECT_TRUE(revised);
}

TEST_F(agent_routes, passes_the_plans_server_limit_to_the_database) {
  stored("[" + server("w", "x") + "]");
  const auto limit_reached = ry::http_error(402, RY_RESOURCE_EXHAUSTED, "db.RY402", "reached",
                                            R"({"error_code":"CUSTOM_WORKER_LIMIT_EXCEEDED"})");
  host_.db.fail("agents.change_agent", limit_reached);
  const auto a = put(R"({"custom_mcps":[)" + server("a", "xxxxxx") + "," + server("b", "yyyyyy") + "]}");
  EXPECT_EQ(a.status, 402u);
  EXPECT_EQ(a.failure.detail_json(), R"({"error_code":"CUSTOM_WORKER_LIMIT_EXCEEDED"})");
  const auto& p = host_.db.calls.back().params;
  EXPECT_EQ(p.at(10), "1");
  EXPECT_EQ(p.at(11), "free");
}

TEST_F(agent_routes, the_tool_policy_is_validated_and_passed_to_the_database) {
  stored("[]");
  host_.db.on("agents.change_agent", {{"change_agent"}, {{"2"}}});
  const auto changed = put(R"({"tool_policy":[{"action":"ask","when":{"b":"\u0000","a":"*"},"match":"git__*"}]})");
  EXPECT_EQ(changed.status, 200u) << changed.failure.message();
  EXPECT_THAT(changed.body, HasSubstr(R"("tool_policy":[])"));
  bool revised = false;
  for (const auto& c : host_.db.calls) {
    if (c.sql.find("agents.change_agent") == std::string::npos) continue;
    revised = true;
    EXPECT_EQ(c.params.at(9), R"([{"match":"git__*","action":"ask","when":{"a":"*","b":"\u0000"}}])");
  }
  EXPECT_TRUE(revised);
  const std::string long_pattern(1000, 'x');
  std::string many;
  for (int i = 0; i < 70; ++i)
    many += (i == 0 ? R"({"match":")" : R"(,{"match":")") + long_pattern + R"(","action":"ask"})";
  for (const auto& [policy, problem] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"("x")", "tool_policy must be an array of rules"},
           {"{}", "tool_policy must be an array of rules"},
           {"[1]", "tool_policy[0] must be an object"},
           {R"([{"match":"a","action":"allow"}])", "tool_policy[0].action must be run, ask or deny"},
           {R"([{"match":"a","action":"ask","when":{"x":1}}])", "tool_policy[0].when must have strings as values"},
           {R"([{"match":"a","action":"ask","to":1}])", "tool_policy[0] has an unknown member \"to\""},
           {"[" + many + "]", "tool_policy must have at most 65536 bytes"}}) {
    const auto refused = put(R"({"tool_policy":)" + policy + "}");
    EXPECT_EQ(refused.status, 422u) << policy.substr(0, 100);
    EXPECT_EQ(refused.failure.message(), problem);
  }
}

TEST_F(agent_routes, retries_after_a_concurrent_change_unless_a_version_was_expected) {
  stored("[]");
  const auto conflict = ry::error(RY_ALREADY_EXISTS, "db.RY409", "changed meanwhile").with_http(409);
  host_.db.fail("agents.change_agent", conflict);
  host_.db.on("agents.change_agent", {{"revise"}, {{"2"}}});
  EXPECT_EQ(put(R"({"name":"B"})").status, 200u);
  host_.db.script_["agents.change_agent"] = {{{}, {}, 0, conflict}};
  EXPECT_EQ(put(R"({"name":"B","expected_version":1})").status, 409u);
  EXPECT_EQ(put(R"({"name":""})").status, 422u);
  EXPECT_EQ(put("[]").status, 400u);
}

TEST_F(agent_routes, creates_the_default_agent_when_an_account_is_created) {
  host_.db.on("agents.ensure_default", {});
  EXPECT_EQ(host_.deliver("default_agent", "account.created", ann, "{}"), RY_OK);
  EXPECT_THAT(host_.db.calls.back().sql, HasSubstr("agents.ensure_default"));
  host_.db.script_.clear();
  host_.db.fail("agents.ensure_default", ry::unavailable("db.down", "away"));
  EXPECT_EQ(host_.deliver("default_agent", "account.created", ann, "{}"), RY_UNAVAILABLE);
  EXPECT_EQ(host_.deliver("default_agent", "account.created", "nonsense", "{}"), RY_OK);
}
