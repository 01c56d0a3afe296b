#include "run/conversation.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <random>
#include <utility>

#include "agent/tools/tool_files.hpp"
#include "agent/tools/tool_source_text.hpp"
#include "json/exact.hpp"

using namespace runs;
namespace json = boost::json;

namespace {

chat_message user_message(std::string_view text, belongs run = belongs::to_this_run) {
  return {"user", user_body(text), run};
}
chat_message assistant_message(std::string_view text, std::vector<tool_call> calls = {},
                               belongs run = belongs::to_this_run) {
  return {"assistant", assistant_body(text, calls), run};
}
chat_message result_message(const tool_call& call, std::string_view text, belongs run = belongs::to_this_run) {
  return {"tool", tool_body(call, {std::string(text), false, {}}), run};
}

const tool_call first{"c1", "shell", R"({"command":"ls"})", false};
const tool_call second{"c2", "read_file", R"({"path":"a"})", false};

std::vector<std::string> roles(const std::string& request) {
  std::vector<std::string> out;
  const json::value v = json::parse(request);
  for (const json::value& m : v.at("messages").as_array()) {
    std::string entry(m.at("role").as_string());
    if (entry == "tool") entry += ":" + std::string(m.at("tool_call_id").as_string());
    out.push_back(entry);
  }
  return out;
}

TEST(bodies_test, content_may_consist_of_parts) {
  const std::string body =
      tool_body(first, {"seen \"it\"", false, R"({"type":"image","media_type":"image/png","data":"AA=="})"});
  EXPECT_EQ(json::parse(body).at("content").as_array().size(), 2u);
  EXPECT_EQ(content_of(body), "seen \"it\"");
  EXPECT_EQ(content_of(user_body("plain")), "plain");
  EXPECT_EQ(content_of("nonsense"), "");
  const std::string with_reasoning_body = with_reasoning(assistant_body("a", {first}), R"([{"x":1}])");
  EXPECT_EQ(json::parse(with_reasoning_body).at("reasoning").at(0).at("x"), 1);
  EXPECT_EQ(calls_of(with_reasoning_body).size(), 1u);
  EXPECT_EQ(with_reasoning("{}", ""), "{}");
}

TEST(bodies_test, deeply_nested_arguments_are_preserved) {
  std::string deep = "1";
  for (int i = 0; i < 31; ++i) deep = "{\"a\":" + deep + "}";
  const tool_call call = read_tool_call("c", "f", deep, {});
  ASSERT_FALSE(call.malformed);
  EXPECT_EQ(calls_of(assistant_body("", {call})).size(), 1u);
  EXPECT_EQ(decide({user_message("go"), assistant_message("", {call})}).kind, next_kind::run_tools);
  EXPECT_TRUE(read_tool_call("c", "f", "{\"a\":{\"a\":" + deep + "}}", {}).malformed);
}

TEST(decide_test, determines_each_step_of_a_run) {
  std::vector<chat_message> m = {user_message("go")};
  EXPECT_EQ(decide(m).kind, next_kind::call_model);
  m.push_back(assistant_message("", {first, second}));
  next_action next = decide(m);
  ASSERT_EQ(next.kind, next_kind::run_tools);
  ASSERT_EQ(next.calls.size(), 2u);
  EXPECT_EQ(next.calls[0].arguments, R"({"command":"ls"})");
  m.push_back(result_message(second, "text"));
  next = decide(m);
  ASSERT_EQ(next.kind, next_kind::run_tools);
  ASSERT_EQ(next.calls.size(), 1u);
  EXPECT_EQ(next.calls[0].id, "c1");
  m.push_back(result_message(first, "files"));
  EXPECT_EQ(decide(m).kind, next_kind::call_model);
  m.push_back(assistant_message("done"));
  EXPECT_EQ(decide(m).kind, next_kind::finished);
}

TEST(decide_test, a_prompt_that_joined_the_run_is_answered) {
  EXPECT_EQ(decide({user_message("go"), assistant_message("done"), user_message("more")}).kind, next_kind::call_model);
  EXPECT_EQ(decide({user_message("go"), assistant_message("", {first}), result_message(first, "1"),
                    user_message("more"), user_message("and more")})
                .kind,
            next_kind::call_model);
  EXPECT_EQ(
      decide({user_message("go"), assistant_message("done"), user_message("more"), assistant_message("also done")})
          .kind,
      next_kind::finished);
}

TEST(decide_test, calls_of_earlier_runs_are_not_repeated) {
  EXPECT_EQ(
      decide({user_message("a", belongs::to_an_earlier_run), assistant_message("b", {}, belongs::to_an_earlier_run)})
          .kind,
      next_kind::call_model)
      << "a start without a prompt";
  EXPECT_EQ(decide({assistant_message("", {first}, belongs::to_an_earlier_run), user_message("new")}).kind,
            next_kind::call_model);
  EXPECT_EQ(decide({}).kind, next_kind::call_model);
}

TEST(build_request_test, results_follow_their_answer_in_the_order_of_the_calls) {
  const std::string request =
      build_request({"m", "be kind", R"([{"name":"shell"}])", 100},
                    {user_message("go"), assistant_message("", {first, second}), result_message(second, "2"),
                     result_message(first, "1"), assistant_message("ok"), user_message("more")});
  EXPECT_EQ(roles(request), (std::vector<std::string>{"user", "assistant", "tool:c1", "tool:c2", "assistant", "user"}));
  const json::value v = json::parse(request);
  EXPECT_EQ(v.at("system").as_string(), "be kind");
  EXPECT_EQ(v.at("max_output_tokens").as_int64(), 100);
  EXPECT_EQ(v.at("tools").as_array().size(), 1u);
}

TEST(build_request_test, calls_without_a_result_get_an_error_result) {
  const std::string request =
      build_request({"m", "", "[]", 0}, {assistant_message("", {first, second}, belongs::to_an_earlier_run),
                                         result_message(first, "1", belongs::to_an_earlier_run), user_message("next")});
  EXPECT_EQ(roles(request), (std::vector<std::string>{"assistant", "tool:c1", "tool:c2", "user"}));
  EXPECT_TRUE(json::parse(request).at("messages").at(2).at("is_error").as_bool());
  EXPECT_FALSE(json::parse(request).as_object().contains("tools"));
  EXPECT_FALSE(json::parse(request).as_object().contains("system"));
}

TEST(build_request_test, the_last_message_is_a_user_message) {
  EXPECT_EQ(roles(build_request({"m", "", "", 0}, {user_message("a"), assistant_message("b")})),
            (std::vector<std::string>{"user", "assistant", "user"}));
}

chat_message part(std::string_view text, std::string_view finish, belongs run = belongs::to_this_run) {
  return {"assistant", assistant_body(text, {}, finish), run};
}

TEST(unfinished_test, only_truncated_or_paused_text_is_continued) {
  EXPECT_TRUE(is_unfinished(part("a", "length")));
  EXPECT_TRUE(is_unfinished(part("a", "pause")));
  for (const char* finish : {"", "content_filter", "refusal", "stop"})
    EXPECT_FALSE(is_unfinished(part("a", finish))) << finish;
  EXPECT_FALSE(is_unfinished(assistant_message(R"(it says "finish":"length")")));
  EXPECT_FALSE(is_unfinished(user_message(R"("finish":"length")")));
  const tool_call tricky{"c1", "f", R"({"finish":"length"})", false};
  EXPECT_FALSE(is_unfinished(assistant_message("", {tricky})));
  EXPECT_EQ(decide({user_message("go"), assistant_message("", {tricky})}).kind, next_kind::run_tools);

  EXPECT_EQ(decide({user_message("go"), part("one ", "length")}).kind, next_kind::call_model);
  EXPECT_EQ(decide({user_message("go"), part("one ", "pause")}).kind, next_kind::call_model);
  EXPECT_EQ(decide({user_message("go"), part("one ", "length"), assistant_message("two")}).kind, next_kind::finished);
}

TEST(unfinished_test, counts_the_unfinished_parts_at_the_end_of_this_run) {
  const auto counts = [](const std::vector<chat_message>& m) {
    const unfinished_parts p = parts_so_far(m);
    return std::pair(p.truncated, p.paused);
  };
  EXPECT_EQ(counts({user_message("go")}), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(counts({user_message("go"), part("1", "length"), part("2", "pause"), part("3", "length")}),
            std::pair(std::int64_t{2}, std::int64_t{1}));
  EXPECT_EQ(
      counts({part("1", "length"), assistant_message("", {first}), result_message(first, "r"), part("2", "length")}),
      std::pair(std::int64_t{1}, std::int64_t{0}));
  EXPECT_EQ(counts({part("1", "length", belongs::to_an_earlier_run)}), std::pair(std::int64_t{0}, std::int64_t{0}))
      << "parts of earlier runs are not counted";
}

TEST(build_request_test, parts_of_an_answer_are_joined_and_the_rest_is_requested) {
  const std::string one = build_request({"m", "", "", 0}, {user_message("go"), part("The steps are: fi", "length")});
  EXPECT_EQ(roles(one), (std::vector<std::string>{"user", "assistant", "user"}));
  const json::value first_request = json::parse(one);
  EXPECT_EQ(first_request.at("messages").at(1), json::parse(R"({"role":"assistant","content":"The steps are: fi"})"));
  EXPECT_NE(first_request.at("messages").at(2).at("content").as_string().find("exactly where it stopped"),
            json::string::npos);

  const std::string two = build_request(
      {"m", "", "", 0}, {user_message("go"), part("The steps are: fi", "length"), part("rst, sec", "length")});
  EXPECT_EQ(roles(two), (std::vector<std::string>{"user", "assistant", "user"}));
  EXPECT_EQ(json::parse(two).at("messages").at(1).at("content").as_string(), "The steps are: first, sec");

  const chat_message last{"assistant", with_reasoning(assistant_body("ond", {first}), R"([{"x":1}])"),
                          belongs::to_this_run};
  const std::string three =
      build_request({"m", "", "", 0}, {user_message("go"), part("first, ", "length"), part("sec", "pause"), last,
                                       result_message(first, "files"), user_message("next")});
  EXPECT_EQ(roles(three), (std::vector<std::string>{"user", "assistant", "tool:c1", "user"}));
  EXPECT_EQ(json::parse(three).at("messages").at(1),
            json::parse(R"({"role":"assistant","content":"first, second","reasoning":[{"x":1}],
                            "tool_calls":[{"id":"c1","name":"shell","arguments":{"command":"ls"}}]})"));

  const json::value paused =
      json::parse(build_request({"m", "", "", 0}, {user_message("go"), part("One moment.", "pause")}));
  EXPECT_EQ(paused.at("messages").at(2).at("content").as_string(), "Continue.");
}

TEST(build_request_test, the_finish_of_earlier_answers_is_not_sent) {
  const json::value v = json::parse(build_request(
      {"m", "", "", 0}, {user_message("a"), part("withheld", "content_filter", belongs::to_an_earlier_run),
                         user_message("b"), part("cut", "length", belongs::to_an_earlier_run), user_message("c")}));
  for (const json::value& m : v.at("messages").as_array()) EXPECT_FALSE(m.as_object().contains("finish"));
  EXPECT_EQ(v.at("messages").at(3).at("content").as_string(), "cut");
  EXPECT_EQ(v.at("messages").as_array().size(), 5u);
}

TEST(build_request_test, parameters_become_members_of_the_request) {
  const json::value v =
      json::parse(build_request({"m", "", "[]", 7, R"("temperature":0.5,"tool_choice":"none")"}, {user_message("a")}));
  EXPECT_EQ(v.at("max_output_tokens"), 7);
  EXPECT_EQ(v.at("temperature"), 0.5);
  EXPECT_EQ(v.at("tool_choice").as_string(), "none");
}

TEST(refuse_call_test, a_call_with_truncated_arguments_is_not_made) {
  const auto rejection = [](std::string_view arguments, answer_ending end) {
    const auto refused = refuse_call(read_tool_call("c", "write_file", arguments, {}), end);
    return refused ? (refused->is_error ? refused->content : "no error") : std::string("made");
  };
  for (const char* incomplete : {"", " ", "{", R"({"path":"a.txt","content":"abc)", R"({"path":"a.txt")", "[1", "nul"})
    EXPECT_NE(rejection(incomplete, answer_ending::truncated).find("output limit"), std::string::npos) << incomplete;
  EXPECT_EQ(rejection(R"({"path":"a.txt","content":"abc"})", answer_ending::truncated), "made");
  EXPECT_EQ(rejection("{}", answer_ending::truncated), "made");
  EXPECT_EQ(rejection("", answer_ending::finished), "made");
  EXPECT_EQ(rejection("{\"path\":", answer_ending::finished), "the arguments were not a valid JSON object");
}

TEST(read_tool_call_test, numbers_beyond_double_remain_valid_json) {
  const tool_call call =
      read_tool_call("c", "f", R"({"a":1e400,"b":[-1e999,{"c":1.7976931348623157e308}],"d":1e308,"e":-2.5})", {});
  EXPECT_FALSE(call.malformed);
  EXPECT_EQ(call.arguments, R"({"a":1E308,"b":[-1E308,{"c":1E308}],"d":1E308,"e":-2.5E0})");
  // The arguments are the same when they are read from the thread.
  EXPECT_EQ(calls_of(assistant_body("", {call})).at(0).arguments, call.arguments);
  EXPECT_EQ(read_tool_call("c", "f", "{\"a\":\"x\xE2\x80\xA8y\"}", {}).arguments, "{\"a\":\"x\\u2028y\"}");
}

TEST(read_tool_call_test, malformed_calls_are_normalised) {
  EXPECT_EQ(read_tool_call("x", "shell", "{\"a\" :\n 1}", {}).arguments, "{\"a\":1}");
  EXPECT_FALSE(read_tool_call("x", "shell", "", {}).malformed);
  EXPECT_EQ(read_tool_call("x", "shell", " ", {}).arguments, "{}");
  EXPECT_TRUE(read_tool_call("x", "shell", "{\"a\":", {}).malformed);
  EXPECT_TRUE(read_tool_call("x", "shell", "[1]", {}).malformed);
  EXPECT_EQ(read_tool_call("x", "shell", "{\"a\":", {}).arguments, "{}");
  EXPECT_EQ(read_tool_call("", "shell", "{}", {}).id, "call_1");
  EXPECT_NE(read_tool_call("c1", "shell", "{}", {first}).id, "c1");
  EXPECT_EQ(read_tool_call(std::string(256, 'i'), "shell", "{}", {}).id, std::string(256, 'i'));
  EXPECT_EQ(read_tool_call(std::string(257, 'i'), "shell", "{}", {}).id, "call_1");
  EXPECT_EQ(read_tool_call(std::string(2 << 20, 'i'), "shell", "{}", {first}).id, "call_2");
  EXPECT_EQ(read_tool_call("x", "s" + std::string(2 << 20, 'n'), "{}", {}).name.size(), 256u);
  EXPECT_EQ(read_tool_call("x", std::string(255, 'n') + "\xC3\xA4", "{}", {}).name, std::string(255, 'n'));
}

TEST(bodies_test, content_is_valid_utf8_on_one_line) {
  EXPECT_EQ(content_of(user_body("a \"b\"\n\xFF")), "a \"b\"\n\xEF\xBF\xBD");
  EXPECT_EQ(content_of("no json"), "");
  EXPECT_EQ(assistant_body("x", {}).find('\n'), std::string::npos);
}

// `levels` nested objects.
std::string nested(int levels, std::string text = "1") {
  for (int i = 0; i < levels; ++i) text = "{\"a\":" + text + "}";
  return text;
}

TEST(parse_exactly_test, accepts_the_same_texts_as_boost_json) {
  boost::system::error_code bad;
  for (const char* text : {"7", " -1.5e3 ", "18446744073709551615", "18446744073709551616", "-0.0", "1e400", "1e-400",
                           R"({"a":[null,true,"\u00e9\n",{}],"b":{"c":-9223372036854775808},"a":[]})", "\"\""}) {
    EXPECT_EQ(module_json::parse_exactly(text, 32, bad), json::parse(text)) << text;
    EXPECT_FALSE(bad) << text;
  }
  for (const char* text : {"", "{", "[1,]", "1 2", "{}x", "\"\xff\"", "nul", "1.", "[[1]]"}) {
    EXPECT_TRUE(module_json::parse_exactly(text, 1, bad).is_null()) << text;
    EXPECT_TRUE(bad) << text;
  }
  module_json::parse_exactly(nested(160), 160, bad);
  EXPECT_FALSE(bad);
}

TEST(parse_exactly_test, preserves_doubles_exactly) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> money(0, 1e6), power(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    const double d = i % 2 == 0 ? money(random) : money(random) * std::pow(10, power(random));
    boost::system::error_code bad;
    const json::value v = module_json::parse_exactly("[" + json::serialize(json::value(d)) + "]", 32, bad);
    ASSERT_EQ(v.at(0).as_double(), d);
  }
}

TEST(read_tool_call_test, numbers_keep_the_precision_of_the_model) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> degrees(-180, 180);
  json::array all;
  for (int i = 0; i < 1000; ++i) all.push_back(degrees(random));
  const std::string arguments = json::serialize(json::object{{"a", all}});
  const tool_call call = read_tool_call("c", "f", arguments, {});
  EXPECT_EQ(call.arguments, arguments);
  EXPECT_EQ(calls_of(assistant_body("", {call})).at(0).arguments, arguments);
}

TEST(read_listing_test, a_tool_with_a_deep_schema_is_offered) {
  const auto got = read_listing(R"([{"name":"a","source":"mcp:x","read_only":true,"parameters":{"n":0.3}},)"
                                R"({"name":"deep","parameters":)" +
                                nested(60) + "}]");
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->skipped.empty());
  ASSERT_EQ(got->tools.size(), 2u);
  EXPECT_EQ(got->tools[0].source, "mcp:x");
  EXPECT_TRUE(got->tools[0].repeatable);
  EXPECT_EQ(json::serialize(got->tools[0].for_model), R"({"name":"a","parameters":{"n":3E-1}})");
  EXPECT_EQ(json::serialize(got->tools[1].for_model.at("parameters")), nested(60));
}

// Provider drivers parse offered tools with the depth limit of message bodies.
TEST(read_listing_test, only_the_tool_that_is_nested_too_deeply_is_skipped) {
  for (const int levels : {62, 100, 200}) {
    const auto got = read_listing(R"( [{"name":"a"}, {"name":"deep","parameters":)" + nested(levels) +
                                  R"(},7,{"name":"half","x":nul},{"name":"b","x":"],\"[{"}] )");
    ASSERT_TRUE(got) << levels;
    ASSERT_EQ(got->tools.size(), 2u) << levels;
    EXPECT_EQ(got->tools[1].name, "b");
    EXPECT_EQ(got->skipped, (std::vector<std::string>{levels > 150 ? "#2" : "deep", "#3", "#4"}));
  }
  const auto deepest = read_listing(R"([{"name":"deep","parameters":)" + nested(61) + "}]");
  ASSERT_EQ(deepest->tools.size(), 1u);
  boost::system::error_code bad;
  json::parse(
      build_request({"m", "", "[" + json::serialize(deepest->tools[0].for_model) + "]", 0}, {user_message("x")}), bad,
      {}, body_options());
  EXPECT_FALSE(bad);
}

