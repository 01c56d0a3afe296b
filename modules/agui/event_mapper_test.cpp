#include "event_mapper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>
#include <map>
#include <random>

#include "ids.hpp"
#include "json/members.hpp"

using testing::ElementsAre;
using testing::HasSubstr;

namespace agui {
namespace {

namespace json = boost::json;

const std::string run_id = "01a22056-2d40-7ade-8c07-930cfe2194fb";
const std::string thread_id = "01a22056-2d40-7a08-81db-2811605c76cf";

event_mapper::names ids(bool outcomes = true) {
  return {"thread", "run", thread_id, run_id, outcomes};
}

// An entry of the log of a run; its position is its number, from 1 on.
using run_log = std::vector<std::string>;

std::string response_start(std::int64_t step, std::int64_t attempt = 1) {
  return R"({"type":"llm_response_start","step":)" + std::to_string(step) + R"(,"attempt":)" + std::to_string(attempt) +
         R"(,"model":"mock/basic"})";
}
std::string chunk(const std::string& text) {
  return R"({"type":"llm_response_chunk","content":")" + text + R"("})";
}
std::string reasoning(const std::string& text) {
  return R"({"type":"reasoning_chunk","content":")" + text + R"("})";
}
std::string response_end(std::int64_t step) {
  return R"({"type":"llm_response_end","step":)" + std::to_string(step) + "}";
}
std::string aborted(std::int64_t step, std::int64_t attempt) {
  return R"({"type":"turn_aborted","step":)" + std::to_string(step) + R"(,"attempt":)" + std::to_string(attempt) + "}";
}
std::string call(const std::string& id, const std::string& source = "sandbox") {
  return R"({"type":"tool_call","tool_call_id":")" + id + R"(","name":"f","arguments":{"a":0.1},"source":")" + source +
         R"("})";
}
std::string result(const std::string& id) {
  return R"({"type":"tool_result","tool_call_id":")" + id + R"(","name":"f","is_error":false,"content":"done"})";
}
const std::string gap = R"({"type":"gap","from":1,"to":1})";
const std::string completed =
    R"({"type":"status","status":"completed","reason":"ok","usage":{"input_tokens":3,"output_tokens":2,"cached_tokens":1}})";

std::string summary(const mapped_event& e) {
  if (e.what == mapped_event::kind::messages_snapshot) return "snapshot below " + std::to_string(e.below_step);
  std::string out(module_json::text_at(e.event, "type"));
  if (const auto delta = module_json::text_at(e.event, "delta"); !delta.empty()) out += " " + std::string(delta);
  return out;
}

std::vector<mapped_event> map_all(const run_log& log, cursor from = {}, bool outcomes = true) {
  event_mapper mapper(ids(outcomes), from);
  std::vector<mapped_event> out;
  if (from == cursor()) mapper.begin(event_mapper::messages::known, out);
  for (std::uint64_t n = from.sequence + 1; n <= log.size(); ++n) mapper.on_event(n, log[n - 1], out);
  return out;
}

std::vector<std::string> types(const std::vector<mapped_event>& events) {
  std::vector<std::string> out;
  for (const mapped_event& e : events) out.push_back(summary(e));
  return out;
}

