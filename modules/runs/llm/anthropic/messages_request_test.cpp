#include "messages_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "request.hpp"
#include "test_images.hpp"

namespace {

namespace json = boost::json;

anthropic::request_options uncached() {
  anthropic::request_options o;
  o.prompt_cache = false;
  return o;
}

json::value build(std::string_view neutral, const anthropic::request_options& o = uncached()) {
  return json::parse(anthropic::build_request(llm::parse_request(neutral), o).body);
}

std::string with_image(std::string text) {
  constexpr std::string_view name = "$PNG";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
    text.replace(at, name.size(), llm::encode_base64(llm::test::png(4, 4)));
  return text;
}

constexpr char with_thinking_blocks[] = R"({"model":"m","messages":[
  {"role":"user","content":"go"},
  {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}],"reasoning":[
    {"driver":"anthropic","model":"m","type":"thinking","thinking":"hm","signature":"s=="},
    {"driver":"anthropic","model":"m","type":"redacted_thinking","data":"xx"},
    {"driver":"anthropic","model":"other","type":"thinking","thinking":"no","signature":"t"},
    {"driver":"openai","model":"m","reasoning_content":"no"}]},
  {"role":"tool","tool_call_id":"1","name":"f","content":"done"}]})";

TEST(messages_request, thinking_blocks_of_this_model_are_sent_back_before_its_calls) {
  auto o = uncached();
  o.extra_body = json::parse(R"({"thinking":{"type":"enabled","budget_tokens":1024}})").as_object();
  const auto body = build(with_thinking_blocks, o);
  EXPECT_EQ(body.at("messages").at(1).at("content"), json::parse(R"([
    {"type":"thinking","thinking":"hm","signature":"s=="},{"type":"redacted_thinking","data":"xx"},
    {"type":"tool_use","id":"1","name":"f","input":{}}])"));
  EXPECT_TRUE(body.as_object().contains("thinking"));
  const auto plain = build(with_thinking_blocks);
  EXPECT_EQ(plain.at("messages").at(1).at("content").as_array().size(), 1u) << "thinking is not enabled";
}

TEST(messages_request, a_turn_that_began_without_thinking_continues_without_it) {
  auto o = uncached();
  o.extra_body = json::parse(R"({"thinking":{"type":"enabled","budget_tokens":1024}})").as_object();
  const auto body = build(R"({"model":"m","messages":[{"role":"user","content":"go"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{}}]},
    {"role":"tool","tool_call_id":"1","name":"f","content":"x"}]})",
                          o);
  EXPECT_FALSE(body.as_object().contains("thinking"));
  const auto next = build(R"({"model":"m","messages":[{"role":"user","content":"go"},
    {"role":"assistant","content":"done"},{"role":"user","content":"more"}]})",
                          o);
  EXPECT_TRUE(next.as_object().contains("thinking"));
}

TEST(messages_request, builds_every_kind_of_message) {
  auto older = uncached();
  older.sampling = anthropic::sampling_parameters::send;
  EXPECT_EQ(build(with_image(R"({"model":"claude","system":"be brief","temperature":1,"stop":["X"],
    "tools":[{"name":"f","description":"d","parameters":{"type":"object"}}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"$PNG"}]},
     {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f","arguments":{"a":1}},{"id":"2","name":"f","arguments":"broken"}]},
     {"role":"tool","tool_call_id":"1","name":"f","content":"seen"},
     {"role":"tool","tool_call_id":"2","name":"f","content":"bad","is_error":true},
     {"role":"user","content":"go on"},
     {"role":"assistant","content":"done"}]})"),
                  older),
            json::parse(with_image(R"({"model":"claude","stream":true,"max_tokens":8192,"system":"be brief",
    "temperature":1,"stop_sequences":["X"],
    "tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{}}}],
    "messages":[
     {"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"$PNG"}}]},
     {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"tool_use","id":"2","name":"f","input":{}}]},
     {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"seen"},
       {"type":"tool_result","tool_use_id":"2","content":"bad","is_error":true},{"type":"text","text":"go on"}]},
     {"role":"assistant","content":[{"type":"text","text":"done"}]},
     {"role":"user","content":[{"type":"text","text":"Continue."}]}]})")));
}

