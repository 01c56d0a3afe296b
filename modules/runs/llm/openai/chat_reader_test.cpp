#include "chat_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "body_reader.hpp"
#include "recorder.hpp"

namespace {

using llm::test::recorder;
using openai::chat_reader;
using testing::ElementsAre;

std::string chunk(const std::string& delta, const std::string& finish = "null") {
  return R"({"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         delta + R"(,"finish_reason":)" + finish + "}]}";
}

struct reading {
  chat_reader reader;
  recorder got;
  reading(std::initializer_list<std::string> events, bool close = false) {
    for (const auto& e : events) {
      if (reader.ended()) break;
      reader.event("", e, got);
    }
    if (close) reader.closed(got);
  }
};

TEST(chat_reader, reasoning_is_kept_for_models_that_require_it_back) {
  for (const char* keep : {"", "m"}) {
    openai::chat_reader reader(keep, true);
    llm::test::recorder got;
    for (const char* e :
         {R"({"choices":[{"delta":{"reasoning_content":"let me"}}]})",
          R"({"choices":[{"delta":{"reasoning_content":" see"}}]})",
          R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":""}}]}}]})",
          R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})", "[DONE]"})
      reader.event("", e, got);
    EXPECT_EQ(got.reasoning_text, "let me see");
    EXPECT_EQ(got.blocks, *keep == 0 ? std::vector<std::string>()
                                     : std::vector<std::string>{
                                           R"({"driver":"openai","model":"m","reasoning_content":"let me see"})"});
  }
}

TEST(chat_reader, reads_text_usage_and_end) {
  const reading r(
      {chunk(R"({"role":"assistant","content":""})"), chunk(R"({"content":"Hel"})"), chunk(R"({"content":"lo \"x\""})"),
       chunk(R"({"content":"\n\u00e4"})"), chunk("{}", "\"stop\""),
       R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":5}}})",
       "[DONE]"});
  EXPECT_EQ(r.got.answer_text, "Hello \"x\"\n\xc3\xa4");
  EXPECT_EQ(r.got.pieces, 3);
  EXPECT_TRUE(r.reader.ended());
  EXPECT_FALSE(r.reader.failed());
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_STOP);
  EXPECT_TRUE(r.reader.used().reported());
  EXPECT_EQ(r.reader.used().input, 9);
  EXPECT_EQ(r.reader.used().output, 4);
  EXPECT_EQ(r.reader.used().cached, 5);
}

TEST(chat_reader, usage_is_reported_when_both_counts_are_numbers) {
  const auto used = [](const std::string& usage) {
    const reading r(
        {chunk(R"({"content":"a"})"), chunk("{}", "\"stop\""), R"({"choices":[],"usage":)" + usage + "}", "[DONE]"});
    EXPECT_FALSE(r.reader.failed());
    return r.reader.used();
  };
  for (const char* none :
       {"{}", "null", "[]", R"({"prompt_tokens":null,"completion_tokens":null})",
        R"({"prompt_tokens":"9","completion_tokens":"4"})", R"({"prompt_tokens":-9,"completion_tokens":-4})",
        R"({"prompt_tokens":1e99,"completion_tokens":9007199254740993})"}) {
    const auto u = used(none);
    EXPECT_FALSE(u.input_reported || u.output_reported) << none;
    EXPECT_EQ(u.input + u.output + u.cached, 0) << none;
  }
  const auto input = used(R"({"prompt_tokens":9,"completion_tokens":null})");
  EXPECT_FALSE(input.reported());
  EXPECT_TRUE(input.input_reported);
  EXPECT_EQ(input.input, 9);
  const auto output = used(R"({"completion_tokens":4})");
  EXPECT_FALSE(output.reported());
  EXPECT_TRUE(output.output_reported);
  EXPECT_EQ(output.output, 4);
  const auto fractions = used(R"({"prompt_tokens":8.6,"completion_tokens":4.0})");
  EXPECT_TRUE(fractions.reported());
  EXPECT_EQ(fractions.input, 9);
  EXPECT_EQ(fractions.output, 4);
  const auto other = used(R"({"input_tokens":9,"output_tokens":4,"input_tokens_details":{"cached_tokens":5}})");
  EXPECT_TRUE(other.reported());
  EXPECT_EQ(other.input, 9);
  EXPECT_EQ(other.output, 4);
  EXPECT_EQ(other.cached, 5);
  const auto cached = used(R"({"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":90}})");
  EXPECT_EQ(cached.cached, 9);
}

