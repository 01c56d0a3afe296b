#include "responses_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <vector>

#include "recorder.hpp"
#include "request.hpp"

namespace {

namespace json = boost::json;
using llm::test::recorder;
using openai::responses_reader;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

using events = std::vector<std::string>;

struct reading {
  responses_reader reader{{"p", "m"}};
  recorder got;
  explicit reading(const events& all, bool close = true) {
    for (const auto& e : all) reader.event("", e, got);
    if (close) reader.closed(got);
  }
  std::string failure() const { return reader.failed() ? reader.failed()->reason : std::string(); }
};

// ---- events in the form of the API -------------------------------------------------------------------

std::string event(std::string_view type, const std::string& members) {
  return R"({"type":"response.)" + std::string(type) + R"(","sequence_number":7,)" + members + "}";
}
std::string added(int index, const std::string& item) {
  return event("output_item.added", R"("output_index":)" + std::to_string(index) + R"(,"item":)" + item);
}
std::string done(int index, const std::string& item) {
  return event("output_item.done", R"("output_index":)" + std::to_string(index) + R"(,"item":)" + item);
}
std::string text(int index, const std::string& id, const std::string& delta) {
  return event("output_text.delta", R"("item_id":")" + id + R"(","output_index":)" + std::to_string(index) +
                                        R"(,"content_index":0,"logprobs":[],"delta":")" + delta + "\"");
}
std::string arguments(int index, const std::string& id, const std::string& delta) {
  return event("function_call_arguments.delta",
               R"("item_id":")" + id + R"(","output_index":)" + std::to_string(index) + R"(,"delta":")" + delta + "\"");
}
std::string message(const std::string& id, const std::string& content, const std::string& more = "") {
  return R"({"type":"message","id":")" + id + R"(","role":"assistant","status":"completed",)" + more +
         R"("content":[{"type":"output_text","text":")" + content + R"(","annotations":[]}]})";
}
std::string call(const std::string& n, const std::string& args, const std::string& status = "completed") {
  return R"({"type":"function_call","id":"fc_)" + n + R"(","call_id":"c)" + n + R"(","name":"f)" + n +
         R"(","arguments":")" + args + R"(","status":")" + status + "\"}";
}
std::string reasoning(const std::string& id, const std::string& more) {
  return R"({"type":"reasoning","id":")" + id + R"(","status":"completed","summary":[],)" + more + "}";
}
std::string response(const std::string& status, const std::string& output = "[]", const std::string& more = "") {
  return event(status,
               R"("response":{"id":"resp_1","object":"response","status":")" + status + R"(","error":null,)" + more +
                   R"("output":)" + output +
                   R"(,"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":5,"cache_write_tokens":2},)"
                   R"("output_tokens":4,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":13}})");
}
const std::string created =
    R"({"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[],"usage":null}})";

TEST(responses_reader, reads_reasoning_text_and_calls) {
  const reading r(
      {created,
       R"({"type":"response.in_progress","sequence_number":1,"response":{"status":"in_progress"}})",
       added(0, R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"half"})"),
       event("reasoning_summary_part.added",
             R"("item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""})"),
       event("reasoning_summary_text.delta", R"("item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Let me")"),
       event("reasoning_summary_text.delta", R"("item_id":"rs_1","output_index":0,"summary_index":0,"delta":" see")"),
       event("reasoning_summary_text.done",
             R"("item_id":"rs_1","output_index":0,"summary_index":0,"text":"Let me see")"),
       event("reasoning_summary_text.delta", R"("item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Now")"),
       done(
           0,
           R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see"},{"type":"summary_text","text":"Now"}],"encrypted_content":"whole"})"),
       added(1, R"({"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]})"),
       event(
           "content_part.added",
           R"("item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]})"),
       text(1, "msg_1", "Hel"),
       text(1, "msg_1", "lo \\\"x\\\"\\n\\u00e4"),
       event("output_text.done",
             R"("item_id":"msg_1","output_index":1,"content_index":0,"text":"Hello \"x\"\n\u00e4")"),
       event(
           "content_part.done",
           R"("item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"Hello \"x\"\n\u00e4","annotations":[]})"),
       done(1, message("msg_1", "Hello \\\"x\\\"\\n\\u00e4")),
       added(2, call("1", "", "in_progress")),
       arguments(2, "fc_1", "{\\\"a\\\":"),
       arguments(2, "fc_1", "1}"),
       event("function_call_arguments.done",
             R"("item_id":"fc_1","output_index":2,"name":"f1","arguments":"{\"a\":1}")"),
       done(2, call("1", "{\\\"a\\\":1}")),
       added(3, call("2", "", "in_progress")),
       done(3, call("2", "{}")),
       response("completed", "[" + message("msg_1", "Hello \\\"x\\\"\\n\\u00e4") + "," + call("1", "{\\\"a\\\":1}") +
                                 "," + call("2", "{}") + "]")});
  EXPECT_EQ(r.got.answer_text, "Hello \"x\"\n\u00e4");
  EXPECT_EQ(r.got.pieces, 2);
  EXPECT_EQ(r.got.reasoning_text, "Let me see\n\nNow");
  EXPECT_THAT(r.got.calls, ElementsAre("c1 f1 {\"a\":1}", "c2 f2 {}"));
  EXPECT_EQ(r.failure(), "");
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_TOOL_CALLS);
  EXPECT_EQ(r.reader.used().input, 9);
  EXPECT_EQ(r.reader.used().cached, 5);
  EXPECT_EQ(r.reader.used().cache_write, 2);
  EXPECT_EQ(r.reader.used().output, 4);
  EXPECT_TRUE(r.reader.used().reported());
  ASSERT_EQ(r.got.blocks.size(), 1u);
  EXPECT_EQ(json::parse(r.got.blocks[0]),
            json::parse(R"({"driver":"openai","model":"m","provider":"p","wire":"responses","items":[
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see"},{"type":"summary_text","text":"Now"}],"encrypted_content":"whole"},
    {"type":"message","at":0,"size":12},{"type":"function_call","call_id":"c1"},{"type":"function_call","call_id":"c2"}]})"));
}

