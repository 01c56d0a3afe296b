// The routes with fakes of accounts/1, agents/1 and runs/1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <ry/svc/runs.h>
#include <boost/json.hpp>
#include <ry/testing.hpp>

using testing::HasSubstr;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string run_id = "22222222-2222-7222-8222-222222222222";
const std::string thread_id = "33333333-3333-7333-8333-333333333333";

struct fakes {
  ry::testing::fake_host host;
  std::map<std::string, std::string> started;  // fields of the last start
  std::string key;
  int starts = 0;
  ry::error refusal{RY_OK};  // of the first start
  std::vector<std::string> events;
  std::string known_thread;
  std::string run_status = "completed";
  std::string approvals = "[]";  // of run_id
  std::vector<std::string> decisions;
  ry::error decision_refused{RY_OK};
};
fakes* now = nullptr;

ry_status ensure(void*, const ry_principal*, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
  now->host.ctx().post(exec, [fn, ctx] {
    ry_account_view v{};
    v.struct_size = sizeof v;
    v.account_id = *ry::uuid::parse(ann);
    v.account_id_text = ry::str(ann);
    fn(ctx, RY_OK, &v, nullptr);
  });
  return RY_OK;
}

ry_status list_agents(void*, const ry_uuid*, const ry_uuid*, std::uint32_t, ry_exec* exec, ry_agent_list_fn fn,
                      void* ctx) noexcept {
  now->host.ctx().post(exec, [fn, ctx] {
    ry_agent_view v{};
    v.struct_size = sizeof v;
    v.agent_id = ry::str(thread_id);
    v.name = ry::str("Helper");
    v.is_default = 1;
    fn(ctx, RY_OK, &v, 1, sizeof v, 1, nullptr);
  });
  return RY_OK;
}

ry_status start(void*, const ry_run_start* s, ry_exec* exec, ry_run_started_fn fn, void* ctx) noexcept {
  now->started.clear();
  for (std::size_t i = 0; i < s->n_fields; ++i)
    now->started[ry::text(s->fields[i].name)] = ry::text(s->fields[i].value);
  now->key = ry::text(s->idempotency_key);
  const ry::error refused = now->starts++ == 0 ? now->refusal : ry::error(RY_OK);
  now->host.ctx().post(exec, [fn, ctx, refused] {
    if (refused.status() != RY_OK) {
      const ry_error_view v = refused.view();
      return fn(ctx, refused.status(), nullptr, &v);
    }
    ry_run_started out{};
    out.struct_size = sizeof out;
    out.run_id = ry::str(run_id);
    out.thread_id = ry::str(thread_id);
    out.project_id = ry::str(thread_id);
    fn(ctx, RY_OK, &out, nullptr);
  });
  return RY_OK;
}

ry_status follow(void*, const ry_run_follow* what, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                 void** reader) noexcept {
  *reader = now;
  now->host.ctx().post(exec, [after = what->after, sink = *sink, ctx] {
    std::vector<ry_run_event> list;
    for (std::size_t i = after; i < now->events.size(); ++i) list.push_back({i + 1, ry::str(now->events[i])});
    if (!list.empty()) (void)sink.on_events(ctx, list.data(), list.size(), sizeof(ry_run_event));
    sink.on_end(ctx, RY_OK, nullptr);
  });
  return RY_OK;
}
void resume(void*, void*) noexcept {}
void close_reader(void*, void*) noexcept {}
void wake(void*) noexcept {}

