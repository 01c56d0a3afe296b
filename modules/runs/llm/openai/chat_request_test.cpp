#include "chat_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "request.hpp"
#include "test_images.hpp"

namespace {

namespace json = boost::json;

openai::request_options default_options() {
  return openai::options_of(openai::dialect::compatible);
}

json::object build(std::string_view neutral, const openai::request_options& o = default_options()) {
  return json::parse(openai::build_request(llm::parse_request(neutral), o).body).as_object();
}

std::string with_images(std::string text) {
  const auto insert = [&text](std::string_view name, const std::string& bytes) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), llm::encode_base64(bytes));
  };
  insert("$PNG", llm::test::png(4, 4));
  insert("$JPEG", llm::test::jpeg(4, 4));
  return text;
}

std::string roles(const json::object& body) {
  std::string out;
  for (const auto& m : body.at("messages").as_array()) out += m.at("role").as_string()[0];
  return out;
}

TEST(chat_request, send_reasoning_returns_reasoning_with_the_calls_of_all_turns) {
  constexpr char neutral[] = R"({"model":"m","messages":[
    {"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}],"reasoning":[{"driver":"openai","model":"m","reasoning_content":"old"}]},
    {"role":"tool","tool_call_id":"1","name":"f","content":"x"},
    {"role":"assistant","content":"done"},
    {"role":"user","content":"b"},
    {"role":"assistant","content":"","tool_calls":[{"id":"2","name":"f","arguments":{}}],"reasoning":[{"driver":"openai","model":"other","reasoning_content":"no"},{"driver":"openai","model":"m","reasoning_content":"new"}]},
    {"role":"tool","tool_call_id":"2","name":"f","content":"x"},
    {"role":"assistant","content":"","tool_calls":[{"id":"3","name":"f","arguments":{}}],"reasoning":[{"driver":"anthropic","model":"m","thinking":"no"}]},
    {"role":"tool","tool_call_id":"3","name":"f","content":"x"}]})";
  auto o = default_options();
  o.alternate_roles = false;
  EXPECT_EQ(json::serialize(build(neutral, o)).find("reasoning"), std::string::npos);
  o.send_reasoning = true;
  const auto body = build(neutral, o);
  const auto& messages = body.at("messages").as_array();
  EXPECT_EQ(messages.at(1).at("reasoning_content"), "old");
  EXPECT_FALSE(messages.at(3).as_object().contains("reasoning_content"));
  EXPECT_EQ(messages.at(5).at("reasoning_content"), "new");
  EXPECT_EQ(messages.at(7).at("reasoning_content"), "");
}

