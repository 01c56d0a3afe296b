// Events of runs as updates of tasks, and stored messages as history and artifact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "errors.hpp"
#include "follow_up.hpp"
#include "run_updates.hpp"
#include "task_state.hpp"

using namespace a2a;
using testing::ElementsAre;
namespace json = boost::json;

namespace {

const task_ids ids{"11111111-1111-4111-8111-111111111111", "c"};
constexpr std::string_view now = "2026-01-01T00:00:00.000Z";

std::string start(int step, int attempt = 1) {
  return R"({"type":"llm_response_start","step":)" + std::to_string(step) + R"(,"attempt":)" + std::to_string(attempt) +
         "}";
}
std::string chunk(std::string_view text) {
  return R"({"type":"llm_response_chunk","content":")" + std::string(text) + "\"}";
}
std::string finish(int step, std::string_view how) {
  return R"({"type":"llm_response_end","step":)" + std::to_string(step) + R"(,"finish":")" + std::string(how) + "\"}";
}
std::string aborted(int step, int attempt = 1) {
  return R"({"type":"turn_aborted","step":)" + std::to_string(step) + R"(,"attempt":)" + std::to_string(attempt) + "}";
}
const std::string completed = R"({"type":"status","status":"completed","reason":"ok","usage":{"input_tokens":1}})";

// "append:last:text" for artifacts, the state for status updates.
std::string summary(const json::object& update) {
  if (const json::value* a = update.if_contains("artifactUpdate")) {
    const json::object& o = a->as_object();
    return std::string(o.contains("append") ? "+" : "=") +
           std::string(a->at("artifact").at("parts").at(0).at("text").as_string()) +
           (o.contains("lastChunk") ? "." : "");
  }
  return std::string(update.at("statusUpdate").at("status").at("state").as_string()).substr(11);
}

std::vector<std::string> updates_of(std::vector<std::string> events, run_updates updates = run_updates(ids)) {
  std::vector<std::string> out;
  for (const std::string& e : events) {
    updates.add(e, now);
    for (const json::object& update : updates.take()) out.push_back(summary(update));
  }
  return out;
}

json::object parsed(std::string_view text) {
  return json::parse(text).as_object();
}

}  // namespace

TEST(updates, text_is_appended_and_ends_once) {
  EXPECT_THAT(updates_of({R"({"type":"status","status":"running"})", start(1), chunk("a"), chunk("b"),
                          R"({"type":"reasoning_chunk","content":"hidden"})", finish(1, "stop"), completed}),
              ElementsAre("=a", "+b", "+.", "COMPLETED"));
}

TEST(updates, consecutive_chunks_of_a_batch_are_one_update) {
  run_updates updates(ids);
  for (const std::string& e : {start(1), chunk("a"), chunk("b")}) updates.add(e, now);
  const auto out = updates.take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(summary(out[0]), "=ab");
  EXPECT_EQ(out[0].at("artifactUpdate").at("taskId"), json::string(ids.task));
  EXPECT_EQ(out[0].at("artifactUpdate").at("contextId"), "c");
}

TEST(updates, an_aborted_attempt_is_replaced) {
  EXPECT_THAT(
      updates_of({start(1), chunk("void"), aborted(1), start(1, 2), chunk("good"), finish(1, "stop"), completed}),
      ElementsAre("=void", "=", "=good", "+.", "COMPLETED"));
  // Without turn_aborted, for example if it was trimmed.
  EXPECT_THAT(updates_of({start(1), chunk("void"), start(1, 2), chunk("good")}), ElementsAre("=void", "=", "=good"));
  // An attempt that was void before its text was sent is never sent.
  run_updates batch(ids);
  for (const std::string& e : {start(1), chunk("void"), aborted(1), start(1, 2), chunk("good")}) batch.add(e, now);
  const auto out = batch.take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(summary(out[0]), "=good");
}

