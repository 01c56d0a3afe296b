#include "test_events.hpp"

using namespace openai_api;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ids, contain_the_run_and_the_thread) {
  EXPECT_EQ(response_id(run), "resp_01a2206522ed704295d7ca62042f131d");
  EXPECT_EQ(run_of_response(response_id(run)), run);
  EXPECT_EQ(thread_of_conversation(conversation_id(thread)), thread);
  EXPECT_EQ(run_of_item(item_id("msg", run, 7)), run);
  EXPECT_EQ(created_ms(run) / 1000, 1795839828);
  EXPECT_EQ(created_ms(ry::uuid()), 0);
  for (const char* id : {"", "resp_", "resp_01a2206522ed704295d7ca62042f131", "resp_01a2206522ed704295d7ca62042f131g",
                         "conv_01a2206522ed704295d7ca62042f131d"})
    EXPECT_FALSE(run_of_response(id)) << id;
  for (const char* id : {"", "msg", "msg_", "msg_01a2206522ed704295d7ca62042f131d", "_"})
    EXPECT_FALSE(run_of_item(id)) << id;
}

TEST(errors, of_services_become_errors_of_the_api) {
  const auto of = [](std::uint32_t http, const std::string& detail) {
    return from_error(ry::http_error(http, RY_RESOURCE_EXHAUSTED, "x", "text", detail));
  };
  const api_error credits = of(402, R"({"message":"Insufficient credits","error_code":"INSUFFICIENT_CREDITS"})");
  EXPECT_EQ(credits.status, 429u);
  EXPECT_EQ(credits.code, "insufficient_quota");
  EXPECT_FALSE(credits.retry);
  EXPECT_EQ(of(402, R"({"message":"m","error_code":"AGENT_RUN_LIMIT_EXCEEDED"})").code, "rate_limit_exceeded");
  EXPECT_EQ(of(402, R"({"message":"m","error_code":"MODEL_ACCESS_DENIED"})").status, 404u);
  EXPECT_EQ(of(422, "").status, 400u);
  EXPECT_EQ(of(409, R"({"message":"m","error_code":"THREAD_BUSY"})").code, "conversation_locked");
  EXPECT_EQ(from_error(ry::internal("x", "secret of the host")).message.find("secret"), std::string::npos);
  const ry::error busy = ry::unavailable("x", "busy").with_retry_after(7);
  const ry::response r = response_of(from_error(busy));
  EXPECT_EQ(r.status(), 503u);
  EXPECT_THAT(r.fields(), testing::Contains(testing::Pair("Retry-After", "7")));
  EXPECT_EQ(json::parse(r.body()).at("error").at("type").as_string(), "server_error");
}

TEST(body, is_checked) {
  EXPECT_EQ(error_of([] { parse_body("[1]"); }).status, 400u);
  EXPECT_EQ(error_of([] { parse_body("{\"a\":\"x\\u0000\"}"); }).status, 400u);
  EXPECT_EQ(error_of([] { parse_body(std::string(1000, '[')); }).status, 400u);
  const json::object numbers = parse_body(R"({"a":1e999,"b":[-1e999]})");
  EXPECT_EQ(json::serialize(json::parse(json::serialize(numbers))), json::serialize(numbers));
}

TEST(attachment, only_data_urls_are_read) {
  const attachment png = read_data_url("data:image/PNG;base64,aGk=", "x");
  EXPECT_EQ(png.media_type, "image/png");
  EXPECT_EQ(png.content, "hi");
  EXPECT_EQ(read_file_data("aGk=", "a.txt", "x").content, "hi");
  for (const char* url : {"https://example.org/a.png", "file:///etc/passwd", "data:image/png,hi",
                          "data:image/png;base64", "data:image/png;base64,*", ""})
    EXPECT_EQ(error_of([url] { read_data_url(url, "x"); }).param, "x") << url;
}

TEST(response_request, of_a_text) {
  response_request r =
      request(R"({"model":"m","input":"Hi","instructions":"Be brief","max_output_tokens":5,"metadata":{"a":"b"}})");
  EXPECT_TRUE(r.store);
  EXPECT_EQ(field(r.options.parameters, "continue_truncated"), "false");
  EXPECT_EQ(field(std::move(r.input).for_new_thread("input"), "prompt"), "Hi");
  const start_fields fields = r.options.fields("Be brief");
  EXPECT_EQ(field(fields, "mode"), "chat");
  EXPECT_EQ(field(fields, "model_name"), "m");
  EXPECT_EQ(field(fields, "system"), "Be brief");
  EXPECT_EQ(field(fields, "max_output_tokens"), "5");
  EXPECT_EQ(field(fields, "metadata"), R"({"a":"b"})");
  EXPECT_EQ(field(r.options.fields(""), "system"), "You are a helpful assistant.");
}