TEST(chat_request, builds_every_kind_of_message) {
  const auto o = build(with_images(R"({"model":"gpt","system":"be brief","max_output_tokens":7,"temperature":0.5,
    "stop":["X"],"tools":[{"name":"f","description":"d","parameters":{"type":"object"}},{"name":"g"}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"$PNG"}]},
     {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{"a":[1,"x"]}},{"id":"2","name":"g","arguments":"broken"}]},
     {"role":"tool","tool_call_id":"1","name":"f","content":[{"type":"text","text":"seen"},{"type":"image","media_type":"image/png","data":"$JPEG"}]},
     {"role":"tool","tool_call_id":"2","name":"g","content":"bad","is_error":true},
     {"role":"assistant","content":"done"},
     {"role":"user","content":"more"}]})"));
  EXPECT_EQ(json::value(o), json::parse(with_images(R"json({"model":"gpt","stream":true,
    "stream_options":{"include_usage":true},"max_tokens":7,"temperature":0.5,"stop":["X"],
    "tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}},
             {"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],
    "messages":[{"role":"system","content":"be brief"},
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,$PNG"}}]},
     {"role":"assistant","content":null,"tool_calls":[
       {"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":[1,\"x\"]}"}},
       {"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
     {"role":"tool","tool_call_id":"1","content":"seen"},
     {"role":"tool","tool_call_id":"2","content":"Error: bad"},
     {"role":"assistant","content":"(The images of these results follow.)"},
     {"role":"user","content":[{"type":"text","text":"Images of the tool results:"},
       {"type":"image_url","image_url":{"url":"data:image/jpeg;base64,$JPEG"}}]},
     {"role":"assistant","content":"done"},
     {"role":"user","content":"more"}]})json")));
}

TEST(chat_request, applies_its_options) {
  auto o = default_options();
  o.max_tokens_field = "max_completion_tokens";
  o.stream_usage = false;
  o.extra_body = {{"reasoning_effort", "low"}, {"model", "ignored"}};
  EXPECT_EQ(json::value(build(R"({"model":"m","max_output_tokens":3,"messages":[{"role":"user","content":"x"}]})", o)),
            json::parse(R"({"model":"m","reasoning_effort":"low","stream":true,"max_completion_tokens":3,
                            "messages":[{"role":"user","content":"x"}]})"));
}

TEST(chat_request, rejects_malformed_requests) {
  for (const char* bad :
       {"", "[]", "{}", R"({"model":"m"})", R"({"model":"m","messages":[]})", R"({"messages":[{"role":"user"}]})",
        R"({"model":"m","messages":[7]})", R"({"model":"m","messages":[{"role":"system","content":"x"}]})",
        R"({"model":"m","messages":[{"role":"assistant","tool_calls":[1]}]})"})
    EXPECT_THROW(build(bad), llm::bad_request) << bad;
}

TEST(chat_request, roles_alternate_in_the_compatible_dialect) {
  const struct {
    const char* messages;
    const char* compatible;
    const char* openai;
  } rows[] = {
      {R"([{"role":"user","content":"a"},{"role":"user","content":"b"}])", "uau", "uu"},
      {R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},{"role":"tool","tool_call_id":"1","content":"r"},{"role":"user","content":"b"}])",
       "uatau", "uatu"},
      {R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},{"role":"tool","tool_call_id":"1","content":[{"type":"image","data":"$PNG"}]},{"role":"user","content":"b"}])",
       "uatau", "uatu"},
      {R"([{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},{"role":"tool","tool_call_id":"1","content":[{"type":"image","data":"$PNG"}]}])",
       "uatau", "uatu"},
      {R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])", "uau", "uau"}};
  for (const auto& r : rows) {
    const auto neutral = with_images(R"({"model":"m","messages":)" + std::string(r.messages) + "}");
    EXPECT_EQ(roles(build(neutral)), r.compatible) << r.messages;
    EXPECT_EQ(roles(build(neutral, openai::options_of(openai::dialect::openai))), r.openai) << r.messages;
  }
}

TEST(chat_request, images_of_results_are_part_of_the_next_user_message) {
  const auto body = build(with_images(R"({"model":"m","messages":[{"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},
    {"role":"tool","tool_call_id":"1","content":[{"type":"image","data":"$PNG"}]},{"role":"user","content":"b"}]})"));
  EXPECT_EQ(body.at("messages").at(2).at("content"), "(image)");
  const auto& content = body.at("messages").at(4).at("content").as_array();
  ASSERT_EQ(content.size(), 3u);
  EXPECT_EQ(content[1].at("type"), "image_url");
  EXPECT_EQ(content[2].at("text"), "b");
}

TEST(chat_request, mistral_models_get_ids_of_nine_characters) {
  constexpr std::string_view messages =
      R"("messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"call-long-1","name":"f"}]}]})";
  const auto id = [&](const std::string& model, openai::dialect d) {
    const auto body = build(R"({"model":")" + model + R"(",)" + std::string(messages), openai::options_of(d));
    const auto& call = body.at("messages").at(1).at("tool_calls").at(0).at("id").as_string();
    EXPECT_EQ(body.at("messages").at(2).at("tool_call_id"), call);
    return std::string(call);
  };
  EXPECT_EQ(id("m", openai::dialect::compatible), "call-long-1");
  EXPECT_EQ(id("m", openai::dialect::mistral).size(), 9u);
  EXPECT_EQ(id("mistralai/Devstral-Small", openai::dialect::compatible).size(), 9u);
}

