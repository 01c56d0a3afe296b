#include "tool_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

namespace {

using llm::argument_accumulator;
using llm::tool_call_assembly;
using testing::ElementsAreArray;

// Each element is the array "tool_calls" of one delta; a call is written as "id name arguments".
std::vector<std::string> assembled(const std::vector<std::string>& deltas, bool finished = true) {
  tool_call_assembly calls;
  for (const auto& d : deltas) EXPECT_TRUE(calls.add(boost::json::parse(d).as_array())) << d;
  std::vector<std::string> out;
  for (const auto& c : calls.take("seed", finished)) out.push_back(c.id + " " + c.name + " " + c.arguments);
  return out;
}

TEST(tool_call_assembly, calls_are_distinguished_whatever_their_indexes_and_ids) {
  const struct {
    const char* label;
    std::vector<std::string> deltas, calls;
  } cases[] = {
      {"as documented",
       {R"([{"index":0,"id":"a","function":{"name":"f","arguments":""}}])",
        R"([{"index":0,"function":{"arguments":"{\"x\""}}])",
        R"([{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}},{"index":0,"function":{"arguments":":1}"}}])"},
       {R"(a f {"x":1})", "b g {}"}},
      {"one index, separate ids",
       {R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}])",
        R"([{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}])"},
       {R"(a f {"x":1})", R"(b f {"x":2})"}},
      {"no index, one id for all pieces",
       {R"([{"id":"a","function":{"name":"f","arguments":"{\"x\""}}])",
        R"([{"id":"a","function":{"arguments":":1}"}}])"},
       {R"(a f {"x":1})"}},
      {"no index, two complete calls in a delta",
       {R"([{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}])"},
       {"a f {}", "b f {}"}},
      {"a different id in each piece",
       {R"([{"index":0,"id":"a","function":{"name":"f","arguments":""}}])",
        R"([{"index":0,"id":"b","function":{"arguments":"{\"x\""}}])",
        R"([{"index":0,"id":"c","function":{"arguments":":1}"}}])"},
       {R"(a f {"x":1})"}},
      {"a different index in each piece",
       {R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}])",
        R"([{"index":1,"function":{"arguments":":1}"}}])"},
       {R"(a f {"x":1})"}},
      {"an index as text",
       {R"([{"index":"0","id":"a","function":{"name":"f","arguments":"{}"}}])",
        R"([{"index":"1","id":"b","function":{"name":"g","arguments":"{}"}}])"},
       {"a f {}", "b g {}"}},
      {"a name in pieces",
       {R"([{"index":0,"id":"a","function":{"name":"li"}}])", R"([{"index":0,"function":{"name":"st"}}])",
        R"([{"index":0,"function":{"arguments":"{}"}}])"},
       {"a list {}"}},
      {"the complete name in each piece",
       {R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}])",
        R"([{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}])"},
       {R"(a f {"x":1})"}},
      {"name and arguments without a function member",
       {R"([{"id":"a","name":"f","arguments":{"x":1}}])"},
       {R"(a f {"x":1})"}},
      {"nothing at all", {R"([7,{},{"index":"x"}])"}, {}}};
  for (const auto& c : cases) EXPECT_THAT(assembled(c.deltas), ElementsAreArray(c.calls)) << c.label;
}

TEST(tool_call_assembly, missing_and_duplicate_ids_are_replaced) {
  const auto calls = assembled({R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}])",
                                R"([{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}])",
                                R"([{"index":2,"function":{"name":"f","arguments":"{}"}}])",
                                R"([{"index":3,"function":{"name":"f","arguments":"{}"}}])"});
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0], "a f {}");
  EXPECT_EQ(std::set<std::string>(calls.begin(), calls.end()).size(), 4u);
  for (const auto& c : {calls[1], calls[2], calls[3]}) EXPECT_THAT(c, testing::MatchesRegex("[0-9a-z]{9} f \\{\\}"));
}

TEST(tool_call_assembly, missing_arguments_are_an_empty_object_unless_they_may_be_truncated) {
  const std::vector<std::string> two = {R"([{"index":0,"id":"a","function":{"name":"f"}}])",
                                        R"([{"index":1,"id":"b","function":{"name":"g","arguments":" "}}])"};
  EXPECT_THAT(assembled(two), testing::ElementsAre("a f {}", "b g {}"));
  EXPECT_THAT(assembled(two, false), testing::ElementsAre("a f {}", "b g "));
}

