#include "messages_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "body_reader.hpp"
#include "recorder.hpp"

namespace {

using anthropic::messages_reader;
using llm::test::recorder;
using testing::ElementsAre;

struct reading {
  messages_reader reader;
  recorder got;
  reading(std::initializer_list<std::string> events, bool close = false) {
    for (const auto& e : events) reader.event("", e, got);
    if (close) reader.closed(got);
  }
};

std::string text(const std::string& s) {
  return R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" + s + "\"}}";
}
const std::string start =
    R"({"type":"message_start","message":{"id":"m","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}}})";
const std::string stop = R"({"type":"message_stop"})";

TEST(messages_reader, reads_text_thinking_usage_and_end) {
  const reading r({start,
                   R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})",
                   R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
                   R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}})",
                   R"({"type":"content_block_stop","index":0})", R"({"type":"ping"})",
                   R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})", text("a"),
                   text("b\\n"), text("c"), R"({"type":"content_block_stop","index":1})",
                   R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}})",
                   R"({"type":"something_new"})", stop});
  EXPECT_EQ(r.got.answer_text, "ab\nc");
  EXPECT_EQ(r.got.reasoning_text, "hm");
  EXPECT_EQ(r.got.pieces, 3);
  EXPECT_TRUE(r.reader.ended());
  EXPECT_FALSE(r.reader.failed());
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_STOP);
  EXPECT_TRUE(r.reader.used().reported());
  EXPECT_EQ(r.reader.used().input, 115);
  EXPECT_EQ(r.reader.used().cached, 100);
  EXPECT_EQ(r.reader.used().output, 12);
}

TEST(messages_reader, usage_is_reported_when_both_counts_are_numbers) {
  const auto used = [](const std::string& at_start, const std::string& at_end) {
    const reading r({R"({"type":"message_start","message":{"usage":)" + at_start + "}}", text("a"),
                     R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":)" + at_end + "}", stop});
    EXPECT_FALSE(r.reader.failed());
    return r.reader.used();
  };
  for (const char* none :
       {"{}", "null", R"({"input_tokens":null,"output_tokens":"4"})", R"({"input_tokens":-1,"output_tokens":1e99})"}) {
    const auto nothing = used(none, none);
    EXPECT_FALSE(nothing.input_reported || nothing.output_reported) << none;
    const auto begun = used(R"({"input_tokens":10,"output_tokens":1})", none);
    EXPECT_TRUE(begun.input_reported) << none;
    EXPECT_FALSE(begun.output_reported) << none;
    EXPECT_EQ(begun.input, 10) << none;
  }
  const auto output = used("{}", R"({"output_tokens":4})");
  EXPECT_FALSE(output.reported());
  EXPECT_EQ(output.output, 4);
  const auto late = used(R"({"input_tokens":0,"output_tokens":0})", R"({"input_tokens":9.2,"output_tokens":4})");
  EXPECT_TRUE(late.reported());
  EXPECT_EQ(late.input, 9);
  EXPECT_EQ(late.output, 4);
}

TEST(messages_reader, a_lone_surrogate_becomes_a_replacement_character) {
  const reading split({start, text("a"), text("\\ud83d"), text("\\ude00"), text("b\\\\ud83d"), stop});
  EXPECT_FALSE(split.reader.failed());
  EXPECT_EQ(split.got.answer_text,
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b\\ud83d");
}

TEST(messages_reader, delivers_thinking_blocks_for_later_requests) {
  messages_reader reader("claude-x");
  recorder got;
  for (const char* e :
       {R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let \"me\""}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":" see"}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}})",
        R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"cd"}})",
        R"({"type":"content_block_stop","index":0})",
        R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zz"}})",
        R"({"type":"content_block_stop","index":1})",
        R"({"type":"content_block_start","index":2,"content_block":{"type":"thinking","thinking":"unsigned"}})",
        R"({"type":"content_block_stop","index":2})"})
    reader.event("", e, got);
  EXPECT_EQ(got.reasoning_text, "let \"me\" seeunsigned");
  ASSERT_EQ(got.blocks.size(), 2u) << "the API rejects thinking without a signature";
  EXPECT_EQ(
      boost::json::parse(got.blocks[0]),
      boost::json::parse(
          R"({"driver":"anthropic","model":"claude-x","type":"thinking","thinking":"let \"me\" see","signature":"abcd"})"));
  EXPECT_EQ(boost::json::parse(got.blocks[1]),
            boost::json::parse(R"({"driver":"anthropic","model":"claude-x","type":"redacted_thinking","data":"zz"})"));
}

