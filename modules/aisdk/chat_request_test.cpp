#include "chat_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

using testing::HasSubstr;

namespace {

std::string problem_of(const std::string& body, std::uint32_t status = 422) {
  try {
    (void)aisdk::read_chat_request(body);
  } catch (const ry::error& e) {
    EXPECT_EQ(e.http_status() == 0 ? 400u : e.http_status(), status) << body;
    return std::string(e.message());
  }
  return "none";
}

const std::string message = R"({"role":"user","parts":[{"type":"text","text":"x"}]})";

}  // namespace

TEST(chat_request, reads_the_body_of_the_transport) {
  const auto r = aisdk::read_chat_request(
      R"({"id":"c","messages":[)" + message +
      R"(],"trigger":"regenerate-message","messageId":null,"agentId":"11111111-1111-4111-8111-111111111111",
      "model":"m","mode":"chat","onBusy":"enqueue","own":{"x":1},
      "tools":[{"name":"a","inputSchema":{"jsonSchema":{"type":"object"}}},{"name":"b","description":"d","inputSchema":{"type":"object"}},{"name":"c"}]})");
  EXPECT_EQ(r.id, "c");
  EXPECT_TRUE(r.regenerate);
  EXPECT_EQ(r.messages.size(), 1u);
  EXPECT_EQ(r.model, "m");
  EXPECT_EQ(r.on_busy, "enqueue");
  EXPECT_EQ(boost::json::serialize(r.tools),
            R"([{"name":"a","description":"","parameters":{"type":"object"}},)"
            R"({"name":"b","description":"d","parameters":{"type":"object"}},{"name":"c","description":""}])");
}

TEST(chat_request, reads_the_body_of_the_transport_of_assistant_ui) {
  const auto r = aisdk::read_chat_request(
      R"({"id":"c","messages":[)" + message +
      R"(],"system":"Be brief","tools":{"a":{"description":"d","parameters":{"type":"object"}},"b":{}},"callSettings":{},"config":{},"metadata":{}})");
  EXPECT_EQ(r.system, "Be brief");
  EXPECT_EQ(boost::json::serialize(r.tools),
            R"([{"name":"a","description":"d","parameters":{"type":"object"}},{"name":"b","description":""}])");
  EXPECT_TRUE(aisdk::read_chat_request(R"({"id":"c","tools":{},"messages":[)" + message + "]}").tools.empty());
}

TEST(chat_request, one_message_instead_of_all) {
  EXPECT_EQ(aisdk::read_chat_request(R"({"id":"c","message":)" + message + "}").messages.size(), 1u);
}

TEST(chat_request, names_the_member) {
  EXPECT_EQ(problem_of("{", 400), "The body is not valid JSON, or has too many values");
  EXPECT_EQ(problem_of("[]"), "The body must be a JSON object");
  EXPECT_EQ(problem_of(R"({"messages":[]})"), "id must be a string");
  EXPECT_THAT(problem_of(R"({"id":""})"), HasSubstr("id must have 1 to 256 bytes"));
  EXPECT_EQ(problem_of(R"({"id":"c"})"), "messages must be an array");
  EXPECT_EQ(problem_of(R"({"id":"c","messages":[]})"), "messages must not be empty");
  EXPECT_THAT(problem_of(R"({"id":"c","trigger":"x"})"), HasSubstr("trigger must be"));
  EXPECT_EQ(problem_of(R"({"id":"c","agentId":"x"})"), "agentId must be a UUID");
  EXPECT_EQ(problem_of(R"({"id":"c","mode":1})"), "mode must be a string");
  EXPECT_EQ(problem_of(R"({"id":"c","tools":[{"name":"x","inputSchema":[]}]})"),
            "tools[0].inputSchema must be a JSON Schema object");
  EXPECT_EQ(problem_of(R"({"id":"c","tools":"x"})"), "tools must be an array or an object");
  EXPECT_EQ(problem_of(R"({"id":"c","tools":{"x":1}})"), "tools.x must be an object");
  EXPECT_EQ(problem_of(R"({"id":"c","tools":{"x":{"parameters":[]}}})"),
            "tools.x.parameters must be a JSON Schema object");
  EXPECT_EQ(problem_of(R"({"id":"c","system":1})"), "system must be a string");
}

TEST(chat_request, the_number_of_values_and_the_depth_are_limited) {
  std::string many = R"({"id":"c","x":[0)";
  for (int i = 0; i < 600'000; ++i) many += ",0";
  EXPECT_THAT(problem_of(many + "]}", 400), HasSubstr("too many values"));
  problem_of(R"({"id":"c","x":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}", 400);
}

TEST(stop_request, the_body_is_optional) {
  EXPECT_EQ(aisdk::read_stop_request(""), "");
  EXPECT_EQ(aisdk::read_stop_request(" {} "), "");
  EXPECT_EQ(aisdk::read_stop_request(R"({"activeStreamId":"x","assistantMessage":{}})"), "x");
  EXPECT_THROW((void)aisdk::read_stop_request(R"({"activeStreamId":7})"), ry::error);
  EXPECT_THROW((void)aisdk::read_stop_request("x"), ry::error);
}
