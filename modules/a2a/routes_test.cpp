// The routes with fakes of accounts/1, agents/1 and runs/1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/svc/runs.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <ry/testing.hpp>

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
namespace json = boost::json;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string agent_id = "33333333-3333-4333-8333-333333333333";
const std::string run_id = "44444444-4444-4444-8444-444444444444";
const std::string thread_id = "55555555-5555-7555-8555-555555555555";

// runs/1 with one run, whose events are delivered at once.
struct fake_runs {
  ry::testing::fake_host* host = nullptr;
  std::string status = "running";
  std::vector<std::string> events;
  bool cancelled = false;  // the reader ends as if the module stopped
  std::vector<std::map<std::string, std::string>> starts;
  std::vector<std::string> keys;
  std::vector<std::uint32_t> refusals;  // HTTP statuses of the next starts; 0: accepted
  std::string refusal_reason = "runs.refused";
  int stops = 0;
  std::vector<std::map<std::string, std::string>> lists;
  std::map<std::string, std::string> approvals;  // id -> status
  std::vector<std::string> decisions;  // bodies

  bool waits() const {
    return std::any_of(approvals.begin(), approvals.end(), [](const auto& a) { return a.second == "pending"; });
  }
  std::string run() const {
    return R"({"id":")" + run_id + R"(","thread_id":")" + thread_id + R"(","agent_id":")" + agent_id +
           R"(","status":")" + status + R"(","waiting_for":)" +
           (waits() ? R"([{"type":"approval","approval_id":"x","name":"shell"}])" : "null") +
           R"(,"queue_position":null,"started_at":"2026-01-01T00:00:00.000Z","completed_at":null})";
  }
};
fake_runs* current = nullptr;

void answer(ry_exec* exec, ry_run_json_fn fn, void* ctx, std::string text, std::uint32_t http_status = 200) {
  current->host->ctx().post(exec, [=] {
    if (http_status == 200) return fn(ctx, RY_OK, ry::str(text), nullptr);
    const ry::error e = ry::http_error(http_status, RY_NOT_FOUND, "runs.refused", text);
    const ry_error_view v = e.view();
    fn(ctx, RY_NOT_FOUND, ry_str{}, &v);
  });
}

std::map<std::string, std::string> map_of(const ry_run_field* fields, std::size_t n) {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < n; ++i) out[ry::text(fields[i].name)] = ry::text(fields[i].value);
  return out;
}

ry_status start(void*, const ry_run_start* s, ry_exec* exec, ry_run_started_fn fn, void* ctx) noexcept {
  current->starts.push_back(map_of(s->fields, s->n_fields));
  current->keys.push_back(ry::text(s->idempotency_key));
  std::uint32_t refusal = 0;
  if (!current->refusals.empty()) {
    refusal = current->refusals.front();
    current->refusals.erase(current->refusals.begin());
  }
  current->host->ctx().post(exec, [=] {
    if (refusal != 0) {
      const ry::error e = ry::http_error(refusal, RY_RESOURCE_EXHAUSTED, current->refusal_reason, "refused",
                                         R"({"message":"refused","error_code":"SOME_LIMIT"})");
      const ry_error_view v = e.view();
      return fn(ctx, RY_RESOURCE_EXHAUSTED, nullptr, &v);
    }
    ry_run_started out{};
    out.struct_size = sizeof out;
    out.run_id = ry::str(run_id);
    out.thread_id = ry::str(thread_id);
    fn(ctx, RY_OK, &out, nullptr);
  });
  return RY_OK;
}

ry_status follow(void*, const ry_run_follow*, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                 void** reader) noexcept {
  *reader = current;
  current->host->ctx().post(exec, [=, sink = *sink] {
    std::vector<ry_run_event> batch;
    for (const std::string& e : current->events) batch.push_back({batch.size() + 1, ry::str(e)});
    if (!batch.empty()) (void)sink.on_events(ctx, batch.data(), batch.size(), sizeof batch[0]);
    sink.on_end(ctx, current->cancelled ? RY_CANCELLED : RY_OK, nullptr);
  });
  return RY_OK;
}

ry_status stop(void*, const ry_uuid*, const ry_uuid*, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  ++current->stops;
  current->status = "stopped";
  answer(exec, fn, ctx, R"({"status":"stopped"})");
  return RY_OK;
}

ry_status get(void*, const ry_uuid*, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  const bool known = ry::uuid(*run).to_string() == run_id;
  answer(exec, fn, ctx, known ? current->run() : "Run not found", known ? 200 : 404);
  return RY_OK;
}

