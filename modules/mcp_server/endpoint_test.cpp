// The routes, with fakes of the services of other modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/svc/runs.h>
#include <boost/json/parse.hpp>
#include <ry/testing.hpp>

#include "json_rpc.hpp"

using testing::HasSubstr;
using testing::Not;

namespace {

namespace json = boost::json;

const std::string run_id = "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11";
const std::string approval_id = "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b22";
const std::string account_id = "11111111-1111-4111-8111-111111111111";

// Services of one account with the agent "Helper". Each start makes the same run.
struct fakes {
  explicit fakes(ry::testing::fake_host& host) : host(host) {}
  ry::testing::fake_host& host;
  std::vector<std::string> events{R"({"type":"tool_call","sequence":1,"name":"shell"})",
                                  R"({"type":"status","sequence":2,"status":"completed"})"};
  ry_status end = RY_OK;  // of the events
  ry::error start_failure{RY_OK};
  std::vector<std::pair<std::string, std::string>> started;  // fields
  std::string key;
  int stops = 0;
  bool waits = false;  // for the approval approval_id, until a decision
  std::vector<std::string> decisions;  // bodies
  std::string status = "completed";

  template <class F>
  ry_status post(ry_exec* exec, F f) {
    host.ctx().post(exec, std::move(f));
    return RY_OK;
  }
};
fakes& of(void* self) {
  return *static_cast<fakes*>(self);
}

constexpr ry_accounts_v1 accounts{
    sizeof(ry_accounts_v1), 0,
    [](void* s, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept -> ry_status {
      return of(s).post(exec, [fn, ctx] {
        ry_account_view v{};
        v.struct_size = sizeof v;
        v.account_id = *ry::uuid::parse(account_id);
        fn(ctx, RY_OK, &v, nullptr);
      });
    },
    [](void*, ry_str) noexcept -> const ry_tier_view* { return nullptr; },
    [](void*, const ry_uuid*, ry_exec*, ry_account_fn, void*) noexcept -> ry_status { return RY_UNIMPLEMENTED; }};

ry_agents_v1 agents_table() {
  ry_agents_v1 t{};
  t.struct_size = sizeof t;
  t.list = [](void* s, const ry_uuid*, const ry_uuid*, uint32_t, ry_exec* exec, ry_agent_list_fn fn,
              void* ctx) noexcept -> ry_status {
    return of(s).post(exec, [fn, ctx] {
      ry_agent_view a{};
      a.struct_size = sizeof a;
      a.agent_id = ry::str(run_id);
      a.name = ry::str("Helper");
      fn(ctx, RY_OK, &a, 1, sizeof a, 0, nullptr);
    });
  };
  return t;
}

std::string run_json(const fakes& f) {
  const std::string waiting =
      R"("waiting_for":[{"type":"approval","approval_id":")" + approval_id + R"(","name":"shell"}],)";
  return R"({"agent_run_id":")" + run_id + R"(","thread_id":")" + run_id + R"(","agent_id":")" + run_id + "\"," +
         (f.waits ? waiting : "") + R"("status":")" + f.status +
         R"(","started_at":"2026-01-01T00:00:00.000Z","completed_at":null})";
}

ry_status start(void* s, const ry_run_start* given, ry_exec* exec, ry_run_started_fn fn, void* ctx) noexcept {
  fakes& f = of(s);
  f.started.clear();
  for (std::size_t i = 0; i < given->n_fields; ++i)
    f.started.emplace_back(ry::text(given->fields[i].name), ry::text(given->fields[i].value));
  f.key = ry::text(given->idempotency_key);
  return f.post(exec, [&f, fn, ctx] {
    if (f.start_failure.status() != RY_OK) {
      const ry_error_view e = f.start_failure.view();
      return fn(ctx, f.start_failure.status(), nullptr, &e);
    }
    ry_run_started out{};
    out.struct_size = sizeof out;
    out.run_id = out.thread_id = out.project_id = ry::str(run_id);
    fn(ctx, RY_OK, &out, nullptr);
  });
}

