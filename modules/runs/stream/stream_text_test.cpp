#include "stream/stream_text.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "json/exact.hpp"

using namespace runs;
namespace json = boost::json;

namespace {

struct event_stream {
  std::string wire;
  std::uint64_t next = 1;
  event_text add(std::string_view type) { return event_text(wire, next++, type); }
  void start(int step, int attempt) { add("llm_response_start").integer("step", step).integer("attempt", attempt); }
  void text_chunk(std::string_view text) { add("llm_response_chunk").text("content", text); }
  void end(int step) { add("llm_response_end").integer("step", step).json("usage", "{}"); }
};

std::vector<event_view> events_of(std::string_view wire) {
  std::vector<event_view> out;
  for (event_view e = next_event(wire); e.sequence != 0; e = next_event(wire)) out.push_back(e);
  EXPECT_TRUE(wire.empty()) << wire;
  return out;
}

json::object snapshot_of(const event_stream& s, std::uint64_t from = 1) {
  snapshot summary(from);
  for (const event_view& e : events_of(s.wire))
    if (e.sequence >= from) summary.add(e);
  std::string out;
  summary.write(out);
  const std::vector<event_view> written = events_of(out);
  EXPECT_EQ(written.size(), 1u);
  EXPECT_EQ(written[0].sequence, s.next - 1);
  boost::system::error_code bad;
  return module_json::parse_exactly(written[0].payload, 64, bad).as_object();
}

TEST(as_chunk, accepts_only_known_forms) {
  std::string wire;
  event_text(wire, 12, "tool_output_chunk").text("tool_call_id", "a\"b").text("content", "x \"y\" \\");
  const event_view e = events_of(wire).at(0);
  const auto chunk = as_chunk(e.payload);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->type, "tool_output_chunk");
  EXPECT_EQ(chunk->other, R"("tool_call_id": "a\"b", )");
  EXPECT_EQ(chunk->content, R"(x \"y\" \\)");
  for (const char* other : {R"({"type": "message", "sequence": 1, "content": "a"})",
                            R"({"type": "llm_response_chunk", "sequence": 1, "content": "a", "more": "b"})",
                            R"({"type": "llm_response_chunk", "sequence": 1, "content": 5})",
                            R"({"type": "llm_response_chunk", "content": "a"})",
                            R"({"type": "llm_response_chunk", "sequence": 1, "text": "a"})", "", "{"})
    EXPECT_FALSE(as_chunk(other)) << other;
}

TEST(chunk_merger, merges_consecutive_chunks_of_one_type_in_order) {
  event_stream s;
  s.start(1, 1);
  for (const char* t : {"a", "\"b\"", "c\n"}) s.text_chunk(t);
  s.add("reasoning_chunk").text("content", "hm");
  s.add("tool_output_chunk").text("tool_call_id", "1").text("content", "x");
  s.add("tool_output_chunk").text("tool_call_id", "2").text("content", "y");
  s.add("tool_output_chunk").text("tool_call_id", "2").text("content", "z");
  s.add("status").text("status", "completed");
  chunk_merger m;
  std::string out;
  m.add(s.wire, out);
  EXPECT_FALSE(m.pending());
  const auto events = events_of(out);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[1].payload,
            R"({"type": "llm_response_chunk", "sequence": 4, "from_sequence": 2, "content": "a\"b\"c\n"})");
  EXPECT_EQ(events[1].sequence, 4u);
  EXPECT_EQ(events[2].payload, R"({"type": "reasoning_chunk", "sequence": 5, "content": "hm"})");
  EXPECT_EQ(
      events[4].payload,
      R"({"type": "tool_output_chunk", "sequence": 8, "from_sequence": 7, "tool_call_id": "2", "content": "yz"})");
  EXPECT_EQ(events[5].sequence, 9u);
}

TEST(chunk_merger, merges_across_calls_until_flush_or_the_size_limit) {
  event_stream s;
  chunk_merger m;
  std::string out;
  for (int i = 0; i < 100; ++i) {
    s.wire.clear();
    s.text_chunk(std::string(1000, 'x'));
    m.add(s.wire, out);
  }
  EXPECT_TRUE(m.pending());
  m.flush(out);
  EXPECT_FALSE(m.pending());
  std::uint64_t last = 0;
  const auto events = events_of(out);
  EXPECT_EQ(events.size(), 4u);
  for (const event_view& e : events) {
    const json::object o = json::parse(std::string(e.payload)).as_object();
    EXPECT_EQ(o.at("from_sequence").as_int64(), static_cast<std::int64_t>(last + 1));
    EXPECT_EQ(o.at("content").as_string().size(), (e.sequence - last) * 1000);
    last = e.sequence;
  }
  EXPECT_EQ(last, 100u);
}