TEST(responses_reader, the_last_event_determines_the_finish) {
  const std::string hi_delta = text(0, "m1", "hi");
  const auto details = [](const std::string& reason) {
    return R"("incomplete_details":{"reason":")" + reason + "\"},";
  };
  const struct {
    const char* label;
    events all;
    std::int32_t finish;
  } rows[] = {
      {"completed", {hi_delta, response("completed")}, RY_LLM_FINISH_STOP},
      {"followed by [DONE] of a chat stream", {hi_delta, response("completed"), "[DONE]"}, RY_LLM_FINISH_STOP},
      {"a call", {done(0, call("1", "{}")), response("completed")}, RY_LLM_FINISH_TOOL_CALLS},
      {"token limit", {hi_delta, response("incomplete", "[]", details("max_output_tokens"))}, RY_LLM_FINISH_LENGTH},
      {"no reason", {hi_delta, response("incomplete")}, RY_LLM_FINISH_LENGTH},
      {"the filter", {hi_delta, response("incomplete", "[]", details("content_filter"))}, RY_LLM_FINISH_FILTER},
      {"an unknown reason", {hi_delta, response("incomplete", "[]", details("solar_flare"))}, RY_LLM_FINISH_ERROR},
      {"incomplete by its status",
       {hi_delta,
        event("completed", R"("response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}})")},
       RY_LLM_FINISH_FILTER},
      {"a refusal",
       {event("refusal.delta", R"("item_id":"m1","output_index":0,"content_index":0,"delta":"I cannot")"),
        response("completed")},
       RY_LLM_FINISH_REFUSAL},
      {"a refusal as a complete item",
       {done(0, R"({"type":"message","id":"m1","content":[{"type":"refusal","refusal":"I cannot"}]})"),
        response("completed")},
       RY_LLM_FINISH_REFUSAL},
      {"a refusal in the last event",
       {response("completed", R"([{"type":"message","id":"m1","content":[{"type":"refusal","refusal":"I cannot"}]}])")},
       RY_LLM_FINISH_REFUSAL},
      {"nothing", {response("completed")}, RY_LLM_FINISH_STOP},
      {"the response without an event",
       {R"({"object":"response","status":"completed","output":[)" + message("m1", "hi") + "]}"},
       RY_LLM_FINISH_STOP},
  };
  for (const auto& row : rows) {
    const reading r(row.all);
    EXPECT_EQ(r.failure(), "") << row.label;
    EXPECT_TRUE(r.reader.ended());
    EXPECT_EQ(r.reader.finish(), row.finish) << row.label;
  }
}

TEST(responses_reader, the_event_name_is_used_if_the_type_is_missing) {
  responses_reader reader{{"p", "m"}};
  recorder got;
  reader.event("response.output_text.delta", R"({"item_id":"m","output_index":0,"delta":"hi"})", got);
  reader.event("response.completed", R"({"response":{"status":"completed"}})", got);
  EXPECT_EQ(got.answer_text, "hi");
  EXPECT_EQ(reader.finish(), RY_LLM_FINISH_STOP);
}