TEST(read_listing_test, malformed_lists_are_rejected) {
  for (const char* text : {"", " ", "[", "{}", "null", "[{]", "[}{]", "[\"]", "[\"\\\"]"})
    EXPECT_FALSE(read_listing(text)) << text;
  for (const char* text : {"[]", " [ ] "}) EXPECT_TRUE(read_listing(text)->tools.empty()) << text;
}

TEST(read_result_test, deep_structured_content_does_not_affect_other_members) {
  const tool_outcome got = read_result(R"({"content":"42","structured":)" + nested(127) +
                                       R"(,"images":[{"media_type":"image/png","data":"AA=="}],"is_error":true})");
  EXPECT_EQ(got.content, "42");
  EXPECT_TRUE(got.is_error);
  EXPECT_NE(got.images.find("image/png"), std::string::npos);
  EXPECT_EQ(read_result("[]").content, "the tool's answer was malformed");
}

TEST(read_result_test, images_that_are_too_large_for_the_message_become_files) {
  const std::string large = R"({"media_type":"image/png","data":")" + std::string(5u << 20, 'A') + "\"}";
  std::vector<result_file> files;
  const tool_outcome got = read_result(
      R"({"content":"shots","images":[)" + large + R"(,{"media_type":"image/png","data":"AA=="}]})", &files);
  EXPECT_EQ(got.content, "shots");
  EXPECT_NE(got.images.find("AA=="), std::string::npos) << "the others are kept";
  ASSERT_EQ(files.size(), 2u);
  EXPECT_FALSE(files[0].in_message);
  EXPECT_TRUE(files[1].in_message);
}

