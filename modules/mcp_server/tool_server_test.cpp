// The endpoint of the operator's MCP servers, with fakes of the modules mcp, runs and accounts.
#include "tool_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/svc/mcp.h>
#include <boost/json/parse.hpp>
#include <ry/testing_runs.hpp>

#include "server_tools.hpp"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string caller_account = "11111111-1111-4111-8111-111111111111";
const std::string client_session = "0191f2c0-7d5a-8b7e-9d2b-3c1f5a0e4b11";  // version 8: with elicitation

// The module mcp with the tools of one server. A call waits until result() or the caller's cancel.
struct fake_mcp {
  explicit fake_mcp(ry::testing::fake_host& host) : host(host) {}
  ry::testing::fake_host& host;
  std::string opened;  // servers_json
  ry_status open_status = RY_OK;
  std::string tools =
      R"([{"name":"files__read","source":"mcp:files","description":"Reads","read_only":true,"idempotent":true,)"
      R"("parameters":{"type":"object","properties":{"path":{"type":"string","x-mcp-header":"Path"}}},"own_time_limit":true},)"
      R"({"name":"files__write","source":"mcp:files","description":"Writes","parameters":{}}])";
  struct made_call {
    std::string account, run, thread, name, arguments;
  };
  std::vector<made_call> calls;
  std::vector<std::string> ended;  // run ids
  int cancelled = 0;
  bool holds = false;  // calls wait
  std::string result = R"({"content":"done","is_error":false,"mcp":{"content":[{"type":"text","text":"done"}]}})";
  ry_status status = RY_OK;
  ry_tool_sink sink{};
  void* sink_ctx = nullptr;

  static fake_mcp& of(void* self) { return *static_cast<fake_mcp*>(self); }
  void end_call(ry_status st, const std::string& text) const {
    const ry::error e(st, "test", "secret host");
    const ry_error_view v = e.view();
    sink.on_result(sink_ctx, st, st == RY_OK ? ry::str(text) : ry_str{}, st == RY_OK ? nullptr : &v);
  }
  static const ry_agent_tools_v1* agent_tools() {
    static const ry_agent_tools_v1 table{
        sizeof(ry_agent_tools_v1),
        0,
        [](void* self, const ry_tools_scope* scope, ry_exec* exec, ry_tools_list_fn fn, void* ctx) noexcept {
          EXPECT_EQ(ry::text(scope->account_id), caller_account);
          fake_mcp& m = of(self);
          m.host.ctx().post(exec, [&m, fn, ctx] { fn(ctx, RY_OK, ry::str(m.tools), nullptr); });
          return ry_status{RY_OK};
        },
        [](void* self, const ry_tools_scope* scope, ry_str, ry_str name, ry_str arguments, ry_exec* exec,
           const ry_tool_sink* sink, void* ctx, void** call) noexcept {
          fake_mcp& m = of(self);
          m.calls.push_back({ry::text(scope->account_id), ry::text(scope->run_id), ry::text(scope->thread_id),
                             ry::text(name), ry::text(arguments)});
          m.sink = *sink;
          m.sink_ctx = ctx;
          *call = self;
          if (!m.holds)
            m.host.ctx().post(exec, [&m] {
              m.sink.on_output(m.sink_ctx, ry::str("half"));
              m.end_call(m.status, m.result);
            });
          return ry_status{RY_OK};
        },
        [](void* self, void*) noexcept {
          fake_mcp& m = of(self);
          ++m.cancelled;
          m.host.ctx().post(m.host.exec(), [&m] { m.end_call(RY_CANCELLED, {}); });
        },
        nullptr,
        [](void* self, const ry_tools_scope* scope, std::int32_t finished) noexcept {
          EXPECT_EQ(finished, 1);
          of(self).ended.push_back(ry::text(scope->run_id));
        },
        nullptr};
    return &table;
  }
  static const ry_mcp_v1* table() {
    static const ry_mcp_v1 t{
        sizeof(ry_mcp_v1), 0, [](void*) noexcept { return 1; },
        [](void* self, ry_str servers, const ry_agent_tools_v1** tools, void** tools_self, ry_errbuf* err) noexcept {
          fake_mcp& m = of(self);
          m.opened = ry::text(servers);
          *tools = agent_tools();
          *tools_self = self;
          if (m.open_status != RY_OK) ry::detail::put_error(err, "[0]: config.url is not valid");
          return m.open_status;
        }};
    return &t;
  }
};