TEST(response_request, of_an_agent) {
  const response_request r = request(R"({"model":"agent/01a22065-22ed-7042-95d7-ca62042f131d","input":"Hi"})");
  const start_fields fields = r.options.fields("Rule");
  EXPECT_EQ(field(fields, "mode"), "agent");
  EXPECT_EQ(field(fields, "agent_id"), run.to_string());
  EXPECT_EQ(field(fields, "instructions"), "Rule");
  EXPECT_EQ(field(fields, "system"), "");
  EXPECT_EQ(error_of([] { request(R"({"model":"agent/1","input":"Hi"})"); }).code, "model_not_found");
}

TEST(response_request, items_become_a_history) {
  response_request r = request(R"({"input":[
    {"role":"developer","content":"Rule"}, {"role":"user","content":"one"},
    {"type":"reasoning","summary":[]},
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]},
    {"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"},
    {"type":"function_call_output","call_id":"a","output":"three"}]})");
  EXPECT_EQ(r.input.system(), "Rule");
  EXPECT_TRUE(r.input.has_answers());
  const start_input input = std::move(r.input).for_new_thread("input");
  EXPECT_EQ(field(input, "prompt"), "");
  EXPECT_EQ(json::parse(field(input, "history")), json::parse(R"([{"role":"user","content":"one"},
    {"role":"assistant","tool_calls":[{"id":"a","name":"f","arguments":{"x":1}}],"content":"two"},
    {"role":"tool","tool_call_id":"a","name":"f","content":"three"}])"));
}

TEST(response_request, outputs_on_a_thread_are_tool_results) {
  response_request r = request(
      R"({"input":[{"type":"function_call_output","call_id":"a","output":"sun"},{"role":"user","content":"And?"}]})");
  const start_input input = std::move(r.input).for_thread("input");
  EXPECT_EQ(field(input, "prompt"), "And?");
  EXPECT_EQ(json::parse(field(input, "tool_results")), json::parse(R"([{"tool_call_id":"a","content":"sun"}])"));
}

TEST(response_request, files_of_earlier_messages_belong_to_the_last_one) {
  response_request r = request(R"({"input":[
    {"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGk="}]},
    {"role":"assistant","content":"nice"},
    {"role":"user","content":[{"type":"input_text","text":"this?"},{"type":"input_file","filename":"a.txt","file_data":"aGk="}]}]})");
  const start_input input = std::move(r.input).for_new_thread("input");
  ASSERT_EQ(input.files.size(), 2u);
  EXPECT_EQ(input.files[0].name, "image_1.png");
  EXPECT_EQ(input.files[1].name, "a.txt");
  EXPECT_EQ(field(input, "prompt"), "this?");
  EXPECT_THAT(field(input, "history"), HasSubstr("Attached to the last message: image_1.png"));
}

TEST(response_request, references_are_resolved) {
  const json::object body = object(
      R"({"input":[{"role":"user","content":"one"},{"type":"item_reference","id":"msg_1"},{"role":"user","content":"two"}]})");
  EXPECT_THAT(referenced_items(body), ElementsAre("msg_1"));
  const item_map items{
      {"msg_1",
       object(R"({"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"hi"}]})")}};
  response_request r = read_response_request(body, items);
  EXPECT_THAT(field(std::move(r.input).for_new_thread("input"), "history"), HasSubstr("hi"));
  EXPECT_EQ(error_of([&] { read_response_request(body, {}); }).status, 404u);
  // A stored item cannot refer to another one.
  const item_map loop{{"msg_1", object(R"({"type":"item_reference","id":"msg_1"})")}};
  EXPECT_EQ(error_of([&] { read_response_request(body, loop); }).status, 404u);
}

TEST(response_request, tools_and_tool_choice) {
  const response_request r =
      request(R"({"input":"x","tools":[{"type":"function","name":"f","strict":true,"parameters":{"type":"object"}},
    {"type":"function","name":"g","description":"G"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}})");
  EXPECT_EQ(json::serialize(r.options.tools), R"([{"name":"g","description":"G"}])");
  EXPECT_EQ(field(r.options.parameters, "tool_choice"), "required");
  EXPECT_EQ(r.base.at("tools").as_array().size(), 2u);
  EXPECT_EQ(field(request(R"({"input":"x","tool_choice":"required"})").options.parameters, "tool_choice"), "");
  EXPECT_EQ(error_of([] { request(R"({"input":"x","tools":[{"type":"mcp"}]})"); }).param, "tools[0].type");
}

