#include "core/app/client/run_view.hpp"

#include <gtest/gtest.h>

namespace ry::app::client {
namespace {

struct terminal {
  std::string answer, notes;
  run_view view{[this](std::string_view s) { answer += s; }, [this](std::string_view s) { notes += s; }, style::plain};
};

TEST(run_view, only_the_answer_goes_to_standard_output) {
  terminal t;
  for (const auto* e :
       {R"({"type": "status", "status": "running", "sequence": 1})",
        R"({"type":"llm_response_start","step":1,"attempt":1})", R"({"type":"llm_response_chunk","content":"Let me "})",
        R"({"type":"llm_response_chunk","content":"look."})",
        R"({"type":"tool_call","name":"read_file","arguments":{"path":"a.txt"}})",
        R"({"type":"tool_result","name":"read_file","is_error":false,"content":"x\ny"})", R"({"type":"ping"})",
        R"({"type":"llm_response_chunk","content":"Done.\n"})", R"({"type":"llm_response_end","usage":{}})"})
    t.view.show(e);
  EXPECT_FALSE(t.view.ended());
  t.view.show(R"({"type": "status", "status": "completed"})");
  EXPECT_EQ(t.answer, "Let me look.\nDone.\n");
  EXPECT_EQ(t.notes, "> read_file {\"path\":\"a.txt\"}\n< x y\n");
  EXPECT_EQ(t.view.status(), "completed");
}

TEST(run_view, shows_why_a_run_failed) {
  terminal t;
  t.view.show(R"({"type":"llm_response_chunk","content":"half"})");
  t.view.show(R"({"type":"status","status":"failed","error":"No credits","error_code":"INSUFFICIENT_CREDITS"})");
  EXPECT_EQ(t.answer, "half\n");
  EXPECT_EQ(t.view.status(), "failed");
  EXPECT_EQ(t.view.error(), "No credits (INSUFFICIENT_CREDITS)");
}

TEST(run_view, a_second_attempt_is_announced) {
  terminal t;
  t.view.show(R"({"type":"llm_response_start","step":1,"attempt":1})");
  t.view.show(R"({"type":"llm_response_chunk","content":"half"})");
  t.view.show(R"({"type":"llm_response_start","step":1,"attempt":2})");
  EXPECT_NE(t.notes.find("is restarted"), std::string::npos);
}

TEST(run_view, a_second_attempt_after_one_that_wrote_nothing_is_not_announced) {
  terminal t;
  t.view.show(R"({"type":"llm_response_start","step":1,"attempt":1})");
  t.view.show(R"({"type":"llm_response_chunk","content":"All."})");
  t.view.show(R"({"type":"llm_response_end"})");
  t.view.show(R"({"type":"llm_response_start","step":2,"attempt":1})");
  t.view.show(R"({"type":"llm_response_start","step":2,"attempt":2})");
  EXPECT_EQ(t.notes, "");
}

constexpr const char* requested =
    R"({"type":"approval_requested","approval_id":"0191-a","name":"shell","source":"sandbox",)"
    R"("arguments":{"command":"ls\u001b[2J\nforce: no","limit":1E308},"expires_at":"2026-11-29T10:00:00.000Z"})";

TEST(run_view, an_approval_is_shown_with_its_arguments) {
  terminal t;
  t.view.expect_decisions(true, "http://x.test");
  t.view.show(requested);
  EXPECT_EQ(
      t.notes,
      "? shell needs an approval until 2026-11-29T10:00:00.000Z\n    command: ls[2J\n      force: no\n    limit: 1E308\n");
  EXPECT_EQ(t.view.waiting(), std::vector<std::string>{"0191-a"});
  t.view.show(R"({"type":"approval_resolved","approval_id":"0191-a","status":"denied","reason":"not\nnow"})");
  EXPECT_TRUE(t.view.waiting().empty());
  EXPECT_TRUE(t.notes.ends_with("* denied: not now\n"));
}

TEST(run_view, without_questions_it_names_the_request_that_decides) {
  terminal t;
  t.view.expect_decisions(false, "http://x.test");
  t.view.show(requested);
  EXPECT_NE(t.notes.find("POST http://x.test/approvals/0191-a {\"decision\": \"approve\"}"), std::string::npos)
      << t.notes;
}

TEST(run_view, long_arguments_are_shortened) {
  terminal t;
  t.view.show(R"({"type":"approval_requested","approval_id":"a","name":"f","arguments":{"x":")" +
              std::string(100'000, 'x') + R"("},"expires_at":"2026"})");
  EXPECT_LT(t.notes.size(), 9000u);
  EXPECT_NE(t.notes.find("see GET /approvals"), std::string::npos);
}

TEST(run_view, reads_decisions) {
  EXPECT_EQ(read_decision(" Y\r"), decision::approve);
  EXPECT_EQ(read_decision("no"), decision::deny);
  EXPECT_EQ(read_decision("Always"), decision::always);
  for (const char* text : {"", "yess", "y es", "1"}) EXPECT_FALSE(read_decision(text)) << text;
  EXPECT_EQ(decision_body(decision::deny, "a \"b\""), R"({"decision":"deny","reason":"a \"b\""})");
  EXPECT_EQ(decision_body(decision::always, ""), R"({"decision":"approve","remember":"run"})");
}

TEST(run_view, terminal_escapes_from_a_model_are_removed) {
  EXPECT_EQ(printable("a\x1b[31mb\tc\n\x7f\xc2\x9b"
                      "d\xc3\xa9\r"),
            "a[31mb\tc\nd\xc3\xa9");
  terminal t;
  t.view.show("{\"type\":\"tool_call\",\"name\":\"\\u001b]0;x\\u0007\",\"arguments\":{}}");
  EXPECT_EQ(t.notes, "> ]0;x {}\n");
}

TEST(run_view, long_results_are_truncated_at_a_character_boundary) {
  terminal t;
  std::string content;
  for (int i = 0; i < 300; ++i) content += "\xc3\xa9";
  t.view.show("{\"type\":\"tool_result\",\"content\":\"" + content + "\"}");
  EXPECT_EQ(t.notes, "< " + content.substr(0, 200) + "...\n");
}

TEST(run_view, lines_that_are_not_events_are_ignored) {
  terminal t;
  for (const auto* e : {"", "[]", "{", "null", R"({"type":5})", R"({"type":"status","status":7})"}) t.view.show(e);
  EXPECT_EQ(t.answer + t.notes, "");
  EXPECT_FALSE(t.view.ended());
}

}  // namespace
}  // namespace ry::app::client