TEST(responses_reader, failures_are_distinguished) {
  const auto failed = [](const std::string& code, const std::string& words = "words") {
    return event("failed", R"("response":{"status":"failed","error":{"code":")" + code + R"(","message":")" + words +
                               R"("},"usage":{"input_tokens":3,"output_tokens":1}})");
  };
  const struct {
    const char* label;
    std::string event, reason;
    ry_status status;
  } rows[] = {
      {"server", failed("server_error"), "llm.unavailable", RY_UNAVAILABLE},
      {"rate", failed("rate_limit_exceeded"), "llm.rate_limited", RY_RESOURCE_EXHAUSTED},
      {"prompt", failed("invalid_prompt"), "llm.refused", RY_INVALID_ARGUMENT},
      {"image", failed("image_too_large"), "llm.refused", RY_INVALID_ARGUMENT},
      {"policy", failed("bio_policy"), "llm.refused", RY_INVALID_ARGUMENT},
      {"an unknown code", failed("solar_flare"), "llm.unavailable", RY_UNAVAILABLE},
      {"no error", event("failed", R"("response":{"status":"failed","error":null})"), "llm.unavailable",
       RY_UNAVAILABLE},
      {"window", failed("context_length_exceeded"), "llm.context_too_long", RY_OUT_OF_RANGE},
      {"window in words", failed("invalid_prompt", "Your input exceeds the context window of this model."),
       "llm.context_too_long", RY_OUT_OF_RANGE},
      {"failed by its status",
       event("completed", R"("response":{"status":"failed","error":{"code":"server_error","message":"words"}})"),
       "llm.unavailable", RY_UNAVAILABLE},
      {"cancelled", event("cancelled", R"("response":{"status":"cancelled"})"), "llm.cut_off", RY_UNAVAILABLE},
      {"event error",
       R"({"type":"error","code":"rate_limit_exceeded","message":"words","param":null,"sequence_number":3})",
       "llm.rate_limited", RY_RESOURCE_EXHAUSTED},
      {"event error with an object",
       R"({"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"words"}})",
       "llm.quota", RY_UNAUTHENTICATED},
      {"an error by its type",
       R"({"type":"error","error":{"type":"invalid_request_error","code":null,"message":"words"}})", "llm.refused",
       RY_INVALID_ARGUMENT},
      {"an error of the Chat Completions API", R"({"error":{"message":"words","code":429}})", "llm.rate_limited",
       RY_RESOURCE_EXHAUSTED},
      {"a string as error", R"({"error":"words"})", "llm.unavailable", RY_UNAVAILABLE},
      {"detail instead of error", R"({"detail":"words"})", "llm.unavailable", RY_UNAVAILABLE},
      {"an unknown type with an error",
       R"({"type":"response.broken","error":{"code":"model_not_found","message":"words"}})", "llm.not_found",
       RY_NOT_FOUND},
      {"no JSON", "<html>", "llm.protocol", RY_DATA_LOSS},
      {"[DONE] without a response", "[DONE]", "llm.cut_off", RY_UNAVAILABLE},
      {"missing end", "", "llm.cut_off", RY_UNAVAILABLE},
  };
  for (const auto& row : rows) {
    const reading r({created, text(0, "m1", "hi"), done(1, call("1", "{}")), row.event});
    EXPECT_EQ(r.failure(), row.reason) << row.label;
    ASSERT_TRUE(r.reader.failed());
    EXPECT_EQ(r.reader.failed()->status, row.status) << row.label;
    EXPECT_THAT(r.got.calls, IsEmpty()) << row.label << ": calls of a failed answer are not delivered";
  }
  const reading charged({failed("server_error", "Please try again in 20s")});
  EXPECT_EQ(charged.reader.used().input, 3);
  EXPECT_EQ(charged.reader.failed()->retry_after_s, 20u);
}

TEST(responses_reader, error_responses_are_distinguished) {
  const struct {
    unsigned status;
    const char *body, *reason;
  } rows[] = {
      {400,
       R"({"error":{"message":"Unsupported parameter: 'temperature'","type":"invalid_request_error","param":"temperature","code":null}})",
       "llm.refused"},
      {400, R"({"error":{"message":"m","type":"invalid_request_error","code":"context_length_exceeded"}})",
       "llm.context_too_long"},
      {401, R"({"error":{"message":"m","code":"invalid_api_key"}})", "llm.unauthenticated"},
      {429, R"({"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}})", "llm.quota"},
      {429, R"({"error":{"message":"m","code":"rate_limit_exceeded"}})", "llm.rate_limited"},
      {400, R"({"error":{"message":"m","code":"model_not_found"}})", "llm.not_found"},
      {404, R"({"error":{"code":"404","message":"Resource not found"}})", "llm.not_found"},
      {500, R"([{"error":{"message":"m"}}])", "llm.unavailable"},
      {502, "<html>bad gateway</html>", "llm.unavailable"},
      {400, "the prompt is too long: 9 tokens > 8 maximum", "llm.context_too_long"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(responses_reader({"p", "m"}).refused(row.status, row.body).reason, row.reason) << row.body;
}