TEST(updates, an_aborted_continuation_keeps_the_first_part) {
  EXPECT_THAT(updates_of({start(1), chunk("one "), finish(1, "length"), start(2), chunk("void"), aborted(2),
                          start(2, 2), chunk("two"), finish(2, "stop"), completed}),
              ElementsAre("=one ", "+void", "=one ", "+two", "+.", "COMPLETED"));
  // A worker that claims the run skips attempt numbers; the earlier step is not void.
  EXPECT_THAT(updates_of({start(1), chunk("one "), finish(1, "length"), start(2, 2), chunk("two")}),
              ElementsAre("=one ", "+two"));
}

TEST(updates, an_answer_that_was_aborted_after_its_end_is_replaced) {
  EXPECT_THAT(updates_of({start(1), chunk("void"), finish(1, "stop"), aborted(1), start(1, 2), chunk("good"),
                          finish(1, "stop"), completed}),
              ElementsAre("=void", "+.", "=", "=good", "+.", "COMPLETED"));
}

TEST(updates, the_answer_after_a_tool_call_replaces_the_text_before_it) {
  EXPECT_THAT(updates_of({start(1), chunk("let me see"), finish(1, "tool_calls"),
                          R"({"type":"tool_call","tool_call_id":"t","name":"shell"})",
                          R"({"type":"tool_result","tool_call_id":"t","name":"shell","is_error":true})", start(2),
                          chunk("done"), finish(2, "stop"), completed}),
              ElementsAre("=let me see", "WORKING", "WORKING", "=done", "+.", "COMPLETED"));
}

TEST(updates, tool_calls_are_metadata_of_status_updates) {
  run_updates updates(ids);
  updates.add(R"({"type":"tool_result","tool_call_id":"t","name":"shell","is_error":true})", now);
  const auto out = updates.take();
  ASSERT_EQ(out.size(), 1u);
  const json::value& metadata = out[0].at("statusUpdate").at("metadata");
  EXPECT_EQ(metadata.at("toolCall").at("name"), "shell");
  EXPECT_EQ(metadata.at("toolCall").at("state"), "failed");
}

TEST(updates, a_waiting_task_is_submitted_until_it_begins) {
  EXPECT_THAT(updates_of({R"({"type":"status","status":"running"})", R"({"type":"queued","position":1})",
                          R"({"type":"message","role":"user","content":"x"})", start(1), chunk("a")},
                         run_updates(ids, task_state::submitted)),
              ElementsAre("WORKING", "=a"));
}

TEST(updates, a_failure_has_a_message_and_closes_the_artifact) {
  run_updates updates(ids);
  for (const std::string& e :
       {start(1), chunk("half"),
        std::string(R"({"type":"status","status":"failed","reason":"llm_error","error":"broken","error_code":"X"})")})
    updates.add(e, now);
  const auto out = updates.take();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(summary(out[1]), "+.");
  const json::value& status = out[2].at("statusUpdate");
  EXPECT_EQ(status.at("status").at("state"), "TASK_STATE_FAILED");
  EXPECT_EQ(status.at("status").at("message").at("parts").at(0).at("text"), "broken");
  EXPECT_EQ(status.at("metadata").at("errorCode"), "X");
  EXPECT_TRUE(updates.ended());
}

TEST(updates, the_task_contains_everything_before_it) {
  run_updates updates(ids);
  for (const std::string& e : {start(1), chunk("a"), chunk("b")}) updates.add(e, now);
  const json::object first = updates.take_task(now);
  EXPECT_EQ(first.at("task").at("artifacts").at(0).at("parts").at(0).at("text"), "ab");
  EXPECT_EQ(first.at("task").at("status").at("state"), "TASK_STATE_WORKING");
  EXPECT_TRUE(updates.take().empty());
  updates.add(chunk("c"), now);
  EXPECT_EQ(summary(updates.take().at(0)), "+c");
  updates.add(completed, now);
  EXPECT_EQ(updates.take_task(now).at("task").at("status").at("state"), "TASK_STATE_COMPLETED");
}

TEST(updates, other_events_and_malformed_ones_are_ignored) {
  EXPECT_THAT(
      updates_of({"", "[]", "{}", R"({"type":5})", R"({"type":"notice"})", R"({"type":"gap","from":1,"to":5})"}),
      ElementsAre());
}