ry_status follow(void* s, const ry_run_follow*, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                 void** reader) noexcept {
  fakes& f = of(s);
  *reader = s;
  return f.post(exec, [&f, sink = *sink, ctx] {
    std::vector<ry_run_event> all;
    for (const auto& e : f.events) all.push_back({all.size() + 1, ry::str(e)});
    if (!all.empty()) sink.on_events(ctx, all.data(), all.size(), sizeof(ry_run_event));
    const ry_error_view e = ry::error(f.end).view();
    sink.on_end(ctx, f.end, &e);
  });
}

ry_runs_v1 runs_table() {
  ry_runs_v1 t{};
  t.struct_size = sizeof t;
  t.start = &start;
  t.follow = &follow;
  t.resume = [](void*, void*) noexcept {};
  t.close = [](void*, void*) noexcept {};
  t.stop = [](void* s, const ry_uuid*, const ry_uuid*, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
    ++of(s).stops;
    return of(s).post(exec, [fn, ctx] { fn(ctx, RY_OK, ry::str(R"({"status":"stopped"})"), nullptr); });
  };
  t.get = [](void* s, const ry_uuid*, const ry_uuid* id, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
    const bool known = ry::uuid(*id).to_string() == run_id;
    return of(s).post(exec, [&f = of(s), known, fn, ctx] {
      const ry::error unknown = ry::not_found("runs.not_found", "Run not found");
      const ry_error_view e = unknown.view();
      const std::string text = run_json(f);
      fn(ctx, known ? RY_OK : RY_NOT_FOUND, known ? ry::str(text) : ry_str{}, known ? nullptr : &e);
    });
  };
  t.messages = [](void* s, const ry_uuid*, const ry_uuid*, const ry_run_field*, std::size_t, ry_exec* exec,
                  ry_run_json_fn fn, void* ctx) noexcept {
    return of(s).post(exec, [fn, ctx] {
      const std::string text = R"({"messages":[{"agent_run_id":")" + run_id +
                               R"(","role":"assistant","content":"the answer"}],"next_cursor":null})";
      fn(ctx, RY_OK, ry::str(text), nullptr);
    });
  };
  t.approvals = [](void* s, const ry_uuid*, const ry_run_field*, std::size_t, ry_exec* exec, ry_run_json_fn fn,
                   void* ctx) noexcept {
    return of(s).post(exec, [&f = of(s), fn, ctx] {
      const std::string one =
          R"({"approval_id":")" + approval_id +
          R"(","tool_call_id":"c","name":"shell","source":"sandbox","expires_at":"x","arguments":{"command":"ls"}})";
      const std::string text = R"({"approvals":[)" + (f.waits ? one : "") + R"(],"next_cursor":null})";
      fn(ctx, RY_OK, ry::str(text), nullptr);
    });
  };
  t.decide = [](void* s, const ry_uuid*, const ry_uuid* id, ry_str body, ry_exec* exec, ry_run_json_fn fn,
                void* ctx) noexcept {
    EXPECT_EQ(ry::uuid(*id).to_string(), approval_id);
    of(s).decisions.push_back(ry::text(body));
    of(s).waits = false;
    of(s).status = "completed";
    return of(s).post(exec, [fn, ctx] { fn(ctx, RY_OK, ry::str("{}"), nullptr); });
  };
  return t;
}

