#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/svc/accounts.h>
#include <ry/svc/runs.h>
#include <boost/json.hpp>
#include <map>
#include <ry/testing.hpp>

#include "chat_id.hpp"

using testing::HasSubstr;
using testing::Not;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string run1 = "01900000-0000-7000-8000-000000000001", run2 = "01900000-0000-7000-8000-000000000002";

// Fakes of accounts/1 and runs/1.
struct fakes {
  ry::testing::fake_host* host = nullptr;
  std::map<std::string, std::string> started;  // fields of the last start
  std::map<std::string, std::string> files;
  std::string key;
  std::map<std::string, std::string> runs;  // thread -> array
  std::string messages = R"({"messages":[],"next_cursor":null})";
  std::string run_json;
  std::map<std::string, std::vector<std::string>> events;  // by run
  bool ends = true;  // whether the stream ends after `events`
  std::vector<std::string> stopped;
  std::map<std::string, std::string> approvals;  // run -> array
  std::vector<std::string> decisions;  // "id body"
  ry::error refusal{RY_OK};
};
fakes* current = nullptr;

void respond(ry_exec* exec, ry_run_json_fn fn, void* ctx, std::string json, ry::error e = ry::error(RY_OK)) {
  current->host->ctx().post(exec, [=] {
    const ry_error_view v = e.view();
    fn(ctx, e.status(), ry::str(json), e.status() == RY_OK ? nullptr : &v);
  });
}

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