ry_status list(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
               void* ctx) noexcept {
  current->lists.push_back(map_of(query, n));
  answer(exec, fn, ctx, R"({"agent_runs":[)" + current->run() + R"(],"next_cursor":null})");
  return RY_OK;
}

ry_status messages(void*, const ry_uuid*, const ry_uuid*, const ry_run_field*, std::size_t, ry_exec* exec,
                   ry_run_json_fn fn, void* ctx) noexcept {
  answer(exec, fn, ctx,
         R"({"messages":[{"message_id":"m","agent_run_id":")" + run_id +
             R"(","role":"assistant","content":"the answer"}],"next_cursor":null})");
  return RY_OK;
}

ry_status approvals(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
                    void* ctx) noexcept {
  const std::string wanted = map_of(query, n)["status"];
  std::string list;
  for (const auto& [id, status] : current->approvals)
    if (wanted.empty() || wanted == status)
      list += (list.empty() ? "" : ",") + (R"({"approval_id":")" + id) +
              R"(","name":"shell","arguments":{"command":"ls"},"status":")" + status + "\"}";
  answer(exec, fn, ctx, R"({"approvals":[)" + list + R"(],"next_cursor":null})");
  return RY_OK;
}

ry_status decide(void*, const ry_uuid*, const ry_uuid* approval, ry_str body, ry_exec* exec, ry_run_json_fn fn,
                 void* ctx) noexcept {
  current->decisions.push_back(ry::text(body));
  const bool approves = current->decisions.back().find("approve") != std::string::npos;
  current->approvals[ry::uuid(*approval).to_string()] = approves ? "approved" : "denied";
  answer(exec, fn, ctx, "{}");
  return RY_OK;
}

constexpr ry_runs_v1 runs_table{sizeof(ry_runs_v1),
                                0,
                                start,
                                [](void*) noexcept {},
                                follow,
                                [](void*, void*) noexcept {},
                                [](void*, void*) noexcept {},
                                stop,
                                get,
                                list,
                                messages,
                                nullptr,
                                nullptr,
                                approvals,
                                decide,
                                nullptr};

ry_status ensure(void*, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
  current->host->ctx().post(exec, [fn, ctx] {
    ry_account_view v{};
    v.struct_size = sizeof v;
    v.account_id = *ry::uuid::parse(ann);
    fn(ctx, RY_OK, &v, nullptr);
  });
  return RY_OK;
}
constexpr ry_accounts_v1 accounts_table{sizeof(ry_accounts_v1), 0, ensure, nullptr, nullptr};

ry_agent_view poet() {
  ry_agent_view v{};
  v.struct_size = sizeof v;
  v.version = 4;
  v.agent_id = ry::str(agent_id);
  v.name = ry::str("Poet");
  v.is_default = 1;
  return v;
}
ry_status get_agent(void*, ry_str, ry_str agent, std::int32_t, ry_exec* exec, ry_agent_fn fn, void* ctx) noexcept {
  const bool known = ry::view(agent) == agent_id;
  current->host->ctx().post(exec, [=] {
    const ry_agent_view v = poet();
    fn(ctx, known ? RY_OK : RY_NOT_FOUND, known ? &v : nullptr, nullptr);
  });
  return RY_OK;
}
ry_status list_agents(void*, const ry_uuid*, const ry_uuid*, std::uint32_t, ry_exec* exec, ry_agent_list_fn fn,
                      void* ctx) noexcept {
  current->host->ctx().post(exec, [=] {
    const ry_agent_view v = poet();
    fn(ctx, RY_OK, &v, 1, sizeof v, 0, nullptr);
  });
  return RY_OK;
}
constexpr ry_agents_v1 agents_table{sizeof(ry_agents_v1), 0, get_agent, nullptr, nullptr, list_agents};