constexpr ry_accounts_v1 one_account{
    sizeof(ry_accounts_v1), 0,
    [](void* self, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept -> ry_status {
      static_cast<fake_mcp*>(self)->host.ctx().post(exec, [fn, ctx] {
        ry_account_view v{};
        v.struct_size = sizeof v;
        v.account_id = *ry::uuid::parse(caller_account);
        fn(ctx, RY_OK, &v, nullptr);
      });
      return RY_OK;
    },
    [](void*, ry_str) noexcept -> const ry_tier_view* { return nullptr; },
    [](void*, const ry_uuid*, ry_exec*, ry_account_fn, void*) noexcept -> ry_status { return RY_UNIMPLEMENTED; }};
constexpr ry_agents_v1 no_agents{sizeof(ry_agents_v1), 0, nullptr, nullptr, nullptr, nullptr};

const char* const with_servers =
    R"({"max_body_mb":1,"calls_per_account":1,"elicitation_wait_seconds":60,"servers":[{"name":"files","type":"http",)"
    R"("config":{"url":"http://h/mcp","headers":{"X-Key":"top-secret"},"args":[],"env":{}},"enabledTools":["read","write"]}]})";

class operator_servers : public ::testing::Test {
 protected:
  operator_servers() {
    host_.services[RY_SVC_ACCOUNTS_1] = {&one_account, &mcp_};
    host_.services[RY_SVC_AGENTS_1] = {&no_agents, nullptr};
    host_.services[RY_SVC_MCP_1] = {fake_mcp::table(), &mcp_};
    runs_.provide(host_);
  }
  void load(const char* settings = with_servers) { host_.load(*ry_module_entry(), settings); }

  static ry::testing::call_options message(std::string body, const ry::headers& extra = {}) {
    ry::testing::call_options o;
    o.body = std::move(body);
    o.fields = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
    for (const auto& each : extra) o.fields.push_back(each);
    return o;
  }
  static std::string request(const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"(","params":{)" + params + "}}";
  }
  static std::string tool_call(const std::string& name, const std::string& arguments, const std::string& more = {}) {
    return request("tools/call", R"("name":")" + name + R"(","arguments":)" + arguments + more);
  }
  std::string post(const std::string& body, const ry::headers& extra = legacy()) {
    return host_.call("POST", "/mcp/servers", message(body, extra)).body;
  }
  static ry::headers legacy() { return {{"MCP-Protocol-Version", "2025-11-25"}}; }
  static ry::headers legacy_in_session() {
    return {{"MCP-Protocol-Version", "2025-11-25"}, {"Mcp-Session-Id", client_session}};
  }
  static ry::headers modern(const std::string& name) {
    return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", name}};
  }
  static std::string modern_meta(const std::string& capabilities = R"({"elicitation":{}})") {
    return R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":)" +
           capabilities + "}";
  }
  // The arguments that the policy has decided on.
  std::vector<std::string> decided() const {
    std::vector<std::string> out;
    for (const auto& c : runs_.calls)
      if (c.function == "tool_action") out.push_back(c.json);
    return out;
  }

  ry::testing::fake_runs runs_;
  ry::testing::fake_host host_;
  fake_mcp mcp_{host_};
};

