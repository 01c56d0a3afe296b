#include "response_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "stored_messages.hpp"

using testing::ElementsAre;
using testing::IsEmpty;

namespace {

namespace json = boost::json;

json::array list(const char* text) {
  return json::parse(text).as_array();
}
std::vector<std::string> runs(const aisdk::response_chain& chain) {
  std::vector<std::string> out;
  for (const auto& l : chain.links()) out.push_back(l.run_id);
  return out;
}

// A user message, a call of a client tool, its output, and an answer: newest first.
constexpr const char* continued = R"([
  {"agent_run_id":"r2","role":"assistant","content":"end"},
  {"agent_run_id":"r2","role":"tool","tool_call_id":"s","name":"shell","content":"server side"},
  {"agent_run_id":"r2","role":"assistant","content":"","tool_calls":[{"id":"s","name":"shell","arguments":{}}]},
  {"agent_run_id":"r2","role":"tool","tool_call_id":"b","name":"locate","content":"no","is_error":true},
  {"agent_run_id":"r2","role":"tool","tool_call_id":"a","name":"locate","content":"{\"x\":1}"},
  {"agent_run_id":"r1","role":"assistant","content":"hm","tool_calls":[{"id":"a","name":"locate","arguments":{}},{"id":"b","name":"locate","arguments":{}}]},
  {"agent_run_id":"r1","role":"user","content":"q","message_id":"u1"},
  {"agent_run_id":"r0","role":"assistant","content":"before"}])";

}  // namespace

TEST(response_chain, begins_with_the_run_of_the_user_message) {
  aisdk::response_chain chain("r2");
  EXPECT_FALSE(chain.add_page(list(continued)));
  const auto links = chain.links();
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].run_id, "r1");
  EXPECT_THAT(links[0].outputs, IsEmpty());
  EXPECT_EQ(links[1].run_id, "r2");
  ASSERT_EQ(links[1].outputs.size(), 2u);
  EXPECT_EQ(links[1].outputs[0].call_id, "a");
  EXPECT_EQ(links[1].outputs[0].content, R"({"x":1})");
  EXPECT_TRUE(links[1].outputs[1].is_error);
}

TEST(response_chain, skips_newer_runs_and_reads_pages) {
  aisdk::response_chain chain("r2");
  EXPECT_TRUE(
      chain.add_page(list(R"([{"agent_run_id":"r3","role":"assistant"},{"agent_run_id":"r3","role":"user"}])")));
  const json::array all = list(continued);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_TRUE(chain.add_page(json::array{all[i]})) << i;
  EXPECT_FALSE(chain.add_page(json::array{all.back()}));
  EXPECT_THAT(runs(chain), ElementsAre("r1", "r2"));
}

TEST(response_chain, a_run_with_a_prompt_is_no_continuation) {
  aisdk::response_chain chain("r2");
  EXPECT_FALSE(chain.add_page(list(R"([
    {"agent_run_id":"r2","role":"user","content":"next"},
    {"agent_run_id":"r2","role":"tool","tool_call_id":"a","content":"late"},
    {"agent_run_id":"r1","role":"assistant","tool_calls":[{"id":"a"}]}])")));
  EXPECT_THAT(runs(chain), ElementsAre("r2"));
  EXPECT_THAT(chain.links()[0].outputs, IsEmpty());
}

TEST(response_chain, a_run_without_messages_and_malformed_pages) {
  aisdk::response_chain chain("r9");
  EXPECT_TRUE(chain.add_page(list(R"([1,{"role":7},{"agent_run_id":"r1","role":"tool"}])")));
  EXPECT_THAT(runs(chain), ElementsAre("r9"));
}

TEST(thread_end, pending_calls_have_no_result) {
  const auto end = aisdk::read_thread_end(list(R"([
    {"role":"tool","tool_call_id":"a"},
    {"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"},7]},
    {"role":"user"}])"));
  EXPECT_EQ(end.newest_role, "tool");
  EXPECT_THAT(end.pending_calls, ElementsAre("b"));
  EXPECT_THAT(
      aisdk::read_thread_end(list(R"([{"role":"user"},{"role":"assistant","tool_calls":[{"id":"a"}]}])")).pending_calls,
      IsEmpty());
  EXPECT_EQ(aisdk::read_thread_end({}).newest_role, "");
}

TEST(stored_messages, a_continuation_is_one_message) {
  json::array oldest_first = list(continued);
  std::reverse(oldest_first.begin(), oldest_first.end());
  const json::array out = aisdk::ui_messages_of(oldest_first);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].at("id").as_string(), "r0");
  EXPECT_EQ(json::serialize(out[1]),
            R"({"id":"u1","role":"user","parts":[{"type":"text","text":"q","state":"done"}]})");
  EXPECT_EQ(out[2].at("id").as_string(), "r1");
  const json::array& parts = out[2].at("parts").as_array();
  ASSERT_EQ(parts.size(), 8u);
  EXPECT_EQ(json::serialize(parts[2]),
            R"({"type":"tool-locate","toolCallId":"a","state":"output-available","input":{},"output":{"x":1}})");
  EXPECT_EQ(parts[3].at("errorText").as_string(), "no");
  EXPECT_EQ(parts[5].at("type").as_string(), "dynamic-tool");
  EXPECT_EQ(parts[5].at("output").as_string(), "server side");
  EXPECT_EQ(parts[7].at("text").as_string(), "end");
}

TEST(stored_messages, two_answers_without_a_prompt_between_them_are_two_messages) {
  const json::array out = aisdk::ui_messages_of(list(R"([
    {"agent_run_id":"r1","role":"user","message_id":"u","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},
    {"agent_run_id":"r1","role":"assistant","content":"x"},{"agent_run_id":"r1","role":"assistant","content":"y"},
    {"agent_run_id":"r2","role":"assistant","content":"z"},
    {"agent_run_id":null,"role":"assistant","message_id":"h","content":"imported"}, {"role":"tool","tool_call_id":"none"}, 7])"));
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].at("parts").at(0).at("text").as_string(), "a\nb");
  EXPECT_EQ(out[1].at("parts").as_array().size(), 4u);
  EXPECT_EQ(out[2].at("id").as_string(), "r2");
  EXPECT_EQ(out[3].at("id").as_string(), "h");
}