// ---- gateways ----------------------------------------------------------------------------------------

TEST(responses_reader, items_are_complete_even_if_events_are_missing) {
  const std::string both = "[" + message("m1", "hello") + "," + call("1", "{\\\"a\\\":1}") + "]";
  const std::string args = "{\\\"a\\\":1}";
  const auto bare = [](const std::string& type, const std::string& members) { return event(type, members); };
  const struct {
    const char* label;
    events all;
  } rows[] = {
      {"deltas and a last event without output",
       {text(0, "m1", "hel"), text(0, "m1", "lo"), added(1, call("1", "")), arguments(1, "fc_1", args),
        response("completed")}},
      {"deltas, repeated by everything",
       {text(0, "m1", "hello"), done(0, message("m1", "hello")), added(1, call("1", "")), arguments(1, "fc_1", args),
        done(1, call("1", args)), done(1, call("1", args)), response("completed", both)}},
      {"complete items only", {done(0, message("m1", "hello")), done(1, call("1", args)), response("completed")}},
      {"complete items, repeated by the last event",
       {done(0, message("m1", "hello")), done(1, call("1", args)), response("completed", both)}},
      {"the last event only", {response("completed", both)}},
      {"the text in deltas, the call in the last event", {text(0, "m1", "hello"), response("completed", both)}},
      {"the call in deltas, the text in the last event",
       {added(0, call("1", "")), arguments(0, "fc_1", args), response("completed", both)}},
      {"the beginning of the text in deltas",
       {text(0, "m1", "he"), done(0, message("m1", "hello")), response("completed", both)}},
      {"complete texts and arguments without items",
       {bare("output_text.done", R"("item_id":"m1","output_index":0,"content_index":0,"text":"hello")"),
        added(1, call("1", "")),
        bare("function_call_arguments.done", R"("item_id":"fc_1","output_index":1,"arguments":"{\"a\":1}")"),
        response("completed")}},
      {"no indexes",
       {bare("output_text.delta", R"("item_id":"m1","delta":"hello")"),
        bare("output_item.added", R"("item":)" + call("1", "")),
        bare("function_call_arguments.delta", R"("call_id":"c1","delta":"{\"a\":1}")"),
        bare("output_item.done", R"("item":)" + call("1", args)), response("completed", both)}},
      {"neither indexes nor ids",
       {bare("output_text.delta", R"("delta":"hello")"), bare("output_item.added", R"("item":)" + call("1", "")),
        bare("function_call_arguments.delta", R"("delta":"{\"a\":1}")"), response("completed")}},
      {"one index for everything",
       {text(0, "m1", "hello"), added(0, call("1", "")), arguments(0, "fc_1", args), done(0, call("1", args)),
        done(0, message("m1", "hello")), response("completed", both)}},
      {"a different id in every event",
       {text(0, "x1", "hel"), text(0, "x2", "lo"), done(0, message("x3", "hello")), added(1, call("1", "")),
        arguments(1, "y1", "{\\\"a\\\":"), arguments(1, "y2", "1}"),
        done(1, R"({"type":"function_call","id":"y3","call_id":"c1","name":"f1","arguments":"{\"a\":1}"})"),
        response("completed",
                 "[" + message("x4", "hello") +
                     R"(,{"type":"function_call","id":"y4","call_id":"c1","name":"f1","arguments":"{\"a\":1}"}])")}},
      {"a different id and index in the last event",
       {done(0, reasoning("r", "\"x\":1")), text(1, "m1", "hello"), done(1, message("m1", "hello")),
        done(2, call("1", args)), response("completed", both)}},
      {"arguments as an object",
       {done(0, message("m1", "hello")),
        done(1, R"({"type":"function_call","call_id":"c1","name":"f1","arguments":{"a":1}})"), response("completed")}},
      {"arguments in the announcement", {text(0, "m1", "hello"), added(1, call("1", args)), response("completed")}},
      {"wrong deltas before the complete arguments",
       {text(0, "m1", "hello"), added(1, call("1", "")), arguments(1, "fc_1", "{}"), arguments(1, "fc_1", args),
        done(1, call("1", args)), response("completed")}},
      {"content of the item is a string",
       {done(0, R"({"type":"message","id":"m1","content":"hello"})"), done(1, call("1", args)), response("completed")}},
      {"a different content index in the item",
       {bare("output_text.delta", R"("item_id":"m1","output_index":0,"content_index":1,"delta":"hello")"),
        done(0, message("m1", "hello")), done(1, call("1", args)), response("completed", both)}},
      {"items and events of other types",
       {bare("queued", R"("response":{})"), R"({"type":"keepalive"})",
        done(0, R"({"type":"web_search_call","id":"ws"})"), text(1, "m1", "hello"),
        bare("output_text.annotation.added", R"("item_id":"m1")"), done(2, call("1", args)),
        response("completed", both)}},
  };
  for (const auto& row : rows) {
    const reading r(row.all);
    EXPECT_EQ(r.failure(), "") << row.label;
    EXPECT_EQ(r.got.answer_text, "hello") << row.label;
    EXPECT_THAT(r.got.calls, ElementsAre("c1 f1 {\"a\":1}")) << row.label;
    EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_TOOL_CALLS) << row.label;
  }
}

TEST(responses_reader, parallel_calls_stay_separate) {
  const struct {
    const char* label;
    events all;
  } rows[] = {
      {"interleaved deltas",
       {added(0, call("1", "")), added(1, call("2", "")), arguments(0, "fc_1", "{\\\"a\\\":"),
        arguments(1, "fc_2", "{\\\"b\\\":"), arguments(0, "fc_1", "1}"), arguments(1, "fc_2", "2}")}},
      {"one index",
       {added(0, call("1", "")), added(0, call("2", "")), arguments(0, "fc_1", "{\\\"a\\\":1}"),
        arguments(0, "fc_2", "{\\\"b\\\":2}")}},
      {"one index, one after the other",
       {added(0, call("1", "")), arguments(0, "fc_1", "{\\\"a\\\":1}"), done(0, call("1", "{\\\"a\\\":1}")),
        added(0, call("2", "")), arguments(0, "fc_2", "{\\\"b\\\":2}"), done(0, call("2", "{\\\"b\\\":2}"))}},
      {"complete, with one index", {done(0, call("1", "{\\\"a\\\":1}")), done(0, call("2", "{\\\"b\\\":2}"))}},
      {"not announced",
       {arguments(0, "fc_1", "{\\\"a\\\":"), arguments(1, "fc_2", "{\\\"b\\\":2}"), arguments(0, "fc_1", "1}"),
        done(0, call("1", "{\\\"a\\\":1}")), done(1, call("2", "{\\\"b\\\":2}"))}},
      {"the second call only in the last event", {done(0, call("1", "{\\\"a\\\":1}"))}},
  };
  for (auto row : rows) {
    row.all.push_back(response("completed", "[" + call("1", "{\\\"a\\\":1}") + "," + call("2", "{\\\"b\\\":2}") + "]"));
    const reading r(row.all);
    EXPECT_THAT(r.got.calls, ElementsAre("c1 f1 {\"a\":1}", "c2 f2 {\"b\":2}")) << row.label;
  }
  // Two equal calls are two calls, unless one is a repetition under another id.
  const std::string same = R"({"type":"function_call","id":"i1","call_id":"c1","name":"f","arguments":"{}"})";
  const std::string twin = R"({"type":"function_call","id":"i2","call_id":"c2","name":"f","arguments":"{}"})";
  EXPECT_EQ(reading({done(0, same), done(1, twin), response("completed")}).got.calls.size(), 2u);
  EXPECT_EQ(reading({done(0, same), response("completed", "[" + twin + "]")}).got.calls.size(), 1u);
}

TEST(responses_reader, calls_that_share_an_id_stay_separate) {
  const auto item = [](const char* id, const char* call_id, const char* args) {
    return R"({"type":"function_call","id":")" + std::string(id) + R"(","call_id":")" + call_id +
           R"(","name":"f","arguments":")" + args + "\"}";
  };
  const auto arguments_done = [](const std::string& members) { return event("function_call_arguments.done", members); };
  const std::string a = "{\\\"a\\\":1}", b = "{\\\"b\\\":2}";
  const struct {
    const char* label;
    events all;
    std::vector<std::string> calls;
  } rows[] = {
      {"a shared call id",
       {added(0, item("i1", "c", "")), added(1, item("i2", "c", "")), arguments(0, "i1", a), arguments(1, "i2", b),
        done(0, item("i1", "c", a.c_str())), done(1, item("i2", "c", b.c_str())), response("completed")},
       {"c f {\"a\":1}", "c f {\"b\":2}"}},
      {"a shared item id",
       {added(0, item("i", "c1", "")), arguments(0, "i", a), done(0, item("i", "c1", a.c_str())),
        added(1, item("i", "c2", "")), arguments(1, "i", b), done(1, item("i", "c2", b.c_str())),
        response("completed")},
       {"c1 f {\"a\":1}", "c2 f {\"b\":2}"}},
      {"a shared item id, both open",
       {added(0, item("i", "c1", "")), added(1, item("i", "c2", "")), done(0, item("i", "c1", a.c_str())),
        done(1, item("i", "c2", b.c_str())), response("completed")},
       {"c1 f {\"a\":1}", "c2 f {\"b\":2}"}},
      {"the item id of one call is the call id of the other",
       {added(0, item("x", "c1", "")), added(1, item("y", "x", "")), arguments(0, "x", a), arguments(1, "y", b),
        done(0, item("x", "c1", a.c_str())), done(1, item("y", "x", b.c_str())), response("completed")},
       {"c1 f {\"a\":1}", "x f {\"b\":2}"}},
      {"ids that change between events",
       {added(0, item("i1", "c1", "")), arguments(0, "i2", a),
        arguments_done(R"("item_id":"i3","output_index":0,"arguments":")" + a + "\""),
        done(0, item("i4", "c1", a.c_str())), response("completed", "[" + item("i5", "c1", a.c_str()) + "]")},
       {"c1 f {\"a\":1}"}},
      {"complete arguments without ids",
       {added(0, item("i1", "c1", "")), added(1, item("i2", "c2", "")), arguments_done(R"("arguments":")" + a + "\""),
        arguments_done(R"("arguments":")" + b + "\""), done(0, item("i1", "c1", "")), done(1, item("i2", "c2", "")),
        response("completed")},
       {"c1 f {\"a\":1}", "c2 f {\"b\":2}"}},
      {"a repeated item_done",
       {added(0, item("i1", "c1", "")), done(0, item("i1", "c1", a.c_str())), done(0, item("i1", "c1", a.c_str())),
        response("completed")},
       {"c1 f {\"a\":1}"}},
  };
  for (const auto& row : rows) EXPECT_EQ(reading(row.all).got.calls, row.calls) << row.label;
}

TEST(responses_reader, placeholders_for_missing_arguments_are_recognised) {
  const std::string a = "{\\\"a\\\":1}";
  const struct {
    const char* label;
    events all;
    const char* call;
  } rows[] = {
      {"an empty object first",
       {added(0, call("1", "")), arguments(0, "fc_1", "{}"), arguments(0, "fc_1", a), done(0, call("1", "")),
        response("completed")},
       "c1 f1 {\"a\":1}"},
      {"repeated arguments",
       {added(0, call("1", "")), arguments(0, "fc_1", a), arguments(0, "fc_1", a), done(0, call("1", "")),
        response("completed")},
       "c1 f1 {\"a\":1}"},
      {"a done event with fewer arguments than the deltas",
       {added(0, call("1", "")), arguments(0, "fc_1", a), done(0, call("1", "{}")), response("completed")},
       "c1 f1 {\"a\":1}"},
      {"null", {done(0, call("1", "null")), response("completed")}, "c1 f1 {}"},
      {"an empty array", {done(0, call("1", "[]")), response("completed")}, "c1 f1 {}"},
      {"a lone surrogate",
       {done(0, call("1", "{\\\"a\\\":\\\"\\\\ud83d\\\"}")), response("completed")},
       "c1 f1 {\"a\":\"\\ufffd\"}"},
  };
  for (const auto& row : rows) EXPECT_THAT(reading(row.all).got.calls, ElementsAre(row.call)) << row.label;
}

TEST(responses_reader, an_event_named_error_is_always_a_failure) {
  for (const char* data :
       {"overloaded", R"({"type":"overloaded","message":"m"})", R"({"code":500,"message":"m"})", "[]"}) {
    responses_reader reader({"p", "m"});
    recorder got;
    reader.event("error", data, got);
    ASSERT_TRUE(reader.failed()) << data;
    EXPECT_EQ(reader.failed()->status, RY_UNAVAILABLE) << data;
  }
  responses_reader reader({"p", "m"});
  recorder got;
  reader.event("error", "prompt is too long: 9 tokens > 8 maximum", got);
  EXPECT_EQ(reader.failed()->reason, "llm.context_too_long");
}

TEST(responses_reader, a_document_of_an_unfinished_answer_is_a_failure) {
  for (const char* status : {"in_progress", "queued"}) {
    responses_reader reader({"p", "m"});
    recorder got;
    reader.document(
        json::parse(R"({"object":"response","status":")" + std::string(status) + R"(","output":[]})").as_object(), got);
    reader.closed(got);
    ASSERT_TRUE(reader.failed()) << status;
    EXPECT_EQ(reader.failed()->reason, "llm.cut_off") << status;
  }
}

TEST(responses_reader, a_second_message_with_the_same_id_is_kept) {
  const reading r({added(0, message("m", "")), done(0, message("m", "one")), added(1, message("m", "")),
                   done(1, message("m", "two")), response("completed")});
  EXPECT_EQ(r.got.answer_text, "one\n\ntwo");
}

TEST(responses_reader, truncated_calls_are_reported_as_truncated) {
  const reading at_the_limit({added(0, call("1", "")), done(0, call("1", "{\\\"a\\\":1}")),
                              added(1, call("2", "", "in_progress")), arguments(1, "fc_2", "{\\\"b\\\":"),
                              done(1, call("2", "{\\\"b\\\":", "incomplete")),
                              response("incomplete", "[]", R"("incomplete_details":{"reason":"max_output_tokens"},)")});
  EXPECT_EQ(at_the_limit.reader.finish(), RY_LLM_FINISH_LENGTH);
  EXPECT_THAT(at_the_limit.got.calls, ElementsAre("c1 f1 {\"a\":1}", "c2 f2 {\"b\":"));
  const reading called_complete({done(0, call("1", "{\\\"a\\\":", "incomplete")), response("completed")});
  EXPECT_EQ(called_complete.reader.finish(), RY_LLM_FINISH_LENGTH);
  // Every incomplete call is truncated, not only the last one, and even if its arguments look complete.
  const reading two({done(0, call("1", "", "incomplete")), done(1, call("2", "{\\\"b\\\":2}", "incomplete")),
                     done(2, call("3", "{}")), response("completed")});
  EXPECT_THAT(two.got.calls, ElementsAre("c1 f1 ", "c2 f2 ", "c3 f3 {}"));
  const reading nameless({arguments(0, "fc_1", "{}"), response("completed")});
  EXPECT_EQ(nameless.reader.finish(), RY_LLM_FINISH_TOOL_CALLS) << "no call is delivered, so the attempt fails";
  EXPECT_THAT(nameless.got.calls, IsEmpty());
}

TEST(responses_reader, several_messages_become_paragraphs) {
  const reading r({text(0, "m1", "Let me look."), done(0, message("m1", "Let me look.", R"("phase":"commentary",)")),
                   added(1, R"({"type":"message","id":"m2","phase":"final_answer"})"), text(1, "m2", "It "),
                   text(1, "m2", "is."), response("completed")});
  EXPECT_EQ(r.got.answer_text, "Let me look.\n\nIt is.");
  ASSERT_EQ(r.got.blocks.size(), 1u) << "the phases are sent back";
  EXPECT_EQ(
      json::parse(r.got.blocks[0]).at("items"),
      json::parse(
          R"([{"type":"message","at":0,"size":12,"phase":"commentary"},{"type":"message","at":14,"size":6,"phase":"final_answer"}])"));
  EXPECT_THAT(reading({text(0, "m1", "a"), response("completed")}).got.blocks, IsEmpty())
      << "no data that only this provider understands";
}

TEST(responses_reader, reasoning_is_kept_if_it_can_be_sent_back) {
  const std::string end = response("completed");
  const struct {
    const char *label, *kept;
    events all;
  } rows[] = {
      {"the content of the done event, not of the added event",
       "e2",
       {added(0, reasoning("r", R"("encrypted_content":"e1")")), done(0, reasoning("r", R"("encrypted_content":"e2")")),
        end}},
      {"in the last event only",
       "e",
       {response("completed", "[" + reasoning("r", R"("encrypted_content":"e")") + "]")}},
      {"repeated in the last event",
       "e",
       {done(0, reasoning("r", R"("encrypted_content":"e")")),
        response("completed", "[" + reasoning("r", R"("encrypted_content":"e")") + "]")}},
      {"under another id in the last event",
       "e",
       {done(0, reasoning("r", R"("encrypted_content":"e")")),
        response("completed", "[" + message("m", "x") + "," + reasoning("q", R"("encrypted_content":"f")") + "]")}},
      {"only announced", nullptr, {added(0, reasoning("r", R"("encrypted_content":"e1")")), end}},
      {"without content", nullptr, {done(0, reasoning("r", R"("encrypted_content":null)")), end}},
      {"incomplete",
       nullptr,
       {done(0, R"({"type":"reasoning","id":"r","status":"incomplete","encrypted_content":"e"})"),
        response("incomplete")}},
  };
  for (const auto& row : rows) {
    const reading r(row.all);
    ASSERT_EQ(r.got.blocks.size(), row.kept ? 1u : 0u) << row.label;
    if (row.kept == nullptr) continue;
    EXPECT_EQ(json::parse(r.got.blocks[0]).at("items").at(0).at("encrypted_content"), row.kept) << row.label;
  }
  EXPECT_EQ(
      reading(
          {done(0,
                R"({"type":"reasoning","id":"r","summary":[{"text":"one"},{"text":"two"}],"encrypted_content":"e"})"),
           end})
          .got.reasoning_text,
      "one\n\ntwo");
  EXPECT_EQ(
      reading({event("reasoning_text.delta", R"("item_id":"a","delta":"one ")"),
               event("reasoning_text.delta", R"("item_id":"b","delta":"two")"),
               done(0, R"({"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":"one two"}]})"), end})
          .got.reasoning_text,
      "one two");
}

TEST(responses_reader, rejected_reasoning_is_omitted_in_one_more_attempt) {
  const struct {
    const char* body;
    bool of_model;
  } rows[] = {
      {R"({"error":{"message":"The encrypted content gAAA could not be verified.","type":"invalid_request_error","code":"invalid_encrypted_content"}})",
       false},
      {R"({"error":{"message":"The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","code":null}})",
       false},
      {R"({"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.","type":"invalid_request_error"}})",
       false},
      {R"({"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error","param":"input"}})",
       false},
      {R"({"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include"}})",
       true},
  };
  for (const auto& row : rows) {
    const auto refusals = std::make_shared<openai::reasoning_refusals>();
    const responses_reader reader({"p", "m"}, refusals, {1, 2});
    EXPECT_EQ(reader.refused(400, row.body).status, RY_UNAVAILABLE) << row.body;
    EXPECT_EQ(refusals->refuses_encryption("m"), row.of_model);
    EXPECT_EQ(refusals->refuses(1) && refusals->refuses(2), !row.of_model);
    EXPECT_EQ(reader.refused(400, row.body).status, RY_INVALID_ARGUMENT) << "it was already omitted: " << row.body;
    EXPECT_EQ(responses_reader({"p", "m"}).refused(400, row.body).status, RY_INVALID_ARGUMENT);
  }
  const responses_reader without({"p", "m"}, std::make_shared<openai::reasoning_refusals>(), {});
  EXPECT_EQ(without.refused(400, rows[0].body).status, RY_INVALID_ARGUMENT);
}

TEST(responses_reader, limits_apply_to_hostile_answers) {
  events calls;
  for (int n = 0; n < 200; ++n) calls.push_back(done(n, call(std::to_string(n), "{}")));
  EXPECT_EQ(reading(calls).failure(), "llm.protocol");
  events messages;
  for (int n = 0; n < 1100; ++n) messages.push_back(text(n, "m" + std::to_string(n), "x"));
  EXPECT_EQ(reading(messages).failure(), "llm.protocol");
  events parts, turns;
  for (int n = 0; n < 300; ++n)
    parts.push_back(
        event("output_text.delta", R"("item_id":"m","content_index":)" + std::to_string(n) + R"(,"delta":"x")"));
  EXPECT_EQ(reading(parts).failure(), "llm.protocol");
  for (int n = 0; n < 1100; ++n) turns.push_back(text(n % 2, n % 2 == 0 ? "a" : "b", "x"));
  EXPECT_EQ(reading(turns).failure(), "llm.protocol");
  std::string items = "{}";
  for (int n = 0; n < 1100; ++n) items += ",{}";
  EXPECT_EQ(reading({response("completed", "[" + items + "]")}).failure(), "llm.protocol");
  const std::string megabyte(1 << 20, 'x');
  for (const auto& piece : {text(0, "m", megabyte), arguments(0, "c", megabyte)}) {
    const reading r(events(40, piece));
    EXPECT_EQ(r.failure(), "llm.protocol");
  }
  std::string deep = "1";
  for (int n = 0; n < 60; ++n) deep = R"({"a":)" + deep + "}";
  EXPECT_EQ(reading({event("created", R"("response":{"tools":)" + deep + "}"), response("completed")}).failure(), "")
      << "deeply nested tools of the request are accepted";
  EXPECT_EQ(reading({text(0, "m", "a\\ud83d"), response("completed")}).got.answer_text, "a\ufffd");
}

TEST(responses_reader, members_of_wrong_types_are_ignored) {
  for (const char* type : {"output_text.delta", "output_text.done", "refusal.delta", "refusal.done",
                           "content_part.done", "reasoning_summary_text.delta", "reasoning_text.delta",
                           "function_call_arguments.delta", "function_call_arguments.done", "output_item.added",
                           "output_item.done", "completed", "incomplete", "failed", "cancelled", "error"})
    for (
        const char* members :
        {R"("x":0)", R"("item":1,"part":1,"delta":1,"response":1,"output_index":"a")",
         R"("item":{},"part":{},"delta":{},"response":{},"output_index":-1)",
         R"("item":{"type":"message","content":[1,{}]},"part":{"type":1},"response":{"output":[1,{},{"type":"function_call"}],"usage":[]},"output_index":1e300)",
         R"("item":{"type":"function_call","arguments":[]},"response":{"output":{},"usage":{"input_tokens":-1,"output_tokens":"x"}})",
         R"("item":{"type":"reasoning","summary":{},"content":[[]],"encrypted_content":[]},"response":{"error":[]})"}) {
      const reading r({event(type, members), response("completed")});
      EXPECT_TRUE(r.reader.ended()) << type << members;
    }
}

}  // namespace