TEST(messages_request, sets_max_tokens_and_a_first_user_turn) {
  auto o = uncached();
  o.max_tokens = 5;
  EXPECT_EQ(build(R"({"model":"m","messages":[{"role":"user","content":"x"}]})", o).at("max_tokens"), 5);
  const auto v = build(
      R"({"model":"m","max_output_tokens":9,"temperature":0.5,"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"y"}]})");
  EXPECT_EQ(v.at("max_tokens"), 9);
  EXPECT_FALSE(v.as_object().contains("temperature"));
  EXPECT_EQ(v.at("messages").at(0).at("role"), "user");
  EXPECT_EQ(v.at("messages").as_array().size(), 3u);
}

TEST(messages_request, rejects_malformed_requests) {
  for (const char* bad : {"", "{}", R"({"model":"m","messages":[{"role":"assistant","tool_calls":[1]}]})"})
    EXPECT_THROW(build(bad), llm::bad_request) << bad;
}

TEST(messages_request, consecutive_messages_of_one_role_are_merged) {
  const auto body = build(R"({"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},{"role":"tool","tool_call_id":"1","content":"r"},
    {"role":"user","content":"c"}]})");
  const auto& messages = body.at("messages").as_array();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].at("content"), json::parse(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"));
  EXPECT_EQ(messages[2].at("content").at(0).at("type"), "tool_result");
  EXPECT_EQ(messages[2].at("content").at(1).at("text"), "c");
}

TEST(messages_request, a_failed_result_with_images_is_sent_without_is_error) {
  const auto body = build(with_image(R"({"model":"m","messages":[{"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"}]},
    {"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"no"},{"type":"image","data":"$PNG"}],"is_error":true}]})"));
  const auto& result = body.at("messages").at(2).at("content").at(0).as_object();
  EXPECT_FALSE(result.contains("is_error")) << "the API accepts only text together with is_error";
  EXPECT_EQ(result.at("content").at(0).at("text"), "Error: no");
  EXPECT_EQ(result.at("content").at(1).at("type"), "image");
}

TEST(messages_request, tools_of_the_history_are_sent_if_no_tools_are_offered) {
  const auto body = build(R"({"model":"m","messages":[{"role":"user","content":"a"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"},{"id":"2","name":"f"}]}]})");
  EXPECT_EQ(body.at("tools"), json::parse(R"([{"name":"f","input_schema":{"type":"object","properties":{}}}])"));
  EXPECT_EQ(body.at("tool_choice"), json::parse(R"({"type":"none"})"));
}

std::size_t breakpoints(const json::value& v) {
  std::size_t n = 0;
  if (const auto* list = v.if_array())
    for (const auto& e : *list) n += breakpoints(e);
  if (const auto* object = v.if_object())
    for (const auto& [key, value] : *object) n += key == "cache_control" ? 1 : breakpoints(value);
  return n;
}

TEST(messages_request, marks_cache_breakpoints) {
  const auto body = build(R"({"model":"m","system":"s","tools":[{"name":"f"},{"name":"g"}],"messages":[
    {"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},
    {"role":"assistant","content":"","tool_calls":[{"id":"1","name":"f"},{"id":"2","name":"f"}]}]})",
                          {});
  const json::value mark = json::parse(R"({"type":"ephemeral"})");
  EXPECT_EQ(breakpoints(body), 4u);
  EXPECT_EQ(body.at("tools").at(1).at("cache_control"), mark);
  EXPECT_EQ(body.at("system").at(0).at("cache_control"), mark);
  EXPECT_EQ(body.at("system").at(0).at("text"), "s");
  EXPECT_EQ(body.at("messages").at(4).at("content").at(1).at("cache_control"), mark);
  EXPECT_EQ(body.at("messages").at(2).at("content").at(0).at("cache_control"), mark)
      << "the end of the previous request";
  anthropic::request_options automatic;
  automatic.extra_body["cache_control"] = mark;
  EXPECT_EQ(breakpoints(build(R"({"model":"m","system":"s","messages":[{"role":"user","content":"a"}]})", automatic)),
            1u)
      << "the operator lets the provider place the breakpoints";
  EXPECT_EQ(breakpoints(build(R"({"model":"m","system":"s","messages":[{"role":"user","content":"a"}]})")), 0u);
}