class mcp_endpoint : public testing::Test {
 protected:
  mcp_endpoint() {
    host_.services[RY_SVC_ACCOUNTS_1] = {&accounts, &fakes_};
    host_.services[RY_SVC_AGENTS_1] = {&agents_, &fakes_};
    host_.services[RY_SVC_RUNS_1] = {&runs_, &fakes_};
    host_.load(*ry_module_entry(),
               R"({"max_body_mb":1,"calls_per_account":1,"approval_wait_seconds":0,"elicitation_wait_seconds":1})");
  }
  ry::testing::answer post(std::string body, ry::headers extra = {}) {
    ry::testing::call_options o;
    o.body = std::move(body);
    o.fields = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
    for (auto& each : extra) o.fields.push_back(std::move(each));
    return host_.call("POST", "/mcp", o);
  }
  static std::string call(const std::string& name, const std::string& arguments, const std::string& more = {}) {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" + name + R"(","arguments":)" +
           arguments + more + "}}";
  }

  ry::testing::fake_host host_;
  fakes fakes_{host_};
  const ry_agents_v1 agents_ = agents_table();
  const ry_runs_v1 runs_ = runs_table();
};

const ry::headers v2025_11_25{{"MCP-Protocol-Version", "2025-11-25"}};

TEST_F(mcp_endpoint, without_a_token_it_refers_to_the_metadata) {
  ry::testing::call_options o;
  o.principal_subject.clear();
  o.fields = {{"Host", "runs.example.org"}};
  const auto a = host_.call("POST", "/mcp", o);
  EXPECT_EQ(a.status, 401u);
  EXPECT_EQ(a.header("WWW-Authenticate"),
            "Bearer resource_metadata=\"http://runs.example.org/.well-known/oauth-protected-resource/mcp\"");
  EXPECT_EQ(host_.call("GET", "/mcp", o).status, 401u);
  EXPECT_THAT(host_.call("GET", "/.well-known/oauth-protected-resource/mcp", o).body,
              HasSubstr("http://runs.example.org/mcp"));
}

TEST_F(mcp_endpoint, initialize_issues_a_session_id) {
  const auto a = post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}})");
  EXPECT_EQ(a.status, 200u);
  EXPECT_TRUE(ry::uuid::parse(a.header("Mcp-Session-Id")));
  EXPECT_THAT(a.body, HasSubstr(R"("protocolVersion":"2025-06-18")"));
}

TEST_F(mcp_endpoint, a_call_streams_progress_and_the_result) {
  const auto a = post(call("Helper", R"({"prompt":"hi"})", R"(,"_meta":{"progressToken":"t"})"), v2025_11_25);
  EXPECT_EQ(a.status, 200u);
  EXPECT_EQ(a.header("Content-Type"), "text/event-stream");
  EXPECT_THAT(a.body, HasSubstr("Using the tool shell"));
  EXPECT_THAT(a.body, HasSubstr(R"("text":"the answer")"));
  EXPECT_FALSE(a.streaming);
  EXPECT_THAT(fakes_.started, testing::Contains(std::pair<std::string, std::string>("prompt", "hi")));
  EXPECT_EQ(fakes_.key, "");
}

TEST_F(mcp_endpoint, the_session_makes_starts_idempotent) {
  ry::headers h = v2025_11_25;
  h.emplace_back("Mcp-Session-Id", run_id);
  post(call("Helper", R"({"prompt":"hi"})"), h);
  EXPECT_EQ(fakes_.key, "mcp:" + run_id + ":1");
}

TEST_F(mcp_endpoint, without_streams_the_result_is_json) {
  ry::testing::call_options o;
  o.body = call("Helper", R"({"prompt":"hi"})");
  o.fields = {{"Content-Type", "application/json; charset=utf-8"}, {"Accept", "application/json"}};
  const auto a = host_.call("POST", "/mcp", o);
  EXPECT_EQ(a.header("Content-Type"), "application/json");
  EXPECT_THAT(a.body, HasSubstr(R"("text":"the answer")"));
}

TEST_F(mcp_endpoint, refused_starts_are_results) {
  fakes_.start_failure = ry::http_error(402, RY_RESOURCE_EXHAUSTED, "x", "Insufficient credits",
                                        R"({"message":"","error_code":"INSUFFICIENT_CREDITS"})");
  const auto a = post(call("Helper", R"({"prompt":"hi"})"), v2025_11_25);
  EXPECT_THAT(a.body, HasSubstr("Insufficient credits (INSUFFICIENT_CREDITS)"));
  EXPECT_THAT(a.body, HasSubstr(R"("isError":true)"));
  fakes_.start_failure = ry::internal("x", "secret host");
  const auto b = post(call("Helper", R"({"prompt":"hi"})"), v2025_11_25);
  EXPECT_EQ(b.status, 500u);
  EXPECT_THAT(b.body, Not(HasSubstr("secret")));
}