TEST(snapshot, summarises_text_calls_and_the_open_turn) {
  event_stream s;
  s.add("status").text("status", "running");
  s.start(1, 1);
  s.add("reasoning_chunk").text("content", "think");
  s.text_chunk("one ");
  s.end(1);
  s.add("message").text("message_id", "m1").text("role", "assistant").text("content", "one ");
  s.add("tool_call")
      .text("tool_call_id", "c1")
      .text("name", "shell")
      .json("arguments", R"({"a":1})")
      .text("source", "sandbox");
  s.add("tool_call").text("tool_call_id", "c2").text("name", "shell").json("arguments", "{}").text("source", "sandbox");
  s.add("tool_output_chunk").text("tool_call_id", "c1").text("content", "out");
  s.add("tool_output_chunk").text("tool_call_id", "c2").text("content", "still ");
  s.add("tool_output_chunk").text("tool_call_id", "c2").text("content", "\"going\"");
  s.add("tool_result")
      .text("tool_call_id", "c1")
      .text("name", "shell")
      .boolean("is_error", false)
      .text("content", "out");
  s.add("error").text("message", "again").boolean("recoverable", true);
  s.start(2, 1);
  s.text_chunk("two");
  const json::object o = snapshot_of(s);
  EXPECT_EQ(o.at("from_sequence").as_int64(), 1);
  EXPECT_EQ(o.at("to_sequence").as_int64(), 15);
  EXPECT_EQ(o.at("content").as_string(), "one two");
  EXPECT_EQ(o.at("reasoning").as_string(), "think");
  EXPECT_EQ(json::serialize(o.at("open_turn")),
            R"({"step":2,"attempt":1,"from_sequence":14,"content":"two","reasoning":""})");
  EXPECT_EQ(
      json::serialize(o.at("tool_calls")),
      R"([{"tool_call_id":"c1","name":"shell","arguments":{"a":1},"source":"sandbox","is_error":false,"content":"out"},)"
      R"({"tool_call_id":"c2","name":"shell","arguments":{},"source":"sandbox","output":"still \"going\""}])");
  EXPECT_EQ(json::serialize(o.at("message_ids")), R"(["m1"])");
  EXPECT_EQ(o.at("events").as_array().size(), 1u);
  EXPECT_EQ(o.at("status").as_string(), "running");
  EXPECT_TRUE(o.at("aborted").as_array().empty());
}

TEST(snapshot, omits_aborted_attempts) {
  event_stream s;
  s.start(1, 1);
  s.text_chunk("half");
  s.start(1, 2);
  s.text_chunk("other half");
  s.add("turn_aborted").integer("step", 1).integer("attempt", 2).integer("from_sequence", 1).integer("to_sequence", 4);
  s.start(1, 3);
  s.text_chunk("whole");
  EXPECT_EQ(snapshot_of(s).at("content").as_string(), "whole");
  EXPECT_TRUE(snapshot_of(s).at("aborted").as_array().empty()) << "the client has not received it";
  const json::object from2 = snapshot_of(s, 2);
  EXPECT_EQ(from2.at("content").as_string(), "whole");
  const json::object from3 = snapshot_of(s, 3);
  EXPECT_EQ(json::serialize(from3.at("aborted")),
            R"([{"step":1,"attempt":1},{"step":1,"attempt":2,"from_sequence":1,"to_sequence":4}])");
  const json::object from5 = snapshot_of(s, 5);
  EXPECT_EQ(json::serialize(from5.at("aborted")), R"([{"step":1,"attempt":2,"from_sequence":1,"to_sequence":4}])");
  EXPECT_EQ(snapshot_of(s, 7).at("open_turn").as_object().at("step"), json::value(nullptr))
      << "the turn began before `from`";
}

TEST(snapshot, preserves_the_arguments_of_calls) {
  std::string deep = "0.1";  // the maximum depth of arguments
  for (int i = 0; i < 31; ++i) deep = "[" + deep + "]";
  event_stream s;
  s.add("tool_call")
      .text("tool_call_id", "c1")
      .text("name", "t")
      .json("arguments", "{\"a\":" + deep + "}")
      .text("source", "x");
  s.add("tool_call")
      .text("tool_call_id", "c2")
      .text("name", "t")
      .json("arguments", R"({"a":55.27})")
      .text("source", "x");
  const json::array calls = snapshot_of(s).at("tool_calls").as_array();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].at("name").as_string(), "t");
  EXPECT_EQ(calls[1].at("arguments").at("a").as_double(), 55.27);
}

TEST(snapshot, does_not_accept_the_terminal_event) {
  event_stream s;
  s.add("status").text("status", "running");
  s.add("status").text("status", "stopped");
  snapshot summary(1);
  const auto events = events_of(s.wire);
  EXPECT_TRUE(summary.empty());
  EXPECT_TRUE(summary.add(events[0]));
  EXPECT_FALSE(summary.add(events[1]));
  EXPECT_EQ(summary.last(), 1u);
}

}  // namespace