ry_status respond(ry_exec* exec, ry_run_json_fn fn, void* ctx, bool found, std::string text) {
  now->host.ctx().post(exec, [fn, ctx, found, text] {
    const ry::error missing = ry::not_found("runs.not_found", "Not found").with_http(404);
    const ry_error_view v = missing.view();
    fn(ctx, found ? RY_OK : RY_NOT_FOUND, ry::str(text), found ? nullptr : &v);
  });
  return RY_OK;
}
ry_status stop(void*, const ry_uuid*, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  return respond(exec, fn, ctx, ry::uuid(*run).to_string() == run_id, R"({"status":"stopped"})");
}
ry_status get(void*, const ry_uuid*, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  return respond(exec, fn, ctx, ry::uuid(*run).to_string() == run_id, R"({"thread_id":")" + thread_id + "\"}");
}
std::string value_of(const ry_run_field* query, std::size_t n, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i)
    if (ry::view(query[i].name) == name) return ry::text(query[i].value);
  return {};
}
// The items of an array that have this status; empty: all.
std::string page_of(const std::string& name, const std::string& array, const std::string& status) {
  const boost::json::value all = boost::json::parse(array);
  boost::json::array out;
  for (const auto& item : all.as_array())
    if (status.empty() || item.at("status").as_string() == std::string_view(status)) out.push_back(item);
  return boost::json::serialize(boost::json::object{{name, out}, {"next_cursor", nullptr}});
}
ry_status list_runs(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
                    void* ctx) noexcept {
  const bool known = value_of(query, n, "thread_id") == now->known_thread;
  const std::string all = R"([{"agent_run_id":")" + run_id + R"(","status":")" + now->run_status + "\"}]";
  return respond(exec, fn, ctx, known, page_of("agent_runs", all, value_of(query, n, "status")));
}
ry_status approvals(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
                    void* ctx) noexcept {
  const std::string all = value_of(query, n, "run_id") == run_id ? now->approvals : "[]";
  return respond(exec, fn, ctx, true, page_of("approvals", all, value_of(query, n, "status")));
}
ry_status decide(void*, const ry_uuid*, const ry_uuid*, ry_str body, ry_exec* exec, ry_run_json_fn fn,
                 void* ctx) noexcept {
  now->decisions.push_back(ry::text(body));
  now->host.ctx().post(exec, [fn, ctx] {
    const ry_error_view v = now->decision_refused.view();
    const bool ok = now->decision_refused.status() == RY_OK;
    fn(ctx, now->decision_refused.status(), ry::str(ok ? "{}" : ""), ok ? nullptr : &v);
  });
  return RY_OK;
}
ry_status messages(void*, const ry_uuid*, const ry_uuid*, const ry_run_field*, std::size_t, ry_exec* exec,
                   ry_run_json_fn fn, void* ctx) noexcept {
  return respond(exec, fn, ctx, true,
                 R"({"messages":[{"message_id":"m2","agent_run_id":")" + run_id +
                     R"(","role":"assistant","content":"stored"},{"message_id":"m1","agent_run_id":")" + run_id +
                     R"(","role":"user","content":"asked"}],"next_cursor":null})");
}

const ry_tier_view* no_tier(void*, ry_str) noexcept {
  return nullptr;
}
ry_accounts_v1 accounts_table{sizeof(ry_accounts_v1), 0, ensure, no_tier, nullptr};
ry_agents_v1 agents_table{};
ry_runs_v1 runs_table{};

class agui_routes : public testing::Test {
 protected:
  agui_routes() {
    now = &fakes_;
    agents_table.struct_size = sizeof agents_table;
    agents_table.list = list_agents;
    runs_table.struct_size = sizeof runs_table;
    runs_table.start = start;
    runs_table.wake = wake;
    runs_table.follow = follow;
    runs_table.resume = resume;
    runs_table.close = close_reader;
    runs_table.stop = stop;
    runs_table.get = get;
    runs_table.list = list_runs;
    runs_table.messages = messages;
    runs_table.approvals = approvals;
    runs_table.decide = decide;
    fakes_.host.services[RY_SVC_ACCOUNTS_1] = {&accounts_table, &fakes_};
    fakes_.host.services[RY_SVC_AGENTS_1] = {&agents_table, &fakes_};
    fakes_.host.services[RY_SVC_RUNS_1] = {&runs_table, &fakes_};
    fakes_.host.load(*ry_module_entry());
    fakes_.events = {R"({"type":"status","status":"running"})", R"({"type":"llm_response_start","step":1,"attempt":1})",
                     R"({"type":"llm_response_chunk","content":"stored"})", R"({"type":"llm_response_end","step":1})",
                     R"({"type":"status","status":"completed","reason":"ok"})"};
  }
  ry::testing::answer post(const std::string& path, const std::string& body, ry::headers fields = {}) {
    ry::testing::call_options o;
    o.body = body;
    o.fields = std::move(fields);
    return fakes_.host.call("POST", path, o);
  }
  fakes fakes_;
};