TEST(updates, a_task_that_waits_for_an_approval_requires_input) {
  run_updates updates(ids);
  const auto add = [&updates](std::string_view event) {
    updates.add(event, now);
    return updates.waits();
  };
  EXPECT_FALSE(add(start(1)));
  EXPECT_FALSE(add(R"({"type":"tool_call","tool_call_id":"f","name":"read_file","source":"sandbox"})"));
  EXPECT_FALSE(add(R"({"type":"tool_call","tool_call_id":"x","name":"shell","source":"sandbox"})"));
  EXPECT_FALSE(add(R"({"type":"approval_requested","approval_id":"a","tool_call_id":"x","name":"shell"})"));
  EXPECT_TRUE(add(R"({"type":"tool_result","tool_call_id":"f","name":"read_file","content":""})"));
  (void)updates.take();
  updates.require_input(
      json::parse(R"([{"type":"approval","approval_id":"a","name":"shell","arguments":{"c":1}}])").as_array(), now);
  const auto out = updates.take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(summary(out[0]), "INPUT_REQUIRED");
  const json::value& parts = out[0].at("statusUpdate").at("status").at("message").at("parts");
  EXPECT_NE(parts.at(0).at("text").as_string().find(R"(shell with the arguments {"c":1})"), json::string::npos);
  EXPECT_EQ(parts.at(1).at("data").at("tool"), "shell");
  EXPECT_EQ(parts.at(1).at("data").at("approval_id"), "a");
  EXPECT_EQ(updates.take_task(now).at("task").at("status").at("state"), "TASK_STATE_INPUT_REQUIRED");
  EXPECT_FALSE(add(R"({"type":"approval_resolved","approval_id":"a","tool_call_id":"x","status":"approved"})"));
  EXPECT_EQ(updates.state(), task_state::working);
}

TEST(updates, a_task_that_waits_for_results_of_the_client_requires_input) {
  run_updates updates(ids);
  updates.add(R"({"type":"tool_call","tool_call_id":"c","name":"f","source":"client"})", now);
  EXPECT_FALSE(updates.waits());
  updates.add(R"({"type":"tool_results_requested","tool_call_ids":["c"]})", now);
  EXPECT_TRUE(updates.waits_for_client());
  updates.add(R"({"type":"tool_result","tool_call_id":"c","name":"f","content":""})", now);
  EXPECT_FALSE(updates.waits());
}

namespace {

follow_up answer_of(const std::string& parts) {
  return read_follow_up(read_send_params(
      parsed(R"({"message":{"messageId":"m","taskId":"t","role":"ROLE_USER","parts":[)" + parts + "]}}")));
}

}  // namespace

TEST(follow_up, decisions_in_words_and_in_data) {
  for (const char* text : {"approve", " Approved. ", "APPROVE!", "approve: looks fine"}) {
    const follow_up f = answer_of(R"({"text":")" + std::string(text) + R"("})");
    ASSERT_EQ(f.decisions.size(), 1u) << text;
    EXPECT_TRUE(f.decisions[0].approve) << text;
    EXPECT_EQ(f.decisions[0].approval_id, "");
  }
  EXPECT_EQ(answer_of(R"({"text":"deny: too risky"})").decisions.at(0).reason, "too risky");
  for (const char* text : {"approve nothing", "yes", "do not approve", "approved? no"})
    EXPECT_FALSE(answer_of(R"({"text":")" + std::string(text) + R"("})").has_answer()) << text;
  const follow_up f = answer_of(R"({"data":{"approval_id":"a","decision":"deny","reason":"no"}},)"
                                R"({"data":{"tool_call_id":"c","content":{"x":1}}})");
  ASSERT_EQ(f.decisions.size(), 1u);
  EXPECT_EQ(f.decisions[0].approval_id, "a");
  EXPECT_FALSE(f.decisions[0].approve);
  EXPECT_EQ(f.decisions[0].reason, "no");
  EXPECT_EQ(json::serialize(f.results), R"([{"tool_call_id":"c","content":"{\"x\":1}","is_error":false}])");
  EXPECT_FALSE(answer_of(R"({"data":{"hello":1}},{"text":"approve"})").has_answer());
  EXPECT_THROW((void)answer_of(R"({"data":{"decision":"maybe"}})"), protocol_error);
  EXPECT_THROW((void)answer_of(R"({"data":{"tool_call_id":"c"}})"), protocol_error);
  EXPECT_THROW((void)answer_of(R"({"raw":"YQ==","filename":"f"})"), protocol_error);
}