class a2a_routes : public testing::Test {
 protected:
  a2a_routes() {
    runs_.host = &host_;
    current = &runs_;
    host_.host_values["http.public_url"] = "https://agents.example.org/";
    host_.services[RY_SVC_ACCOUNTS_1] = {&accounts_table, &host_};
    host_.services[RY_SVC_AGENTS_1] = {&agents_table, &host_};
    host_.services[RY_SVC_RUNS_1] = {&runs_table, &host_};
    host_.db.on("a2a.context", {});
    host_.load(*ry_module_entry(), R"({"name":"Public","description":"Public agent"})");
  }
  static ry::testing::call_options options(std::string body) {
    ry::testing::call_options o;
    o.fields = {{"A2A-Version", "1.0"}};
    o.body = std::move(body);
    return o;
  }
  ry::testing::answer rpc(const std::string& method, const std::string& params, const std::string& path = "/a2a") {
    return host_.call("POST", path,
                      options(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}"));
  }
  json::value result(const std::string& method, const std::string& params, const std::string& path = "/a2a") {
    const auto a = rpc(method, params, path);
    const json::value v = json::parse(a.body);
    EXPECT_TRUE(v.as_object().contains("result")) << a.body;
    return v.at("result");
  }
  json::value error(const std::string& method, const std::string& params, const std::string& path = "/a2a") {
    return json::parse(rpc(method, params, path).body).at("error");
  }
  static std::string message(const std::string& more = "") {
    return R"({"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}])" + more + "}}";
  }
  void finish() {
    runs_.status = "completed";
    runs_.events = {R"({"type":"llm_response_start","step":1,"attempt":1})",
                    R"({"type":"llm_response_chunk","content":"the answer"})",
                    R"({"type":"llm_response_end","step":1,"finish":"stop"})",
                    R"({"type":"status","status":"completed"})"};
  }
  fake_runs runs_;
  ry::testing::fake_host host_;
};

const std::string id_params = R"({"id":")" + run_id + R"("})";

}  // namespace

TEST_F(a2a_routes, the_public_card_has_the_configured_name_and_url) {
  const auto a = host_.call("GET", "/.well-known/agent-card.json");
  EXPECT_EQ(a.status, 200u);
  const json::value card = json::parse(a.body);
  EXPECT_EQ(card.at("name"), "Public");
  EXPECT_EQ(card.at("supportedInterfaces").at(0).at("url"), "https://agents.example.org/a2a");
  ry::testing::call_options again;
  again.fields = {{"If-None-Match", std::string(a.header("ETag"))}};
  EXPECT_EQ(host_.call("GET", "/.well-known/agent-card.json", again).status, 304u);
}

TEST_F(a2a_routes, without_a_public_url_the_card_has_the_host_header_only_if_it_is_one) {
  host_.host_values["http.public_url"] = "";
  ry::testing::call_options o;
  o.fields = {{"Host", "h.example:8080"}};
  EXPECT_THAT(host_.call("GET", "/.well-known/agent-card.json", o).body, HasSubstr("\"http://h.example:8080/a2a\""));
  o.fields = {{"Host", "h.example/<script>"}};
  EXPECT_THAT(host_.call("GET", "/.well-known/agent-card.json", o).body, HasSubstr("\"http://localhost/a2a\""));
}

TEST_F(a2a_routes, sending_waits_for_the_end_of_the_run) {
  finish();
  const json::value task = result("SendMessage", message()).at("task");
  EXPECT_EQ(task.at("id"), json::string(run_id));
  EXPECT_EQ(task.at("contextId"), json::string(thread_id));
  EXPECT_EQ(task.at("status").at("state"), "TASK_STATE_COMPLETED");
  EXPECT_EQ(task.at("artifacts").at(0).at("parts").at(0).at("text"), "the answer");
  ASSERT_EQ(runs_.starts.size(), 1u);
  EXPECT_EQ(runs_.starts[0]["prompt"], "hi");
  EXPECT_EQ(runs_.starts[0]["on_busy"], "enqueue");
  EXPECT_EQ(runs_.starts[0]["queue"], "true");
  EXPECT_THAT(runs_.starts[0], Not(Contains(Pair("agent_id", testing::_))));
}

TEST_F(a2a_routes, metadata_of_the_request_become_those_of_the_run) {
  finish();
  json::object params = json::parse(message()).as_object();
  params["metadata"] = json::object{{"order", 17}};
  const auto a = rpc("SendStreamingMessage", json::serialize(params));
  EXPECT_EQ(runs_.starts[0]["metadata"], R"({"order":"17"})");
  EXPECT_THAT(a.body, HasSubstr(R"("metadata":{"order":"17"})"));
}

TEST_F(a2a_routes, a_wait_that_is_cancelled_returns_the_task_in_progress) {
  runs_.cancelled = true;
  EXPECT_EQ(result("SendMessage", message()).at("task").at("status").at("state"), "TASK_STATE_WORKING");
}