std::string body(const std::string& messages = R"({"id":"u","role":"user","content":"hi"})",
                 const std::string& thread = "my thread") {
  return R"({"threadId":")" + thread + R"(","runId":"r","protocolVersion":"1.0","messages":[)" + messages + "]}";
}

}  // namespace

TEST_F(agui_routes, starts_a_run_on_a_derived_thread_and_streams_it) {
  const auto a = post("/agui/agents/default", body());
  EXPECT_EQ(a.status, 200u);
  EXPECT_EQ(a.header("Content-Type"), "text/event-stream");
  EXPECT_EQ(a.header("Runyard-Run-Id"), run_id);
  EXPECT_EQ(fakes_.started["optimistic"], "true");
  EXPECT_EQ(fakes_.started["thread_id"].size(), 36u);
  EXPECT_NE(fakes_.started["thread_id"], fakes_.started["project_id"]);
  EXPECT_FALSE(fakes_.started.contains("agent_id"));
  EXPECT_THAT(a.body, HasSubstr("\"type\":\"RUN_STARTED\""));
  EXPECT_THAT(a.body, HasSubstr("id: 5-0-1-1-Te\ndata: {\"type\":\"RUN_FINISHED\""));
  const std::string thread = fakes_.started["thread_id"], key = fakes_.key;
  (void)post("/agui/agents/" + thread_id, body());
  EXPECT_EQ(fakes_.started["thread_id"], thread);
  EXPECT_EQ(fakes_.started["agent_id"], thread_id);
  EXPECT_EQ(fakes_.key, key);
}

TEST_F(agui_routes, uses_a_thread_of_the_account_directly) {
  fakes_.known_thread = thread_id;
  (void)post("/agui/agents/default", body(R"({"id":"u","role":"user","content":"hi"})", thread_id));
  EXPECT_EQ(fakes_.started["thread_id"], thread_id);
  EXPECT_FALSE(fakes_.started.contains("optimistic"));
}

TEST_F(agui_routes, a_resumed_stream_continues_after_the_event) {
  const auto a = post("/agui/agents/default", body(), {{"Last-Event-ID", "3-0-1-1-astT"}});
  EXPECT_EQ(a.status, 200u);
  EXPECT_THAT(a.body, testing::StartsWith("id: 4-0-1-1-sT\ndata: {\"type\":\"TEXT_MESSAGE_END\""));
  EXPECT_EQ(post("/agui/agents/default", body(), {{"Last-Event-ID", "5-0-1-1-Te"}}).status, 204u);
  const auto wrong = post("/agui/agents/default", body(), {{"Last-Event-ID", "5"}});
  EXPECT_EQ(wrong.status, 400u);
}

TEST_F(agui_routes, refusals_keep_their_status_and_name_the_members_of_the_client) {
  fakes_.refusal = ry::http_error(422, RY_INVALID_ARGUMENT, "x", "client_tools[0].name is wrong");
  const auto a = post("/agui/agents/default", body());
  EXPECT_EQ(a.status, 422u);
  EXPECT_EQ(a.failure.message(), "tools[0].name is wrong");
  fakes_.starts = 0;
  fakes_.refusal = ry::http_error(402, RY_RESOURCE_EXHAUSTED, "x", "m", R"({"error_code":"INSUFFICIENT_CREDITS"})");
  EXPECT_EQ(post("/agui/agents/default", body()).status, 402u);
}

TEST_F(agui_routes, results_that_are_stored_already_do_not_block_a_prompt) {
  fakes_.refusal = ry::http_error(409, RY_FAILED_PRECONDITION, "x", "tool_results[0] is known",
                                  R"({"error_code":"TOOL_RESULT_NOT_PENDING"})");
  const std::string with_result =
      R"({"id":"a","role":"assistant","content":"x"},{"id":"t","role":"tool","toolCallId":"c","content":"r"})";
  EXPECT_EQ(post("/agui/agents/default", body(with_result)).status, 409u);
  fakes_.starts = 0;
  EXPECT_EQ(post("/agui/agents/default", body(with_result + R"(,{"id":"u","role":"user","content":"hi"})")).status,
            200u);
  EXPECT_EQ(fakes_.starts, 2);
  EXPECT_FALSE(fakes_.started.contains("tool_results"));
}