TEST_F(mcp_endpoint, a_stopping_runs_module_suspends_the_stream) {
  fakes_.end = RY_CANCELLED;
  fakes_.events = {R"({"type":"tool_call","sequence":1,"name":"shell"})"};
  const auto a = post(call("Helper", R"({"prompt":"hi"})"), v2025_11_25);
  EXPECT_THAT(a.body, testing::StartsWith("retry: "));
  EXPECT_THAT(a.body, testing::EndsWith("retry: 2000\n\n"));
  EXPECT_THAT(a.body, Not(HasSubstr("result")));
  fakes_.status = "running";
  const auto b = post(call("Helper", R"({"prompt":"hi"})"));  // 2025-03-26 without progress: no event id
  EXPECT_THAT(b.body, HasSubstr("get_run"));
  EXPECT_EQ(fakes_.stops, 0);
}

TEST_F(mcp_endpoint, a_start_as_a_task) {
  fakes_.status = "running";
  const auto a = post(call("Helper", R"({"prompt":"hi"})", R"(,"task":{})"), v2025_11_25);
  EXPECT_THAT(a.body, HasSubstr(R"("task":{"taskId":")" + run_id));
  fakes_.status = "completed";
  const auto old =
      post(call("Helper", R"({"prompt":"hi"})", R"(,"task":{})"), {{"MCP-Protocol-Version", "2025-06-18"}});
  EXPECT_THAT(old.body, HasSubstr("the answer")) << "an unknown parameter";
}

const std::vector<std::string> asking{
    R"({"type":"tool_call","sequence":1,"tool_call_id":"c","name":"shell","source":"sandbox"})",
    R"({"type":"approval_requested","sequence":2,"tool_call_id":"c","name":"shell"})"};

ry::headers stateless(const std::string& method, const std::string& name) {
  return {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}, {"Mcp-Name", name}};
}
std::string meta(const std::string& capabilities) {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},)"
         R"("io.modelcontextprotocol/clientCapabilities":)" +
         capabilities + "}";
}

TEST_F(mcp_endpoint, a_client_that_cannot_be_asked_gets_a_result_that_names_the_approval) {
  fakes_.events = asking;
  fakes_.status = "running";
  fakes_.waits = true;
  for (const ry::headers& headers : {v2025_11_25, stateless("tools/call", "Helper")}) {
    const bool is_new = headers.size() > 1;
    const auto a = post(call("Helper", R"({"prompt":"hi"})", is_new ? "," + meta("{}") : ""), headers);
    EXPECT_THAT(a.body, HasSubstr("the call of the tool shell needs the approval " + approval_id));
    EXPECT_THAT(a.body, HasSubstr(R"("isError":true)"));
    EXPECT_THAT(a.body, HasSubstr(R"("status":"running")"));
  }
  EXPECT_EQ(fakes_.stops, 0);
  const auto task = R"({"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":")" + run_id + R"("}})";
  EXPECT_THAT(post(task, v2025_11_25).body, HasSubstr(R"("code":409)"));
  const auto state = R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":")" + run_id + R"("}})";
  EXPECT_THAT(post(state, v2025_11_25).body, HasSubstr(R"("status":"working")"));
}

