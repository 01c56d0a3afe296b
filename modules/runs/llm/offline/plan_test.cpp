#include "plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "request.hpp"

namespace {

using offline::make_plan;
using testing::HasSubstr;
using testing::Not;

const std::string tools =
    R"("tools":[{"name":"shell","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}},
       {"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],)";
const std::string files =
    R"({"role":"user","content":"Sum up\n\n[Attached: a (1).txt (12 B) -> uploads/a (1).txt]\n[Attached: p.png (2.0 KB) -> uploads/p.png]\n[Attached: d.PDF (3.0 KB) -> uploads/d.PDF]"})";

std::string request(const std::string& messages, const std::string& with = tools) {
  return R"({"model":"offline",)" + with + R"("messages":[)" + messages + "]}";
}

TEST(plan, states_that_it_is_not_a_language_model) {
  const auto p = make_plan(request(R"({"role":"user","content":"Hello there"})"));
  EXPECT_TRUE(p.calls.empty());
  EXPECT_THAT(p.text, HasSubstr("not a language model"));
  EXPECT_THAT(p.text, HasSubstr("You wrote 2 words"));
  EXPECT_THAT(p.text, HasSubstr("> Hello there"));
  EXPECT_EQ(make_plan(request(R"({"role":"user","content":"Hello there"})")).text, p.text);
}

TEST(plan, reads_all_attached_text_files_first) {
  const auto p = make_plan(request(files));
  ASSERT_EQ(p.calls.size(), 2u);
  EXPECT_EQ(p.calls[0].id, "offline_1");
  EXPECT_EQ(p.calls[0].name, "read_file");
  EXPECT_EQ(p.calls[0].arguments_json, R"({"path":"uploads/a (1).txt"})");
  EXPECT_EQ(p.calls[1].arguments_json, R"({"path":"uploads/.text/d.PDF.txt"})");
  EXPECT_FALSE(p.text.empty());
}

TEST(plan, reports_the_files_that_were_read) {
  const auto p = make_plan(request(
      files +
      R"(,{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"read_file","arguments":{"path":"uploads/a (1).txt"}},{"id":"2","name":"read_file","arguments":{"path":"uploads/.text/d.PDF.txt"}}]},
       {"role":"tool","tool_call_id":"1","name":"read_file","content":"one two\nthree\n"},
       {"role":"tool","tool_call_id":"2","name":"read_file","content":"no such file","is_error":true})"));
  EXPECT_TRUE(p.calls.empty());
  EXPECT_THAT(p.text, HasSubstr("a (1).txt (12 B): 2 lines, 3 words. It begins:\n> one two\n> three\n"));
  EXPECT_THAT(p.text, HasSubstr("p.png (2.0 KB): not read, it is not text"));
  EXPECT_THAT(p.text, HasSubstr("d.PDF (3.0 KB): it could not be read.\n> no such file"));
}

TEST(plan, reads_the_files_that_have_not_been_read) {
  const auto p = make_plan(request(
      files +
      R"(,{"role":"assistant","tool_calls":[{"id":"1","name":"read_file","arguments":{"path":"uploads/a (1).txt"}}]},
       {"role":"tool","tool_call_id":"1","name":"read_file","content":"x"})"));
  ASSERT_EQ(p.calls.size(), 1u);
  EXPECT_EQ(p.calls[0].id, "offline_2");
  EXPECT_EQ(p.calls[0].arguments_json, R"({"path":"uploads/.text/d.PDF.txt"})");
}

TEST(plan, runs_a_command_on_request) {
  const std::string ask = R"({"role":"user","content":"please\nrun: ls -l | wc "})";
  const auto p = make_plan(request(ask));
  ASSERT_EQ(p.calls.size(), 1u);
  EXPECT_EQ(p.calls[0].name, "shell");
  EXPECT_EQ(p.calls[0].arguments_json, R"({"command":"ls -l | wc"})");
  const auto after = make_plan(
      request(ask +
              R"(,{"role":"assistant","tool_calls":[{"id":"1","name":"shell","arguments":{"command":"ls -l | wc"}}]},
       {"role":"tool","tool_call_id":"1","name":"shell","content":"3 4 5"})"));
  EXPECT_TRUE(after.calls.empty());
  EXPECT_THAT(after.text, HasSubstr("The command gave:\n> 3 4 5"));
}

TEST(plan, only_the_last_turn_counts) {
  const auto p =
      make_plan(request(files +
                        R"(,{"role":"assistant","tool_calls":[{"id":"1","name":"read_file","arguments":{"path":"x"}}]},
       {"role":"tool","tool_call_id":"1","name":"read_file","content":"x"},
       {"role":"assistant","content":"done"},{"role":"user","content":"thanks"})"));
  EXPECT_TRUE(p.calls.empty());
  EXPECT_THAT(p.text, HasSubstr("> thanks"));
  EXPECT_THAT(p.text, Not(HasSubstr("a (1).txt")));
}

TEST(plan, works_without_tools_and_with_unusual_parameters) {
  const auto p = make_plan(request(files, ""));
  EXPECT_TRUE(p.calls.empty());
  EXPECT_THAT(p.text, HasSubstr("there is no tool for it"));
  const auto odd = make_plan(request(
      R"({"role":"user","content":"run: id"})",
      R"("tools":[{"name":"shell","parameters":{"type":"object","properties":{"cmd":{}},"required":["cmd"]}}],)"));
  EXPECT_EQ(odd.calls.at(0).arguments_json, R"({"cmd":"id"})");
  EXPECT_THROW(make_plan("{}"), llm::bad_request);
  EXPECT_THROW(make_plan(request(R"({"role":"assistant","content":"x"})")), llm::bad_request);
  for (const char* text : {"[Attached: ]", "[Attached: x -> y]", "[Attached:  () -> ]", "run:"})
    EXPECT_NO_THROW(make_plan(request(R"({"role":"user","content":")" + std::string(text) + "\"}")));
}

TEST(split_into_chunks, never_splits_a_character) {
  const std::string text = "\xc3\xa4\xc3\xb6\xc3\xbc and some more words \xf0\x9f\x98\x80\xf0\x9f\x98\x80";
  for (std::size_t size = 1; size < 20; ++size) {
    std::string joined;
    for (const auto piece : offline::split_into_chunks(text, size)) {
      EXPECT_FALSE(piece.empty());
      EXPECT_NE(static_cast<unsigned char>(piece[0]) & 0xc0, 0x80);
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
  EXPECT_TRUE(offline::split_into_chunks("", 5).empty());
}

}  // namespace
