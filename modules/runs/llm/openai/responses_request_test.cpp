#include "responses_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <string_view>

#include "request.hpp"
#include "test_images.hpp"

namespace {

namespace json = boost::json;
using openai::dialect;

openai::responses_options default_options(dialect d = dialect::openai) {
  auto o = openai::responses_options_of(d);
  o.provider = "p";
  return o;
}

json::object build(std::string_view neutral, const openai::responses_options& o = default_options(),
                   const openai::reasoning_refusals& refusals = {}) {
  return json::parse(openai::build_responses_request(llm::parse_request(neutral), o, refusals).body).as_object();
}

std::string with_image(std::string text) {
  for (auto at = text.find("$PNG"); at != std::string::npos; at = text.find("$PNG"))
    text.replace(at, 4, llm::encode_base64(llm::test::png(4, 4)));
  return text;
}

// "user, reasoning(e1), message(hi), call(1), result(1)"
std::string items_of(const json::object& body) {
  std::string out;
  for (const auto& v : body.at("input").as_array()) {
    const auto& item = v.as_object();
    const auto type = llm::text_at(item, "type");
    if (!out.empty()) out += ", ";
    if (type == "reasoning")
      out += "reasoning(" + std::string(llm::text_at(item, "encrypted_content")) + ")";
    else if (type == "function_call")
      out += "call(" + std::string(llm::text_at(item, "call_id")) + ")";
    else if (type == "function_call_output")
      out += "result(" + std::string(llm::text_at(item, "call_id")) + ")";
    else if (llm::text_at(item, "role") == "user")
      out += "user";
    else
      out += "message(" + std::string(llm::text_at(item, "content")) + ")";
  }
  return out;
}

TEST(responses_request, builds_every_kind_of_item) {
  const auto body =
      build(with_image(R"({"model":"my-model","system":"be brief","max_output_tokens":700,"temperature":0.5,"top_p":0.9,
    "reasoning_effort":"low","tool_choice":{"name":"f"},
    "tools":[{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},{"name":"g"}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"$PNG"}]},
     {"role":"assistant","content":"so","tool_calls":[{"id":"c1","name":"f","arguments":{"a":"x"}},{"id":"c2","name":"g","arguments":"broken"}]},
     {"role":"tool","tool_call_id":"c2","name":"g","content":"no","is_error":true},
     {"role":"tool","tool_call_id":"c1","name":"f","content":"seen"},
     {"role":"assistant","content":"done"},
     {"role":"user","content":"thanks"}]})"));
  const std::string image = "data:image/png;base64," + llm::encode_base64(llm::test::png(4, 4));
  auto expected = json::parse(
      R"({"model":"my-model","instructions":"be brief","max_output_tokens":700,"temperature":0.5,"top_p":0.9,
    "reasoning":{"effort":"low"},"tool_choice":{"type":"function","name":"f"},"stream":true,"store":false,
    "include":["reasoning.encrypted_content"],
    "tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false},
             {"type":"function","name":"g","parameters":{"type":"object","properties":{}},"strict":false}],
    "input":[
     {"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"$","detail":"auto"}]},
     {"type":"message","role":"assistant","content":"so"},
     {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":\"x\"}"},
     {"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},
     {"type":"function_call_output","call_id":"c1","output":"seen"},
     {"type":"function_call_output","call_id":"c2","output":"Error: no"},
     {"type":"message","role":"assistant","content":"done"},
     {"type":"message","role":"user","content":"thanks"}]})");
  expected.at("input").at(0).at("content").at(1).as_object()["image_url"] = image;
  EXPECT_EQ(json::value(body), expected) << json::serialize(body);
}

TEST(responses_request, images_of_results_are_in_the_result_or_follow_it) {
  const auto neutral = with_image(R"({"model":"m","messages":[{"role":"user","content":"a"},
     {"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"f","arguments":{}},{"id":"c2","name":"f","arguments":{}}]},
     {"role":"tool","tool_call_id":"c1","name":"f","content":[{"type":"text","text":"seen"},{"type":"image","media_type":"image/png","data":"$PNG"}]},
     {"role":"tool","tool_call_id":"c2","name":"f","content":[{"type":"image","media_type":"image/png","data":"$PNG"}],"is_error":true},
     {"role":"user","content":"b"}]})");
  const auto inside = build(neutral);
  EXPECT_EQ(items_of(inside), "user, call(c1), call(c2), result(c1), result(c2), user");
  EXPECT_EQ(inside.at("input").at(3).at("output").at(0), (json::value{{"type", "input_text"}, {"text", "seen"}}));
  EXPECT_EQ(inside.at("input").at(3).at("output").at(1).at("type"), "input_image");
  EXPECT_EQ(inside.at("input").at(4).at("output").at(0).at("text"), "Error");
  const auto following = build(neutral, default_options(dialect::compatible));
  EXPECT_EQ(items_of(following),
            "user, call(c1), call(c2), result(c1), result(c2), message((The images of these results follow.)), user");
  EXPECT_EQ(following.at("input").at(4).at("output"), "Error");
  EXPECT_EQ(following.at("input").at(6).at("content").as_array().size(), 4u)
      << "a heading, two images and the question";
}