TEST(chat_reader, a_lone_surrogate_becomes_a_replacement_character) {
  const reading split({chunk(R"({"content":"a"})"), chunk(R"({"content":"\ud83d"})"), chunk(R"({"content":"\ude00"})"),
                       chunk(R"({"content":"b\ud83d\ude00"})"), chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_FALSE(split.reader.failed());
  EXPECT_TRUE(split.reader.ended());
  EXPECT_EQ(split.got.answer_text,
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b\xf0\x9f\x98\x80");
  const reading first({chunk(R"({"content":"\ud83d"})"), chunk(R"({"content":"c"})"), "[DONE]"});
  EXPECT_EQ(first.got.answer_text,
            "\xef\xbf\xbd"
            "c");
  const reading escaped({chunk(R"({"content":"\\ud83d\ud83d"})"), "[DONE]"});
  EXPECT_EQ(escaped.got.answer_text, "\\ud83d\xef\xbf\xbd");
  const reading broken({R"({"choices":[{"delta":{"content":"\ud83d"}}])"});
  ASSERT_TRUE(broken.reader.failed());
  EXPECT_EQ(broken.reader.failed()->status, RY_DATA_LOSS);
}

TEST(chat_reader, assembles_parallel_tool_calls_by_index) {
  const reading r(
      {chunk(R"({"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]})"),
       chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]})"),
       chunk(
           R"({"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}},{"index":0,"function":{"arguments":":1}"}}]})"),
       chunk("{}", "\"tool_calls\""), "[DONE]"});
  EXPECT_THAT(r.got.calls, ElementsAre("a f {\"x\":1}", "b g {}"));
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_TOOL_CALLS);
  EXPECT_FALSE(r.reader.used().reported());
  EXPECT_GT(r.reader.produced(), 5u);
}

TEST(chat_reader, accepts_calls_with_wrong_or_missing_indexes) {
  const reading same(
      {chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]})"),
       chunk(R"({"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":{"y":2}}}]})", "\"stop\""),
       "[DONE]"});
  EXPECT_THAT(same.got.calls, ElementsAre("a f {}", "b g {\"y\":2}"));
  EXPECT_EQ(same.reader.finish(), RY_LLM_FINISH_TOOL_CALLS);
  const reading none({chunk(R"({"tool_calls":[{"id":"a","function":{"name":"f"}}]})"),
                      chunk(R"({"tool_calls":[{"id":"b","function":{"name":"g"}}]})"),
                      chunk(R"({"tool_calls":[{"function":{"arguments":"{\"z\":3}"}}]})"), "[DONE]"});
  EXPECT_THAT(none.got.calls, ElementsAre("a f {}", "b g {\"z\":3}"));
  const reading nameless(
      {chunk(R"({"tool_calls":[{"index":0,"function":{"name":"f","arguments":"no json"}}]})"), "[DONE]"});
  EXPECT_THAT(nameless.got.calls, ElementsAre(testing::MatchesRegex("[0-9a-z]{9} f no json")));
}

TEST(chat_reader, reads_reasoning_content_and_reasoning) {
  const reading r({chunk(R"({"reasoning_content":"a"})"), chunk(R"({"reasoning":"b","content":null})"),
                   chunk(R"({"content":"c"})"), chunk(R"({"content":"d","reasoning":"e"})"), chunk("{}", "\"length\""),
                   "[DONE]"});
  EXPECT_EQ(r.got.reasoning_text, "abe");
  EXPECT_EQ(r.got.answer_text, "cd");
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_LENGTH);
}

TEST(chat_reader, the_fast_path_never_ignores_other_members_of_a_chunk) {
  const reading r({chunk(R"({"content":"a"})"), chunk(R"({"content":"b"})"),
                   chunk(R"({"content":"c","tool_calls":[{"index":0,"id":"i","function":{"name":"f"}}]})"),
                   chunk(R"({"content":"d"})", "\"content_filter\""), "[DONE]"});
  EXPECT_EQ(r.got.answer_text, "abcd");
  EXPECT_THAT(r.got.calls, ElementsAre("i f {}"));
  EXPECT_EQ(r.reader.finish(), RY_LLM_FINISH_FILTER);
}