ry_status start(void*, const ry_run_start* s, ry_exec* exec, ry_run_started_fn fn, void* ctx) noexcept {
  current->started.clear();
  current->files.clear();
  for (std::size_t i = 0; i < s->n_fields; ++i)
    current->started[ry::text(s->fields[i].name)] = ry::text(s->fields[i].value);
  for (std::size_t i = 0; i < s->n_files; ++i)
    current->files[ry::text(s->files[i].name)] = ry::text(s->files[i].content);
  current->key = ry::text(s->idempotency_key);
  current->host->ctx().post(exec, [fn, ctx] {
    const ry_error_view v = current->refusal.view();
    ry_run_started out{};
    out.struct_size = sizeof out;
    out.run_id = ry::str(run1);
    const std::string thread = current->started["thread_id"];
    out.thread_id = out.project_id = ry::str(thread);
    const bool ok = current->refusal.status() == RY_OK;
    fn(ctx, current->refusal.status(), ok ? &out : nullptr, ok ? nullptr : &v);
  });
  return RY_OK;
}
struct follower {
  ry_run_sink sink;
  void* ctx;
  std::string run;
  bool closed = false;
};
ry_status follow(void*, const ry_run_follow* what, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                 void** reader) noexcept {
  auto* f = new std::shared_ptr<follower>(
      std::make_shared<follower>(follower{*sink, ctx, ry::uuid(what->run_id).to_string()}));
  *reader = f;
  current->host->ctx().post(exec, [f = *f] {
    if (f->closed) return;
    std::vector<ry_run_event> all;
    for (const std::string& e : current->events[f->run]) all.push_back({all.size() + 1, ry::str(e)});
    if (!all.empty()) (void)f->sink.on_events(f->ctx, all.data(), all.size(), sizeof all[0]);
  });
  return RY_OK;
}
void resume_reader(void*, void* reader) noexcept {
  const auto f = *static_cast<std::shared_ptr<follower>*>(reader);
  if (current->ends)
    current->host->ctx().post(current->host->exec(), [f] {
      if (!f->closed) f->sink.on_end(f->ctx, RY_OK, nullptr);
    });
}
void close_reader(void*, void* reader) noexcept {
  auto* f = static_cast<std::shared_ptr<follower>*>(reader);
  (*f)->closed = true;
  delete f;
}
ry_status stop(void*, const ry_uuid*, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  current->stopped.push_back(ry::uuid(*run).to_string());
  respond(exec, fn, ctx, R"({"status":"stopped"})");
  return RY_OK;
}
ry_status get(void*, const ry_uuid*, const ry_uuid*, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
  respond(exec, fn, ctx, current->run_json);
  return RY_OK;
}
std::string value_of(const ry_run_field* query, std::size_t n, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i)
    if (ry::view(query[i].name) == name) return ry::text(query[i].value);
  return {};
}
// The items of an array that have this status; empty: all.
std::string page_of(const std::string& name, const std::string& array, const std::string& status) {
  boost::json::array out;
  const boost::json::value all = boost::json::parse(array);
  for (const auto& item : all.as_array())
    if (status.empty() || item.at("status").as_string() == std::string_view(status)) out.push_back(item);
  return boost::json::serialize(boost::json::object{{name, out}, {"next_cursor", nullptr}});
}
ry_status list(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
               void* ctx) noexcept {
  const std::string thread = value_of(query, n, "thread_id"), status = value_of(query, n, "status");
  const auto found = current->runs.find(thread);
  if (found == current->runs.end())
    respond(exec, fn, ctx, {}, ry::not_found("runs.thread", "Thread not found"));
  else
    respond(exec, fn, ctx, page_of("agent_runs", found->second, status));
  return RY_OK;
}
ry_status approvals(void*, const ry_uuid*, const ry_run_field* query, std::size_t n, ry_exec* exec, ry_run_json_fn fn,
                    void* ctx) noexcept {
  const auto found = current->approvals.find(value_of(query, n, "run_id"));
  const std::string all = found == current->approvals.end() ? "[]" : found->second;
  respond(exec, fn, ctx, page_of("approvals", all, value_of(query, n, "status")));
  return RY_OK;
}
ry_status decide(void*, const ry_uuid*, const ry_uuid* id, ry_str body, ry_exec* exec, ry_run_json_fn fn,
                 void* ctx) noexcept {
  current->decisions.push_back(ry::uuid(*id).to_string() + " " + ry::text(body));
  respond(exec, fn, ctx, "{}", current->refusal);
  return RY_OK;
}
ry_status messages(void*, const ry_uuid*, const ry_uuid*, const ry_run_field*, std::size_t, ry_exec* exec,
                   ry_run_json_fn fn, void* ctx) noexcept {
  respond(exec, fn, ctx, current->messages);
  return RY_OK;
}
constexpr ry_runs_v1 runs_table{
    sizeof(ry_runs_v1), 0,       start,   nullptr,   follow, resume_reader, close_reader, stop, get, list,
    messages,           nullptr, nullptr, approvals, decide, nullptr};

class chat_api : public testing::Test {
 protected:
  chat_api() {
    current = &fake;
    fake.host = &host;
    host.services[RY_SVC_ACCOUNTS_1] = {&accounts_table, &host};
    host.services[RY_SVC_RUNS_1] = {&runs_table, &host};
    host.load(*ry_module_entry());
    fake.events[run1] = {R"({"type":"llm_response_start","step":1,"attempt":1})",
                         R"({"type":"llm_response_chunk","content":"Hi"})",
                         R"({"type":"status","status":"completed","reason":"ok"})"};
  }
  ry::testing::answer post(const std::string& path, const std::string& body, ry::headers fields = {}) {
    ry::testing::call_options o;
    o.body = body;
    o.fields = std::move(fields);
    return host.call("POST", path, o);
  }
  std::string thread_of(const std::string& chat) {
    return aisdk::ids_of_chat(*ry::uuid::parse(ann), chat).thread.to_string();
  }
  void has_runs(const std::string& chat, const std::string& items) { fake.runs[thread_of(chat)] = "[" + items + "]"; }
  ry::testing::fake_host host;
  fakes fake;
};

const std::string hello = R"({"role":"user","parts":[{"type":"text","text":"hello"}]})";
std::string body(const std::string& messages, const std::string& more = "") {
  return R"({"id":"c","messages":[)" + messages + "]" + more + "}";
}
std::string running(const std::string& id) {
  return R"({"agent_run_id":")" + id + R"(","status":"running","reason":null})";
}

}  // namespace