TEST_F(agui_routes, an_aborted_attempt_is_replaced_by_the_messages_of_the_client) {
  fakes_.events = {R"({"type":"llm_response_start","step":1,"attempt":1})",
                   R"({"type":"llm_response_chunk","content":"bad"})",
                   R"({"type":"turn_aborted","step":1,"attempt":1})"};
  const auto a = post("/agui/agents/default", body());
  EXPECT_THAT(a.body,
              HasSubstr(R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"hi"}]})"));
}

TEST_F(agui_routes, connect_sends_the_stored_thread) {
  fakes_.known_thread = thread_id;
  const auto a = post("/agui/agents/default/connect", body("", thread_id));
  EXPECT_THAT(a.body,
              HasSubstr(R"({"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m1","role":"user","content":"asked"},)"
                        R"({"id":")" +
                        run_id + R"(.1","role":"assistant","content":"stored"}]})"));
  EXPECT_THAT(a.body, HasSubstr("RUN_FINISHED"));
  EXPECT_EQ(fakes_.starts, 0);
}

TEST_F(agui_routes, only_server_sent_events_are_offered) {
  for (const char* accept : {"application/json", "application/vnd.ag-ui.event+proto", "text/html, image/*"})
    EXPECT_EQ(post("/agui/agents/default", body(), {{"Accept", accept}}).status, 406u) << accept;
  for (const char* accept : {"*/*", "text/*;q=0.5", "application/vnd.ag-ui.event+proto, text/event-stream"})
    EXPECT_EQ(post("/agui/agents/default", body(), {{"Accept", accept}}).status, 200u) << accept;
}

TEST_F(agui_routes, runs_are_followed_and_stopped_by_their_id) {
  const auto followed = fakes_.host.call("GET", "/agui/agents/default/runs/" + run_id + "?threadId=t&runId=r");
  EXPECT_THAT(followed.body, HasSubstr(R"("threadId":"t","runId":"r")"));
  EXPECT_EQ(fakes_.host.call("GET", "/agui/agents/default/runs/" + thread_id).status, 404u);
  EXPECT_EQ(fakes_.host.call("GET", "/agui/agents/default/runs/x").status, 400u);
  EXPECT_EQ(post("/agui/agents/default/runs/" + run_id + "/stop", "").body, R"({"status":"stopped"})");
  EXPECT_EQ(post("/agui/agents/x/runs/" + run_id + "/stop", "").status, 400u);
}

TEST_F(agui_routes, agents_are_listed_with_what_they_support) {
  const auto a = fakes_.host.call("GET", "/agui/agents");
  EXPECT_THAT(a.body, HasSubstr(R"("name":"Helper","description":"","isDefault":true)"));
  EXPECT_THAT(a.body, HasSubstr(R"("clientProvided":true)"));
  EXPECT_THAT(a.body, testing::Not(HasSubstr(R"("next_cursor":null)")));
}

// ---- approvals ----

namespace {

const std::string approval_a = "44444444-4444-7444-8444-444444444444";
const std::string approval_b = "55555555-5555-7555-8555-555555555555";

std::string entry(const std::string& id, const std::string& more) {
  return R"({"interruptId":")" + id + "\"," + more + "}";
}
const std::string approve = R"("status":"resolved","payload":{"approved":true})";
const std::string cancel = R"("status":"cancelled")";

class interrupted_run : public agui_routes {
 protected:
  interrupted_run() {
    fakes_.known_thread = thread_id;
    fakes_.run_status = "running";
    fakes_.events = {
        R"({"type":"llm_response_start","step":1,"attempt":1})", R"({"type":"llm_response_end","step":1})",
        R"({"type":"tool_call","tool_call_id":"k","name":"shell","source":"sandbox","arguments":{}})",
        R"({"type":"approval_requested","tool_call_id":"k","name":"shell","approval_id":")" + approval_a + "\"}"};
    set_approvals({{approval_a, "pending"}});
  }
  void set_approvals(const std::vector<std::pair<std::string, std::string>>& all) {
    boost::json::array out;
    for (const auto& [id, status] : all)
      out.push_back(boost::json::object{{"approval_id", id}, {"agent_run_id", run_id}, {"status", status}});
    fakes_.approvals = boost::json::serialize(out);
  }
  ry::testing::answer resume(const std::string& entries, ry::headers fields = {}) {
    std::string text = body("", thread_id);
    text.insert(text.size() - 1, ",\"resume\":[" + entries + "]");
    return post("/agui/agents/default", text, std::move(fields));
  }
};

}  // namespace

