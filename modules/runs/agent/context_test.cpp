#include "agent/context.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

using namespace runs;

namespace {

const tool_call call{"c1", "shell", R"({"command":"ls"})", false};

chat_message user_message(std::string text, belongs run = belongs::to_this_run) {
  return {"user", user_body(text), run, 0};
}
chat_message assistant_message(std::string text) {
  return {"assistant", assistant_body(text, {}), belongs::to_this_run, 0};
}
chat_message call_message() {
  return {"assistant", assistant_body("", {call}), belongs::to_this_run, 0};
}
chat_message result_message(std::string text) {
  return {"tool", tool_body(call, {std::move(text), false, {}}), belongs::to_this_run, 0};
}

TEST(context_test, estimates_tokens_of_scripts_and_images) {
  EXPECT_EQ(estimate_tokens("abcd efg"), 2);
  EXPECT_EQ(estimate_tokens("\xE4\xBD\xA0\xE5\xA5\xBD"), 2) << "two Chinese characters";
  const std::string image =
      R"({"role":"user","content":[{"type":"text","text":"see"},{"type":"image","media_type":"image/png","data":")" +
      std::string(400'000, 'A') + "\"}]}";
  const std::int64_t tokens = estimate_tokens(std::vector<chat_message>{{"user", image, belongs::to_this_run, 0}});
  EXPECT_GT(tokens, 1600);
  EXPECT_LT(tokens, 1700) << "an image counts as a fixed number of tokens";
}

TEST(context_test, room_leaves_space_for_the_answer) {
  const std::int64_t room = room_for_messages(100'000, 4000, std::string(4000, 's'), "[]");
  EXPECT_EQ(room, 100'000 - 10'000 - 4000 - 1000 - 1);
  EXPECT_EQ(room_for_messages(10'000, 0, "", ""), 10'000 - 1000 - 2500);
  EXPECT_EQ(room_for_messages(10'000, 0, std::string(400'000, 's'), ""), 1000)
      << "a tenth of the window is always left";
}

TEST(context_test, a_conversation_that_fits_is_unchanged) {
  std::vector<chat_message> m = {user_message("go"), call_message(), result_message(std::string(4000, 'x')),
                                 assistant_message("done")};
  const std::vector<chat_message> before = m;
  shorten_old(m, 2000);
  for (std::size_t i = 0; i < m.size(); ++i) EXPECT_EQ(m[i].body, before[i].body);
}

TEST(context_test, old_results_are_shortened_first_and_the_latest_is_kept) {
  std::vector<chat_message> m = {user_message("go")};
  for (int i = 0; i < 6; ++i) {
    m.push_back(call_message());
    m.push_back(result_message(std::string(8000, 'a' + i)));
  }
  const std::int64_t after = shorten_old(m, 8000);
  EXPECT_LE(after, 6000);
  EXPECT_EQ(after, estimate_tokens(m));
  EXPECT_LT(m[2].body.size(), 1000u);
  EXPECT_NE(m[2].body.find("omitted"), std::string::npos) << "a note replaces the omitted part";
  EXPECT_EQ(content_of(m.back().body), std::string(8000, 'f')) << "the model has not seen it yet";
  EXPECT_EQ(content_of(m[m.size() - 3].body), std::string(8000, 'e')) << "no more results than necessary are shortened";
  for (const chat_message& message : m) EXPECT_TRUE(boost::json::parse(message.body).is_object());
}

TEST(context_test, images_of_earlier_turns_are_removed_first) {
  const std::string image =
      R"({"role":"user","content":[{"type":"text","text":"see"},{"type":"image","media_type":"image/png","data":"AAAA"}]})";
  std::vector<chat_message> m = {{"user", image, belongs::to_an_earlier_run, 0},
                                 assistant_message("ok"),
                                 {"user", image, belongs::to_this_run, 0}};
  shorten_old(m, 1700);
  EXPECT_EQ(content_of(m[0].body), "see\n[an image was omitted]");
  EXPECT_EQ(m[2].body, image);
}

TEST(context_test, remove_tool_images_keeps_the_text_of_results) {
  const std::string body =
      tool_body(call, {"a chart", false, R"({"type":"image","media_type":"image/png","data":"AAAA"})"});
  std::vector<chat_message> m = {user_message("go"), call_message(), {"tool", body, belongs::to_this_run, 0}};
  EXPECT_TRUE(remove_tool_images(m));
  EXPECT_EQ(content_of(m[2].body), "a chart\n[an image was omitted]");
  EXPECT_EQ(answered_id(m[2]), "c1");
  EXPECT_FALSE(remove_tool_images(m));
}

TEST(context_test, reasoning_of_earlier_answers_is_removed) {
  std::vector<chat_message> m = {
      user_message("go"),
      {"assistant", with_reasoning(assistant_body("", {call}), "[{\"signature\":\"" + std::string(8000, 's') + "\"}]"),
       belongs::to_this_run, 0},
      result_message("x"),
      {"assistant", with_reasoning(assistant_body("", {call}), "[{\"signature\":\"t\"}]"), belongs::to_this_run, 0},
      result_message("y")};
  shorten_old(m, 1000);
  EXPECT_EQ(m[1].body.find("signature"), std::string::npos);
  EXPECT_EQ(calls_of(m[1].body).size(), 1u);
  EXPECT_NE(m[3].body.find("signature"), std::string::npos) << "the provider requires the latest reasoning";
}

TEST(context_test, shorten_recent_shortens_the_longest_results) {
  std::vector<chat_message> m = {user_message("go"), call_message(), result_message(std::string(48'000, 'x')),
                                 result_message("short")};
  EXPECT_LE(shorten_recent(m, 2000), 2000);
  EXPECT_EQ(content_of(m[3].body), "short");
  EXPECT_NE(content_of(m[2].body).find("omitted"), std::string::npos);
}

TEST(context_test, a_summary_never_separates_calls_from_results) {
  std::vector<chat_message> m = {user_message("a"), assistant_message("b"), user_message("c")};
  for (int i = 0; i < 4; ++i) {
    m.push_back(call_message());
    m.push_back(result_message(std::string(4000, 'x')));
  }
  for (std::int64_t room : {200, 2200, 3000, 4400, 6000, 1'000'000}) {
    const std::size_t n = to_summarise(m, room);
    ASSERT_LT(n, m.size());
    if (n != 0) {
      EXPECT_NE(m[n].role, "tool") << room;
    }
  }
  EXPECT_EQ(to_summarise(m, 200), m.size() - 2) << "the latest exchange is never summarised";
  EXPECT_EQ(to_summarise(m, 4400), m.size() - 4);
}

TEST(context_test, there_may_be_nothing_to_summarise) {
  EXPECT_EQ(to_summarise({}, 100), 0u);
  EXPECT_EQ(to_summarise({user_message(std::string(10'000, 'x'))}, 100), 0u);
  chat_message summary{"summary", user_body("earlier"), belongs::to_this_run, 0};
  EXPECT_EQ(to_summarise({summary, user_message(std::string(10'000, 'x'))}, 100), 0u)
      << "a summary alone is not summarised again";
  EXPECT_EQ(to_summarise({summary, assistant_message("a"), user_message(std::string(10'000, 'x'))}, 100), 2u);
}

TEST(context_test, the_request_in_progress_is_kept_verbatim) {
  std::vector<chat_message> m = {user_message("old question", belongs::to_an_earlier_run),
                                 assistant_message("old answer"), user_message("the task \"now\""), call_message(),
                                 result_message("x")};
  const std::string text = transcript(m, 3, 1000);
  EXPECT_NE(text.find("USER:\nold question"), std::string::npos);
  EXPECT_NE(text.find("ASSISTANT:\nold answer"), std::string::npos);
  const std::string body = summary_body("It was about things.", m, 3, 1000);
  EXPECT_NE(content_of(body).find("It was about things."), std::string::npos);
  EXPECT_NE(content_of(body).find("the task \"now\""), std::string::npos);
  EXPECT_EQ(content_of(summary_body("s", m, 2, 1000)).find("task"), std::string::npos)
      << "the request is still in the history";
  EXPECT_NE(content_of(summary_body("", m, 3, 1000)).find("3 earlier messages were omitted"), std::string::npos);
  EXPECT_LE(transcript(m, 5, 0).size(), 900u);
}

}  // namespace