TEST(chat_reader, an_answer_needs_a_finish_reason_or_done) {
  const reading truncated({chunk(R"({"content":"a"})")}, true);
  ASSERT_TRUE(truncated.reader.failed());
  EXPECT_EQ(truncated.reader.failed()->status, RY_UNAVAILABLE);
  EXPECT_EQ(truncated.reader.failed()->reason, "llm.cut_off");
  const reading no_done({chunk(R"({"content":"a"})"), chunk("{}", "\"stop\"")}, true);
  EXPECT_FALSE(no_done.reader.failed());
  EXPECT_TRUE(no_done.reader.ended());
  const reading no_finish({chunk(R"({"content":"a"})"), "[DONE]"}, true);
  EXPECT_FALSE(no_finish.reader.failed());
  EXPECT_EQ(no_finish.reader.finish(), RY_LLM_FINISH_STOP);
}

TEST(chat_reader, the_text_null_is_not_a_finish_reason) {
  const std::string unfinished = R"({"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"null"}]})";
  const reading truncated({unfinished}, true);
  ASSERT_TRUE(truncated.reader.failed()) << "the answer has not ended";
  EXPECT_EQ(truncated.reader.failed()->reason, "llm.cut_off");
  const reading complete({unfinished, unfinished, chunk("{}", "\"stop\""), "[DONE]"}, true);
  EXPECT_EQ(complete.got.answer_text, "aa");
  EXPECT_EQ(complete.reader.finish(), RY_LLM_FINISH_STOP);
}