TEST_F(interrupted_run, a_stream_ends_with_an_interrupt) {
  const auto a = post("/agui/agents/default", body());
  EXPECT_THAT(a.body, HasSubstr(R"("outcome":{"type":"interrupt","interrupts":[{"id":")" + approval_a));
  // A decision that the log does not have yet: the stream goes on.
  set_approvals({{approval_a, "approved"}});
  EXPECT_THAT(post("/agui/agents/default", body()).body, testing::Not(HasSubstr("RUN_FINISHED")));
}

TEST_F(interrupted_run, a_response_is_a_decision_and_continues_the_run) {
  for (const char* e : {R"({"type":"tool_result","tool_call_id":"k","content":"out"})",
                        R"({"type":"status","status":"completed","reason":"ok"})"})
    fakes_.events.emplace_back(e);
  const auto a = resume(entry(approval_a, approve));
  EXPECT_EQ(a.status, 200u);
  EXPECT_EQ(a.header("Runyard-Run-Id"), run_id);
  EXPECT_EQ(fakes_.decisions, std::vector<std::string>{R"({"decision":"approve"})"});
  EXPECT_EQ(fakes_.starts, 0);
  EXPECT_THAT(a.body, testing::StartsWith("id: 4-0-1-1-\ndata: {\"type\":\"RUN_STARTED\""));
  EXPECT_THAT(a.body, HasSubstr("TOOL_CALL_RESULT"));
  EXPECT_THAT(a.body, testing::Not(HasSubstr("TOOL_CALL_START")));
}

TEST_F(interrupted_run, all_open_interrupts_need_a_response) {
  set_approvals({{approval_b, "pending"}, {approval_a, "pending"}});
  const auto a = resume(entry(approval_a, approve));
  EXPECT_EQ(a.status, 422u);
  EXPECT_THAT(std::string(a.failure.message()), HasSubstr("it has no entry for " + approval_b));
  EXPECT_TRUE(fakes_.decisions.empty());
  EXPECT_EQ(resume(entry(approval_a, approve) + "," + entry(approval_b, cancel)).status, 200u);
  EXPECT_EQ(fakes_.decisions.back(), R"({"decision":"deny"})");
  // The request is repeated while another interrupt is open.
  set_approvals({{approval_b, "pending"}, {approval_a, "approved"}});
  EXPECT_EQ(resume(entry(approval_a, approve)).status, 200u);
}

TEST_F(interrupted_run, a_conflicting_decision_is_refused_before_others_are_made) {
  set_approvals({{approval_b, "denied"}, {approval_a, "pending"}});
  fakes_.decision_refused =
      ry::http_error(409, RY_FAILED_PRECONDITION, "x", "Another", R"({"error_code":"APPROVAL_DECIDED"})");
  const auto a = resume(entry(approval_a, cancel) + "," + entry(approval_b, approve));
  EXPECT_EQ(a.status, 409u);
  EXPECT_EQ(fakes_.decisions, std::vector<std::string>{R"({"decision":"approve"})"}) << "of approval_b";
  fakes_.decisions.clear();
  set_approvals({{approval_a, "approved"}});
  EXPECT_EQ(resume(entry(approval_a, cancel)).status, 200u);
  EXPECT_TRUE(fakes_.decisions.empty());
}

TEST_F(interrupted_run, unknown_interrupts_are_refused) {
  const auto a = resume(entry(approval_b, approve));
  EXPECT_EQ(a.status, 422u);
  EXPECT_EQ(a.failure.message(), "resume[0].interruptId is not an interrupt of this thread");
  fakes_.known_thread.clear();
  EXPECT_EQ(resume(entry(approval_a, approve)).status, 422u);
  EXPECT_TRUE(fakes_.decisions.empty());
}