TEST(response_request, input_items_precede_the_first_answer) {
  const std::string id = run.to_string();
  const auto message = [](const std::string& owner, const std::string& role, const std::string& more) {
    return object(R"({"message_id":"01a22065-22ed-7042-95d7-000000000001","agent_run_id":")" + owner + R"(","role":")" +
                  role + R"(",)" + more + "}");
  };
  const std::vector<json::object> messages{
      message("00000000-0000-0000-0000-000000000000", "user", R"("content":"earlier")"),
      message(id, "tool", R"("tool_call_id":"a","content":"sun")"), message(id, "user", R"("content":"now")"),
      message(id, "assistant", R"("content":"answer")"), message(id, "tool", R"("content":"of the server")")};
  EXPECT_EQ(input_items(messages, run, true).size(), 3u);
  const json::array own = input_items(messages, run, false);
  ASSERT_EQ(own.size(), 2u);
  EXPECT_EQ(own[0].at("type").as_string(), "function_call_output");
  EXPECT_EQ(own[1].at("content").as_array()[0].at("text").as_string(), "now");
}

TEST(chat_request, messages_and_parameters) {
  chat_request r =
      read_chat_request(object(R"({"model":"m","max_tokens":9,"max_completion_tokens":5,"reasoning_effort":"xhigh",
    "stream":true,"stream_options":{"include_usage":true},
    "messages":[{"role":"system","content":"Rule"},{"role":"user","content":"one"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"a","content":"two"}]})"));
  EXPECT_TRUE(r.stream && r.include_usage);
  EXPECT_EQ(field(r.options.parameters, "max_output_tokens"), "5");
  EXPECT_EQ(field(r.options.parameters, "reasoning_effort"), "high");
  EXPECT_EQ(r.messages.system(), "Rule");
  EXPECT_EQ(field(std::move(r.messages).for_new_thread("messages"), "prompt"), "");
}