TEST(chat_request, reasoning_details_and_signatures_are_sent_only_to_their_model) {
  const std::string messages = R"("messages":[{"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"g1","name":"f"},{"id":"g2","name":"f"}],"reasoning":[
      {"driver":"openai","model":"m","calls":[{"id":"g1","extra_content":{"google":{"thought_signature":"sig"}}}]},
      {"driver":"openai","model":"m","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]},
      {"driver":"anthropic","model":"m","type":"thinking","thinking":"no"}]},
    {"role":"tool","tool_call_id":"g1","content":"r"},{"role":"tool","tool_call_id":"g2","content":"r"},
    {"role":"assistant","content":"","tool_calls":[{"id":"h1","name":"f"}]},{"role":"tool","tool_call_id":"h1","content":"r"}]})";
  const auto same = build(R"({"model":"m",)" + messages);
  const auto& first = same.at("messages").at(1).as_object();
  EXPECT_EQ(first.at("tool_calls").at(0).at("extra_content"), json::parse(R"({"google":{"thought_signature":"sig"}})"));
  EXPECT_FALSE(first.at("tool_calls").at(1).as_object().contains("extra_content"));
  EXPECT_EQ(first.at("reasoning_details"), json::parse(R"([{"type":"reasoning.encrypted","data":"x"}])"));
  EXPECT_EQ(same.at("messages").at(4).at("tool_calls").at(0).at("extra_content").at("google").at("thought_signature"),
            "skip_thought_signature_validator")
      << "a model that signs its calls also checks calls of other models";
  const auto other = json::serialize(build(R"({"model":"n",)" + messages));
  EXPECT_EQ(other.find("extra_content"), std::string::npos);
  EXPECT_EQ(other.find("reasoning"), std::string::npos);
  const auto gemini = build(R"({"model":"n",)" + messages, openai::options_of(openai::dialect::gemini));
  for (const int i : {1, 4})
    EXPECT_TRUE(gemini.at("messages").at(i).at("tool_calls").at(0).as_object().contains("extra_content")) << i;
}

TEST(chat_request, sends_sampling_parameters_and_tool_choice) {
  const auto body =
      build(R"({"model":"m","temperature":0.5,"top_p":0.9,"reasoning_effort":"low","tool_choice":"required",
    "tools":[{"name":"f"}],"messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(body.at("temperature"), 0.5);
  EXPECT_EQ(body.at("top_p"), 0.9);
  EXPECT_EQ(body.at("reasoning_effort"), "low");
  EXPECT_EQ(body.at("tool_choice"), "required");
  const auto named = build(
      R"({"model":"m","tool_choice":{"name":"1f"},"tools":[{"name":"1f"}],"messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(named.at("tool_choice"), json::parse(R"({"type":"function","function":{"name":"_1f"}})"));
  const auto mistral = build(
      R"({"model":"m","tool_choice":"required","tools":[{"name":"f"}],"messages":[{"role":"user","content":"x"}]})",
      openai::options_of(openai::dialect::mistral));
  EXPECT_EQ(mistral.at("tool_choice"), "any");
  EXPECT_FALSE(build(R"({"model":"m","tool_choice":"required","messages":[{"role":"user","content":"x"}]})")
                   .contains("tool_choice"));
}

TEST(chat_request, a_tool_that_cannot_be_expressed_does_not_fail_the_request) {
  const auto built = openai::build_request(
      llm::parse_request(
          R"({"model":"m","tools":[{"name":"bad","parameters":{"type":"string"}},1],"messages":[{"role":"user","content":"x"}]})"),
      default_options());
  EXPECT_FALSE(json::parse(built.body).as_object().contains("tools"));
  EXPECT_EQ(built.notices.size(), 2u);
}

TEST(chat_request, long_descriptions_are_truncated) {
  const auto built = build(R"({"model":"m","tools":[{"name":"f","description":")" + std::string(3000, 'd') +
                           R"("}],"messages":[{"role":"user","content":"x"}]})");
  EXPECT_LE(built.at("tools").at(0).at("function").at("description").as_string().size(), 1023u + 3);
  auto o = default_options();
  o.tools.description_chars = 0;
  const auto untruncated = build(R"({"model":"m","tools":[{"name":"f","description":")" + std::string(3000, 'd') +
                                     R"("}],"messages":[{"role":"user","content":"x"}]})",
                                 o);
  EXPECT_EQ(untruncated.at("tools").at(0).at("function").at("description").as_string().size(), 3000u);
}