TEST_F(operator_servers, without_servers_the_endpoint_does_not_exist) {
  load("{}");
  EXPECT_TRUE(mcp_.opened.empty());
  EXPECT_EQ(host_.call("POST", "/mcp/servers", message("{}")).status, 404u);
  EXPECT_EQ(host_.call("GET", "/mcp/servers").status, 404u);
  EXPECT_EQ(host_.call("GET", "/.well-known/oauth-protected-resource/mcp/servers").status, 404u);
}

TEST_F(operator_servers, a_wrong_server_is_an_error_that_names_the_setting) {
  mcp_.open_status = RY_INVALID_ARGUMENT;
  try {
    load();
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("mcp_server.servers[0]: config.url is not valid"));
  }
  host_.services.erase(RY_SVC_MCP_1);
  try {
    load();
    FAIL();
  } catch (const std::exception& e) {
    EXPECT_THAT(e.what(), HasSubstr("mcp_server.servers requires the module mcp"));
  }
}

TEST_F(operator_servers, the_routes_require_a_token_and_refer_to_their_own_metadata) {
  load();
  EXPECT_EQ(mcp_.opened,
            R"([{"name":"files","type":"http","config":{"url":"http://h/mcp","headers":{"X-Key":"top-secret"}},)"
            R"("enabledTools":["read","write"]}])");
  auto o = message("{}", {{"Host", "h.example"}});
  o.principal_subject.clear();
  const auto a = host_.call("POST", "/mcp/servers", o);
  EXPECT_EQ(a.status, 401u);
  EXPECT_EQ(a.header("WWW-Authenticate"),
            R"(Bearer resource_metadata="http://h.example/.well-known/oauth-protected-resource/mcp/servers")");
  EXPECT_EQ(host_.call("GET", "/mcp/servers", o).status, 401u);
  EXPECT_THAT(host_.call("GET", "/.well-known/oauth-protected-resource/mcp/servers", o).body,
              HasSubstr(R"("resource":"http://h.example/mcp/servers")"));
  EXPECT_EQ(host_.call("GET", "/mcp/servers").status, 405u);
  EXPECT_EQ(host_.call("DELETE", "/mcp/servers").status, 405u);
}

TEST_F(operator_servers, it_has_no_tasks) {
  load();
  const std::string init = request("initialize", R"("protocolVersion":"2025-11-25","capabilities":{"elicitation":{}})");
  EXPECT_THAT(post(init), HasSubstr(R"("capabilities":{"tools":{}})"));
  const auto task = request("tasks/list", "");
  EXPECT_THAT(post(task), HasSubstr("-32601"));
  EXPECT_THAT(post(request("ping", "")), HasSubstr(R"("result":{})"));
}

TEST_F(operator_servers, lists_the_tools_that_the_policy_does_not_always_deny) {
  load();
  const auto a = boost::json::parse(post(request("tools/list", ""))).at("result").at("tools").as_array();
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0].at("name"), "files__read");
  EXPECT_EQ(a[0].at("annotations"), boost::json::parse(R"({"readOnlyHint":true,"idempotentHint":true})"));
  EXPECT_EQ(a[0].at("inputSchema"), boost::json::parse(R"({"type":"object","properties":{"path":{"type":"string"}}})"));
  EXPECT_EQ(a[1].at("inputSchema").at("type"), "object");
  runs_.tool_actions["files__write"] = RY_RUN_TOOL_DENY;
  EXPECT_THAT(post(request("tools/list", "")), Not(HasSubstr("files__write")));
  EXPECT_THAT(post(request("tools/list", R"("cursor":"other")")), HasSubstr("-32602"));
}

TEST_F(operator_servers, a_call_gets_the_arguments_that_the_policy_has_decided_on) {
  load();
  const auto body =
      post(tool_call("files__read", R"({"path":"a","path":"b","n":1e3})", R"(,"_meta":{"progressToken":1})"),
           legacy_in_session());
  EXPECT_THAT(body, HasSubstr(R"("result":{"content":[{"type":"text","text":"done"}],"isError":false})"));
  EXPECT_THAT(body, HasSubstr(R"("message":"half")"));
  EXPECT_THAT(body, Not(HasSubstr("\nid: "))) << "the stream cannot be resumed";
  ASSERT_EQ(mcp_.calls.size(), 1u);
  EXPECT_EQ(mcp_.calls[0].account, caller_account);
  EXPECT_EQ(mcp_.calls[0].thread, client_session);
  EXPECT_EQ(mcp_.calls[0].arguments, R"({"path":"b","n":1E3})");
  EXPECT_THAT(decided(), ElementsAre(mcp_.calls[0].arguments));
  EXPECT_THAT(mcp_.ended, ElementsAre(mcp_.calls[0].run));
}

TEST_F(operator_servers, arguments_that_a_tool_would_not_get_unchanged_are_refused) {
  load();
  EXPECT_THAT(post(tool_call("files__read", R"({"n":[1e999]})")), HasSubstr("number that is too large"));
  EXPECT_THAT(post(tool_call("files__read", "[]")), HasSubstr("arguments must be an object"));
  EXPECT_THAT(post(tool_call("files__read", "{\"a\":\"\xff\"}")), HasSubstr("-32700"));
  EXPECT_THAT(post(request("tools/call", "")), HasSubstr("-32602"));
  EXPECT_TRUE(mcp_.calls.empty());
}

TEST_F(operator_servers, denied_calls_are_results_with_an_error) {
  load();
  runs_.tool_actions["files__write"] = RY_RUN_TOOL_DENY;
  EXPECT_THAT(post(tool_call("files__write", "{}")),
              HasSubstr(R"(The call of the tool files__write was not made: the policy of this server denies it.)"));
  runs_.tool_actions["files__write"] = 99;  // of a later version
  EXPECT_THAT(post(tool_call("files__write", "{}")), HasSubstr(R"("isError":true)"));
  EXPECT_TRUE(mcp_.calls.empty());
}

TEST_F(operator_servers, an_older_runs_module_makes_no_calls) {
  ry_runs_v1 old{};
  old.struct_size = offsetof(ry_runs_v1, tool_action);
  host_.services[RY_SVC_RUNS_1] = {&old, nullptr};
  load();
  EXPECT_THAT(post(tool_call("files__read", "{}")), HasSubstr("its module runs is too old"));
  EXPECT_THAT(post(request("tools/list", "")), HasSubstr("its module runs is too old"));
  EXPECT_TRUE(mcp_.calls.empty());
}

TEST_F(operator_servers, a_client_without_elicitation_cannot_make_calls_that_need_an_approval) {
  load();
  runs_.tool_actions["files__write"] = RY_RUN_TOOL_ASK;
  for (const auto& body : {post(tool_call("files__write", "{}")),
                           post(tool_call("files__write", "{}", modern_meta("{}")), modern("files__write"))})
    EXPECT_THAT(body, HasSubstr("it needs an approval of the user, and this client cannot be asked"));
  const std::string long_arguments = "{\"a\":\"" + std::string(4000, 'x') + "\"}";
  EXPECT_THAT(post(tool_call("files__write", long_arguments)), HasSubstr("longer than the 4000 bytes"));
  auto without_streams = message(tool_call("files__write", "{}"), legacy_in_session());
  without_streams.fields[1].second = "application/json";
  EXPECT_THAT(host_.call("POST", "/mcp/servers", without_streams).body, HasSubstr("needs an approval"));
  EXPECT_TRUE(mcp_.calls.empty());
}

TEST_F(operator_servers, a_client_with_a_session_is_asked_in_the_stream_of_the_call) {
  load();
  runs_.tool_actions["files__write"] = RY_RUN_TOOL_ASK;
  const auto body = post(tool_call("files__write", R"({"path":"x"})"), legacy_in_session());
  EXPECT_THAT(body, HasSubstr(R"("method":"elicitation/create")"));
  EXPECT_THAT(body, HasSubstr(R"("id":"call:)"));
  EXPECT_THAT(body, HasSubstr(R"(files__write (mcp:files) with the arguments {\"path\":\"x\"})"));
  EXPECT_THAT(body, HasSubstr("The call was not made: the user has not decided about it.")) << "after the time limit";
  EXPECT_TRUE(mcp_.calls.empty());
  EXPECT_THAT(post(tool_call("files__writ", "{}"), legacy_in_session()), HasSubstr("done")) << "the fake has any tool";
  runs_.tool_actions["other"] = RY_RUN_TOOL_ASK;
  EXPECT_THAT(post(tool_call("other", "{}"), legacy_in_session()), HasSubstr("Unknown tool: other"));
}

TEST_F(operator_servers, a_client_without_sessions_repeats_the_call_with_its_answer) {
  load();
  runs_.tool_actions["files__write"] = RY_RUN_TOOL_ASK;
  const auto first =
      boost::json::parse(post(tool_call("files__write", R"({"path":"x"})", modern_meta()), modern("files__write")));
  const auto& result = first.at("result").as_object();
  EXPECT_EQ(result.at("resultType"), "input_required");
  EXPECT_EQ(result.at("inputRequests").at("approval").at("method"), "elicitation/create");
  const std::string state(result.at("requestState").as_string());
  const auto repeat = [&](const std::string& arguments, const std::string& answer, const std::string& given) {
    return post(
        tool_call("files__write", arguments,
                  R"(,"requestState":")" + given + R"(","inputResponses":{"approval":)" + answer + "}" + modern_meta()),
        modern("files__write"));
  };
  const std::string yes = R"({"action":"accept","content":{"decision":"approve"}})";
  EXPECT_THAT(repeat(R"({"path":"y"})", yes, state), HasSubstr("requestState does not belong to this call"));
  EXPECT_THAT(repeat(R"({"path":"x"})", yes, "forged"), HasSubstr("requestState does not belong to this call"));
  EXPECT_THAT(repeat(R"({"path":"x"})", R"({"action":"decline"})", state), HasSubstr("the user denied it."));
  EXPECT_THAT(repeat(R"({"path":"x"})", R"({"action":"accept","content":{"decision":"deny","reason":"no"}})", state),
              HasSubstr("the user denied it with the reason: no"));
  EXPECT_THAT(repeat(R"({"path":"x"})", R"({"action":"cancel"})", state), HasSubstr("has not decided"));
  EXPECT_THAT(repeat(R"({"path":"x"})", R"({"action":"accept","content":{"decision":"maybe"}})", state),
              HasSubstr("-32602"));
  EXPECT_TRUE(mcp_.calls.empty());
  EXPECT_THAT(repeat(R"({"path":"x"})", yes, state), HasSubstr(R"("text":"done")"));
  ASSERT_EQ(mcp_.calls.size(), 1u);
  EXPECT_EQ(mcp_.calls[0].arguments, R"({"path":"x"})");
  host_.advance(61'000);
  EXPECT_THAT(repeat(R"({"path":"x"})", yes, state), HasSubstr("has expired"));
  EXPECT_EQ(mcp_.calls.size(), 1u);
}

TEST_F(operator_servers, a_disconnect_cancels_the_call_and_frees_its_permit) {
  load();
  mcp_.holds = true;
  const auto a = host_.send("POST", "/mcp/servers", message(tool_call("files__read", "{}"), legacy()));
  ASSERT_EQ(mcp_.calls.size(), 1u);
  const auto second = host_.call("POST", "/mcp/servers", message(tool_call("files__read", "{}"), legacy()));
  EXPECT_EQ(second.status, 429u);
  EXPECT_EQ(second.header("Retry-After"), "5");
  host_.drop_client(*a);
  host_.run_ready();
  EXPECT_EQ(mcp_.cancelled, 1);
  EXPECT_EQ(mcp_.ended.size(), 1u);
  mcp_.holds = false;
  EXPECT_THAT(post(tool_call("files__read", "{}")), HasSubstr("done"));
}

TEST_F(operator_servers, failures_do_not_show_internals) {
  load();
  mcp_.status = RY_INTERNAL;
  const auto body = post(tool_call("files__read", "{}"));
  EXPECT_THAT(body, HasSubstr("Internal error"));
  EXPECT_THAT(body, Not(HasSubstr("secret")));
  mcp_.status = RY_NOT_FOUND;
  EXPECT_THAT(post(tool_call("files__read", "{}")), HasSubstr("Unknown tool: files__read"));
}

TEST(server_tools, results_keep_their_content) {
  using mcp_server::revision;
  const std::string full =
      R"({"content":"model text","is_error":true,"structured":{"a":1},"mcp":{"content":[{"type":"image","data":"AA==",)"
      R"("mimeType":"image/png"},{"type":"resource_link","uri":"u","name":"n"}],"structuredContent":{"a":1},"_meta":{}}})";
  EXPECT_EQ(
      boost::json::value(mcp_server::server_tool_result(full, revision::v2025_11_25)),
      boost::json::parse(
          R"({"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource_link","uri":"u","name":"n"}],)"
          R"("structuredContent":{"a":1},"isError":true})"));
  const auto old = mcp_server::server_tool_result(full, revision::v2025_03_26);
  EXPECT_FALSE(old.contains("structuredContent"));
  EXPECT_EQ(old.at("content").at(1).at("type"), "text");
  const auto large = mcp_server::server_tool_result(
      R"({"content":"cut","is_error":false,"images":[{"media_type":"image/png","data":"AA=="}],)"
      R"("files":[{"name":"a","media_type":"audio/wav","data":"BB=="},{"name":"b","media_type":"x/y","data":"CC=="}]})",
      revision::v2025_11_25);
  EXPECT_EQ(large.at("content"),
            boost::json::parse(
                R"([{"type":"text","text":"cut"},{"type":"image","data":"AA==","mimeType":"image/png"},)"
                R"({"type":"audio","data":"BB==","mimeType":"audio/wav"},)"
                R"({"type":"resource","resource":{"uri":"attachment:///3","mimeType":"x/y","blob":"CC=="}}])"));
  EXPECT_EQ(mcp_server::server_tool_result("no json", revision::v2025_11_25).at("isError"), true);
}

TEST(server_tools, large_arguments_are_refused) {
  boost::json::object arguments{{"text", std::string((1 << 20) - 11, 'x')}};
  boost::json::object params{{"name", "t"}, {"arguments", arguments}};
  EXPECT_EQ(mcp_server::read_server_tool_call(params).arguments.size(), std::size_t{1 << 20});
  arguments["text"] = std::string((1 << 20) - 10, 'x');
  params["arguments"] = arguments;
  EXPECT_THROW(mcp_server::read_server_tool_call(params), mcp_server::rpc_error);
}

TEST(server_tools, long_lists_have_pages) {
  std::string all = "[";
  for (int i = 0; i < 150; ++i)
    all += (i == 0 ? "" : ",") + (R"({"name":"t)" + std::to_string(i) + R"(","parameters":{"type":"object"}})");
  const auto tools = mcp_server::read_server_tools(all + "]");
  const auto listed = [](std::string_view name) { return name != "t5"; };
  const auto first = mcp_server::tool_page(tools, "", listed);
  EXPECT_EQ(first.at("tools").as_array().size(), 100u);
  EXPECT_EQ(first.at("nextCursor"), "t100");
  const auto second = mcp_server::tool_page(tools, "t100", listed);
  EXPECT_EQ(second.at("tools").as_array().size(), 49u);
  EXPECT_FALSE(second.contains("nextCursor"));
}

}  // namespace