TEST_F(chat_api, a_new_chat_gets_a_thread_with_deterministic_ids) {
  const auto a = post("/aisdk/chat", body(R"({"role":"user","parts":[{"type":"text","text":"before"}]},)" + hello));
  EXPECT_EQ(a.status, 200u);
  EXPECT_EQ(a.header("x-vercel-ai-ui-message-stream"), "v1");
  EXPECT_EQ(a.header("Content-Type"), "text/event-stream");
  EXPECT_THAT(a.body, HasSubstr(R"("messageId":")" + run1));
  EXPECT_THAT(a.body, HasSubstr(R"("delta":"Hi")"));
  EXPECT_THAT(a.body, HasSubstr("data: [DONE]\n\n"));
  EXPECT_EQ(fake.started["thread_id"], thread_of("c"));
  EXPECT_EQ(fake.started["optimistic"], "true");
  EXPECT_EQ(fake.started["prompt"], "hello");
  EXPECT_EQ(fake.started["history"], R"([{"role":"user","content":"before"}])");
}

TEST_F(chat_api, an_existing_chat_gets_only_the_newest_message) {
  has_runs("c", R"({"agent_run_id":"x","status":"completed","reason":"ok"})");
  post("/aisdk/chat", body(hello + "," + hello, R"(,"model":"m","mode":"chat","tools":[{"name":"t"}])"));
  EXPECT_EQ(fake.started.count("optimistic"), 0u);
  EXPECT_EQ(fake.started.count("history"), 0u);
  EXPECT_EQ(fake.started["model_name"], "m");
  EXPECT_EQ(fake.started["mode"], "chat");
  EXPECT_EQ(fake.started["client_tools"], R"([{"name":"t","description":""}])");
}

TEST_F(chat_api, the_id_of_a_thread_selects_it) {
  fake.runs[run2] = "[]";
  post("/aisdk/chat", R"({"id":")" + run2 + R"(","messages":[)" + hello + "]}");
  EXPECT_EQ(fake.started["thread_id"], run2);
  EXPECT_EQ(fake.started.count("project_id"), 0u);
}

TEST_F(chat_api, outputs_continue_the_message_under_its_id) {
  has_runs("c", R"({"agent_run_id":"x","status":"completed","reason":"tool_calls"})");
  fake.messages = R"({"messages":[{"role":"assistant","tool_calls":[{"id":"k"}]}]})";
  const auto a = post("/aisdk/chat", body(R"({"id":"m1","role":"assistant","parts":[
      {"type":"tool-t","toolCallId":"k","state":"output-available","output":{"a":1}},
      {"type":"tool-t","toolCallId":"old","state":"output-available","output":2}]})"));
  EXPECT_EQ(fake.started["tool_results"], R"([{"tool_call_id":"k","content":"{\"a\":1}","is_error":false}])");
  EXPECT_EQ(fake.started.count("prompt"), 0u);
  EXPECT_THAT(a.body, HasSubstr(R"("messageId":"m1")"));
}

TEST_F(chat_api, regenerate_uses_the_stored_message_if_it_has_no_answer) {
  has_runs("c", R"({"agent_run_id":"x","status":"failed","reason":"llm_error"})");
  fake.messages = R"({"messages":[{"role":"user"}]})";
  post("/aisdk/chat", body(hello, R"(,"trigger":"regenerate-message")"));
  EXPECT_EQ(fake.started.count("prompt"), 0u);
  fake.messages = R"({"messages":[{"role":"assistant"}]})";
  post("/aisdk/chat", body(hello, R"(,"trigger":"regenerate-message")"));
  EXPECT_EQ(fake.started["prompt"], "hello");
}

