// The parts without I/O.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cancellation.hpp"
#include "progress.hpp"
#include "resource_metadata.hpp"
#include "results.hpp"
#include "revision.hpp"
#include "settings.hpp"
#include "tool_list.hpp"

using testing::HasSubstr;
using testing::StartsWith;

namespace mcp_server {
namespace {

const std::string run_id = "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11";

json::object parsed(std::string_view text) {
  return json::parse(jv(text)).as_object();
}
std::string text_of(const json::value& v) {
  return std::string(v.as_string().c_str());
}

template <class F>
rpc_error failure_of(F f) {
  try {
    f();
  } catch (const rpc_error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return rpc_error(0, "");
}

message request(std::string_view text) {
  json::value id;
  return read_message(text, id);
}

TEST(json_rpc, reads_requests_notifications_and_responses) {
  const message m = request(R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":1}})");
  EXPECT_EQ(m.kind, message_kind::request);
  EXPECT_EQ(m.id, json::value("a"));
  EXPECT_EQ(m.params.at("x"), 1);
  EXPECT_EQ(request(R"({"jsonrpc":"2.0","method":"x"})").kind, message_kind::notification);
  EXPECT_EQ(request(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, message_kind::response);
}

TEST(json_rpc, an_error_has_the_id_if_it_was_readable) {
  json::value id;
  const auto e = failure_of([&] { read_message(R"({"jsonrpc":"2.0","id":7,"method":1})", id); });
  EXPECT_EQ(e.code(), rpc_code::invalid_request);
  EXPECT_EQ(error_message(id, e).at("id"), 7);
  EXPECT_FALSE(error_message(nullptr, e).contains("id"));
}

TEST(json_rpc, refuses_what_is_no_message) {
  for (const char* text :
       {"", "{", "[]", "1", "{}", R"({"jsonrpc":"2.0","id":null,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", R"({"jsonrpc":"2.0","method":"x","params":[]})"}) {
    EXPECT_EQ(failure_of([&] { request(text); }).http_status(), 400u) << text;
  }
}

TEST(revisions, are_negotiated) {
  EXPECT_EQ(negotiated("2025-06-18"), revision::v2025_06_18);
  EXPECT_EQ(negotiated("2026-07-28"), revision::v2025_11_25);
  EXPECT_EQ(negotiated("x"), revision::v2025_11_25);
  for (const auto name : revision_names) EXPECT_EQ(name_of(*parse_revision(name)), name);
}

const std::string modern_params =
    R"({"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":5,)"
    R"("io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}})";

message modern_call() {
  return request(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" + modern_params + "}");
}

TEST(revisions, a_stateless_request_contains_everything) {
  const client c = read_client(modern_call(), {"2026-07-28", "tools/call", "=?base64?YQ==?="});
  EXPECT_TRUE(c.stateless());
  EXPECT_TRUE(c.tasks);
  EXPECT_EQ(c.progress_token, 5);
}

TEST(revisions, headers_must_repeat_the_body) {
  const message m = modern_call();
  for (const request_headers& h : std::vector<request_headers>{{"", "tools/call", "a"},
                                                               {"2025-11-25", "tools/call", "a"},
                                                               {"2026-07-28", "", "a"},
                                                               {"2026-07-28", "Tools/call", "a"},
                                                               {"2026-07-28", "tools/call", ""},
                                                               {"2026-07-28", "tools/call", "b"},
                                                               {"2026-07-28", "tools/call", "=?base64?YQ?="}}) {
    const auto e = failure_of([&] { read_client(m, h); });
    EXPECT_EQ(e.code(), rpc_code::header_mismatch) << h.protocol_version << h.method << h.name;
    EXPECT_EQ(e.http_status(), 400u);
  }
}

TEST(revisions, without_a_version_it_is_the_first_one) {
  const message m = request(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(read_client(m, {}).rev, revision::v2025_03_26);
  EXPECT_EQ(read_client(m, {"2025-11-25", "", ""}).rev, revision::v2025_11_25);
  EXPECT_EQ(failure_of([&] { read_client(m, {"2026-07-28", "ping", ""}); }).code(), rpc_code::invalid_params);
  const auto unknown = failure_of([&] { read_client(m, {"2099-01-01", "", ""}); });
  EXPECT_EQ(unknown.code(), rpc_code::unsupported_version);
  EXPECT_EQ(unknown.data().at("requested"), "2099-01-01");
}

TEST(tools, names_are_valid_unique_and_stable) {
  const auto tools = name_tools({{"00000000-0000-0000-0000-00000000000a", "A b/c", ""},
                                 {"00000000-0000-0000-0000-00000000000b", "A b c", ""},
                                 {"00000000-0000-0000-0000-00000000000c", "get_run", ""},
                                 {"00000000-0000-0000-0000-00000000000d", "\xE6\x97\xA5", ""},
                                 {"00000000-0000-0000-0000-00000000000e", std::string(99, 'x'), ""}});
  ASSERT_EQ(tools.size(), 5u);
  EXPECT_EQ(tools[0].name, "A_b_c");
  EXPECT_EQ(tools[1].name, "A_b_c_00000000000b");
  EXPECT_EQ(tools[2].name, "get_run_00000000000c");
  EXPECT_EQ(tools[3].name, "agent");
  EXPECT_EQ(tools[4].name, std::string(40, 'x'));
}

TEST(tools, the_list_has_what_the_revision_defines) {
  const auto agents = name_tools({{run_id, "A", "Does a"}});
  const json::object latest = tool_list(agents, revision::v2025_11_25);
  const json::array& tools = latest.at("tools").as_array();
  ASSERT_EQ(tools.size(), 3u);
  EXPECT_THAT(text_of(tools[0].at("description")), StartsWith("Does a"));
  EXPECT_EQ(tools[0].at("execution").at("taskSupport"), "optional");
  EXPECT_TRUE(tools[0].as_object().contains("outputSchema"));
  const json::object oldest = tool_list(agents, revision::v2025_03_26);
  EXPECT_FALSE(oldest.at("tools").at(0).as_object().contains("outputSchema"));
  EXPECT_EQ(oldest.at("tools").at(0).at("annotations").at("title"), "A");
  EXPECT_FALSE(tool_list(agents, revision::v2026_07_28).at("tools").at(0).as_object().contains("execution"));
}

TEST(tools, arguments_are_read) {
  const auto a = read_agent_arguments(
      parsed(R"({"prompt":"p","thread_id":")" + run_id + R"(","files":[{"name":"f","data":"YQ"}]})"));
  EXPECT_EQ(a.prompt, "p");
  EXPECT_EQ(a.thread_id, run_id);
  ASSERT_EQ(a.files.size(), 1u);
  EXPECT_EQ(a.files[0].content, "a");
  for (const char* bad :
       {R"({})", R"({"prompt":""})", R"({"prompt":1})", R"({"prompt":"p","x":1})", R"({"prompt":"p","thread_id":"1"})",
        R"({"prompt":"p","files":{}})", R"({"prompt":"p","files":[1]})", R"({"prompt":"p","files":[{"data":""}]})",
        R"({"prompt":"p","files":[{"name":"f"}]})", R"({"prompt":"p","files":[{"name":"f","data":"*"}]})"})
    EXPECT_THROW(read_agent_arguments(parsed(bad)), argument_error) << bad;
  EXPECT_THROW(read_run_id(parsed(R"({"run_id":"x"})")), argument_error);
}

run_info run_with(std::string_view status) {
  run_info r;
  r.id = r.thread_id = run_id;
  r.status = status;
  r.started_at = "2026-01-01T00:00:00.000Z";
  if (status == "failed") {
    r.error = "No answer";
    r.error_code = "LLM_NO_ANSWER";
  }
  return r;
}

TEST(results, of_calls) {
  const auto done = call_result(run_with("completed"), "hi", outcome::of_agent, revision::v2025_06_18);
  EXPECT_EQ(json::serialize(done.at("content")), R"([{"type":"text","text":"hi"}])");
  EXPECT_EQ(done.at("isError"), false);
  EXPECT_EQ(done.at("structuredContent").at("text"), "hi");
  const auto failed = call_result(run_with("failed"), "part", outcome::of_agent, revision::v2025_03_26);
  EXPECT_EQ(failed.at("isError"), true);
  EXPECT_EQ(failed.at("content").at(1).at("text"), "The run failed: No answer (LLM_NO_ANSWER)");
  EXPECT_FALSE(failed.contains("structuredContent"));
  EXPECT_EQ(call_result(run_with("failed"), "", outcome::of_query, revision::v2026_07_28).at("isError"), false);
  EXPECT_FALSE(call_result(run_with("completed"), "", outcome::of_agent, revision::v2026_07_28)
                   .at("content")
                   .as_array()
                   .empty());
}

TEST(results, tasks_of_both_revisions) {
  const auto status = [](const char* s) {
    return text_of(task_2025(run_with(s), true).at("status")) + " " +
           text_of(task_2026(run_with(s), true).at("status"));
  };
  EXPECT_EQ(status("running"), "working working");
  EXPECT_EQ(status("completed"), "completed completed");
  EXPECT_EQ(status("stopped"), "cancelled cancelled");
  EXPECT_EQ(status("failed"), "failed completed");
  EXPECT_TRUE(task_2025(run_with("running"), true).at("ttl").is_null());
  EXPECT_TRUE(task_2026(run_with("running"), true).at("ttlMs").is_null());
}

TEST(results, an_answer_is_collected_from_its_parts) {
  final_answer a(run_id);
  const auto add = [&](std::string_view text) { return a.add(parsed(text)); };
  const std::string own = R"("agent_run_id":")" + run_id + R"(",)";
  EXPECT_FALSE(add(R"({"agent_run_id":"later","role":"assistant","content":"no"})"));
  EXPECT_FALSE(add("{" + own + R"("role":"assistant","content":[{"type":"text","text":"c"},{"type":"image"}]})"));
  EXPECT_FALSE(add("{" + own + R"("role":"assistant","content":"b","finish":"pause"})"));
  EXPECT_FALSE(add("{" + own + R"("role":"assistant","content":"a","finish":"length"})"));
  EXPECT_TRUE(add("{" + own + R"("role":"assistant","content":"before"})"));
  EXPECT_EQ(a.text(), "abc");
  final_answer none(run_id);
  EXPECT_TRUE(none.add(parsed("{" + own + R"("role":"tool","content":"x"})")));
  EXPECT_EQ(none.text(), "");
}

TEST(results, a_long_answer_is_truncated_between_characters) {
  final_answer a(run_id);
  std::string text;
  while (text.size() < 2 * max_answer_bytes) text += "\xE6\x97\xA5";
  json::object m;
  m["agent_run_id"] = jv(run_id);
  m["role"] = "assistant";
  m["content"] = jv(text);
  a.add(m);
  EXPECT_LE(a.text().size(), max_answer_bytes);
  EXPECT_TRUE(ry::is_utf8(a.text()));
  EXPECT_THAT(a.text(), HasSubstr("complete text"));
}

TEST(results, refusals_do_not_contain_internals) {
  EXPECT_EQ(refusal(ry::not_found("x", "Thread not found")), "Thread not found");
  EXPECT_EQ(refusal(ry::http_error(402, RY_RESOURCE_EXHAUSTED, "x", "No credits",
                                   R"({"message":"No credits","error_code":"INSUFFICIENT_CREDITS"})")),
            "No credits (INSUFFICIENT_CREDITS)");
  EXPECT_EQ(refusal(ry::internal("x", "at db1:5432")), std::nullopt);
  EXPECT_EQ(refusal(ry::unavailable("x", "at db1:5432").with_retry_after(2)),
            "The server cannot start the run at the moment. Try again in 2 s");
  EXPECT_EQ(as_rpc_error(ry::internal("x", "at db1:5432")).message(), "Internal error");
  EXPECT_EQ(as_rpc_error(ry::unavailable("x", "at db1:5432")).http_status(), 503u);
}

TEST(progress, texts_of_events) {
  const auto text = [](std::string_view event) { return progress_text(parsed(event)).value_or("-"); };
  EXPECT_EQ(text(R"({"type":"tool_call","name":"shell"})"), "Using the tool shell");
  EXPECT_EQ(text(R"({"type":"llm_response_start","step":2,"attempt":3})"), "Generating answer 2, attempt 3");
  EXPECT_EQ(text(R"({"type":"queued","position":4})"), "Waiting in the queue at position 4");
  EXPECT_EQ(text(R"({"type":"llm_response_chunk","content":"x"})"), "-");
  EXPECT_EQ(text(R"({"type":"status","status":"completed"})"), "-");
}

TEST(progress, values_increase_also_after_a_resumption) {
  progress_counter c(0);
  const auto first = c.at(3);
  const auto repeated = c.next();
  EXPECT_GT(repeated, first);
  EXPECT_GT(c.at(4), repeated);
  progress_counter resumed(4);
  EXPECT_GT(resumed.at(5), c.at(4));
}

TEST(progress, positions_are_read_back) {
  stream_position p{true, run_id, 17, json::value("id"), json::value(4)};
  const auto back = parse_stream_position(p.text());
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->task_result);
  EXPECT_EQ(back->run_id, run_id);
  EXPECT_EQ(back->sequence, 17u);
  EXPECT_EQ(back->request_id, json::value("id"));
  EXPECT_EQ(back->progress_token, json::value(4));
  for (const char* bad : {"", "x", "W10", "WzFd", "bnVsbA"}) EXPECT_FALSE(parse_stream_position(bad)) << bad;
  stream_position foreign{false, "no-uuid", 0, json::value(1), nullptr};
  EXPECT_FALSE(parse_stream_position(foreign.text()));
}

TEST(metadata, of_the_endpoint) {
  const auto at = address_of("https://runs.example.org/", "/base", "ignored");
  EXPECT_EQ(at.resource(), "https://runs.example.org/base/mcp");
  EXPECT_EQ(at.metadata_url(), "https://runs.example.org/.well-known/oauth-protected-resource/base/mcp");
  EXPECT_EQ(address_of("", "", "127.0.0.1:80").resource(), "http://127.0.0.1:80/mcp");
  EXPECT_EQ(address_of("", "", "x\"y").resource(), "http://localhost/mcp");
  EXPECT_FALSE(parsed(resource_metadata(at, {}, "R")).contains("authorization_servers"));
  EXPECT_EQ(parsed(resource_metadata(at, {"https://a"}, "R")).at("authorization_servers").at(0), "https://a");
  EXPECT_THAT(challenge(at, true), HasSubstr("invalid_token"));
}

TEST(cancellation, topics_and_keys_belong_to_a_session) {
  const ry::uuid account = *ry::uuid::parse(run_id);
  EXPECT_EQ(cancel_topic(account, "", 1), "");
  EXPECT_NE(cancel_topic(account, run_id, 1), cancel_topic(account, run_id, "1"));
  EXPECT_LE(cancel_topic(account, run_id, json::value(json::string(256, 'x'))).size(), 200u);
  EXPECT_EQ(start_key("", 1), "");
  EXPECT_EQ(start_key("s", json::value(json::string(256, 'x'))), "");
  EXPECT_EQ(start_key("s", 1), "mcp:s:1");
}

TEST(settings, are_read) {
  const auto s = read_settings(R"({"authorization_servers":["https://a"],"max_body_mb":2,"calls_per_account":3})");
  EXPECT_EQ(s.authorization_servers, std::vector<std::string>{"https://a"});
  EXPECT_EQ(s.max_body_bytes, 2u << 20);
  EXPECT_EQ(s.calls_per_account, 3u);
}

}  // namespace
}  // namespace mcp_server