TEST_F(a2a_routes, contexts_are_threads) {
  finish();
  (void)result("SendMessage", message(R"(,"contextId":")" + thread_id + "\""));
  EXPECT_EQ(runs_.starts[0]["thread_id"], thread_id);
  EXPECT_EQ(runs_.starts[0].count("optimistic"), 0u);
  // A UUID that is no thread becomes one.
  runs_.refusals = {404};
  (void)result("SendMessage", message(R"(,"contextId":")" + thread_id + "\""));
  ASSERT_EQ(runs_.starts.size(), 3u);
  EXPECT_EQ(runs_.starts[2]["thread_id"], thread_id);
  EXPECT_EQ(runs_.starts[2]["optimistic"], "true");
  EXPECT_EQ(runs_.keys[1], runs_.keys[2]);
  // A name.
  const json::value task = result("SendMessage", message(R"(,"contextId":"my context")")).at("task");
  EXPECT_EQ(runs_.starts[3]["optimistic"], "true");
  EXPECT_NE(runs_.starts[3]["thread_id"], thread_id);
  ASSERT_FALSE(host_.db.calls.empty());
  EXPECT_THAT(host_.db.calls.back().sql, HasSubstr("insert into a2a.context"));
}

TEST_F(a2a_routes, refused_starts_are_errors) {
  runs_.refusals = {402};
  const auto a = rpc("SendMessage", message());
  EXPECT_EQ(a.status, 402u);
  EXPECT_THAT(a.body, HasSubstr("SOME_LIMIT"));
  runs_.refusals = {404, 404};
  EXPECT_THAT(json::serialize(error("SendMessage", message(R"(,"contextId":")" + thread_id + "\""))),
              HasSubstr("message.contextId"));
  // Another 409: the limit of waiting runs, for example.
  runs_.refusals = {409};
  EXPECT_THAT(json::serialize(error("SendStreamingMessage", message())), HasSubstr("SOME_LIMIT"));
  runs_.refusals = {409};
  runs_.refusal_reason = RY_RUNS_KEY_REUSED;
  EXPECT_THAT(json::serialize(error("SendStreamingMessage", message())), HasSubstr("message.messageId"));
}

TEST_F(a2a_routes, streams_have_the_task_first_and_end_with_its_state) {
  finish();
  const auto a = rpc("SendStreamingMessage", message());
  EXPECT_EQ(a.header("Content-Type"), "text/event-stream");
  EXPECT_THAT(a.body, testing::StartsWith(R"(data: {"jsonrpc":"2.0","id":1,"result":{"task":{"id":")" + run_id));
  EXPECT_THAT(a.body, HasSubstr("artifactUpdate"));
  EXPECT_THAT(a.body, HasSubstr("TASK_STATE_COMPLETED"));
  ry::testing::call_options o = options(message());
  const auto rest = host_.call("POST", "/a2a/v1/message:stream", o);
  EXPECT_THAT(rest.body, testing::StartsWith(R"(data: {"task":)"));
}

TEST_F(a2a_routes, a_subscription_begins_with_everything_before_it) {
  finish();
  runs_.status = "running";
  const auto a = rpc("SubscribeToTask", id_params);
  EXPECT_THAT(a.body, HasSubstr("\"artifacts\""));
  EXPECT_THAT(a.body, Not(HasSubstr("artifactUpdate")));
  for (const char* method : {"GET", "POST"})
    EXPECT_THAT(host_.call(method, "/a2a/v1/tasks/" + run_id + ":subscribe", options("")).body,
                HasSubstr("\"artifacts\""));
  runs_.status = "completed";
  EXPECT_EQ(error("SubscribeToTask", id_params).at("code"), -32004);
}

TEST_F(a2a_routes, tasks_are_read_and_canceled) {
  EXPECT_EQ(result("GetTask", id_params).at("history").at(0).at("parts").at(0).at("text"), "the answer");
  EXPECT_EQ(result("CancelTask", id_params).at("status").at("state"), "TASK_STATE_CANCELED");
  EXPECT_EQ(runs_.stops, 1);
  EXPECT_EQ(error("CancelTask", id_params).at("code"), -32002);
  EXPECT_EQ(runs_.stops, 1);
  const auto rest = host_.call("GET", "/a2a/v1/tasks/" + run_id, options(""));
  EXPECT_EQ(json::parse(rest.body).at("id"), json::string(run_id));
  EXPECT_EQ(host_.call("POST", "/a2a/v1/tasks/" + run_id + ":cancel", options("")).status, 400u);
}

TEST_F(a2a_routes, unknown_tasks_do_not_exist) {
  for (const char* method : {"GetTask", "CancelTask", "SubscribeToTask"})
    for (const std::string& id : {ann, std::string("x")})
      EXPECT_EQ(error(method, R"({"id":")" + id + R"("})").at("code"), -32001) << method;
  EXPECT_EQ(error("SendMessage", message(R"(,"taskId":")" + ann + "\"")).at("code"), -32001);
  EXPECT_EQ(host_.call("GET", "/a2a/v1/tasks/x", options("")).status, 404u);
}

