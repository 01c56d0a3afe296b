#include "chunk_mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <vector>

using testing::ElementsAre;
using testing::HasSubstr;

namespace {

namespace json = boost::json;

// The objects of the server-sent events; "[DONE]" as a string.
std::vector<json::value> parts(std::string wire) {
  std::vector<json::value> out;
  while (!wire.empty()) {
    const std::size_t end = wire.find("\n\n");
    const std::string line = wire.substr(0, end);
    EXPECT_EQ(line.substr(0, 6), "data: ") << line;
    const std::string data = line.substr(6);
    out.push_back(data == "[DONE]" ? json::value(data) : json::parse(data));
    wire.erase(0, end + 2);
  }
  return out;
}
std::vector<std::string> types(const std::vector<json::value>& all) {
  std::vector<std::string> out;
  for (const json::value& v : all)
    out.emplace_back(v.is_string() ? v.get_string().c_str() : v.at("type").as_string().c_str());
  return out;
}

class mapped : public testing::Test {
 protected:
  mapped() { chunks.begin_run("01a2205c-88dc-7eb5-85e7-5c2b5bf3beff", true); }
  std::vector<json::value> add(std::initializer_list<const char*> events) {
    for (const char* e : events) chunks.add_event(e);
    return parts(chunks.take());
  }
  aisdk::chunk_mapper chunks;
};

constexpr const char* start1 = R"({"type":"llm_response_start","step":1,"attempt":1})";
constexpr const char* a_chunk = R"({"type":"llm_response_chunk","content":"a"})";
constexpr const char* b_chunk = R"({"type":"llm_response_chunk","content":"b"})";
constexpr const char* end1 = R"({"type":"llm_response_end","step":1,"finish":"stop"})";
constexpr const char* call1 =
    R"({"type":"tool_call","tool_call_id":"c","name":"shell","arguments":{"x":0.1},"source":"sandbox"})";
constexpr const char* client_call =
    R"({"type":"tool_call","tool_call_id":"k","name":"locate","arguments":{},"source":"client"})";
constexpr const char* completed =
    R"({"type":"status","status":"completed","reason":"ok","usage":{"input_tokens":3,"output_tokens":4,"cached_tokens":1},"credits":0.5})";

}  // namespace

TEST_F(mapped, consecutive_chunks_of_a_batch_are_one_delta) {
  const auto all = add({start1, a_chunk, b_chunk, end1, completed});
  EXPECT_THAT(types(all), ElementsAre("start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"));
  EXPECT_EQ(all[2].at("delta").as_string(), "ab");
  EXPECT_EQ(all[1].at("id"), all[2].at("id"));
  EXPECT_EQ(all[5].at("finishReason").as_string(), "stop");
  EXPECT_EQ(json::serialize(all[5].at("messageMetadata").at("usage")),
            R"({"inputTokens":3,"outputTokens":4,"totalTokens":7,"cachedInputTokens":1})");
}

TEST_F(mapped, each_batch_is_written_at_once) {
  EXPECT_THAT(types(add({start1, a_chunk})), ElementsAre("start-step", "text-start", "text-delta"));
  EXPECT_THAT(types(add({b_chunk})), ElementsAre("text-delta"));
  EXPECT_EQ(chunks.take(), "");
}

TEST_F(mapped, reasoning_and_text_are_separate_parts) {
  const auto all = add({start1, R"({"type":"reasoning_chunk","content":"r"})", a_chunk, end1});
  EXPECT_THAT(types(all), ElementsAre("start-step", "reasoning-start", "reasoning-delta", "reasoning-end", "text-start",
                                      "text-delta", "text-end"));
  EXPECT_NE(all[1].at("id"), all[4].at("id"));
}

TEST_F(mapped, an_aborted_attempt_is_reset_once) {
  const auto first = add({start1, a_chunk});
  EXPECT_THAT(types(first), ElementsAre("start-step", "text-start", "text-delta"));
  const auto second = add({R"({"type":"turn_aborted","step":1,"attempt":1})",
                           R"({"type":"llm_response_start","step":1,"attempt":2})", b_chunk, end1, completed});
  EXPECT_THAT(types(second),
              ElementsAre("reset-step", "text-start", "text-delta", "text-end", "finish-step", "finish"));
  EXPECT_NE(first[1].at("id"), second[1].at("id"));
}

