// Database decisions about starts, and about runs that wait for a slot or for their thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

// One refusal does not affect the other starts, and each caller gets its own outcome.
TEST_F(runs_sql, a_batch_of_starts_decides_each_start_separately) {
  EXPECT_EQ(start({.account = bob}), "ok");
  const std::string busy_thread = sql("select thread_id from runs.runs");
  EXPECT_EQ(
      sql("select string_agg(x, ', ') from (" + batch_sql({{.account = ann}, {.account = bob}}) + ") as outcomes (x)"),
      "ok, run_limit [\"" + busy_thread + "\"]");
  EXPECT_EQ(counts(), "2 2 2 2 2 2");
  EXPECT_EQ(sql("select count(*) from runs.runs r join core.job j on j.id = r.job_id and "
                "j.args->>'run_id' = r.id::text"),
            "2");
}

// The limit of waiting runs is 3 in the statements of this fixture.
TEST_F(runs_sql, waiting_runs_are_admitted_in_order_and_get_position_events) {
  EXPECT_EQ(start({}), "ok");
  const std::string first = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  const std::string second = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 2");
  const std::string third = last_run();
  EXPECT_EQ(start({}).substr(0, 9), "run_limit") << "a start waits only if it requests it";
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1") << "the message is added to the thread at admission";
  EXPECT_EQ(start({.queue = true}), "queued 3");
  const std::string fourth = last_run();
  EXPECT_EQ(start({.queue = true}).substr(0, 9), "run_limit");

  EXPECT_EQ(sql("select runs.force_stop(" + q(third) + ")"), "stopped");
  EXPECT_EQ(sql("select string_agg(payload, ' ' order by seq) from runs.event where run_id = " + q(fourth)),
            R"({"type": "status", "sequence": 1, "status": "running"} )"
            R"({"type": "queued", "sequence": 2, "position": 3} {"type": "queued", "sequence": 3, "position": 2})");
  EXPECT_EQ(persist(first, 2, 2, end_step("completed")).substr(0, 2), "ok");
  EXPECT_EQ(
      sql("select string_agg(status || ' ' || waiting || ' ' || coalesce(queue_place::text, '-'), ', ' order by id) "
          "from runs.runs"),
      "completed false -, running false 1, stopped false 2, running true 1");
  EXPECT_EQ(sql("select args->>'run_id' || ' ' || state from core.job"), second + " 0");
  EXPECT_EQ(sql("select count(*) from runs.messages where run_id = " + q(second)), "1");
  EXPECT_EQ(sql("select runs_bound from runs.account_usage"), "1");
  sql("update core.job set state = 1, fence = 1");
  EXPECT_EQ(
      sql("select status || ' ' || last_seq from runs.claim_run(" + q(second) + ", (select id from core.job), 1, 64)"),
      "running 2")
      << "no gap after the position events";
}

TEST_F(runs_sql, a_run_behind_another_waits_only_for_its_thread) {
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  const std::string first = last_run();
  const std::string thread = sql("select thread_id from runs.runs");
  EXPECT_EQ(start({.thread = thread, .max_runs = 5}), "thread_busy " + first);
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .queue = true}), "thread_busy " + first);
  EXPECT_EQ(start({.thread = thread, .max_runs = 1, .behind = true}), "queued 1")
      << "it takes the slot of the run that it waits for";
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .behind = true}), "queued 2");
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  EXPECT_EQ(sql("select runs.force_stop(" + q(first) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "2")
      << "the plan of the first waiting run has one slot, which is in use";
}

// The end of a run skips a waiting run that is being stopped; if that stop is rolled back, the sweep finds the run.
TEST_F(runs_sql, the_sweep_finds_a_waiting_run_that_an_end_skipped) {
  EXPECT_EQ(start({}), "ok");
  const std::string running = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  const auto stop = connect();
  stop("begin");
  stop("select 1 from runs.runs where id = " + q(last_run()) + " for no key update");
  EXPECT_EQ(sql("select runs.force_stop(" + q(running) + ")"), "stopped");
  stop("rollback");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "1");
  sql("select runs.admit(a) from runs.accounts_waiting() a");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "0");
}