TEST(messages_request, the_model_determines_how_the_effort_is_sent) {
  using enum anthropic::thinking_control;
  const struct {
    const char* model;
    anthropic::thinking_control expected;
  } rows[] = {{"claude-opus-4-6", adaptive},        {"claude-opus-4-7-20260416", adaptive},
              {"claude-sonnet-5", adaptive},        {"anthropic/claude-sonnet-4.6", adaptive},
              {"claude-opus-4-5-20251101", budget}, {"claude-sonnet-4-20250514", budget},
              {"claude-3-7-sonnet-latest", budget}, {"claude-3-5-haiku-latest", none},
              {"claude-3-opus-20240229", none},     {"claude-2.1", none}};
  for (const auto& r : rows)
    for (const auto sampling : {anthropic::sampling_parameters::send, anthropic::sampling_parameters::omit})
      EXPECT_EQ(anthropic::control_of(r.model, sampling), r.expected) << r.model;
  EXPECT_EQ(anthropic::control_of("glm-5", anthropic::sampling_parameters::send), budget);
  EXPECT_EQ(anthropic::control_of("claude-next", anthropic::sampling_parameters::omit), adaptive);
}

json::value with_effort(const std::string& model, const std::string& more,
                        std::vector<llm::notice>* notices = nullptr) {
  auto built = anthropic::build_request(
      llm::parse_request(R"({"model":")" + model + R"(","messages":[{"role":"user","content":"x"}],)" + more + "}"),
      uncached());
  if (notices) *notices = built.notices;
  return json::parse(built.body);
}

TEST(messages_request, effort_becomes_thinking) {
  const auto adaptive = with_effort("claude-opus-4-6", R"("reasoning_effort":"minimal")");
  EXPECT_EQ(adaptive.at("thinking"), json::parse(R"({"type":"adaptive"})"));
  EXPECT_EQ(adaptive.at("output_config").at("effort"), "low");
  const auto budget = with_effort("claude-sonnet-4-5", R"("reasoning_effort":"medium")");
  EXPECT_EQ(budget.at("thinking"), json::parse(R"({"type":"enabled","budget_tokens":8192})"));
  EXPECT_EQ(budget.at("max_tokens"), 8192 + 8192) << "the limit includes the thinking tokens";
  const auto limited = with_effort("claude-sonnet-4-5", R"("reasoning_effort":"high","max_output_tokens":6000)");
  EXPECT_EQ(limited.at("thinking").at("budget_tokens"), 3000);
  EXPECT_EQ(limited.at("max_tokens"), 6000);
  std::vector<llm::notice> notices;
  EXPECT_FALSE(with_effort("claude-sonnet-4-5", R"("reasoning_effort":"high","max_output_tokens":1000)", &notices)
                   .as_object()
                   .contains("thinking"));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "parameter_skipped");
  EXPECT_FALSE(
      with_effort("claude-3-opus-20240229", R"("reasoning_effort":"high")", &notices).as_object().contains("thinking"));
  EXPECT_EQ(notices.size(), 1u);
  EXPECT_FALSE(
      with_effort("claude-opus-4-6", R"("reasoning_effort":"none")", &notices).as_object().contains("thinking"));
  EXPECT_TRUE(notices.empty());
}

TEST(messages_request, a_forced_tool_choice_disables_thinking) {
  std::vector<llm::notice> notices;
  const auto body = with_effort(
      "claude-opus-4-6", R"("reasoning_effort":"high","tools":[{"name":"f"}],"tool_choice":{"name":"f"})", &notices);
  EXPECT_EQ(body.at("tool_choice"), json::parse(R"({"type":"tool","name":"f"})"));
  EXPECT_FALSE(body.as_object().contains("thinking"));
  EXPECT_EQ(notices.size(), 1u);
  const auto any = with_effort("claude-opus-4-6", R"("tools":[{"name":"f"}],"tool_choice":"required")", &notices);
  EXPECT_EQ(any.at("tool_choice"), json::parse(R"({"type":"any"})"));
  EXPECT_TRUE(notices.empty());
}