TEST(response_builder, text_has_the_events_of_the_api) {
  response_builder b = builder();
  const std::vector<json::object> events =
      apply(b, {{1, running}, {2, answer_1}, {3, hello}, {4, end_stop}, {5, completed}});
  EXPECT_THAT(types_of(events),
              ElementsAre("response.created", "response.in_progress", "response.output_item.added",
                          "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                          "response.content_part.done", "response.output_item.done", "response.completed"));
  EXPECT_EQ(events[0].at("sequence_number").to_number<int>(), 0);
  EXPECT_EQ(events[2].at("sequence_number").to_number<int>(), 2 * static_cast<int>(response_builder::stride));
  EXPECT_TRUE(b.ended());
  const json::object r = b.response();
  EXPECT_EQ(r.at("status").as_string(), "completed");
  EXPECT_EQ(r.at("completed_at").as_int64(), 1795839831);
  EXPECT_EQ(r.at("usage").at("total_tokens").as_int64(), 5);
  EXPECT_EQ(r.at("output").as_array()[0].at("content").as_array()[0].at("text").as_string(), "Hello");
}

TEST(response_builder, events_that_a_crash_removed_do_not_change_later_numbers) {
  response_builder live = builder(), replay = builder();
  const std::string aborted = R"({"type":"turn_aborted","step":1,"attempt":1,"from_sequence":2,"to_sequence":5})";
  const auto seen = apply(live, {{1, running},
                                 {2, answer_1},
                                 {3, hello},
                                 {4, hello},
                                 {6, aborted},
                                 {7, answer_1_again},
                                 {8, hello},
                                 {9, end_stop},
                                 {10, completed}});
  const std::string gap = R"({"type":"gap","from":3,"to":4})";
  const auto again = apply(replay, {{1, running},
                                    {2, answer_1},
                                    {4, gap},
                                    {6, aborted},
                                    {7, answer_1_again},
                                    {8, hello},
                                    {9, end_stop},
                                    {10, completed}});
  EXPECT_EQ(seen.back().at("sequence_number"), again.back().at("sequence_number"));
  EXPECT_EQ(live.response(), replay.response());
  EXPECT_FALSE(replay.trimmed());
}

TEST(response_builder, a_failed_attempt_is_not_part_of_the_output) {
  response_builder b = builder();
  const auto events = apply(
      b, {{1, running}, {2, answer_1}, {3, hello}, {4, answer_1_again}, {5, hello}, {6, end_stop}, {7, completed}});
  std::vector<std::string> statuses;
  for (const json::object& e : events)
    if (e.at("type").as_string() == "response.output_item.done")
      statuses.push_back(module_json::text_of(e.at("item").as_object(), "status"));
  EXPECT_THAT(statuses, ElementsAre("incomplete", "completed"));
  EXPECT_EQ(b.response().at("output").as_array().size(), 1u);
}

TEST(response_builder, calls_of_the_client_and_of_the_server) {
  response_builder b = builder();
  const auto events = apply(
      b, {{1, running},
          {2, answer_1},
          {3, R"({"type":"llm_response_end","step":1,"finish":"tool_calls"})"},
          {4, R"({"type":"tool_call","tool_call_id":"s","name":"search","arguments":{"q":1},"source":"mcp:docs"})"},
          {5, R"({"type":"tool_call","tool_call_id":"c","name":"f","arguments":{},"source":"client"})"},
          {6, R"({"type":"tool_result","tool_call_id":"s","name":"search","is_error":true,"content":"no"})"},
          {7, R"({"type":"status","status":"completed","reason":"tool_calls"})"}});
  const json::object r = b.response();
  EXPECT_THAT(item_types(r), ElementsAre("mcp_call", "function_call"));
  EXPECT_EQ(r.at("status").as_string(), "completed");
  const json::array& output = r.at("output").as_array();
  EXPECT_EQ(output[0].at("server_label").as_string(), "docs");
  EXPECT_EQ(output[0].at("status").as_string(), "failed");
  EXPECT_EQ(output[0].at("error").at("content").as_string(), "no");
  EXPECT_EQ(output[1].at("call_id").as_string(), "c");
  EXPECT_THAT(types_of(events), testing::Contains("response.mcp_call.failed"));
  EXPECT_THAT(types_of(events), testing::Contains("response.function_call_arguments.done"));
}

TEST(response_builder, a_call_that_the_server_refused_is_not_part_of_the_output) {
  response_builder b = builder();
  apply(b, {{1, running},
            {2, answer_1},
            {3, R"({"type":"tool_call","tool_call_id":"c","name":"f","arguments":{},"source":"client"})"},
            {4, R"({"type":"tool_result","tool_call_id":"c","name":"f","is_error":true,"content":"malformed"})"},
            {5, completed}});
  EXPECT_TRUE(b.response().at("output").as_array().empty());
}

namespace {

const std::string approval_x = "01a22065-22ed-7042-95d7-ca62042f1301",
                  approval_y = "01a22065-22ed-7042-95d7-ca62042f1302";
std::string request_of(const std::string& approval) {
  return approval_request_id(run, *ry::uuid::parse(approval));
}
std::string call_event(const std::string& id, const char* source = "sandbox") {
  return R"({"type":"tool_call","tool_call_id":")" + id + R"(","name":"shell","arguments":{"c":1},"source":")" +
         source + "\"}";
}
std::string requested(const std::string& approval, const std::string& call) {
  return R"({"type":"approval_requested","approval_id":")" + approval + R"(","tool_call_id":")" + call +
         R"(","name":"shell","source":"sandbox","arguments":{"c":1}})";
}
std::string resolved(const std::string& approval, const std::string& call, const char* status) {
  return R"({"type":"approval_resolved","approval_id":")" + approval + R"(","tool_call_id":")" + call +
         R"(","status":")" + status + R"(","reason":null})";
}
std::string result_event(const std::string& call) {
  return R"({"type":"tool_result","tool_call_id":")" + call + R"(","name":"shell","is_error":false,"content":"done"})";
}
response_builder part(std::vector<std::set<std::string>> answered) {
  response_identity who{run, thread, true, object(R"({"model":"m"})")};
  who.id = thread;
  who.answered = std::move(answered);
  return response_builder(who);
}
// A call that is made at once, and two that need approvals.
const numbered asking{{1, running},
                      {2, answer_1},
                      {3, call_event("f")},
                      {4, call_event("x")},
                      {5, call_event("y")},
                      {6, requested(approval_x, "x")},
                      {7, requested(approval_y, "y")},
                      {8, result_event("f")},
                      {9, resolved(approval_x, "x", "approved")},
                      {10, resolved(approval_y, "y", "denied")},
                      {11, result_event("x")},
                      {12, result_event("y")},
                      {13, R"({"type":"llm_response_start","step":2,"attempt":1})"},
                      {14, hello},
                      {15, end_stop},
                      {16, completed}};