// The current plan applies; slots of a plan that the account no longer has are not used.
TEST_F(runs_sql, waiting_runs_are_admitted_by_the_current_plan) {
  EXPECT_EQ(start({}), "ok");
  const std::string running = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  EXPECT_EQ(start({.queue = true}), "queued 2");
  sql("update accounts.account set tier = 'pro' where id = " + q(ann));
  EXPECT_EQ(sql("select runs.admit_by_plan(" + q(ann) + ", 'free', 9)"), "pro");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "2");
  EXPECT_EQ(sql("select coalesce(runs.admit_by_plan(" + q(ann) + ", 'pro', 2), '-')"), "-");
  EXPECT_EQ(sql("select count(*) || ' ' || min(queue_place) || ' ' || min(slot_limit) from runs.runs where waiting"),
            "1 1 2");
  EXPECT_EQ(sql("select runs.force_stop(" + q(running) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "0") << "the run keeps the new limit";
}

TEST_F(runs_sql, stopping_a_waiting_run_leaves_the_thread_busy_and_adds_no_message) {
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  const std::string first = last_run();
  const std::string thread = sql("select thread_id from runs.runs");
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .behind = true}), "queued 1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1")
      << "otherwise the other run would answer it between its steps";
  EXPECT_EQ(start({.thread = thread, .max_runs = 5}), "thread_busy " + first);
}

// Whether the end or the start that waits for it commits first, no run waits forever.
TEST_F(runs_sql, a_concurrent_end_and_queued_start_leave_no_run_waiting) {
  for (int round = 0; round < 20; ++round) {
    const std::string account = round % 2 == 0 ? ann : bob;
    ASSERT_EQ(start({.account = account, .max_threads = 1000}), "ok");
    const std::string running = last_run();
    std::thread stopper([&] { connect()("select runs.force_stop(" + q(running) + ")"); });
    const std::string outcome = connect()(start_sql({.account = account, .max_threads = 1000, .queue = true}));
    stopper.join();
    ASSERT_TRUE(outcome == "ok" || outcome == "queued 1") << outcome;
    ASSERT_EQ(sql("select count(*) from runs.runs where waiting"), "0");
    ASSERT_EQ(sql("select count(*) from runs.runs where status = 'running'"), "1");
    sql("select runs.force_stop(id) from runs.runs where status = 'running'");
  }
}

// A start that locks its account (while it stores files, for example) does not delay other accounts.
TEST_F(runs_sql, a_locked_account_does_not_delay_the_others) {
  const auto other = connect();
  other("begin");
  other("select * from accounts.lock_account(" + q(bob) + ")");
  EXPECT_EQ(
      sql("select string_agg(x, ', ') from (" + batch_sql({{.account = bob}, {.account = ann}}) + ") as outcomes (x)"),
      "alone, ok");
  EXPECT_EQ(sql(batch_sql({{.account = bob}})), "alone") << "a single start does not wait either";
  other("commit");
  EXPECT_EQ(start({.account = bob}), "ok");
}

TEST_F(runs_sql, a_start_writes_everything_once) {
  EXPECT_EQ(start({}), "ok");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
  EXPECT_EQ(sql("select node::text || ' ' || state || ' ' || fence from core.job"), node + " 1 1");
  EXPECT_EQ(sql("select args->>'run_id' = r.id::text from core.job, runs.runs r"), "t");
  EXPECT_EQ(sql("select payload from runs.event"), R"({"type": "status", "sequence": 1, "status": "running"})");
}