TEST_F(chat_api, a_start_with_a_key_depends_only_on_the_request) {
  const ry::headers key = {{"Idempotency-Key", "k"}};
  post("/aisdk/chat", body(hello), key);
  const auto first = fake.started;
  EXPECT_EQ(fake.key, "k");
  has_runs("c", running(run1));
  post("/aisdk/chat", body(hello), key);
  EXPECT_EQ(fake.started, first);
}

TEST_F(chat_api, files_of_the_message_are_uploaded) {
  post(
      "/aisdk/chat",
      body(R"({"role":"user","parts":[{"type":"file","filename":"a.txt","mediaType":"text/plain","url":"data:,x"}]})"));
  EXPECT_EQ(fake.files["a.txt"], "x");
  EXPECT_EQ(fake.started["prompt"], "See the attached files.");
}

TEST_F(chat_api, refusals_of_the_service_are_passed_on) {
  fake.refusal = ry::http_error(402, RY_RESOURCE_EXHAUSTED, "runs.limit", "No credits");
  const auto a = post("/aisdk/chat", body(hello));
  EXPECT_EQ(a.failure.http_status(), 402u);
  EXPECT_EQ(a.failure.message(), "No credits");
  EXPECT_FALSE(a.streaming);
}

TEST_F(chat_api, resume_is_204_without_an_active_run) {
  EXPECT_EQ(host.call("GET", "/aisdk/chat/c/stream").status, 204u);
  has_runs("c", R"({"agent_run_id":"x","status":"completed","reason":"ok"})");
  EXPECT_EQ(host.call("GET", "/aisdk/chat/c/stream").status, 204u);
}

TEST_F(chat_api, resume_streams_the_active_run_from_its_beginning) {
  has_runs("c", running(run1));
  const auto a = host.call("GET", "/aisdk/chat/c/stream");
  EXPECT_EQ(a.status, 200u);
  EXPECT_THAT(a.body, HasSubstr(R"("messageId":")" + run1));
  EXPECT_THAT(a.body, HasSubstr(R"("delta":"Hi")"));
}

TEST_F(chat_api, resume_of_a_continuation_begins_with_the_first_run) {
  has_runs("c", running(run2) + R"(,{"agent_run_id":")" + run1 + R"(","status":"completed","reason":"tool_calls"})");
  fake.messages = R"({"messages":[{"agent_run_id":")" + run2 + R"(","role":"tool","tool_call_id":"k","content":"out"},
    {"agent_run_id":")" +
                  run1 + R"(","role":"assistant"},{"agent_run_id":")" + run1 + R"(","role":"user"}]})";
  fake.events[run1] = {R"({"type":"tool_call","tool_call_id":"k","name":"t","source":"client"})",
                       R"({"type":"status","status":"completed","reason":"tool_calls"})"};
  fake.events[run2] = {R"({"type":"llm_response_chunk","content":"Done"})",
                       R"({"type":"status","status":"completed","reason":"ok"})"};
  const auto a = host.call("GET", "/aisdk/chat/c/stream");
  EXPECT_THAT(a.body, HasSubstr(R"("messageId":")" + run1));
  EXPECT_THAT(a.body, HasSubstr(R"("output":"out")"));
  EXPECT_THAT(a.body, HasSubstr(R"("delta":"Done")"));
  EXPECT_THAT(a.body, Not(HasSubstr(R"("finishReason":"tool-calls")")));
}

TEST_F(chat_api, resume_of_a_named_run_checks_its_thread) {
  has_runs("c", "");
  fake.run_json = R"({"agent_run_id":")" + run1 + R"(","thread_id":")" + thread_of("c") + R"("})";
  EXPECT_EQ(host.call("GET", "/aisdk/chat/c/stream?runId=" + run1).status, 200u);
  fake.run_json = R"({"agent_run_id":")" + run1 + R"(","thread_id":")" + run2 + R"("})";
  EXPECT_EQ(host.call("GET", "/aisdk/chat/c/stream?runId=" + run1).failure.status(), RY_NOT_FOUND);
  EXPECT_EQ(host.call("GET", "/aisdk/chat/c/stream?runId=x").status, 400u);
}