const numbered undecided(asking.begin(), asking.begin() + 8);
std::vector<std::string> ids_of(const json::object& response) {
  std::vector<std::string> out;
  for (const json::value& i : response.at("output").as_array())
    out.push_back(module_json::text_of(i.as_object(), "id"));
  return out;
}
bool increases(const std::vector<json::object>& events) {
  std::uint64_t last = 0;
  for (const json::object& e : events) {
    const auto n = e.at("sequence_number").to_number<std::uint64_t>();
    if (&e != &events.front() && n <= last) return false;
    last = n;
  }
  return true;
}

}  // namespace

TEST(response_builder, a_wait_for_approvals_ends_the_response) {
  response_builder b = builder();
  const auto events = apply(b, asking);
  const json::object r = b.response();
  EXPECT_TRUE(b.ended());
  EXPECT_EQ(r.at("status").as_string(), "completed");
  EXPECT_THAT(item_types(r), ElementsAre("mcp_call", "mcp_approval_request", "mcp_approval_request"));
  const json::object& asked = r.at("output").as_array()[1].as_object();
  EXPECT_EQ(asked.at("id").as_string(), request_of(approval_x));
  EXPECT_EQ(asked.at("arguments").as_string(), R"({"c":1})");
  EXPECT_EQ(asked.at("server_label").as_string(), "sandbox");
  EXPECT_EQ(types_of(events).back(), "response.completed");
  EXPECT_TRUE(increases(events));
}

TEST(response_builder, the_answers_begin_a_response_with_the_rest_of_the_run) {
  response_builder b = part({{request_of(approval_x), request_of(approval_y)}});
  const auto events = apply(b, asking);
  const json::object r = b.response();
  EXPECT_EQ(r.at("id").as_string(), response_id(thread));
  EXPECT_THAT(item_types(r), ElementsAre("mcp_call", "message"));
  const json::object& call = r.at("output").as_array()[0].as_object();
  EXPECT_EQ(call.at("approval_request_id").as_string(), request_of(approval_x));
  EXPECT_EQ(call.at("output").as_string(), "done");
  EXPECT_EQ(types_of(events).front(), "response.created");
  EXPECT_EQ(events[0].at("response").at("output").as_array().size(), 0u);
  EXPECT_EQ(types_of(events).back(), "response.completed");
  EXPECT_TRUE(increases(events));
}

TEST(response_builder, a_response_to_some_of_the_answers_asks_for_the_others) {
  response_builder b = part({{request_of(approval_x)}});
  const auto events = apply(b, asking);
  EXPECT_THAT(ids_of(b.response()), ElementsAre(request_of(approval_y)));
  EXPECT_EQ(b.response().at("status").as_string(), "completed");
  EXPECT_TRUE(increases(events));
  response_builder rest = part({{request_of(approval_x)}, {request_of(approval_y)}});
  apply(rest, asking);
  EXPECT_THAT(item_types(rest.response()), ElementsAre("mcp_call", "message"));
  // The item has the same id in each response of the run.
  response_builder all = part({{request_of(approval_x), request_of(approval_y)}});
  apply(all, asking);
  EXPECT_EQ(ids_of(rest.response())[0], ids_of(all.response())[0]);
}

TEST(response_builder, before_the_decision_the_response_to_it_has_no_output) {
  response_builder b = part({{request_of(approval_x), request_of(approval_y)}});
  const auto events = apply(b, undecided);
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(b.ended());
  EXPECT_EQ(b.response().at("status").as_string(), "in_progress");
  EXPECT_TRUE(b.response().at("output").as_array().empty());
}

TEST(response_builder, a_later_call_with_the_same_id_is_not_the_approved_one) {
  const numbered events{{1, running},
                        {2, answer_1},
                        {3, call_event("x")},
                        {4, requested(approval_x, "x")},
                        {5, resolved(approval_x, "x", "approved")},
                        {6, result_event("x")},
                        {7, R"({"type":"llm_response_start","step":2,"attempt":1})"},
                        {8, call_event("x")},
                        {9, requested(approval_y, "x")},
                        {10, resolved(approval_y, "x", "approved")},
                        {11, result_event("x")},
                        {12, completed}};
  response_builder second = part({{request_of(approval_x)}});
  apply(second, events);
  EXPECT_THAT(item_types(second.response()), ElementsAre("mcp_call", "mcp_approval_request"));
  response_builder third = part({{request_of(approval_x)}, {request_of(approval_y)}});
  apply(third, events);
  EXPECT_THAT(item_types(third.response()), ElementsAre("mcp_call"));
}