TEST_F(runs_sql, plain_starts_write_the_same_rows_as_other_starts) {
  const std::string eve = "44444444-4444-4444-8444-444444444444";
  sql("select accounts.provision(" + q(eve) + ", " + q(eve) + ", '', '', true, '', 'free', 5000000)");
  for (const std::string& id : {bob, eve}) sql("select agents.ensure_default(" + q(id) + ")");
  // All rows written for an account; ids and times are replaced with '*'.
  const auto written = [&](const std::string& account) {
    return sql(
        "select string_agg(t || ': ' || (select string_agg(e.key || '=' || regexp_replace(coalesce(e.value, 'null'), "
        "'^([0-9a-f]{8}-[0-9a-f-]{27}|.*T\\d\\d:\\d\\d:\\d\\d.*)$', '*'), ' ' order by e.key) "
        "from jsonb_each_text(x - array['job_id', 'id', 'position', 'args', 'workspace_version'] || jsonb_build_object('named', "
        "x->'args'->>'run_id' = (select r.id::text from runs.runs r where r.account_id = " +
        q(account) +
        "), "
        "'mine', x->>'job_id' = (select j.id::text from core.job j where j.share = " +
        q(account) +
        "))) e), E'\n' order by t, x::text) "
        "from (select 'projects' as t, to_jsonb(p) as x from runs.projects p where account_id = " +
        q(account) + " union all select 'threads', to_jsonb(p) from runs.threads p where account_id = " + q(account) +
        " union all select 'usage', to_jsonb(p) from runs.account_usage p where account_id = " + q(account) +
        " union all select 'runs', to_jsonb(p) from runs.runs p where account_id = " + q(account) +
        " union all select 'job', to_jsonb(p) from core.job p where share = " + q(account) +
        " union all select 'messages', to_jsonb(p) from runs.messages p where run_id in (select id from runs.runs where account_id = " +
        q(account) +
        ")"
        " union all select 'events', to_jsonb(p) from runs.events p where run_id in (select id from runs.runs where account_id = " +
        q(account) + ")) written");
  };
  for (const std::string budget : {"null", "5000"}) {
    SCOPED_TRACE(budget);
    const start_request w{.model = "m", .budget = budget, .policy = budget == "null" ? "null" : "soft", .max_runs = 9};
    start_request other = w;
    other.account = bob;
    EXPECT_EQ(start(w), "ok");
    EXPECT_EQ(sql(plain_sql(other)), "t");
    other.account = eve;
    EXPECT_EQ(sql(plain_all_sql({other})), "made");
    if (budget == "null") {
      EXPECT_EQ(written(bob), written(ann));
      EXPECT_EQ(written(eve), written(ann));
      EXPECT_NE(written(bob).find("runs: "), std::string::npos);
    }
  }
  EXPECT_EQ(sql("select distinct threads || ' ' || runs_bound from runs.account_usage"), "2 2")
      << "the second start is counted too";
  EXPECT_EQ(sql("select count(*) || ' ' || count(distinct model || budget_micro || budget_policy) from runs.runs "
                "where budget_micro = 5000"),
            "3 1");
  EXPECT_EQ(sql("select count(distinct agent_id) || ' ' || count(distinct job_id) from runs.runs"), "3 6");
}

TEST_F(runs_sql, plain_starts_in_one_statement_are_made_up_to_each_accounts_limits) {
  const std::string unknown = "33333333-3333-4333-8333-333333333333";
  const start_request few{.max_runs = 2}, many{.account = bob, .max_runs = 9};
  EXPECT_EQ(sql(plain_all_sql({few, many, few, many, few, {.max_runs = 9, .max_threads = 2}})),
            "made made made made apart apart");
  EXPECT_EQ(counts(), "4 4 4 4 4 4");
  EXPECT_EQ(sql("select string_agg(threads || ' ' || runs_bound, ', ') from runs.account_usage"), "2 2, 2 2");
  EXPECT_EQ(
      sql("select count(*) from runs.runs r join core.job j on j.id = r.job_id and (j.args->>'run_id')::uuid = r.id "
          "and j.share = r.account_id join runs.threads t on t.id = r.thread_id and t.account_id = r.account_id"),
      "4");
  EXPECT_EQ(sql(plain_all_sql({few,
                               {.account = bob, .agent = unknown, .max_runs = 9},
                               {.account = bob, .tier = "pro", .max_runs = 9},
                               {.account = unknown},
                               many})),
            "apart apart apart locked made");
  sql("update agents.agent set model_name = 'own' where account_id = " + q(bob));
  start_request named = many;
  named.model = "m";
  EXPECT_EQ(sql(plain_all_sql({many, named})), "apart made") << "the node has to check the agent's model first";
  sql("select accounts.ledger_add(" + q(bob) + ", -5000000, 'charge', 'x')");
  EXPECT_EQ(sql(plain_all_sql({named, named})), "apart apart");
  EXPECT_EQ(counts(), "6 6 6 6 6 6");
}