chat_message of_this_run(const std::string& role, const std::string& body) {
  return {role, body, belongs::to_this_run};
}

TEST(output_repair_test, the_model_gets_the_errors_as_a_message_of_the_user) {
  const std::vector<chat_message> messages = {of_this_run("user", user_body("x")),
                                              of_this_run("assistant", assistant_body("{}", {})),
                                              of_this_run(std::string(repair_role), repair_body("/a is required"))};
  EXPECT_EQ(decide(messages).kind, next_kind::call_model);
  const json::value request =
      json::parse(build_request({.model = "m", .output_schema = R"({"type":"object"})"}, messages));
  EXPECT_EQ(request.at("output_schema"), json::parse(R"({"type":"object"})"));
  ASSERT_EQ(request.at("messages").as_array().size(), 3u);
  EXPECT_EQ(request.at("messages").at(2).at("role"), "user");
  EXPECT_NE(content_of(messages[2].body).find("/a is required"), std::string::npos);
}

// A worker that claims the run counts the corrections in the stored messages.
TEST(output_repair_test, a_request_for_a_correction_is_remembered) {
  const chat_message repair = of_this_run(std::string(repair_role), repair_body("/a is required"));
  chat_message of_another_run = repair;
  of_another_run.run = belongs::to_an_earlier_run;
  EXPECT_FALSE(has_asked_for_repair({of_this_run("user", repair.body), of_another_run}));
  EXPECT_TRUE(has_asked_for_repair({repair, of_this_run("assistant", assistant_body("{}", {}))}));
  const std::string summary = with_repair_mark(with_loaded_tools(user_body("so far"), {"t"}));
  EXPECT_TRUE(has_asked_for_repair({of_this_run("summary", summary)}));
  EXPECT_FALSE(has_asked_for_repair({of_this_run("summary", user_body(R"(,"repair":true})"))}));
  EXPECT_EQ(loaded_tools_of(summary), std::vector<std::string>{"t"});
  EXPECT_EQ(json::parse(build_request({.model = "m"}, {of_this_run("summary", summary)})).at("messages").at(0),
            json::parse(user_body("so far")))
      << "providers do not get the marks";
}

TEST(output_repair_test, the_answer_has_the_text_of_all_its_parts) {
  const auto part = [](const char* text, const char* finish) {
    return of_this_run("assistant", assistant_body(text, {}, finish));
  };
  const chat_message prompt = of_this_run("user", user_body("x"));
  EXPECT_EQ(answer_so_far({prompt}), "");
  EXPECT_EQ(answer_so_far({part("old", ""), prompt, part("{\"a\":", "length"), part("1", "pause"), part("}", "")}),
            "{\"a\":1}");
  EXPECT_EQ(answer_so_far({prompt, part("{\"a\":", "length")}), "{\"a\":");
  EXPECT_EQ(answer_so_far({prompt, {"assistant", assistant_body("x", {}), belongs::to_an_earlier_run}}), "");
}

TEST(read_tool_call_test, ids_and_names_have_no_nul) {
  const tool_call call = read_tool_call(std::string_view("a\0b", 3), std::string_view("sh\0ll", 5), "{}", {});
  EXPECT_EQ(call.id, "call_1");
  EXPECT_EQ(call.name, "sh_ll");
}

}  // namespace