TEST(responses_request, reasoning_precedes_the_items_it_belongs_to) {
  // Two messages and two calls, as the model returned them.
  const auto of = [](std::string_view block_changes, std::string_view text = "one\\n\\ntwo") {
    return R"({"model":"m","messages":[{"role":"user","content":"a"},
      {"role":"assistant","content":")" +
           std::string(text) +
           R"(","tool_calls":[{"id":"1","name":"f","arguments":{}},{"id":"2","name":"f","arguments":{}}],
       "reasoning":[{"driver":"openai","model":"m","provider":"p","wire":"responses",)" +
           std::string(block_changes) + R"("items":[
        {"type":"reasoning","id":"r1","summary":[],"encrypted_content":"e1"},{"type":"message","at":0,"size":3,"phase":"commentary"},
        {"type":"reasoning","id":"r2","summary":[],"encrypted_content":"e2"},{"type":"function_call","call_id":"2"},
        {"type":"message","at":5,"size":3,"phase":"final_answer"},{"type":"function_call","call_id":"1"},
        {"type":"reasoning","id":"r3","summary":[],"encrypted_content":"e3"}]}]},
      {"role":"tool","tool_call_id":"1","name":"f","content":"x"},{"role":"tool","tool_call_id":"2","name":"f","content":"y"}]})";
  };
  const auto body = build(of(""));
  EXPECT_EQ(items_of(body),
            "user, reasoning(e1), message(one), reasoning(e2), call(2), message(two), call(1), result(1), result(2)")
      << "trailing reasoning is omitted";
  EXPECT_EQ(body.at("input").at(1),
            json::parse(R"({"type":"reasoning","id":"r1","summary":[],"encrypted_content":"e1"})"));
  EXPECT_EQ(body.at("input").at(2).at("phase"), "commentary");
  EXPECT_EQ(body.at("input").at(5).at("phase"), "final_answer");
  // A text that has changed is sent as one message.
  EXPECT_EQ(items_of(build(of("", "one\\n\\nchanged"))),
            "user, reasoning(e1), message(one\n\nchanged), reasoning(e2), call(2), call(1), result(1), result(2)");
  EXPECT_EQ(items_of(build(of("", "\\u00e9\\u00e9\\u00e9"))),
            "user, reasoning(e1), message(\u00e9\u00e9\u00e9), reasoning(e2), call(2), call(1), result(1), result(2)");
  EXPECT_EQ(items_of(build(of("", ""))), "user, reasoning(e1), reasoning(e2), call(2), call(1), result(1), result(2)");
  // Another provider, model, wire protocol or driver produced it.
  const std::string plain = "user, message(one\n\ntwo), call(1), call(2), result(1), result(2)";
  for (const char* change :
       {R"("provider":"q",)", R"("model":"n",)", R"("wire":"chat",)", R"("driver":"anthropic",)"}) {
    auto neutral = of("");
    const std::string key = std::string(change).substr(0, std::string(change).find(':') + 1);
    const auto at = neutral.find(key, neutral.find("\"reasoning\":["));
    neutral.replace(at, neutral.find(',', at) + 1 - at, change);
    EXPECT_EQ(items_of(build(neutral)), plain) << change;
  }
}

TEST(responses_request, rejected_reasoning_is_not_sent_again) {
  constexpr char neutral[] =
      R"({"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning":[
    {"driver":"openai","model":"m","provider":"p","wire":"responses","items":[{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"e1"},
     {"type":"reasoning","id":"r2","summary":[],"content":[{"type":"reasoning_text","text":"t"}]},{"type":"message","at":0,"size":1}]}]},
    {"role":"user","content":"c"}]})";
  openai::reasoning_refusals refusals;
  const auto built = openai::build_responses_request(llm::parse_request(neutral), default_options(), refusals);
  EXPECT_EQ(items_of(json::parse(built.body).as_object()), "user, reasoning(e1), message(b), user")
      << "OpenAI does not accept readable content";
  ASSERT_EQ(built.reasoning.size(), 1u);
  const auto open = default_options(dialect::compatible);
  EXPECT_EQ(items_of(build(neutral, open)), "user, reasoning(e1), reasoning(), message(b), user");
  ASSERT_TRUE(refusals.add(built.reasoning));
  EXPECT_EQ(items_of(build(neutral, default_options(), refusals)), "user, message(b), user");
  openai::reasoning_refusals of_model;
  of_model.add_model("m");
  EXPECT_EQ(items_of(build(neutral, open, of_model)), "user, reasoning(), message(b), user");
  EXPECT_FALSE(build(neutral, open, of_model).contains("include"));
  auto off = open;
  off.encrypted_reasoning = false;
  EXPECT_EQ(items_of(build(neutral, off)), "user, reasoning(), message(b), user");
  EXPECT_FALSE(build(neutral, off).contains("include"));
}