TEST_F(runs_sql, plain_starts_in_one_statement_skip_a_locked_account_or_wait_for_it) {
  const start_request w{.account = bob, .max_runs = 3};
  const auto other = connect();
  other("begin");
  EXPECT_EQ(other(plain_all_sql({w})), "made");
  EXPECT_EQ(sql(plain_all_sql({w, {}, w})), "locked made locked");
  std::string outcomes;
  std::thread waiter([&] { outcomes = connect()(plain_all_sql({w, w, w}, true)); });
  for (int i = 0; i < 500 && sql("select count(*) from pg_locks where not granted") == "0"; ++i)
    sql("select pg_sleep(0.01)");
  other("commit");
  waiter.join();
  EXPECT_EQ(outcomes, "made made apart") << "the run that was made meanwhile counts";
}

TEST_F(runs_sql, start_plain_writes_nothing_if_a_precondition_fails) {
  const std::string unknown = "33333333-3333-4333-8333-333333333333";
  EXPECT_EQ(sql(plain_sql({})), "f") << "the default agent does not exist yet";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
  sql("select agents.ensure_default(" + q(ann) + ")");
  EXPECT_EQ(sql(plain_sql({.account = unknown})), "f");
  EXPECT_EQ(sql(plain_sql({.agent = unknown})), "f");
  EXPECT_EQ(sql(plain_sql({.max_threads = 0})), "f");
  EXPECT_EQ(sql(plain_sql({.max_runs = 0})), "f");
  EXPECT_EQ(sql(plain_sql({.tier = "pro"})), "f");
  sql("update agents.agent set model_name = 'own'");
  EXPECT_EQ(sql(plain_sql({})), "f") << "the node has to check the agent's model first";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
  {
    const auto other = connect();
    other("begin");
    other("select * from accounts.lock_account(" + q(ann) + ")");
    EXPECT_EQ(sql(plain_sql({.model = "own"})), "f") << "it does not wait for a lock";
    other("commit");
  }
  EXPECT_EQ(sql(plain_sql({.model = "own"})), "t");
  EXPECT_EQ(sql(plain_sql({.model = "own"})), "f") << "at the limit";
  sql("select accounts.ledger_add(" + q(ann) + ", -5000000, 'charge', 'x')");
  EXPECT_EQ(sql(plain_sql({.model = "own", .max_runs = 9})), "f");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
}

TEST_F(runs_sql, concurrent_plain_starts_at_the_limit_make_one_run) {
  sql("select agents.ensure_default(" + q(ann) + ")");
  const auto other = connect();
  other("begin");
  EXPECT_EQ(other(plain_sql({})), "t");
  EXPECT_EQ(sql(plain_sql({})), "f");
  other("commit");
  EXPECT_EQ(sql(plain_sql({})), "f");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
}

TEST_F(runs_sql, refused_starts_write_nothing) {
  const std::string unknown = "33333333-3333-4333-8333-333333333333";
  EXPECT_EQ(start({.account = unknown}), "no_account");
  EXPECT_EQ(start({.thread = unknown}), "thread_not_found");
  EXPECT_EQ(start({.project = unknown}), "project_not_found");
  EXPECT_EQ(start({.agent = unknown}), "agent_not_found");
  EXPECT_EQ(start({.denied = true}), "model_denied");
  EXPECT_EQ(start({.body = "null"}), "prompt_required");
  EXPECT_EQ(start({.max_threads = 0}), "thread_limit 0");
  EXPECT_EQ(start({.max_runs = 0}), "run_limit []");
  EXPECT_EQ(start({.tier = "pro"}), "tier free");
  sql("select accounts.ledger_add(" + q(ann) + ", -5000000, 'charge', 'x')");
  EXPECT_EQ(start({}), "no_credits");
  EXPECT_EQ(start({.max_runs = 0}), "no_credits") << "credits are checked before the limits";
  EXPECT_EQ(start({.denied = true}), "model_denied") << "the model is checked before the credits";
  EXPECT_EQ(start({.thread = unknown, .denied = true}), "thread_not_found") << "the thread is checked before the model";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
}