TEST(messages_request, sampling_depends_on_the_api_version_and_thinking) {
  const auto sent = [](std::string_view more, anthropic::sampling_parameters s, std::size_t skipped) {
    auto o = uncached();
    o.sampling = s;
    const auto built = anthropic::build_request(
        llm::parse_request(R"({"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"x"}],)" +
                           std::string(more) + "}"),
        o);
    EXPECT_EQ(built.notices.size(), skipped) << more;
    const auto body = json::parse(built.body).as_object();
    json::object out;
    for (const char* key : {"temperature", "top_p"})
      if (const auto* v = body.if_contains(key)) out[key] = *v;
    return json::value(out);
  };
  using enum anthropic::sampling_parameters;
  EXPECT_EQ(sent(R"("temperature":0.5,"top_p":0.9)", omit, 2), json::parse("{}"));
  EXPECT_EQ(sent(R"("temperature":0.5,"top_p":0.9)", send, 1), json::parse(R"({"temperature":0.5})"));
  EXPECT_EQ(sent(R"("top_p":0.9)", send, 0), json::parse(R"({"top_p":0.9})"));
  EXPECT_EQ(sent(R"("temperature":1.7)", send, 0), json::parse(R"({"temperature":1})"));
  EXPECT_EQ(sent(R"("temperature":0.5,"reasoning_effort":"low")", send, 1), json::parse("{}"));
  EXPECT_EQ(sent(R"("top_p":0.97,"reasoning_effort":"low")", send, 0), json::parse(R"({"top_p":0.97})"));
}

TEST(messages_request, blank_texts_are_never_sent) {
  const auto body = build(
      R"({"model":"m","system":" \n","stop":["\n","X"],"messages":[{"role":"user","content":"\u00a0"},{"role":"user","content":"a"},
    {"role":"assistant","content":"\n\n","tool_calls":[{"id":"1","name":"f"}]},{"role":"tool","tool_call_id":"1","content":" ","is_error":true}]})");
  EXPECT_FALSE(body.as_object().contains("system"));
  EXPECT_EQ(body.at("stop_sequences"), json::parse(R"(["X"])"));
  EXPECT_EQ(body.at("messages"), json::parse(R"json([{"role":"user","content":[{"type":"text","text":"a"}]},
    {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"(no output)","is_error":true}]}])json"));
}

TEST(messages_request, a_schema_of_the_answer_is_sent_to_models_that_support_it) {
  const auto sent = [](const std::string& model, const std::string& more = "",
                       llm::schema_passing passing = llm::schema_passing::automatic) {
    auto request = llm::parse_request(
        R"({"model":")" + model + R"(","messages":[{"role":"user","content":"a"}],"output_schema":{"type":"object",)" +
        R"("properties":{"a":{"type":"string"}}})" + more + "}");
    const auto format = anthropic::take_output_schema(request, passing);
    const auto body = json::parse(anthropic::build_request(request, uncached(), format).body).as_object();
    EXPECT_FALSE(body.contains("output_schema"));
    const json::value* config = body.if_contains("output_config");
    EXPECT_NE(format.has_value(), body.contains("system")) << model;
    return config == nullptr ? json::value() : *config;
  };
  const auto native = json::parse(
      R"({"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}}})");
  for (const char* model : {"claude-sonnet-4-5-20250929", "claude-opus-5", "anthropic/claude-haiku-4.5"})
    EXPECT_EQ(sent(model), native) << model;
  for (const char* model : {"claude-3-7-sonnet-latest", "claude-opus-4-1", "m"})
    EXPECT_EQ(sent(model), json::value()) << model;
  EXPECT_EQ(sent("m", "", llm::schema_passing::native), native);
  EXPECT_EQ(sent("claude-opus-5", R"(,"reasoning_effort":"low")").at("effort"), "low");
  EXPECT_TRUE(sent("claude-opus-5", R"(,"reasoning_effort":"low")").as_object().contains("format"));
}

}  // namespace