TEST(chat_request, parameters_that_openai_models_reject_are_omitted) {
  const auto skipped = [](const std::string& model, const std::string& effort, openai::dialect d) {
    const auto request =
        llm::parse_request(R"({"model":")" + model + R"(","temperature":0.5,"top_p":0.9,"stop":["X"],)" +
                           (effort.empty() ? "" : R"("reasoning_effort":")" + effort + "\",") +
                           R"("messages":[{"role":"user","content":"a"}]})");
    const auto built = openai::build_request(request, openai::options_of(d));
    std::string names;
    for (const auto& n : built.notices) names += n.message.substr(0, n.message.find(' ')) + " ";
    const auto body = boost::json::parse(built.body).as_object();
    for (const char* name : {"temperature", "top_p", "stop", "reasoning_effort"})
      EXPECT_EQ(body.contains(name), names.find(std::string(name) + " ") == std::string::npos &&
                                         (std::string_view(name) != "reasoning_effort" || !effort.empty()))
          << model << " " << name;
    return names;
  };
  EXPECT_EQ(skipped("gpt-5", "low", openai::dialect::openai), "temperature top_p stop ");
  EXPECT_EQ(skipped("gpt-5.2", "none", openai::dialect::openai), "");
  EXPECT_EQ(skipped("gpt-4o", "low", openai::dialect::openai), "reasoning_effort ");
  EXPECT_EQ(skipped("my-deployment", "low", openai::dialect::openai), "");
  EXPECT_EQ(skipped("gpt-5", "low", openai::dialect::compatible), "");
}

TEST(chat_request, a_schema_of_the_answer_is_sent_to_models_that_support_it) {
  const auto sent = [](const std::string& model, openai::dialect d, const std::string& more = "",
                       llm::schema_passing passing = llm::schema_passing::automatic) {
    auto request = llm::parse_request(
        R"({"model":")" + model + R"(","messages":[{"role":"user","content":"a"}],"output_schema":{"type":"object",)" +
        R"("properties":{"a":{"type":"string"}},"required":["a"]})" + more + "}");
    const auto format = openai::take_output_schema(request, d, passing);
    const auto body = json::parse(openai::build_request(request, openai::options_of(d), format).body).as_object();
    EXPECT_FALSE(body.contains("output_schema"));
    EXPECT_NE(body.contains("response_format"),
              json::serialize(body.at("messages")).find("JSON Schema") != std::string::npos);
    return body.contains("response_format") ? json::serialize(body.at("response_format")) : std::string();
  };
  const std::string native =
      R"({"type":"json_schema","json_schema":{"name":"output","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true}})";
  for (const char* model : {"gpt-4o-mini", "gpt-4.1", "gpt-5.2", "o3", "openai/gpt-4o"})
    EXPECT_EQ(sent(model, openai::dialect::openai), native) << model;
  for (const char* model : {"gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "gpt-4o-2024-05-13", "o1-mini", "deployment"})
    EXPECT_EQ(sent(model, openai::dialect::openai), "") << model;
  EXPECT_EQ(sent("m", openai::dialect::compatible), "");
  EXPECT_EQ(sent("m", openai::dialect::compatible, "", llm::schema_passing::native), native);
  EXPECT_EQ(sent("gpt-5", openai::dialect::openai, "", llm::schema_passing::prompt), "");
  EXPECT_EQ(sent("gemini-3-pro", openai::dialect::gemini), native);
  EXPECT_EQ(
      sent("gemini-3-pro", openai::dialect::gemini, R"(,"tools":[{"name":"f","description":"","parameters":{}}])"), "");
}

}  // namespace
