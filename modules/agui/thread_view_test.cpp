#include "thread_view.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace agui {
namespace {

namespace json = boost::json;

const std::string first = "11111111-1111-7111-8111-111111111111";
const std::string second = "22222222-2222-7222-8222-222222222222";

json::object stored(const std::string& run, const std::string& more) {
  return json::parse(R"({"message_id":"m","agent_run_id":)" + (run.empty() ? "null" : '"' + run + '"') + "," + more +
                     "}")
      .as_object();
}

const std::vector<json::object> thread = {
    stored("", R"("role":"user","content":"earlier")"),
    stored("", R"("role":"assistant","content":"","tool_calls":[{"id":"c","name":"f","arguments":{"a":1}}])"),
    stored("", R"("role":"tool","tool_call_id":"c","content":"r0")"),
    stored(first, R"("role":"user","content":[{"type":"text","text":"one"},{"type":"image","data":"x"}])"),
    stored(first, R"("role":"assistant","content":"calls","tool_calls":[{"id":"c","name":"f","arguments":{}}])"),
    stored(first, R"("role":"tool","tool_call_id":"c","content":"r1")"),
    stored(first, R"("role":"assistant","content":"client","tool_calls":[{"id":"d","name":"g","arguments":{}}])"),
    stored(second, R"("role":"tool","tool_call_id":"d","content":"r2")"),
    stored(second, R"("role":"assistant","content":"end")"),
};

std::string view(const thread_part& part) {
  json::array out;
  append_thread(thread, part, out);
  std::string text;
  for (const json::value& m : out) {
    const json::object& o = m.as_object();
    text += json::serialize(o.at("id")) + " ";
  }
  return text;
}

TEST(thread_view, gives_generated_messages_the_ids_of_the_stream) {
  EXPECT_EQ(view({}), "\"m\" \"m\" \"result.c\" \"m\" \"" + first + ".1\" \"result." + first + ".1.call.c\" \"" +
                          first + ".2\" \"result." + first + ".2.call.d\" \"" + second + ".1\" ");
  json::array out;
  append_thread(thread, {}, out);
  EXPECT_EQ(json::serialize(out[1]),
            R"({"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f",)"
            R"("arguments":"{\"a\":1}"}}]})");
  EXPECT_EQ(json::serialize(out[3]), R"({"id":"m","role":"user","content":"one"})");
  EXPECT_EQ(json::serialize(out[5].at("toolCallId")), "\"" + first + ".1.call.c\"");
}

TEST(thread_view, ends_before_an_answer) {
  EXPECT_EQ(view({first, 2, false}),
            "\"m\" \"m\" \"result.c\" \"m\" \"" + first + ".1\" \"result." + first + ".1.call.c\" ");
  EXPECT_EQ(view({first, 1, false}), "\"m\" \"m\" \"result.c\" \"m\" ");
}

TEST(thread_view, only_what_a_run_has_added) {
  EXPECT_EQ(view({first, 2, true}), "\"" + first + ".1\" \"result." + first + ".1.call.c\" ");
  EXPECT_EQ(view({second, 9, true}), "\"" + second + ".1\" ") << "the result came from the client";
}

}  // namespace
}  // namespace agui
