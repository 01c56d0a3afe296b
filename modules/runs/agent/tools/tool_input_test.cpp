#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "agent/tools/tool_source_text.hpp"

namespace runs {
namespace {

TEST(tool_input, a_result_can_request_input_instead_of_containing_text) {
  const tool_outcome out = read_result(R"({"input_required":{"state":"s","requests":[
      {"key":"a","kind":"form","message":"m","schema":{"type":"object","properties":{"x":{"type":"string"}}}},
      {"key":"b","kind":"url","message":"n","url":"https://a.example/"},
      {"key":"c","kind":"form","message":"o","schema":{"type":"object","properties":{"x":{"type":"object"}}}}]}})");
  ASSERT_TRUE(out.input);
  EXPECT_EQ(out.input->state, "s");
  ASSERT_EQ(out.input->requests.size(), 3u);
  EXPECT_EQ(out.input->requests[0].key, "a");
  EXPECT_EQ(out.input->requests[0].asked.kind, "elicitation");
  EXPECT_EQ(out.input->requests[0].problem, "");
  EXPECT_EQ(out.input->requests[1].asked.host, "a.example");
  EXPECT_NE(out.input->requests[2].problem, "");
  EXPECT_FALSE(read_result(R"({"content":"text"})").input);
}

TEST(tool_input, malformed_requests_are_an_error_of_the_tool) {
  const std::string request = R"({"key":"a","kind":"form","message":"m","schema":{"type":"object","properties":{}}})";
  std::string many;
  for (int i = 0; i < 33; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"key":")") + std::to_string(i) + R"(","kind":"form","message":"m"})";
  const std::string long_key(201, 'k'), long_state((512 << 10) + 1, 's');
  for (const std::string& required :
       {std::string("{}"), std::string(R"({"requests":[]})"), std::string(R"({"requests":[7]})"),
        R"({"requests":[)" + request + "," + request + "]}", R"({"requests":[)" + many + "]}",
        R"({"requests":[{"key":")" + long_key + R"(","kind":"form","message":"m"}]})",
        R"({"requests":[)" + request + R"(],"state":")" + long_state + "\"}",
        R"({"requests":[)" + request + R"(],"state":"a\u0000"})"}) {
    const tool_outcome out = read_result(R"({"input_required":)" + required + "}");
    EXPECT_FALSE(out.input) << required.substr(0, 80);
    EXPECT_TRUE(out.is_error);
    EXPECT_EQ(out.content, "the tool's request for input was malformed");
  }
  EXPECT_TRUE(read_open_requests("[" + request + "]"));
  for (const char* text : {"", "{}", "[]", "[{}]"}) EXPECT_FALSE(read_open_requests(text)) << text;
}

}  // namespace
}  // namespace runs