TEST_F(mapped, an_attempt_without_text_needs_no_reset) {
  EXPECT_THAT(types(add({start1, R"({"type":"turn_aborted","step":1,"attempt":1})", start1, a_chunk})),
              ElementsAre("start-step", "text-start", "text-delta"));
}

TEST_F(mapped, a_second_attempt_without_turn_aborted_resets_too) {
  add({start1, a_chunk});
  EXPECT_THAT(types(add({R"({"type":"llm_response_start","step":1,"attempt":2})", b_chunk})),
              ElementsAre("reset-step", "text-start", "text-delta"));
}

TEST_F(mapped, an_aborted_attempt_whose_start_is_lost_keeps_the_step_before_it) {
  add({start1, a_chunk, R"({"type":"llm_response_end","finish":"tool_calls"})"});
  EXPECT_THAT(types(add({R"({"type":"turn_aborted","step":2,"attempt":1})",
                         R"({"type":"llm_response_start","step":2,"attempt":2})", b_chunk})),
              ElementsAre("finish-step", "start-step", "text-start", "text-delta"));
}

TEST_F(mapped, a_delta_that_was_not_written_is_dropped) {
  EXPECT_THAT(types(add({start1, a_chunk, R"({"type":"turn_aborted","step":1,"attempt":1})", b_chunk})),
              ElementsAre("start-step", "text-start", "reset-step", "text-start", "text-delta"));
}

TEST_F(mapped, calls_of_server_side_tools_are_dynamic_and_executed_by_the_provider) {
  const auto all = add({start1, call1, R"({"type":"tool_output_chunk","tool_call_id":"c","content":"x"})",
                        R"({"type":"tool_progress","tool_call_id":"c","message":"1/2"})",
                        R"({"type":"tool_result","tool_call_id":"c","name":"shell","is_error":false,"content":"out"})",
                        R"({"type":"llm_response_start","step":2,"attempt":1})"});
  EXPECT_THAT(types(all), ElementsAre("start-step", "tool-input-available", "data-tool-output", "data-tool-progress",
                                      "tool-output-available", "finish-step", "start-step"));
  EXPECT_TRUE(all[1].at("dynamic").as_bool());
  EXPECT_TRUE(all[1].at("providerExecuted").as_bool());
  EXPECT_EQ(all[1].at("input").at("x").as_double(), 0.1);
  EXPECT_TRUE(all[2].at("transient").as_bool());
  EXPECT_EQ(all[4].at("output").as_string(), "out");
}

TEST_F(mapped, failed_calls_and_unknown_results) {
  const auto all = add({start1, call1, R"({"type":"tool_result","tool_call_id":"other","content":"x"})",
                        R"({"type":"tool_result","tool_call_id":"c","is_error":true,"content":"bad"})",
                        R"({"type":"tool_result","tool_call_id":"c","content":"twice"})"});
  EXPECT_THAT(types(all), ElementsAre("start-step", "tool-input-available", "tool-output-error"));
  EXPECT_EQ(all[2].at("errorText").as_string(), "bad");
}

TEST_F(mapped, calls_of_client_tools_are_static) {
  const auto all = add({start1, client_call, R"({"type":"status","status":"completed","reason":"tool_calls"})"});
  EXPECT_THAT(types(all), ElementsAre("start-step", "tool-input-available", "finish-step", "finish"));
  EXPECT_EQ(all[1].as_object().count("dynamic"), 0u);
  EXPECT_EQ(all[1].as_object().count("providerExecuted"), 0u);
  EXPECT_EQ(all[3].at("finishReason").as_string(), "tool-calls");
}