TEST(tool_call_assembly, number_and_size_of_calls_are_limited) {
  tool_call_assembly calls;
  boost::json::array many;
  for (std::size_t i = 0; i <= tool_call_assembly::max_calls; ++i)
    many.push_back({{"index", i}, {"id", std::to_string(i)}, {"function", {{"name", "f"}, {"arguments", "{}"}}}});
  EXPECT_FALSE(calls.add(many));
  tool_call_assembly large;
  const boost::json::array piece{
      {{"index", 0}, {"function", {{"name", "f"}, {"arguments", std::string(9 << 20, 'x')}}}}};
  EXPECT_TRUE(large.add(piece));
  EXPECT_FALSE(large.add(piece));
  tool_call_assembly together;
  const boost::json::array other{
      {{"index", 1}, {"function", {{"name", "g"}, {"arguments", std::string(9 << 20, 'x')}}}}};
  EXPECT_TRUE(together.add(piece));
  EXPECT_FALSE(together.add(other)) << "the limit applies to all calls of an answer together";
}

TEST(tool_call_assembly, a_very_long_id_is_treated_as_missing) {
  const auto delta = [](std::size_t size) {
    return R"([{"index":0,"id":")" + std::string(size, 'i') + R"(","function":{"name":"f","arguments":"{}"}}])";
  };
  EXPECT_EQ(assembled({delta(16 * 1024)}).front().size(), 16 * 1024 + 5);
  EXPECT_EQ(assembled({delta(2 << 20)}).front().size(), 9u + 5);
}

TEST(tool_call_assembly, extra_content_counts_towards_the_size_limit) {
  const std::string delta = R"([{"index":0,"id":"a","extra_content":{"x":")" +
                            std::string(tool_call_assembly::max_bytes, 'x') +
                            R"("},"function":{"name":"f","arguments":"{}"}}])";
  tool_call_assembly calls;
  EXPECT_FALSE(calls.add(boost::json::parse(delta).as_array()));
}

TEST(tool_call_assembly, all_forms_of_missing_arguments_become_an_empty_object) {
  const auto with = [](std::string_view arguments) {
    return boost::json::serialize(
        boost::json::array{{{"index", 0}, {"id", "a"}, {"function", {{"name", "f"}, {"arguments", arguments}}}}});
  };
  for (const char* none : {"null", "[]", "[ ]", "\"\"", "\"null\"", " \n"}) {
    EXPECT_THAT(assembled({with(none)}), testing::ElementsAre("a f {}")) << none;
    EXPECT_THAT(assembled({with(none)}, false), testing::ElementsAre("a f ")) << none;
  }
  for (const char* some : {"[1]", "nul", "\"x\"", "0"})
    EXPECT_THAT(assembled({with(some)}), testing::ElementsAre("a f " + std::string(some))) << some;
}

TEST(tool_call_assembly, a_lone_surrogate_in_arguments_becomes_a_replacement_character) {
  EXPECT_THAT(assembled({R"([{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\\ud83d\"}"}}])"}),
              testing::ElementsAre(R"(a f {"x":"\ufffd"})"));
}

TEST(argument_accumulator, a_repeated_object_counts_once) {
  const struct {
    std::vector<std::string> pieces;
    std::string text;
  } cases[] = {{{"{}", "{\"x\":1}"}, "{\"x\":1}"},
               {{"{}", "{\"x\"", ":1}"}, "{\"x\":1}"},
               {{"{\"x\":1}", "{\"x\":1}"}, "{\"x\":1}"},
               {{"{\"x\":1}", "{ \"x\": 1 }"}, "{\"x\":1}"},
               {{"{\"x\":1}", "{\"x\":1,\"y\":2}"}, "{\"x\":1,\"y\":2}"},
               {{"{\"x\":1}", "{}"}, "{\"x\":1}"},
               {{"{\"x\":1}", "{\"x\":2}"}, "{\"x\":1}{\"x\":2}"},  // ambiguous
               {{"{\"x\":\"}{\"}"}, "{\"x\":\"}{\"}"},
               {{"{\"x\":\"\\\"", "}\"}"}, "{\"x\":\"\\\"}\"}"},
               {{"null", "{\"x\":1}"}, "{\"x\":1}"},
               {{"\"{\\\"x\\\":1}\""}, "{\"x\":1}"},
               {{"{\"x\":"}, "{\"x\":"},
               {{"no json"}, "no json"}};
  for (const auto& c : cases) {
    argument_accumulator t;
    for (const auto& p : c.pieces) t.add(p);
    EXPECT_EQ(t.take(), c.text) << testing::PrintToString(c.pieces);
  }
}

}  // namespace