TEST(response_builder, a_call_of_the_client_follows_the_decision) {
  const numbered events{{1, running},
                        {2, answer_1},
                        {3, call_event("c", "client")},
                        {4, call_event("x")},
                        {5, requested(approval_x, "x")},
                        {6, resolved(approval_x, "x", "approved")},
                        {7, result_event("x")},
                        {8, R"({"type":"status","status":"completed","reason":"tool_calls"})"}};
  response_builder first = builder();
  apply(first, events);
  EXPECT_THAT(item_types(first.response()), ElementsAre("mcp_approval_request"));
  response_builder second = part({{request_of(approval_x)}});
  apply(second, events);
  EXPECT_THAT(item_types(second.response()), ElementsAre("mcp_call", "function_call"));
}

TEST(response_builder, a_response_that_cannot_be_continued_fails) {
  response_identity who{run, thread, false, object(R"({"model":"m"})")};
  who.ends_at_waits = false;
  response_builder b(who);
  std::vector<json::object> events = apply(b, undecided);
  EXPECT_TRUE(b.waits());
  EXPECT_FALSE(b.ended());
  b.refuse_wait(events);
  EXPECT_EQ(b.response().at("status").as_string(), "failed");
  EXPECT_EQ(b.response().at("error").at("code").as_string(), "approval_required");
  EXPECT_THAT(item_types(b.response()), ElementsAre("mcp_call"));
}

TEST(response_request, answers_to_approval_requests) {
  const std::string id = request_of(approval_x), previous = response_id(run);
  const std::string answer =
      R"({"type":"mcp_approval_response","approval_request_id":")" + id + R"(","approve":false,"reason":"no"})";
  const std::string user = R"({"role":"user","content":"hi"})";
  const std::string asked =
      R"({"type":"mcp_approval_request","id":")" + id + R"(","name":"n","arguments":"{}","server_label":"s"})";
  response_request r = request(R"({"previous_response_id":")" + previous + R"(","input":[)" + answer + "]}");
  ASSERT_EQ(r.answers.size(), 1u);
  EXPECT_EQ(r.answers[0].run, run);
  EXPECT_EQ(r.answers[0].approval.to_string(), approval_x);
  EXPECT_FALSE(r.answers[0].approve);
  EXPECT_EQ(r.answers[0].reason, "no");
  // Without a context, the earlier items are history, and so are answers before other input.
  EXPECT_EQ(request(R"({"input":[)" + user + "," + asked + "," + answer + "]}").answers.size(), 1u);
  EXPECT_TRUE(request(R"({"input":[)" + user + "," + asked + "," + answer + "," + user + "]}").answers.empty());
  const std::tuple<std::string, const char*, std::uint32_t> refused[] = {
      {R"({"previous_response_id":")" + previous + R"(","input":[)" + answer + "," + user + "]}", "input[1]", 400},
      {R"({"previous_response_id":")" + previous + R"(","input":[)" + user + "," + answer + "]}", "input", 400},
      {R"({"store":false,"input":[)" + answer + "]}", "store", 400},
      {R"({"input":[{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}]})",
       "input[0].approval_request_id", 404},
      {R"({"input":[{"type":"mcp_approval_response","approval_request_id":")" + id + R"("}]})", "input[0].approve",
       400},
      {R"({"input":[{"type":"mcp_approval_response","approval_request_id":")" + id + R"(","approve":"yes"}]})",
       "input[0].approve", 400},
      {R"({"input":[{"type":"mcp_approval_response","approval_request_id":")" + id + R"(","approve":true},)" + answer +
           "]}",
       "input[0].approve", 400}};
  for (const auto& [body, param, status] : refused) {
    const api_error e = error_of([&body = body] { request(body); });
    EXPECT_EQ(e.param, param) << body;
    EXPECT_EQ(e.status, status) << body;
  }
}

TEST(chat_builder, a_wait_for_an_approval_becomes_an_error) {
  chat_builder b({run, "m"});
  std::vector<json::object> chunks;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_FALSE(b.waits());
    b.apply(asking[i].second, chunks);
  }
  EXPECT_TRUE(b.waits());
  b.refuse_wait();
  EXPECT_TRUE(b.failed());
  EXPECT_EQ(b.failure().status, 403u);
  EXPECT_EQ(b.failure().code, "approval_required");
  EXPECT_FALSE(b.failure().retry);
}