TEST_F(mapped, a_chain_of_runs_is_one_message) {
  chunks.begin_run("01a2205c-88dc-7eb5-85e7-aaaaaaaaaaaa", false);
  const auto first =
      add({start1, a_chunk, client_call, R"({"type":"status","status":"completed","reason":"tool_calls"})"});
  EXPECT_THAT(types(first),
              ElementsAre("start-step", "text-start", "text-delta", "text-end", "tool-input-available", "finish-step"));
  chunks.add_client_output("unknown", "x", false);
  chunks.add_client_output("k", R"({"city":"Ulm"})", false);
  chunks.begin_run("01a2205c-88dc-7eb5-85e7-bbbbbbbbbbbb", true);
  const auto second = add({start1, b_chunk, end1, completed});
  EXPECT_THAT(types(second), ElementsAre("tool-output-available", "start-step", "text-start", "text-delta", "text-end",
                                         "finish-step", "finish"));
  EXPECT_EQ(second[0].at("output").at("city").as_string(), "Ulm");
  EXPECT_NE(first[1].at("id"), second[2].at("id"));
}

TEST_F(mapped, a_stopped_run_ends_its_calls_and_aborts) {
  const auto all = add({start1, call1, R"({"type":"status","status":"stopped","reason":"user_stop"})"});
  EXPECT_THAT(types(all), ElementsAre("start-step", "tool-input-available", "tool-output-error", "finish-step",
                                      "message-metadata", "abort", "finish"));
  EXPECT_EQ(all[5].at("reason").as_string(), "user_stop");
}

TEST_F(mapped, a_run_that_fails_before_its_first_step_gets_an_empty_step) {
  const auto all = add({R"({"type":"status","status":"failed","reason":"llm_error","error":"no","error_code":"E"})"});
  EXPECT_THAT(types(all), ElementsAre("start-step", "finish-step", "message-metadata", "error", "finish"));
  EXPECT_EQ(all[2].at("messageMetadata").at("errorCode").as_string(), "E");
  EXPECT_EQ(all[3].at("errorText").as_string(), "no");
  EXPECT_EQ(all[4].at("finishReason").as_string(), "error");
}

TEST_F(mapped, finish_reasons_of_runs) {
  const std::pair<const char*, const char*> cases[] = {
      {"length", "length"}, {"content_filter", "content-filter"}, {"refusal", "error"}, {"crashed", "error"}};
  for (const auto& [reason, expected] : cases) {
    aisdk::chunk_mapper m;
    m.begin_run("r", true);
    m.add_event(std::string(R"({"type":"status","status":"failed","reason":")") + reason + "\"}");
    EXPECT_EQ(parts(m.take()).back().at("finishReason").as_string(), expected);
  }
}

TEST_F(mapped, notices_are_transient_data) {
  const auto all = add({R"({"type":"queued","position":3})", R"({"type":"notice","code":"tool_search","message":"m"})",
                        R"({"type":"error","message":"retry","error_code":"LLM_RETRY","recoverable":true})",
                        R"({"type":"context_compacted","messages":3})", R"({"type":"message","role":"user"})",
                        R"({"type":"gap","from":1,"to":2})", R"({"type":"status","status":"running"})"});
  EXPECT_THAT(types(all), ElementsAre("data-queued", "data-notice", "data-notice", "data-notice"));
  for (const json::value& v : all) EXPECT_TRUE(v.at("transient").as_bool());
}

TEST_F(mapped, malformed_events_are_ignored) {
  EXPECT_TRUE(add({"", "{", "[]", "7", R"({"type":7})", R"({"type":"tool_call"})", R"({"type":"llm_response_chunk"})",
                   R"({"type":"status"})", R"({"type":"tool_result","tool_call_id":{}})"})
                  .empty());
}

TEST_F(mapped, text_without_a_step_opens_one) {
  EXPECT_THAT(types(add({a_chunk})), ElementsAre("start-step", "text-start", "text-delta"));
}

TEST_F(mapped, a_message_begins_with_its_id_and_ends_with_done) {
  chunks.begin_message("m", "r", "t");
  chunks.interrupt("later");
  chunks.end();
  const std::string wire = chunks.take();
  EXPECT_THAT(wire, HasSubstr(R"("messageId":"m")"));
  EXPECT_THAT(types(parts(wire)), ElementsAre("start", "error", "[DONE]"));
}