TEST(event_mapper, maps_an_answer_with_reasoning) {
  const auto events = map_all({R"({"type":"status","status":"running"})", response_start(1), reasoning("r"), chunk("a"),
                               chunk("b"), response_end(1), R"({"type":"message"})", completed});
  EXPECT_THAT(types(events), ElementsAre("RUN_STARTED", "STEP_STARTED", "REASONING_START", "REASONING_MESSAGE_START",
                                         "REASONING_MESSAGE_CONTENT r", "REASONING_MESSAGE_END", "REASONING_END",
                                         "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT a", "TEXT_MESSAGE_CONTENT b",
                                         "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_EQ(module_json::text_at(events[7].event, "messageId"), run_id + ".1");
  EXPECT_EQ(json::serialize(events.back().event.at("usage")),
            R"([{"provider":"mock","model":"basic","inputTokens":3,"outputTokens":2,"totalTokens":5,)"
            R"("cachedInputTokens":1}])");
}

TEST(event_mapper, maps_calls_and_names_those_that_the_client_must_execute) {
  const auto events = map_all({response_start(1), response_end(1), call("x"), call("y", "client"), result("x"),
                               R"({"type":"status","status":"completed","reason":"tool_calls"})"});
  EXPECT_THAT(types(events),
              ElementsAre("RUN_STARTED", "STEP_STARTED", "TOOL_CALL_START", R"(TOOL_CALL_ARGS {"a":1E-1})",
                          "TOOL_CALL_END", "TOOL_CALL_START", R"(TOOL_CALL_ARGS {"a":1E-1})", "TOOL_CALL_END",
                          "TOOL_CALL_RESULT", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_EQ(json::serialize(events.back().event.at("outcome")),
            R"({"type":"success","pendingToolCallIds":[")" + run_id + R"(.1.call.y"]})");
  EXPECT_EQ(stored_call_id(run_id + ".1.call.y"), "y");
}

TEST(event_mapper, replaces_the_text_of_an_aborted_attempt) {
  const auto events = map_all({response_start(1), reasoning("r"), chunk("bad"), aborted(1, 1), response_start(1, 2),
                               chunk("good"), response_end(1), completed});
  EXPECT_THAT(
      types(events),
      ElementsAre("RUN_STARTED", "STEP_STARTED", "REASONING_START", "REASONING_MESSAGE_START",
                  "REASONING_MESSAGE_CONTENT r", "REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START",
                  "TEXT_MESSAGE_CONTENT bad", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_END",
                  "REASONING_END", "TEXT_MESSAGE_END", "snapshot below 1", "TEXT_MESSAGE_START",
                  "TEXT_MESSAGE_CONTENT good", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_EQ(json::serialize(events[11].event.at("metadata")), R"({"runyard":{"aborted":true}})");
}

TEST(event_mapper, an_attempt_without_output_needs_no_snapshot) {
  EXPECT_THAT(types(map_all({response_start(1), aborted(1, 1), response_start(1, 2), completed})),
              ElementsAre("RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "RUN_FINISHED"));
}

TEST(event_mapper, an_answer_that_has_not_ended_is_removed) {
  EXPECT_THAT(types(map_all({response_start(1), chunk("a"), R"({"type":"status","status":"stopped"})"})),
              ElementsAre("RUN_STARTED", "STEP_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT a",
                          "TEXT_MESSAGE_END", "snapshot below 1", "STEP_FINISHED", "RUN_FINISHED"));
}

TEST(event_mapper, trimmed_events_are_replaced_by_a_snapshot) {
  EXPECT_THAT(types(map_all({gap, chunk("tail"), response_end(4), call("x"), result("x"), response_start(5), chunk("e"),
                             response_end(5), completed})),
              ElementsAre("RUN_STARTED", "snapshot below 5", "STEP_STARTED", "TEXT_MESSAGE_START",
                          "TEXT_MESSAGE_CONTENT e", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_THAT(types(map_all({gap, completed})),
              ElementsAre("RUN_STARTED", HasSubstr("snapshot below 9223"), "RUN_FINISHED"));
}

TEST(event_mapper, ends_of_runs) {
  const auto end = [](const std::string& status, bool outcomes) {
    const auto events = map_all({status}, {}, outcomes);
    return events.back().event;
  };
  const std::string failed = R"({"type":"status","status":"failed","error":"no","error_code":"X"})";
  const json::object error = end(failed, true);
  EXPECT_EQ(module_json::text_at(error, "type"), "RUN_ERROR");
  EXPECT_EQ(module_json::text_at(error, "message"), "no");
  EXPECT_EQ(module_json::text_at(error, "code"), "X");
  EXPECT_EQ(json::serialize(end(R"({"type":"status","status":"stopped"})", true).at("outcome")),
            R"({"type":"cancelled"})");
  EXPECT_FALSE(end(completed, false).contains("outcome")) << "a client of an earlier version";
}

TEST(event_mapper, unknown_and_malformed_events_are_ignored) {
  EXPECT_THAT(types(map_all({"{", "[]", "{}", R"({"type":7})", R"({"type":"new"})", chunk("early"), call("x"),
                             result("x"), R"({"type":"llm_response_start"})", completed})),
              ElementsAre("RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "RUN_FINISHED"));
}

// ---- approvals ----

std::string requested(const std::string& id, const std::string& call) {
  return R"({"type":"approval_requested","approval_id":")" + id + R"(","tool_call_id":")" + call +
         R"(","name":"f","source":"sandbox","arguments":{},"expires_at":"2030-01-01T00:00:00.000Z"})";
}
std::string resolved(const std::string& id, const std::string& call) {
  return R"({"type":"approval_resolved","approval_id":")" + id + R"(","tool_call_id":")" + call +
         R"(","status":"approved","reason":null})";
}
const run_log asking = {response_start(1), chunk("a"),          response_end(1), call("x"),
                        call("y"),         requested("A", "x"), result("y"),     requested("A", "x")};

TEST(event_mapper, an_approval_becomes_an_interrupt_when_the_other_calls_have_ended) {
  event_mapper mapper(ids(), {});
  std::vector<mapped_event> out;
  mapper.begin(event_mapper::messages::known, out);
  for (std::uint64_t n = 1; n <= 6; ++n) mapper.on_event(n, asking[n - 1], out);
  EXPECT_FALSE(mapper.waiting()) << "y is executed";
  for (std::uint64_t n = 7; n <= 8; ++n) mapper.on_event(n, asking[n - 1], out);
  EXPECT_TRUE(mapper.waiting());
  out.clear();
  mapper.interrupt({"B"}, out);
  EXPECT_TRUE(out.empty()) << "a decision was made";
  mapper.interrupt({"A", "B"}, out);
  ASSERT_THAT(types(out), ElementsAre("STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_TRUE(mapper.ended());
  EXPECT_TRUE(out.back().after.turn.ended);
  EXPECT_EQ(out.back().after.sequence, 8u);
  const json::object& outcome = *module_json::object_at(out.back().event, "outcome");
  EXPECT_EQ(module_json::text_at(outcome, "type"), "interrupt");
  const json::object& interrupt = outcome.at("interrupts").as_array().at(0).as_object();
  EXPECT_EQ(module_json::text_at(interrupt, "id"), "A");
  EXPECT_EQ(module_json::text_at(interrupt, "reason"), "tool_call");
  EXPECT_EQ(module_json::text_at(interrupt, "toolCallId"), tool_call_id(run_id, 1, "x"));
  EXPECT_EQ(module_json::text_at(interrupt, "expiresAt"), "2030-01-01T00:00:00.000Z");
  EXPECT_EQ(json::serialize(interrupt.at("responseSchema").at("required")), R"(["approved"])");
}

TEST(event_mapper, a_client_of_an_earlier_version_also_gets_the_approvals_as_a_custom_event) {
  event_mapper mapper(ids(false), {});
  std::vector<mapped_event> out;
  for (std::uint64_t n = 1; n <= asking.size(); ++n) mapper.on_event(n, asking[n - 1], out);
  out.clear();
  mapper.interrupt({"A"}, out);
  EXPECT_THAT(types(out), ElementsAre("STEP_FINISHED", "CUSTOM", "RUN_FINISHED"));
  const json::object& outcome = *module_json::object_at(out.back().event, "outcome");
  EXPECT_EQ(module_json::text_at(outcome, "type"), "interrupt");
  EXPECT_EQ(out[1].event.at("value"), outcome.at("interrupts"));
}

TEST(event_mapper, decided_and_remembered_approvals_do_not_interrupt) {
  event_mapper mapper(ids(), {});
  std::vector<mapped_event> out;
  run_log log = asking;
  log.push_back(resolved("A", "x"));
  log.push_back(resolved("remembered", "z"));
  for (std::uint64_t n = 1; n <= log.size(); ++n) mapper.on_event(n, log[n - 1], out);
  EXPECT_FALSE(mapper.waiting());
}

std::vector<mapped_event> map_resumed(const run_log& log, std::set<std::string, std::less<>> known = {}) {
  event_mapper mapper(ids(), {});
  mapper.skip_results(std::move(known));
  mapper.begin_after_interrupt({"A"});
  std::vector<mapped_event> out;
  for (std::uint64_t n = 1; n <= log.size(); ++n) mapper.on_event(n, log[n - 1], out);
  return out;
}

TEST(event_mapper, a_run_that_continues_after_an_interrupt_does_not_repeat_what_the_client_has) {
  run_log log = asking;
  for (const std::string& e :
       {resolved("A", "x"), result("x"), response_start(2), chunk("b"), response_end(2), completed})
    log.push_back(e);
  const auto events = map_resumed(log, {tool_message_id(tool_call_id(run_id, 1, "y"))});
  EXPECT_THAT(types(events),
              ElementsAre("RUN_STARTED", "TOOL_CALL_RESULT", "STEP_STARTED", "TEXT_MESSAGE_START",
                          "TEXT_MESSAGE_CONTENT b", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_EQ(events.front().after, (cursor{6, 0, events.front().after.turn}));
  // The client lacks the other result.
  EXPECT_EQ(map_resumed(log).size(), events.size() + 1);
  // Every event resumes the stream.
  for (std::size_t i = 0; i < events.size(); ++i) {
    event_mapper rest(ids(), *read_cursor(write_cursor(events[i].after)));
    rest.skip_results({tool_message_id(tool_call_id(run_id, 1, "y"))});
    std::vector<mapped_event> out;
    for (std::uint64_t n = events[i].after.sequence + 1; n <= log.size(); ++n) rest.on_event(n, log[n - 1], out);
    const std::vector<mapped_event> expected(events.begin() + static_cast<std::ptrdiff_t>(i) + 1, events.end());
    EXPECT_EQ(types(out), types(expected)) << i;
  }
}

TEST(event_mapper, a_request_that_was_deleted_from_the_log_is_replaced_by_a_snapshot) {
  EXPECT_THAT(types(map_resumed(
                  {gap, resolved("A", "x"), result("x"), response_start(2), chunk("b"), response_end(2), completed})),
              ElementsAre("RUN_STARTED", "snapshot below 2", "STEP_STARTED", "TEXT_MESSAGE_START",
                          "TEXT_MESSAGE_CONTENT b", "TEXT_MESSAGE_END", "STEP_FINISHED", "RUN_FINISHED"));
  EXPECT_THAT(types(map_resumed({response_start(1), completed})),
              ElementsAre("RUN_STARTED", HasSubstr("snapshot below 9223"), "RUN_FINISHED"));
}

TEST(cursor, rejects_other_texts) {
  const cursor all{7, 2, {3, 4, true, true, true, true, true, true, true, true, true}};
  EXPECT_EQ(read_cursor(write_cursor(all)), all);
  EXPECT_EQ(read_cursor(write_cursor({})), cursor());
  for (const char* text : {"", "1", "1-2-3", "1-2-3-4", "a-0-0-0-", "1-0-0-0-x", "1-0-0-0-sa", "-1-0-0-0-", "1-0-0-0- ",
                           "9007199254740993-0-0-0-", "99999999999999999999999-0-0-0-"})
    EXPECT_FALSE(read_cursor(text)) << text;
}

// ---- any run, with any disconnects and crashes ----

// A client with the rules of the verifier of @ag-ui/client, and its messages.
class client_model {
 public:
  std::map<std::string, std::string> messages;

  void receive(const mapped_event& e, const std::map<std::int64_t, std::string>& committed) {
    ASSERT_FALSE(ended_) << summary(e);
    if (e.what == mapped_event::kind::messages_snapshot) {
      messages.clear();
      for (const auto& [step, text] : committed)
        if (step < e.below_step) messages[message_id(run_id, step)] = text;
      return;
    }
    const std::string type(module_json::text_at(e.event, "type"));
    ASSERT_EQ(type == "RUN_STARTED", !started_);
    started_ = true;
    const std::string id(module_json::text_at(e.event, type.substr(0, 4) == "TOOL" ? "toolCallId" : "messageId"));
    if (type == "TEXT_MESSAGE_START") open(text_, id), messages[id];
    if (type == "TEXT_MESSAGE_CONTENT") {
      ASSERT_TRUE(text_.contains(id));
      messages[id] += module_json::text_at(e.event, "delta");
    }
    if (type == "TEXT_MESSAGE_END") close(text_, id);
    if (type == "REASONING_START") open(spans_, id);
    if (type == "REASONING_END") close(spans_, id);
    if (type == "REASONING_MESSAGE_START") open(thoughts_, id);
    if (type == "REASONING_MESSAGE_CONTENT") {
      ASSERT_TRUE(thoughts_.contains(id));
    }
    if (type == "REASONING_MESSAGE_END") close(thoughts_, id);
    if (type == "TOOL_CALL_START") open(calls_, id), messages[message_id(run_id, step_)] += "+" + id;
    if (type == "TOOL_CALL_ARGS") {
      ASSERT_TRUE(calls_.contains(id));
    }
    if (type == "TOOL_CALL_END") close(calls_, id);
    if (type == "STEP_STARTED") {
      const std::string name(module_json::text_at(e.event, "stepName"));
      open(steps_, name);
      step_ = std::stoll(name.substr(5));
    }
    if (type == "STEP_FINISHED") close(steps_, std::string(module_json::text_at(e.event, "stepName")));
    failed_ = type == "RUN_ERROR";
    ended_ = failed_ || type == "RUN_FINISHED";
    if (type != "RUN_FINISHED") return;
    for (const auto* set : {&text_, &spans_, &thoughts_, &calls_, &steps_}) ASSERT_TRUE(set->empty());
  }
  bool ended() const { return ended_; }
  bool failed() const { return failed_; }

 private:
  static void open(std::set<std::string>& in, const std::string& id) { ASSERT_TRUE(in.insert(id).second) << id; }
  static void close(std::set<std::string>& in, const std::string& id) { ASSERT_EQ(in.erase(id), 1u) << id; }

  std::set<std::string> text_, spans_, thoughts_, calls_, steps_;
  std::int64_t step_ = 0;
  bool started_ = false, ended_ = false, failed_ = false;
};

// Generates the log of a run. After a crash, readers find gaps where they may have received events.
class run_model {
 public:
  explicit run_model(std::mt19937& random) : random_(random) {}

  run_log log;  // what readers find now
  std::map<std::int64_t, std::string> committed;

  // Appends what one worker does until the next commit, or until it crashes or its attempt fails. Returns events that
  // were delivered but are not in the log.
  run_log advance() {
    if (step_ > 3) {
      log.push_back(completed);
      done = true;
      return {};
    }
    run_log streamed{response_start(step_, ++attempt_)};
    std::string text;
    for (int n = pick(4); n > 0; --n) {
      const bool thought = pick(3) == 0;
      const std::string piece = std::to_string(pick(100));
      streamed.push_back(thought ? reasoning(piece) : chunk(piece));
      if (!thought) text += piece;
    }
    if (pick(10) == 0) {  // stopped by another node, so the answer is not stored
      append(streamed);
      log.push_back(R"({"type":"status","status":"stopped"})");
      done = true;
      return {};
    }
    const int outcome = pick(4);
    if (outcome != 0) streamed.push_back(response_end(step_));
    if (outcome == 1) {  // a failed attempt
      append(streamed);
      log.push_back(aborted(step_, attempt_));
      return {};
    }
    if (outcome == 0 || pick(4) == 0) return crash(streamed);
    append(streamed);
    if (pick(2) == 0) {
      log.push_back(call("c"));
      log.push_back(result("c"));
      text += "+" + tool_call_id(run_id, step_, "c");
    }
    committed[step_++] = text;
    attempt_ = 0;
    return {};
  }
  bool done = false;

  void trim() {
    const auto kept = log.begin() + pick(static_cast<int>(log.size()));
    std::fill(log.begin(), kept, gap);
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  void append(const run_log& events) { log.insert(log.end(), events.begin(), events.end()); }

  // A part of what was streamed is in the log; the numbers of the rest become gaps.
  run_log crash(const run_log& streamed) {
    const auto kept = static_cast<std::ptrdiff_t>(pick(static_cast<int>(streamed.size()) + 1));
    append({streamed.begin(), streamed.begin() + kept});
    run_log lost(streamed.begin() + kept, streamed.end());
    delivered_at = log.size();
    for (std::size_t i = 0; i < lost.size() + static_cast<std::size_t>(pick(2)); ++i) log.push_back(gap);
    if (kept > 0 || pick(2) == 0) log.push_back(aborted(step_, attempt_));
    return lost;
  }

 public:
  std::size_t delivered_at = 0;  // events of the log before the lost ones

 private:
  std::mt19937& random_;
  std::int64_t step_ = 1, attempt_ = 0;
};

// Receives a part of the events and returns the cursor of the last one.
void read_log(client_model& client, cursor& at, bool& started, const run_log& log, const run_model& run,
              std::mt19937& random) {
  event_mapper mapper(ids(), at);
  std::vector<mapped_event> events;
  if (!started) mapper.begin(event_mapper::messages::known, events);
  for (std::uint64_t n = at.sequence + 1; n <= log.size(); ++n) mapper.on_event(n, log[n - 1], events);
  const std::size_t cut = random() % 3 == 0 ? random() % (events.size() + 1) : events.size();
  for (std::size_t i = 0; i < cut; ++i) {
    client.receive(events[i], run.committed);
    if (testing::Test::HasFatalFailure()) return;
    started = true;
    at = *read_cursor(write_cursor(events[i].after));
  }
}

TEST(event_mapper, any_run_with_disconnects_and_crashes_ends_with_the_stored_messages) {
  unsigned failures = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    run_model run(random);
    client_model client;
    cursor at;
    bool started = false;
    while (!run.done) {
      const run_log lost = run.advance();
      if (!lost.empty()) {
        // A client that is connected receives the lost events before the crash.
        run_log live(run.log.begin(), run.log.begin() + static_cast<std::ptrdiff_t>(run.delivered_at));
        live.insert(live.end(), lost.begin(), lost.end());
        read_log(client, at, started, live, run, random);
      }
      if (random() % 2 == 0) read_log(client, at, started, run.log, run, random);
      ASSERT_FALSE(HasFatalFailure());
    }
    if (random() % 3 == 0) run.trim();
    for (int i = 0; i < 100 && !client.ended(); ++i) read_log(client, at, started, run.log, run, random);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_TRUE(client.ended());
    if (client.failed()) {  // it had the beginning of a tool call that was trimmed
      ++failures;
      continue;
    }
    std::map<std::string, std::string> stored;
    for (const auto& [step, text] : run.committed)
      if (!text.empty() || client.messages.contains(message_id(run_id, step))) stored[message_id(run_id, step)] = text;
    ASSERT_EQ(client.messages, stored);
  }
  EXPECT_LT(failures, 30u);
}

}  // namespace
}  // namespace agui