TEST_F(a2a_routes, messages_for_tasks_are_refused) {
  EXPECT_EQ(error("SendMessage", message(R"(,"taskId":")" + run_id + "\"")).at("code"), -32004);
  const std::string other = R"(,"contextId":"other","taskId":")" + run_id + "\"";
  EXPECT_THAT(json::serialize(error("SendMessage", message(other))), HasSubstr("message.contextId"));
  EXPECT_TRUE(runs_.starts.empty());
}

namespace {

const std::string approval_x = "66666666-6666-7666-8666-666666666661",
                  approval_y = "66666666-6666-7666-8666-666666666662";
std::string to_task(const std::string& parts) {
  return R"({"message":{"messageId":"m","role":"ROLE_USER","taskId":")" + run_id + R"(","parts":[)" + parts + "]}}";
}
std::string data_part(const std::string& approval, const char* decision) {
  return R"({"data":{"approval_id":")" + approval + R"(","decision":")" + decision + "\"}}";
}

}  // namespace

TEST_F(a2a_routes, a_waiting_task_asks_for_the_approval_and_takes_the_decision) {
  runs_.approvals[approval_x] = "pending";
  runs_.events = {R"({"type":"llm_response_start","step":1,"attempt":1})",
                  R"({"type":"tool_call","tool_call_id":"c","name":"shell","source":"sandbox"})",
                  R"({"type":"approval_requested","approval_id":")" + approval_x + R"(","tool_call_id":"c"})"};
  const auto state = [](const json::value& v) { return v.at("task").at("status").at("state"); };
  const json::value waiting = result("SendMessage", message());
  EXPECT_EQ(state(waiting), "TASK_STATE_INPUT_REQUIRED");
  const json::value& asked = waiting.at("task").at("status").at("message").at("parts").at(1).at("data");
  EXPECT_EQ(asked.at("approval_id"), json::string(approval_x));
  EXPECT_EQ(asked.at("arguments").at("command"), "ls");
  EXPECT_EQ(result("GetTask", id_params).at("status").at("state"), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_EQ(result("ListTasks", R"({"status":"TASK_STATE_INPUT_REQUIRED"})").at("totalSize"), 1);
  EXPECT_THAT(rpc("SendStreamingMessage", message()).body, HasSubstr("INPUT_REQUIRED"));
  EXPECT_THAT(rpc("SubscribeToTask", id_params).body, HasSubstr("INPUT_REQUIRED"));

  // A message that is no decision changes nothing.
  EXPECT_EQ(state(result("SendMessage", to_task(R"({"text":"why?"})"))), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_TRUE(runs_.decisions.empty());
  finish();
  runs_.status = "running";
  (void)result("SendMessage", to_task(R"({"text":"deny: no"})"));
  ASSERT_EQ(runs_.decisions.size(), 1u);
  EXPECT_EQ(runs_.decisions[0], R"({"decision":"deny","reason":"no"})");
  // Repeated, and contradicted.
  (void)result("SendMessage", to_task(data_part(approval_x, "deny")));
  EXPECT_EQ(runs_.decisions.size(), 1u);
  const json::value refused = error("SendMessage", to_task(data_part(approval_x, "approve")));
  EXPECT_EQ(refused.at("code"), -32602);
  EXPECT_THAT(json::serialize(refused), HasSubstr("message.parts[0].data.decision"));
  EXPECT_EQ(error("SendMessage", to_task(R"({"text":"approve"})")).at("code"), -32004);
}

TEST_F(a2a_routes, several_approvals_need_their_ids) {
  runs_.approvals = {{approval_x, "pending"}, {approval_y, "pending"}};
  finish();
  runs_.status = "running";
  EXPECT_THAT(json::serialize(error("SendMessage", to_task(R"({"text":"approve"})"))), HasSubstr("approval_id"));
  EXPECT_THAT(json::serialize(
                  error("SendMessage", to_task(data_part(approval_x, "approve") + "," + data_part(ann, "approve")))),
              HasSubstr("message.parts[1].data.approval_id"));
  EXPECT_TRUE(runs_.decisions.empty());
  (void)result("SendMessage", to_task(data_part(approval_x, "approve") + "," + data_part(approval_y, "deny")));
  EXPECT_EQ(runs_.decisions.size(), 2u);
  EXPECT_EQ(runs_.approvals[approval_y], "denied");
}

TEST_F(a2a_routes, agents_have_their_own_tasks) {
  const std::string path = "/a2a/agents/" + agent_id;
  finish();
  (void)result("SendMessage", message(), path);
  EXPECT_EQ(runs_.starts[0]["agent_id"], agent_id);
  EXPECT_EQ(result("ListTasks", "{}", path).at("totalSize"), 1);
  const auto card = host_.call("GET", path + "/agent-card.json");
  EXPECT_EQ(json::parse(card.body).at("version"), "4");
  EXPECT_THAT(card.body, HasSubstr("https://agents.example.org" + path));
  EXPECT_EQ(result("GetExtendedAgentCard", "{}").at("name"), "Poet");
  for (const std::string& id : {ann, std::string("x")}) {
    EXPECT_EQ(rpc("ListTasks", "{}", "/a2a/agents/" + id).status, 404u);
    EXPECT_EQ(host_.call("GET", "/a2a/agents/" + id + "/agent-card.json").status, 404u);
  }
}

TEST_F(a2a_routes, lists_pass_filters_on) {
  const json::value all = result("ListTasks", R"({"pageSize":5,"status":"TASK_STATE_WORKING"})");
  EXPECT_EQ(all.at("tasks").as_array().size(), 1u);
  EXPECT_EQ(all.at("nextPageToken"), "");
  EXPECT_FALSE(all.at("tasks").at(0).as_object().contains("artifacts"));
  EXPECT_THAT(runs_.lists[0], Contains(Pair("limit", "5")));
  EXPECT_THAT(runs_.lists[0], Contains(Pair("status", "running")));
  EXPECT_EQ(result("ListTasks", R"({"status":"TASK_STATE_COMPLETED"})").at("totalSize"), 0);
  EXPECT_EQ(runs_.lists.size(), 2u);
  EXPECT_EQ(result("ListTasks", R"({"status":"TASK_STATE_AUTH_REQUIRED"})").at("totalSize"), 0);
  EXPECT_EQ(runs_.lists.size(), 2u);
  (void)result("ListTasks", R"({"contextId":")" + thread_id + R"("})");
  EXPECT_THAT(runs_.lists[2], Contains(Pair("thread_id", thread_id)));
  const auto rest = host_.call("GET", "/a2a/v1/tasks?pageSize=7&includeArtifacts=true", options(""));
  EXPECT_EQ(json::parse(rest.body).at("pageSize"), 7);
  EXPECT_EQ(host_.call("GET", "/a2a/v1/tasks?pageSize=0", options("")).status, 400u);
}

TEST_F(a2a_routes, push_notifications_are_not_supported) {
  EXPECT_EQ(error("CreateTaskPushNotificationConfig", "{}").at("code"), -32003);
  EXPECT_EQ(host_.call("DELETE", "/a2a/v1/tasks/x/pushNotificationConfigs/y", options("")).status, 400u);
}

TEST_F(a2a_routes, malformed_requests_are_errors) {
  EXPECT_EQ(json::parse(host_.call("POST", "/a2a", options("{")).body).at("error").at("code"), -32700);
  EXPECT_EQ(json::parse(host_.call("POST", "/a2a").body).at("error").at("code"), -32700);
  EXPECT_EQ(error("ListTasks", R"({"tenant":"x"})").at("code"), -32602);
  EXPECT_EQ(host_.call("POST", "/a2a/v1/tasks/x:explode", options("")).failure.message(), "Not Found");
  EXPECT_EQ(host_.call("POST", "/a2a/v1/message:send", options("[]")).status, 400u);
  ry::testing::call_options old;
  EXPECT_THAT(host_.call("GET", "/a2a/v1/tasks", old).body, HasSubstr("VERSION_NOT_SUPPORTED"));
}

TEST_F(a2a_routes, a_deleted_account_leaves_no_names) {
  EXPECT_EQ(host_.deliver("deleted_accounts", "account.deleted", ann, "{}"), RY_OK);
  EXPECT_THAT(host_.db.calls.back().sql, HasSubstr("delete from a2a.context"));
  EXPECT_EQ(host_.deliver("deleted_accounts", "account.deleted", "x", "{}"), RY_OK);
}