TEST_F(chat_api, a_shutdown_ends_the_stream_with_an_error_part) {
  fake.ends = false;
  fake.events[run1].pop_back();  // the end of the run
  ry::testing::call_options o;
  o.body = body(hello);
  const auto a = host.send("POST", "/aisdk/chat", o);
  host.run_ready();
  EXPECT_THAT(a->body, HasSubstr(R"("delta":"Hi")"));
  host.drop_client(*a, RY_REASON_SHUTDOWN);
  host.run_ready();
  EXPECT_THAT(a->body, HasSubstr("The server is restarting"));
  EXPECT_THAT(a->body, HasSubstr("data: [DONE]\n\n"));
}

TEST_F(chat_api, a_shutdown_after_the_end_of_the_run_adds_no_error_part) {
  fake.ends = false;
  ry::testing::call_options o;
  o.body = body(hello);
  const auto a = host.send("POST", "/aisdk/chat", o);
  host.run_ready();
  EXPECT_THAT(a->body, HasSubstr(R"("type":"finish")"));
  host.drop_client(*a, RY_REASON_SHUTDOWN);
  host.run_ready();
  EXPECT_THAT(a->body, Not(HasSubstr(R"("type":"error")")));
  EXPECT_THAT(a->body, HasSubstr("data: [DONE]\n\n"));
}

TEST_F(chat_api, a_disconnect_ends_the_reader_and_stops_nothing) {
  fake.ends = false;
  ry::testing::call_options o;
  o.body = body(hello);
  const auto a = host.send("POST", "/aisdk/chat", o);
  host.run_ready();
  host.drop_client(*a, RY_REASON_GONE);
  host.run_ready();
  EXPECT_THAT(a->body, Not(HasSubstr("[DONE]")));
  EXPECT_TRUE(fake.stopped.empty());
}

// ---- approvals ----

const std::string ask1 = "02900000-0000-7000-8000-000000000001", ask2 = "02900000-0000-7000-8000-000000000002";

namespace {

std::string approval(const std::string& id, const std::string& status) {
  return R"({"approval_id":")" + id + R"(","status":")" + status + R"("})";
}
std::string requested(const std::string& id, const std::string& call) {
  return R"({"type":"approval_requested","approval_id":")" + id + R"(","tool_call_id":")" + call +
         R"(","name":"shell","expires_at":"2030-01-01T00:00:00.000Z"})";
}
std::string resolved(const std::string& id, const std::string& call, const std::string& status) {
  return R"({"type":"approval_resolved","approval_id":")" + id + R"(","tool_call_id":")" + call + R"(","status":")" +
         status + R"(","reason":null})";
}
std::string decided_part(const std::string& id, const std::string& call, const std::string& approved) {
  return R"({"type":"dynamic-tool","toolName":"shell","toolCallId":")" + call +
         R"(","state":"approval-responded","providerExecuted":true,"approval":{"id":")" + id + R"(","approved":)" +
         approved + R"(,"reason":"because"}})";
}

class waiting_chat : public chat_api {
 protected:
  waiting_chat() {
    has_runs("c", running(run1));
    fake.ends = false;
    fake.approvals[run1] = "[" + approval(ask1, "pending") + "]";
    fake.events[run1] = {R"({"type":"llm_response_start","step":1,"attempt":1})",
                         R"({"type":"llm_response_chunk","content":"Before"})",
                         R"({"type":"llm_response_end","step":1})",
                         R"({"type":"tool_call","tool_call_id":"k","name":"shell","source":"sandbox"})",
                         requested(ask1, "k"),
                         requested(ask1, "k")};
  }
  void decided(const std::string& status) {
    fake.approvals[run1] = "[" + approval(ask1, status) + "]";
    auto& events = fake.events[run1];
    events.push_back(resolved(ask1, "k", status));
    events.push_back(R"({"type":"tool_result","tool_call_id":"k","content":"out"})");
    events.push_back(R"({"type":"llm_response_start","step":2,"attempt":1})");
    events.push_back(R"({"type":"llm_response_chunk","content":"After"})");
    events.push_back(R"({"type":"status","status":"completed","reason":"ok"})");
    fake.ends = true;
  }
  std::string message(const std::string& parts) {
    return body(R"({"id":"m1","role":"assistant","parts":[{"type":"step-start"},)" + parts + "]}");
  }
};

}  // namespace