TEST(responses_request, parameters_are_converted_for_the_responses_api) {
  const auto o = openai::build_responses_request(
      llm::parse_request(R"({"model":"gpt-4o","max_output_tokens":3,"stop":["X"],"reasoning_effort":"high",
    "tools":[{"name":"f"}],"tool_choice":"required","messages":[{"role":"user","content":"a"}]})"),
      default_options(), {});
  const auto body = json::parse(o.body).as_object();
  EXPECT_EQ(body.at("max_output_tokens"), 16) << "the minimum that OpenAI accepts";
  EXPECT_EQ(body.at("tool_choice"), "required");
  EXPECT_FALSE(body.contains("stop"));
  EXPECT_FALSE(body.contains("include")) << "the model rejects requests for reasoning";
  EXPECT_FALSE(body.contains("reasoning")) << "the model does not reason";
  ASSERT_EQ(o.notices.size(), 2u);
  EXPECT_EQ(o.notices[0].code, "parameter_skipped");
  EXPECT_EQ(o.notices[0].message.substr(0, 17), "reasoning_effort ");
  EXPECT_EQ(o.notices[1].message.substr(0, 5), "stop ");
  const auto reasons =
      openai::build_responses_request(llm::parse_request(R"({"model":"gpt-5","temperature":0.5,"top_p":0.9,
    "messages":[{"role":"user","content":"a"}]})"),
                                      default_options(), {});
  EXPECT_FALSE(json::parse(reasons.body).as_object().contains("temperature"));
  EXPECT_EQ(reasons.notices.size(), 2u);
  auto extra = default_options(dialect::compatible);
  extra.extra_body =
      json::parse(
          R"({"reasoning":{"summary":"auto"},"include":["file_search_call.results"],"store":true,"truncation":"auto"})")
          .as_object();
  const auto merged = build(
      R"({"model":"m","reasoning_effort":"low","max_output_tokens":3,"messages":[{"role":"user","content":"a"}]})",
      extra);
  EXPECT_EQ(merged.at("reasoning"), (json::value{{"summary", "auto"}, {"effort", "low"}}));
  EXPECT_EQ(merged.at("include"), (json::value{"file_search_call.results", "reasoning.encrypted_content"}));
  EXPECT_EQ(merged.at("store"), true);
  EXPECT_EQ(merged.at("truncation"), "auto");
  EXPECT_EQ(merged.at("max_output_tokens"), 3);
  EXPECT_FALSE(merged.contains("tools"));
}

TEST(responses_request, an_azure_deployment_is_sent_as_the_model) {
  auto o = default_options();
  o.deployment = "d1";
  EXPECT_EQ(build(R"({"model":"m","messages":[{"role":"user","content":"a"}]})", o).at("model"), "d1");
}

TEST(responses_request, roles_alternate_in_the_compatible_dialect) {
  constexpr char neutral[] = R"({"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},
    {"role":"assistant","content":"","tool_calls":[{"id":"11","name":"f","arguments":{}}]},{"role":"tool","tool_call_id":"11","name":"f","content":"x"},
    {"role":"user","content":"c"}]})";
  EXPECT_EQ(items_of(build(neutral)), "user, user, call(11), result(11), user");
  EXPECT_EQ(items_of(build(neutral, default_options(dialect::compatible))),
            "user, message((No answer.)), user, call(11), result(11), message((No answer.)), user");
}

TEST(responses_request, a_schema_of_the_answer_is_the_text_format) {
  auto request = llm::parse_request(
      R"({"model":"gpt-5","messages":[{"role":"user","content":"a"}],"output_schema":{"type":"object","properties":{"a":{"type":"string"}}}})");
  const auto format = openai::take_output_schema(request, openai::dialect::openai, llm::schema_passing::automatic);
  auto options = default_options();
  options.extra_body = json::parse(R"({"text":{"verbosity":"low"}})").as_object();
  const auto body =
      json::parse(openai::build_responses_request(request, options, openai::reasoning_refusals(), format).body);
  EXPECT_EQ(body.at("text"), json::parse(R"({"verbosity":"low","format":{"type":"json_schema","name":"output",
    "schema":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false}})"))
      << "not every property is required, so the schema is not strict";
}

}  // namespace