TEST_F(runs_sql, an_agents_model_is_returned_for_a_check) {
  const std::string agent = sql("select agent_id from agents.resolve(" + q(ann) + ", null)");
  sql("select agents.change_agent(" + q(ann) + ", " + q(agent) +
      ", 0, null, null, null, 'runyard/power', null, null, null, 100, 'free', 100, 1000000)");
  EXPECT_EQ(start({}), "model runyard/power");
  EXPECT_EQ(start({.model = "runyard/basic"}), "ok");
  EXPECT_EQ(sql("select model from runs.runs"), "runyard/basic");
}

TEST_F(runs_sql, the_run_limit_counts_rows) {
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  const std::string outcome = start({.max_runs = 2});
  EXPECT_EQ(outcome.find("run_limit [\""), 0u) << outcome;
  EXPECT_EQ(start({.account = bob}), "ok") << "another account's runs do not count";
  const std::string first = sql("select id from runs.runs where account_id = " + q(ann) + " order by id limit 1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(first) + ")"), "stopped");
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  EXPECT_EQ(start({.max_runs = 2}).find("run_limit"), 0u);
}

TEST_F(runs_sql, concurrent_starts_at_the_limit_make_one_run) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::string> out(4);
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < out.size(); ++i) all.emplace_back([&, i] { out[i] = connect()(start_sql({})); });
    for (std::thread& t : all) t.join();
    EXPECT_EQ(std::count(out.begin(), out.end(), "ok"), 1);
    EXPECT_EQ(sql("select count(*) from runs.runs where status = 'running'"), "1");
    EXPECT_EQ(sql("select (select count(*) from runs.threads) = (select count(*) from runs.runs)"), "t");
    sql("select runs.force_stop(id) from runs.runs where status = 'running'");
  }
}

TEST_F(runs_sql, an_idempotency_key_returns_the_first_result_even_at_the_limit) {
  const start_request w{.key = "k1", .hash = "h1"};
  EXPECT_EQ(start(w), "ok");
  EXPECT_EQ(start(w), "replay");
  EXPECT_EQ(start({.key = "k1", .hash = "h2"}), "key_reused");
  EXPECT_EQ(start({.account = bob, .key = "k1", .hash = "h2"}), "ok") << "keys belong to an account";
  sql("update runs.idempotency set created_at = now() - interval '25 hours'");
  EXPECT_EQ(start({.key = "k1", .hash = "h2", .max_runs = 5}), "ok") << "keys expire after 24 hours";
  EXPECT_EQ(sql("select count(*) from runs.runs where account_id = " + q(ann)), "2");
}

TEST_F(runs_sql, concurrent_starts_with_the_same_key_make_one_run) {
  std::vector<std::string> out(6);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < out.size(); ++i)
    all.emplace_back([&, i] { out[i] = connect()(start_sql({.key = "k", .hash = "h", .max_runs = 10})); });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(std::count(out.begin(), out.end(), "ok"), 1);
  EXPECT_EQ(std::count(out.begin(), out.end(), "replay"), 5);
}

TEST_F(runs_sql, optimistic_ids_create_the_thread_and_project) {
  const std::string thread = "44444444-4444-4444-8444-444444444444";
  const std::string project = "55555555-5555-4555-8555-555555555555";
  const start_request w{.thread = thread, .project = project, .max_runs = 5, .optimistic = true};
  EXPECT_EQ(start(w), "ok");
  EXPECT_EQ(sql("select id || ' ' || project_id from runs.threads"), thread + " " + project);
  EXPECT_EQ(start(w).find("thread_busy "), 0u);
  start_request foreign = w;
  foreign.account = bob;
  EXPECT_EQ(start(foreign), "thread_not_found");
  foreign.thread = "66666666-6666-4666-8666-666666666666";
  EXPECT_EQ(start(foreign), "thread_not_found") << "another account's project is reported the same way";
  sql("select runs.force_stop(id) from runs.runs");
  EXPECT_EQ(start({.thread = thread, .project = "77777777-7777-4777-8777-777777777777"}), "thread_not_found");
  EXPECT_EQ(start({.thread = thread, .body = "null"}), "ok") << "an empty prompt continues the thread";
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1");
}

}  // namespace