TEST_F(mcp_endpoint, a_client_with_a_session_is_asked_in_the_stream) {
  const auto opened = post(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}})");
  ry::headers headers = v2025_11_25;
  headers.emplace_back("Mcp-Session-Id", std::string(opened.header("Mcp-Session-Id")));
  fakes_.events = asking;
  fakes_.status = "running";
  fakes_.waits = true;
  const auto state = R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":")" + run_id + R"("}})";
  EXPECT_THAT(post(state, headers).body, HasSubstr(R"("status":"input_required")"));
  const auto a = post(call("Helper", R"({"prompt":"hi"})"), headers);
  EXPECT_THAT(a.body, HasSubstr(R"("method":"elicitation/create")"));
  const std::string id = "approval:" + run_id + ":" + approval_id;
  EXPECT_THAT(a.body, HasSubstr(R"("id":")" + id));
  const auto answer = [&](const std::string& result) {
    return post(R"({"jsonrpc":"2.0","id":")" + id + R"(",)" + result + "}", headers).status;
  };
  EXPECT_EQ(answer(R"("result":{"action":"accept","content":{"decision":"maybe"}})"), 400u);
  EXPECT_EQ(answer(R"("result":{"action":"cancel"})"), 202u);
  EXPECT_EQ(answer(R"("error":{"code":-1,"message":"no"})"), 202u);
  EXPECT_TRUE(fakes_.decisions.empty());
  EXPECT_EQ(answer(R"("result":{"action":"accept","content":{"decision":"approve","reason":"ok"}})"), 202u);
  EXPECT_THAT(fakes_.decisions, testing::ElementsAre(R"({"decision":"approve","reason":"ok"})"));
  EXPECT_EQ(answer(R"("result":{"action":"decline"})"), 202u);
  EXPECT_EQ(fakes_.decisions.back(), R"({"decision":"deny"})");
}

TEST_F(mcp_endpoint, a_client_without_sessions_repeats_the_call_with_its_answers) {
  fakes_.events = asking;
  fakes_.status = "running";
  fakes_.waits = true;
  const ry::headers headers = stateless("tools/call", "Helper");
  const std::string capable = "," + meta(R"({"elicitation":{"form":{}}})");
  const auto a = post(call("Helper", R"({"prompt":"hi"})", capable), headers);
  EXPECT_THAT(a.body, HasSubstr(R"("resultType":"input_required")"));
  EXPECT_THAT(a.body, HasSubstr(R"("requestState":")" + run_id));
  EXPECT_THAT(a.body, HasSubstr(R"(")" + approval_id + R"(":{"method":"elicitation/create")"));
  const auto again = [&](const std::string& answer, const std::string& state) {
    return post(call("Helper", R"({"prompt":"hi"})",
                     R"(,"requestState":")" + state + R"(","inputResponses":{)" + answer + "}" + capable),
                headers)
        .body;
  };
  const std::string key = "\"" + approval_id + "\":";
  fakes_.started.clear();
  EXPECT_THAT(again("", run_id), HasSubstr("input_required"));
  EXPECT_THAT(again(key + R"({"action":"cancel"})", run_id), HasSubstr("needs the approval"));
  EXPECT_THAT(again("", approval_id), HasSubstr("requestState"));
  EXPECT_TRUE(fakes_.decisions.empty());
  EXPECT_THAT(again(key + R"({"action":"accept","content":{"decision":"deny","reason":"no"}})", run_id),
              HasSubstr("the answer"));
  EXPECT_THAT(fakes_.decisions, testing::ElementsAre(R"({"decision":"deny","reason":"no"})"));
  EXPECT_TRUE(fakes_.started.empty());
}

TEST_F(mcp_endpoint, a_task_that_waits_requires_input) {
  fakes_.events = asking;
  fakes_.status = "running";
  fakes_.waits = true;
  const std::string capable = meta(R"({"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})");
  const auto send = [&](const std::string& method, const std::string& more) {
    return post(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{"taskId":")" + run_id + "\"," + more +
                    capable + "}}",
                stateless(method, run_id))
        .body;
  };
  const std::string waiting = send("tasks/get", "");
  EXPECT_THAT(waiting, HasSubstr(R"("status":"input_required")"));
  EXPECT_THAT(waiting, HasSubstr("inputRequests"));
  const std::string update = R"("inputResponses":{"other":{"action":"x"},")" + approval_id +
                             R"(":{"action":"accept","content":{"decision":"approve"}}},)";
  EXPECT_THAT(send("tasks/update", update), Not(HasSubstr("error")));
  EXPECT_THAT(fakes_.decisions, testing::ElementsAre(R"({"decision":"approve"})"));
  EXPECT_THAT(send("tasks/get", ""), HasSubstr(R"("status":"completed")"));
}

TEST_F(mcp_endpoint, unknown_things) {
  EXPECT_THAT(post(call("no_agent", "{}")).body, HasSubstr("-32602"));
  EXPECT_THAT(post(call("get_run", R"({"run_id":"0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b12"})")).body,
              HasSubstr("Run not found"));
  EXPECT_THAT(post(R"({"jsonrpc":"2.0","id":1,"method":"x"})").body, HasSubstr("-32601"));
  EXPECT_EQ(post(R"({"jsonrpc":"2.0","method":"notifications/x"})").status, 202u);
  EXPECT_EQ(post(std::string(2 << 20, ' ')).status, 413u);
  EXPECT_EQ(host_.call("GET", "/mcp").status, 405u);
  EXPECT_EQ(host_.call("DELETE", "/mcp").status, 405u);
}

}  // namespace