TEST(chat_reader, the_most_severe_finish_reason_counts) {
  const reading truncated({chunk(R"({"content":"a"})"), chunk("{}", "\"length\""), chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_EQ(truncated.reader.finish(), RY_LLM_FINISH_LENGTH);
  const reading withheld({chunk(R"({"content":"a"})"), chunk("{}", "\"content_filter\""), chunk("{}", "\"stop\"")},
                         true);
  EXPECT_EQ(withheld.reader.finish(), RY_LLM_FINISH_FILTER);
  const reading native(
      {R"({"choices":[{"index":0,"delta":{},"finish_reason":null,"native_finish_reason":"MALFORMED_FUNCTION_CALL"}]})",
       "[DONE]"});
  EXPECT_EQ(native.reader.finish(), RY_LLM_FINISH_ERROR);
}

TEST(chat_reader, errors_in_the_stream_fail_the_answer) {
  const reading limited({R"({"error":{"message":"slow down","code":429}})"});
  EXPECT_EQ(limited.reader.failed()->status, RY_RESOURCE_EXHAUSTED);
  const reading broken({R"({"error":{"message":"boom","type":"server_error"}})"});
  EXPECT_EQ(broken.reader.failed()->status, RY_UNAVAILABLE);
  EXPECT_EQ(broken.reader.failed()->message, "boom");
  for (const char* junk : {"nonsense", "[1,2]", "{\"choices\":", "\"text\""}) {
    const reading r({junk});
    ASSERT_TRUE(r.reader.failed()) << junk;
    EXPECT_EQ(r.reader.failed()->status, RY_DATA_LOSS);
  }
  const reading odd({R"({"choices":{}})", R"({"choices":[7]})", R"({"choices":[{"delta":[]}]})",
                     R"({"choices":[{"delta":{"content":5,"tool_calls":[7,{"index":"x"}]}}]})",
                     R"({"usage":{"prompt_tokens":-3,"completion_tokens":1e99}})", "[DONE]"});
  EXPECT_FALSE(odd.reader.failed());
  EXPECT_EQ(odd.reader.used().input, 0);
}

TEST(chat_reader, maps_error_responses) {
  const chat_reader r;
  const auto status = [&](unsigned http, const char* body) { return r.refused(http, body).status; };
  EXPECT_EQ(status(400, R"({"error":{"message":"x","code":"context_length_exceeded"}})"), RY_OUT_OF_RANGE);
  EXPECT_EQ(status(400, R"({"error":{"message":"This model's maximum context length is 8 tokens"}})"), RY_OUT_OF_RANGE);
  EXPECT_EQ(status(400, R"({"error":{"message":"bad"}})"), RY_INVALID_ARGUMENT);
  EXPECT_EQ(status(401, R"({"error":{"message":"key"}})"), RY_UNAUTHENTICATED);
  EXPECT_EQ(status(404, R"({"error":"model 'x' not found"})"), RY_NOT_FOUND);
  EXPECT_EQ(status(429, R"({"error":{"message":"slow"}})"), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(status(429, R"({"error":{"message":"pay","code":"insufficient_quota"}})"), RY_UNAUTHENTICATED);
  EXPECT_EQ(status(500, "<html>oops</html>"), RY_UNAVAILABLE);
  EXPECT_EQ(status(503, R"([{"error":{"message":"busy"}}])"), RY_UNAVAILABLE);
  EXPECT_EQ(r.refused(422, R"({"detail":"no such field"})").message, "no such field");
  EXPECT_FALSE(r.refused(500, "").message.empty());
}

TEST(chat_reader, prints_the_time_per_chunk) {
  std::string stream;
  for (int i = 0; i < 200'000; ++i)
    stream += "data: " + chunk(R"({"content":"token )" + std::to_string(i) + "\"}") + "\n\n";
  chat_reader reader;
  recorder got;
  llm::body_reader events;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < stream.size(); at += 65536)
    events.feed(std::string_view(stream).substr(at, 65536), reader, got, [] { return true; });
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(got.pieces, 200'000);
  std::printf("%.0f ns per chunk\n", elapsed.count() / 200'000);
}

TEST(chat_reader, an_error_in_any_form_is_a_failure) {
  for (const char* event :
       {R"({"error":"the engine is dead"})", R"({"object":"error","message":"the engine is dead","code":500})",
        R"({"choices":null,"error_type":"upstream_timeout","error_message":"the engine is dead"})",
        R"({"detail":"the engine is dead"})", R"({"choices":[{"delta":{},"error":{"message":"the engine is dead"}}]})",
        R"({"choices":[{"delta":{"content":"x"},"finish_reason":"error","error":"the engine is dead"}]})"}) {
    const reading r({chunk(R"({"content":"a"})"), event, "[DONE]"});
    ASSERT_TRUE(r.reader.failed()) << event;
    EXPECT_EQ(r.reader.failed()->message, "the engine is dead") << event;
  }
  chat_reader named;
  recorder got;
  named.event("error", R"({"code":500,"message":"failed to parse"})", got);
  ASSERT_TRUE(named.failed());
  EXPECT_EQ(named.failed()->message, "failed to parse");
  const reading harmless(
      {R"({"error":null,"choices":[{"delta":{"content":"a"}}]})", chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_FALSE(harmless.reader.failed());
}

TEST(chat_reader, content_parts_are_text_reasoning_or_refusals) {
  const reading r({chunk(R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"let me"}]}]})"),
                   chunk(R"({"content":[{"type":"reasoning","text":" see"},{"type":"text","text":"It "},"is"]})"),
                   chunk(R"({"content":{"type":"output_text","text":" 42"}})"), chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_EQ(r.got.reasoning_text, "let me see");
  EXPECT_EQ(r.got.answer_text, "It is 42");
  const reading declined(
      {chunk(R"({"content":[{"type":"refusal","refusal":"No."}]})"), chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_EQ(declined.got.answer_text, "No.");
  EXPECT_EQ(declined.reader.finish(), RY_LLM_FINISH_REFUSAL);
  const reading member({chunk(R"({"refusal":"No."})"), chunk("{}", "\"stop\""), "[DONE]"});
  EXPECT_EQ(member.reader.finish(), RY_LLM_FINISH_REFUSAL);
}

TEST(chat_reader, signatures_and_reasoning_details_are_delivered_as_blocks) {
  chat_reader reader("m");
  recorder got;
  for (
      const auto& e :
      {chunk(R"({"reasoning_details":[{"type":"reasoning.text","index":0,"text":"let ","signature":null}]})"),
       chunk(R"({"reasoning_details":[{"type":"reasoning.text","index":0,"text":"me","signature":"s"}]})"),
       chunk(R"({"reasoning_details":[{"type":"reasoning.encrypted","index":1,"data":"zz","id":"k1"}]})"),
       chunk(
           R"({"tool_calls":[{"index":0,"id":"k1","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"abc"}}}]})"),
       chunk(R"({"tool_calls":[{"index":1,"id":"k2","function":{"name":"g","arguments":"{}"}}]})", "\"tool_calls\""),
       std::string("[DONE]")})
    reader.event("", e, got);
  EXPECT_EQ(got.reasoning_text, "let me");
  EXPECT_EQ(got.blocks,
            std::vector<std::string>{
                R"({"driver":"openai","model":"m","reasoning_details":[{"type":"reasoning.text","index":0,)"
                R"("text":"let me","signature":"s"},{"type":"reasoning.encrypted","index":1,"data":"zz",)"
                R"("id":"k1"}],"calls":[{"id":"k1","extra_content":{"google":{"thought_signature":"abc"}}}]})"});
}

TEST(chat_reader, usage_is_found_wherever_a_provider_sends_it) {
  const struct {
    const char* provider;
    std::string event;
  } cases[] = {
      {"Moonshot",
       R"({"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":4,"cached_tokens":5}}]})"},
      {"Groq",
       R"({"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}}})"},
      {"DeepSeek", R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_cache_hit_tokens":5}})"},
      {"xAI", R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"cached_prompt_text_tokens":5}})"},
      {"Gemini",
       R"({"choices":[],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"thoughtsTokenCount":1,"cachedContentTokenCount":5}})"},
      {"Ollama", R"({"choices":[],"usage":{"prompt_eval_count":9,"eval_count":4,"cached_input_tokens":5}})"},
      {"details under another name",
       R"({"choices":[],"usage":{"input_tokens":9,"output_tokens":4,"input_token_details":{"cache_read":5}}})"},
      {"details without a count",
       R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":null},"cached_tokens":5}})"},
      {"the delta", R"({"choices":[{"delta":{"usage":{"prompt_tokens":9,"completion_tokens":4,"cached_tokens":5}}}]})"},
      {"LiteLLM", R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"cache_read_input_tokens":5}})"}};
  for (const auto& c : cases) {
    const reading r({chunk(R"({"content":"a"})"), c.event, "[DONE]"});
    EXPECT_TRUE(r.reader.used().reported()) << c.provider;
    EXPECT_EQ(r.reader.used().input, 9) << c.provider;
    EXPECT_EQ(r.reader.used().output, 4) << c.provider;
    EXPECT_EQ(r.reader.used().cached, 5) << c.provider;
  }
  const reading written(
      {R"({"usage":{"prompt_tokens":9,"completion_tokens":4,"cache_creation_input_tokens":3}})", "[DONE]"});
  EXPECT_EQ(written.reader.used().cache_write, 3);
}

TEST(chat_reader, a_call_truncated_before_its_arguments_has_none) {
  for (const char* finish : {"\"length\"", "\"tool_calls\""}) {
    const reading r({chunk(R"({"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]})"),
                     chunk(R"({"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]})"),
                     chunk("{}", finish), "[DONE]"});
    EXPECT_THAT(r.got.calls, ElementsAre("a f {}", std::string(finish) == "\"length\"" ? "b g " : "b g {}"));
  }
}

TEST(chat_reader, reads_a_document_instead_of_a_stream) {
  chat_reader reader;
  recorder got;
  llm::body_reader body;
  const std::string text =
      R"({"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi",)"
      R"("reasoning_content":"hm","tool_calls":[{"id":"k1","type":"function","function":{"name":"f","arguments":"{}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":1}})";
  EXPECT_TRUE(body.feed(text, reader, got, [] { return true; }));
  EXPECT_FALSE(reader.ended());
  body.closed(reader, got);
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(got.answer_text, "hi");
  EXPECT_EQ(got.reasoning_text, "hm");
  EXPECT_THAT(got.calls, ElementsAre("k1 f {}"));
  EXPECT_TRUE(reader.used().reported());
}

}  // namespace