TEST(messages_reader, assembles_tool_calls) {
  const reading r(
      {start,
       R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}})",
       R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t2","name":"g","input":{"k":1}}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"2}"}})",
       R"({"type":"content_block_delta","index":9,"delta":{"type":"input_json_delta","partial_json":"x"}})",
       R"({"type":"content_block_stop","index":1})", R"({"type":"content_block_stop","index":2})",
       R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}})", stop});
  EXPECT_THAT(r.got.calls, ElementsAre("t1 f {\"a\":2}", "t2 g {\"k\":1}"));
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_TOOL_CALLS);
}

TEST(messages_reader, the_fast_path_never_mistakes_other_events_for_text) {
  const reading r({start, text("a"), text("b"),
                   R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"c"}})",
                   R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"d"}})", text("e"),
                   stop});
  EXPECT_EQ(r.got.answer_text, "abcde");
}

TEST(messages_reader, maps_stop_reasons_and_missing_ends) {
  const reading truncated({start, text("a")}, true);
  EXPECT_EQ(truncated.reader.failed()->status, RY_UNAVAILABLE);
  EXPECT_FALSE(truncated.reader.used().reported());
  EXPECT_EQ(truncated.reader.used().input, 115);
  const reading no_message_stop({start, R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})"}, true);
  EXPECT_FALSE(no_message_stop.reader.failed());
  EXPECT_EQ(no_message_stop.reader.finish(), RY_LLM_FINISH_LENGTH);
  const reading refusal({R"({"type":"message_delta","delta":{"stop_reason":"refusal"}})", stop});
  EXPECT_EQ(refusal.reader.finish(), RY_LLM_FINISH_REFUSAL);
  const reading pause({R"({"type":"message_delta","delta":{"stop_reason":"pause_turn"}})", stop});
  EXPECT_EQ(pause.reader.finish(), RY_LLM_FINISH_PAUSE);
}

TEST(messages_reader, errors_in_the_stream_and_error_responses_are_mapped) {
  const auto in_stream = [](const char* type) {
    const reading r({start, std::string(R"({"type":"error","error":{"type":")") + type + R"(","message":"m"}})"});
    return r.reader.failed()->status;
  };
  EXPECT_EQ(in_stream("overloaded_error"), RY_UNAVAILABLE);
  EXPECT_EQ(in_stream("rate_limit_error"), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(in_stream("api_error"), RY_UNAVAILABLE);
  EXPECT_EQ(in_stream("authentication_error"), RY_UNAUTHENTICATED);
  EXPECT_EQ(in_stream("never_heard_of"), RY_UNAVAILABLE);
  const messages_reader r;
  const auto status = [&](unsigned http, const char* body) { return r.refused(http, body).status; };
  EXPECT_EQ(status(529, R"({"type":"error","error":{"type":"overloaded_error","message":"o"}})"), RY_UNAVAILABLE);
  EXPECT_EQ(status(400, R"({"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}})"),
            RY_OUT_OF_RANGE);
  EXPECT_EQ(status(400, R"({"error":{"type":"invalid_request_error","message":"x"}})"), RY_INVALID_ARGUMENT);
  EXPECT_EQ(status(413, R"({"error":{"type":"request_too_large","message":"x"}})"), RY_OUT_OF_RANGE);
  EXPECT_EQ(status(404, R"({"error":{"type":"not_found_error","message":"model: x"}})"), RY_NOT_FOUND);
  EXPECT_EQ(status(502, "<html>"), RY_UNAVAILABLE);
  for (const char* junk : {"nonsense", "[]", "{\"type\":"}) {
    const reading bad({junk});
    EXPECT_EQ(bad.reader.failed()->status, RY_DATA_LOSS) << junk;
  }
  const reading odd({R"({"type":"content_block_delta"})", R"({"type":"content_block_start"})", R"({"type":7})",
                     R"({"type":"message_start","message":3})", stop});
  EXPECT_FALSE(odd.reader.failed());
}