TEST_F(waiting_chat, a_stream_ends_while_the_run_waits) {
  const auto a = host.call("GET", "/aisdk/chat/c/stream");
  EXPECT_THAT(a.body, HasSubstr(R"({"type":"tool-approval-request","approvalId":")" + ask1 + R"(","toolCallId":"k")"));
  EXPECT_THAT(a.body, HasSubstr(R"("waiting":true}}

data: [DONE])"));
  EXPECT_EQ(a.body.find("tool-approval-request"), a.body.rfind("tool-approval-request"));
  // A decision that the log does not have yet: the stream goes on.
  fake.approvals[run1] = "[" + approval(ask1, "approved") + "]";
  const auto open = host.send("GET", "/aisdk/chat/c/stream", {});
  host.run_ready();
  EXPECT_THAT(open->body, Not(HasSubstr("[DONE]")));
  host.drop_client(*open, RY_REASON_GONE);
  host.run_ready();
}

TEST_F(waiting_chat, a_decision_continues_the_message) {
  decided("approved");
  fake.approvals[run1] = "[" + approval(ask1, "pending") + "]";
  const auto a = post("/aisdk/chat", message(decided_part(ask1, "k", "true")));
  EXPECT_EQ(fake.decisions, std::vector<std::string>{ask1 + R"( {"decision":"approve","reason":"because"})"});
  EXPECT_TRUE(fake.started.empty());
  EXPECT_THAT(a.body, HasSubstr(R"("messageId":"m1")"));
  EXPECT_THAT(a.body, Not(HasSubstr("Before")));
  EXPECT_THAT(a.body, Not(HasSubstr("tool-input-available")));
  EXPECT_THAT(a.body, HasSubstr(R"({"type":"tool-approval-response","approvalId":")" + ask1 + R"(","approved":true)"));
  EXPECT_THAT(a.body, HasSubstr(R"("delta":"After")"));
}

TEST_F(waiting_chat, a_denied_call_has_no_output) {
  decided("denied");
  const auto a = post("/aisdk/chat", message(decided_part(ask1, "k", "false")));
  EXPECT_TRUE(fake.decisions.empty()) << "the decision was made before";
  EXPECT_THAT(a.body, HasSubstr(R"({"type":"tool-output-denied","toolCallId":"k"})"));
  EXPECT_THAT(a.body, Not(HasSubstr("APPROVAL_DECIDED")));
}

TEST_F(waiting_chat, another_decision_that_was_made_before_applies) {
  decided("denied");
  const auto late = post("/aisdk/chat", message(decided_part(ask1, "k", "true")));
  EXPECT_THAT(late.body, HasSubstr("APPROVAL_DECIDED"));
  EXPECT_THAT(late.body, HasSubstr(R"("approved":false)"));
  // The other decision is made between the check and the request.
  fake.approvals[run1] = "[" + approval(ask1, "pending") + "]";
  fake.refusal =
      ry::http_error(409, RY_FAILED_PRECONDITION, "runs.decided", "A different decision has already been made");
  const auto raced = post("/aisdk/chat", message(decided_part(ask1, "k", "true")));
  EXPECT_THAT(raced.body, HasSubstr("APPROVAL_DECIDED"));
}

TEST_F(waiting_chat, what_the_client_lacks_of_the_step_is_sent) {
  auto& events = fake.events[run1];
  events.insert(events.begin() + 4, R"({"type":"tool_call","tool_call_id":"l","name":"shell","source":"sandbox"})");
  events.push_back(requested(ask2, "l"));
  fake.approvals[run1] = "[" + approval(ask2, "pending") + "," + approval(ask1, "approved") + "]";
  const auto a = post("/aisdk/chat", message(decided_part(ask1, "k", "true")));
  EXPECT_THAT(a.body, Not(HasSubstr(R"("toolCallId":"k")")));
  EXPECT_THAT(a.body, HasSubstr(R"({"type":"tool-input-available","toolCallId":"l")"));
  EXPECT_THAT(a.body, HasSubstr(R"({"type":"tool-approval-request","approvalId":")" + ask2));
  EXPECT_THAT(a.body, HasSubstr(R"("waiting":true)"));
}

TEST_F(waiting_chat, unknown_and_malformed_decisions_are_refused) {
  const auto unknown = post("/aisdk/chat", message(decided_part(ask2, "k", "true")));
  EXPECT_EQ(unknown.failure.message(), "messages[0].parts[1].approval.id is not an approval of this chat");
  EXPECT_EQ(unknown.status, 422u);
  EXPECT_EQ(post("/aisdk/chat", message(decided_part("no id", "k", "true"))).status, 422u);
  EXPECT_EQ(post("/aisdk/chat", message(decided_part(ask1, "k", "7"))).failure.message(),
            "messages[0].parts[1].approval.approved must be a boolean");
  EXPECT_EQ(post("/aisdk/chat", message(R"({"type":"tool-x","toolCallId":"k","state":"approval-responded"})"))
                .failure.message(),
            "messages[0].parts[1].approval must be an object");
  EXPECT_TRUE(fake.decisions.empty());
}

TEST_F(waiting_chat, stored_messages_show_what_waits) {
  has_runs("c", R"({"agent_run_id":")" + run1 +
                    R"(","status":"running","waiting_for":[{"type":"approval","approval_id":")" + ask1 +
                    R"(","tool_call_id":"k","name":"shell","expires_at":"2030-01-01"},{"type":"tool_result"}]})");
  fake.messages = R"({"messages":[{"agent_run_id":")" + run1 +
                  R"(","role":"assistant","content":"","tool_calls":[{"id":"k","name":"shell","arguments":{}}]}]})";
  const auto a = host.call("GET", "/aisdk/chat/c");
  EXPECT_THAT(a.body, HasSubstr(R"("state":"approval-requested")"));
  EXPECT_THAT(a.body, HasSubstr(R"("approval":{"id":")" + ask1));
}