TEST(messages, of_the_run_are_the_history) {
  run_messages found(ids, 10);
  const std::string own = R"("agent_run_id":")" + ids.task + "\"";
  const bool more = found.add_page(
      json::parse("["
                  R"({"agent_run_id":"later","role":"user","content":"later","message_id":"5"},)"
                  "{" +
                  own + R"(,"role":"assistant","content":"answer","message_id":"4"},{)" + own +
                  R"(,"role":"tool","content":"result","message_id":"3"},{)" + own +
                  R"(,"role":"assistant","content":"let me see","tool_calls":[{"id":"t"}],"message_id":"2"},{)" + own +
                  R"(,"role":"user","content":[{"type":"text","text":"question"}],"message_id":"1"},)"
                  R"({"agent_run_id":"earlier","role":"user","content":"earlier","message_id":"0"}])")
          .as_array());
  EXPECT_FALSE(more);
  EXPECT_EQ(found.answer(), "answer");
  const json::array history = found.history();
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[0].at("role"), "ROLE_USER");
  EXPECT_EQ(history[0].at("parts").at(0).at("text"), "question");
  EXPECT_EQ(history[2].at("parts").at(0).at("text"), "answer");
  EXPECT_EQ(history[2].at("messageId"), "4");
}

TEST(messages, parts_of_a_continued_answer_are_one_artifact) {
  run_messages found(ids, 0);
  const std::string own = R"("agent_run_id":")" + ids.task + "\"";
  EXPECT_TRUE(found.add_page(json::parse("[{" + own + R"(,"role":"assistant","content":"two"},{)" + own +
                                         R"(,"role":"assistant","content":"one ","finish":"length"}])")
                                 .as_array()));
  EXPECT_FALSE(found.has_enough());
  found.add_page(json::parse("[{" + own + R"(,"role":"user","content":"q"}])").as_array());
  EXPECT_TRUE(found.has_enough());
  EXPECT_EQ(found.answer(), "one two");
  EXPECT_TRUE(found.history().empty());
}

TEST(tasks, of_runs_have_state_time_and_metadata) {
  const json::object done = task_of(
      parsed(
          R"({"id":"r","status":"failed","queue_position":null,"started_at":"a","completed_at":"b","error":"bad","reason":"timeout","error_code":"RUN_TIMEOUT"})"),
      ids);
  EXPECT_EQ(done.at("status").at("state"), "TASK_STATE_FAILED");
  EXPECT_EQ(done.at("status").at("timestamp"), "b");
  EXPECT_EQ(done.at("metadata").at("reason"), "timeout");
  const json::object waiting = task_of(parsed(R"({"status":"running","queue_position":2,"started_at":"a"})"), ids);
  EXPECT_EQ(waiting.at("status").at("state"), "TASK_STATE_SUBMITTED");
  EXPECT_FALSE(waiting.contains("metadata"));
  const std::string given = R"("metadata":{"order":"17","reason":"mine"})";
  EXPECT_EQ(task_of(parsed("{" + given + R"(,"status":"running"})"), ids).at("metadata").at("reason"), "mine");
  const json::object both = task_of(parsed("{" + given + R"(,"status":"failed","reason":"timeout"})"), ids);
  EXPECT_EQ(both.at("metadata").at("order"), "17");
  EXPECT_EQ(both.at("metadata").at("reason"), "timeout");
  EXPECT_EQ(state_of("stopped", false), task_state::canceled);
  EXPECT_EQ(state_of("running", false), task_state::working);
}
