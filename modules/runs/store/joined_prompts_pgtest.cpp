// Prompts that join a run in progress: on_busy = steer.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

struct prompt {
  std::string account = ann, text = "more", project = "null", key = "null", hash = "null";
  int max_prompts = 5;
  long max_bytes = 1000;
};

class joined_prompts : public runs_sql {
 protected:
  static std::string join_sql(const std::string& thread, const prompt& p = {}) {
    return "select outcome || coalesce(' ' || message_id, '') from runs.join_run(" + q(p.account) + ", " + q(thread) +
           ", " + q(p.project) + ", '" + message + "', " + q(p.text) + ", " + q(p.key) + ", " + q(p.hash) + ", " +
           std::to_string(p.max_prompts) + ", " + std::to_string(p.max_bytes) + ")";
  }
  std::string join(const prompt& p = {}) const { return sql(join_sql(thread(), p)); }
  std::string thread() const { return sql("select thread_id from runs.runs order by id limit 1"); }
  std::string messages() const {
    return sql(
        "select string_agg(role || ':' || case when role = 'user' then body else '' end, ' ' order by position) from runs.messages");
  }
  std::string pending() const {
    return sql(
        "select (select count(*) from runs.joined_prompts) || ' ' || coalesce(sum(pending_prompts), 0) from runs.runs");
  }
  // The checkpoint that adds the oldest prompt to the thread.
  static std::string prompt_step() {
    return "array['" + message +
           "'], array['user'], array['more'], 1, 0, 0, 0, 0, '', null, null, null, null, null, 4, 7, "
           "joined => 1";
  }
  static constexpr const char* all = "outcome || ' ' || coalesce(pending_prompts, -1)";
  static inline const std::string message = "44444444-4444-4444-8444-444444444444";
};

TEST_F(joined_prompts, a_prompt_waits_for_the_checkpoint_that_makes_it_a_message) {
  start({.body = "first"});
  const std::string run = last_run();
  EXPECT_EQ(join(), "joined " + message);
  EXPECT_EQ(pending(), "1 1");
  EXPECT_EQ(messages(), "user:first");
  EXPECT_EQ(persist(run, 2, 2, answer_step("r", 0), "", all), "ok 1");
  EXPECT_EQ(persist(run, 3, 3, prompt_step(), "", all), "ok 0");
  EXPECT_EQ(messages(), "user:first assistant: user:more");
  EXPECT_EQ(sql("select id || ' ' || run_id from runs.messages where body = 'more'"), message + " " + run);
  EXPECT_EQ(pending(), "0 0");
  EXPECT_EQ(persist(run, 3, 3, prompt_step(), "", all), "ok 0") << "the repetition of a commit whose response was lost";
  EXPECT_EQ(persist(run, 4, 4, end_step("completed"), "", all), "ok 0");
  EXPECT_EQ(join(), "none");
}

TEST_F(joined_prompts, a_run_with_pending_prompts_is_not_completed) {
  start({.body = "first"});
  const std::string run = last_run(), before = counts();
  join();
  EXPECT_EQ(persist(run, 2, 2, end_step("completed"), "", all), "prompts 1");
  EXPECT_EQ(counts(), before);
  EXPECT_EQ(sql("select status || ' ' || border_seq from runs.runs"), "running 1");
  EXPECT_EQ(persist(run, 2, 2, end_step("completed"), "17", all), "gone -1") << "a stale worker learns nothing";
  EXPECT_EQ(persist(run, 2, 2, prompt_step(), "", all), "ok 0");
  EXPECT_EQ(persist(run, 3, 3, end_step("completed"), "", all), "ok 0");
}

TEST_F(joined_prompts, the_end_of_a_run_that_fails_or_is_stopped_adds_them_to_the_thread) {
  start({.body = "first"});
  join();
  EXPECT_EQ(persist(last_run(), 2, 2, end_step("failed"), "", all), "ok 1");
  EXPECT_EQ(messages(), "user:first user:more");
  EXPECT_EQ(pending(), "0 0");
  start({.thread = thread(), .body = "second"});
  EXPECT_EQ(join({.text = "later"}), "joined " + message);
  EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
  EXPECT_EQ(messages(), "user:first user:more user:second user:later");
  EXPECT_EQ(pending(), "0 0");
}

TEST_F(joined_prompts, workers_of_an_earlier_release_complete_the_run_and_keep_the_prompts) {
  start({.body = "first"});
  join();
  EXPECT_EQ(persist(last_run(), 2, 2, end_step("completed") + ", joined => null", "", all), "prompts 1")
      << "an array whose element is null comes from a node that passes the argument";
  const std::string text =
      "select outcome from runs.commit_steps(true, array[" + q(ann) + "]::uuid[], array[" + q(last_run()) +
      "]::uuid[], array[(select job_id from runs.runs)], array[(select fence from runs.runs)], array[2]::bigint[], "
      "array[2]::bigint[], array[1]::bigint[], array[0]::bigint[], array[0]::bigint[], array[0]::bigint[], "
      "array[0]::bigint[], array[''], array['{}'], array['completed'], array['ok'], array[null], array[null], "
      "array['{\"x\":1}'], array[null]::bigint[], array[null]::bigint[], array[1]::bigint[], array[2]::bigint[], "
      "array[2]::bigint[], array['x'], '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')";
  EXPECT_EQ(sql(text), "ok");
  EXPECT_EQ(messages(), "user:first user:more");
  EXPECT_EQ(pending(), "0 0");
}