TEST_F(chat_api, stop_ends_the_active_runs) {
  has_runs("c", running(run2) + "," + running(run1) + R"(,{"agent_run_id":"x","status":"completed"})");
  const auto a = post("/aisdk/chat/c/stop", "");
  EXPECT_EQ(a.body, R"({"success":true,"stopped":2})");
  fake.stopped.clear();
  post("/aisdk/chat/c/stop", R"({"activeStreamId":")" + run1 + R"("})");
  EXPECT_EQ(fake.stopped, std::vector<std::string>{run1});
  EXPECT_EQ(post("/aisdk/chat/other/stop", "{}").body, R"({"success":true,"stopped":0})");
}

TEST_F(chat_api, messages_of_a_chat) {
  has_runs("c", running(run1));
  fake.messages = R"({"messages":[{"agent_run_id":")" + run1 + R"(","role":"assistant","content":"x"},
    {"agent_run_id":")" +
                  run1 + R"(","role":"user","message_id":"u","content":"q"}],"next_cursor":null})";
  const auto a = host.call("GET", "/aisdk/chat/c");
  EXPECT_THAT(a.body, HasSubstr(R"("activeStreamId":")" + run1));
  EXPECT_LT(a.body.find(R"("role":"user")"), a.body.find(R"("role":"assistant")"));
  EXPECT_EQ(host.call("GET", "/aisdk/chat/none").body,
            R"({"id":"none","messages":[],"activeStreamId":null,"hasMore":false})");
}