TEST(messages_reader, an_error_in_any_form_is_a_failure) {
  for (const char* event :
       {R"({"error":{"type":"api_error","message":"the engine is dead"}})", R"({"detail":"the engine is dead"})",
        R"({"type":"error","error":{"message":"the engine is dead"}})",
        R"({"type":"error","message":"the engine is dead"})"}) {
    const reading r({start, text("a"), event});
    ASSERT_TRUE(r.reader.failed()) << event;
    EXPECT_EQ(r.reader.failed()->message, "the engine is dead") << event;
  }
  messages_reader named;
  recorder got;
  named.event("error", R"({"message":"gone"})", got);
  ASSERT_TRUE(named.failed());
}

TEST(messages_reader, a_call_truncated_before_its_input_has_no_arguments) {
  for (const char* reason : {"max_tokens", "tool_use"}) {
    const reading r(
        {start,
         R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}})",
         R"({"type":"content_block_stop","index":0})",
         R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t2","name":"g","input":{}}})",
         R"({"type":"content_block_stop","index":1})",
         std::string(R"({"type":"message_delta","delta":{"stop_reason":")") + reason + "\"}}", stop});
    EXPECT_THAT(r.got.calls, ElementsAre("t1 f {}", std::string(reason) == "max_tokens" ? "t2 g " : "t2 g {}"));
  }
}

TEST(messages_reader, empty_input_becomes_an_empty_object_and_a_call_without_a_name_is_dropped) {
  const reading r(
      {start,
       R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":null}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"null"}})",
       R"({"type":"content_block_stop","index":0})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t2","name":"g","input":[]}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"[]"}})",
       R"({"type":"content_block_stop","index":1})",
       R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t3","input":{"x":1}}})",
       R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})", stop});
  EXPECT_THAT(r.got.calls, ElementsAre("t1 f {}", "t2 g {}"));
}

TEST(messages_reader, the_most_severe_stop_reason_counts) {
  const reading r({start, text("a"), R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"}})",
                   R"({"type":"message_delta","delta":{"stop_reason":"end_turn"}})", stop});
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_LENGTH);
}

TEST(messages_reader, a_misnumbered_input_belongs_to_the_only_open_call) {
  const reading r(
      {start,
       R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}})",
       R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":2}"}})",
       R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})", stop});
  EXPECT_THAT(r.got.calls, ElementsAre("t1 f {\"a\":2}"));
}

TEST(messages_reader, reads_a_document_instead_of_a_stream) {
  messages_reader reader("claude-x");
  recorder got;
  llm::body_reader body;
  const std::string text =
      R"({"id":"m","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},)"
      R"({"type":"text","text":"hi"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}],)"
      R"("stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":1}})";
  EXPECT_TRUE(body.feed(text, reader, got, [] { return true; }));
  body.closed(reader, got);
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(got.answer_text, "hi");
  EXPECT_EQ(got.reasoning_text, "hm");
  EXPECT_EQ(got.blocks.size(), 1u);
  EXPECT_THAT(got.calls, ElementsAre("t1 f {\"a\":1}"));
  EXPECT_EQ(reader.finish(), RY_LLM_FINISH_TOOL_CALLS);
  EXPECT_TRUE(reader.used().reported());
}

}  // namespace