TEST_F(joined_prompts, only_a_running_run_of_the_account_takes_them) {
  start({.body = "first"});
  EXPECT_EQ(sql(join_sql(bob)), "none") << "an unknown thread";
  EXPECT_EQ(join({.account = bob}), "none");
  EXPECT_EQ(join({.project = bob}), "none");
  sql("update runs.runs set parameters = '{\"client_tools\":[]}'");
  EXPECT_EQ(join(), "busy");
  sql("update runs.runs set parameters = '{\"client_tools\":[],\"parks_client_calls\":true}'");
  EXPECT_EQ(join(), "joined " + message);
  sql("update runs.runs set stop_requested_at = now()");
  EXPECT_EQ(join(), "none");
  EXPECT_EQ(pending(), "1 1");
}

TEST_F(joined_prompts, the_run_that_executes_comes_before_one_that_waits) {
  start({.body = "first"});
  const std::string first = last_run();
  start({.thread = thread(), .body = "second", .behind = true});
  join();
  EXPECT_EQ(sql("select run_id from runs.joined_prompts"), first);
}

TEST_F(joined_prompts, a_run_that_waits_for_a_slot_takes_them_when_it_is_admitted) {
  start({.body = "first"});
  const std::string first = last_run();
  start({.body = "second", .queue = true});
  const std::string waiting = last_run();
  EXPECT_EQ(sql(join_sql(sql("select thread_id from runs.runs where waiting"))), "joined " + message);
  EXPECT_EQ(sql("select run_id from runs.joined_prompts"), waiting);
  EXPECT_EQ(messages(), "user:first");
  persist(first, 2, 2, end_step("completed"));
  EXPECT_EQ(messages(), "user:first user:second");
  EXPECT_EQ(pending(), "1 1");
}

TEST_F(joined_prompts, their_number_and_size_are_limited) {
  start({});
  EXPECT_EQ(join({.text = std::string(2000, 'x')}), "joined " + message) << "a single one may be larger";
  EXPECT_EQ(join({.text = "x"}), "full");
  EXPECT_EQ(join({.text = "x", .max_bytes = 2001}), "joined " + message);
  EXPECT_EQ(join({.text = "x", .max_prompts = 2, .max_bytes = 9999}), "full");
  EXPECT_EQ(pending(), "2 2");
}

TEST_F(joined_prompts, a_key_has_one_effect_even_after_the_run_has_ended) {
  start({.body = "first"});
  const std::string of_thread = thread(), run = last_run();
  EXPECT_EQ(join({.key = "k", .hash = "h"}), "joined " + message);
  EXPECT_EQ(join({.text = "other", .key = "k", .hash = "h"}), "replay " + message);
  EXPECT_EQ(join({.key = "k", .hash = "other"}), "key_reused " + message);
  EXPECT_EQ(pending(), "1 1");
  persist(run, 2, 2, prompt_step());
  persist(run, 3, 3, end_step("completed"));
  EXPECT_EQ(join({.key = "k", .hash = "h"}), "none") << "the start that follows finds the key";
  EXPECT_EQ(start({.thread = of_thread, .key = "k", .hash = "h"}), "replay");
  EXPECT_EQ(sql("select run_id || ' ' || message_id from runs.idempotency"), run + " " + message);
  // A key whose start began a run.
  EXPECT_EQ(start({.thread = of_thread, .key = "s", .hash = "h"}), "ok");
  EXPECT_EQ(sql(join_sql(of_thread, {.key = "s", .hash = "h"})), "replay");
  sql("update runs.idempotency set created_at = now() - interval '25 hours'");
  EXPECT_EQ(sql(join_sql(of_thread, {.key = "k", .hash = "h"})), "joined " + message);
}

// Each prompt becomes a message of the run before its end, or finds no run.
TEST_F(joined_prompts, a_prompt_and_the_end_of_the_run_exclude_each_other) {
  for (int round = 0; round < 10; ++round) {
    start({.body = "first"});
    const std::string run = last_run(), of_thread = sql("select thread_id from runs.runs where id = " + q(run));
    std::atomic<int> joined{0}, none{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        const auto db = connect();
        const std::string outcome = db("select outcome from runs.join_run(" + q(ann) + ", " + q(of_thread) +
                                       ", null, gen_random_uuid(), 'more', null, null, 100, 100000)");
        ++(outcome == "joined" ? joined : none);
      });
    bool ended = false;
    for (int from = 2; !ended; ++from) {
      const std::string outcome = persist(run, from, from, end_step("completed"), "", "outcome");
      ended = outcome == "ok";
      if (ended) break;
      ASSERT_EQ(outcome, "prompts");
      persist(
          run, from, from,
          "(select array_agg(message_id::text) from runs.joined_prompts), "
          "(select array_agg('user'::text) from runs.joined_prompts), "
          "(select array_agg(body) from runs.joined_prompts), 1, 0, 0, 0, 0, '', null, null, null, null, null, 4, 7, "
          "joined => (select count(*) from runs.joined_prompts)");
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(joined + none, 4);
    EXPECT_EQ(sql("select count(*) from runs.messages where body = 'more' and run_id = " + q(run)),
              std::to_string(joined));
    EXPECT_EQ(pending(), "0 0");
  }
}

}  // namespace
