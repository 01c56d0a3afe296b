// Starts, checkpoints, ends, stops and claims, as decided by the database.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runs_sql_test.hpp"

namespace {

using namespace testing_runs;

// One refusal does not affect the other starts, and each caller gets its own outcome.
TEST_F(runs_sql, starts_that_are_decided_together_are_judged_each_by_itself) {
  EXPECT_EQ(start({.account = bob}), "ok");
  const std::string held = sql("select thread_id from runs.runs");
  EXPECT_EQ(sql("select string_agg(x, ', ') from (" + batch_sql({{.account = ann}, {.account = bob}}) +
                ") as all_of_them (x)"),
            "ok, run_limit [\"" + held + "\"]");
  EXPECT_EQ(counts(), "2 2 2 2 2 2");
  EXPECT_EQ(sql("select count(*) from runs.runs r join core.job j on j.id = r.job_id and "
                "j.args->>'run_id' = r.id::text"),
            "2");
}

// The limit of waiting runs is 3 here.
TEST_F(runs_sql, waiting_runs_are_admitted_in_order_and_told_their_places) {
  EXPECT_EQ(start({}), "ok");
  const std::string first = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  const std::string second = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 2");
  const std::string third = last_run();
  EXPECT_EQ(start({}).substr(0, 9), "run_limit") << "only who asks for it waits";
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1") << "it joins the thread at admission";
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
      sql("select status || ' ' || last_seq from runs.take_over(" + q(second) + ", (select id from core.job), 1, 64)"),
      "running 2")
      << "no gap after the place in the queue";
}

TEST_F(runs_sql, a_run_behind_another_waits_for_its_thread_alone) {
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  const std::string first = last_run();
  const std::string thread = sql("select thread_id from runs.runs");
  EXPECT_EQ(start({.thread = thread, .max_runs = 5}), "thread_busy " + first);
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .queue = true}), "thread_busy " + first);
  EXPECT_EQ(start({.thread = thread, .max_runs = 1, .behind = true}), "queued 1") << "the slot is the one it waits for";
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .behind = true}), "queued 2");
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  EXPECT_EQ(sql("select runs.force_stop(" + q(first) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "2")
      << "the plan of the first has one slot, and it is taken";
}

// The end of a run skips a waiting run that is being stopped; if that stop is rolled back, the sweep finds the run.
TEST_F(runs_sql, a_waiter_that_an_end_passed_over_is_found) {
  EXPECT_EQ(start({}), "ok");
  const std::string going = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  const auto stop = connect();
  stop("begin");
  stop("select 1 from runs.runs where id = " + q(last_run()) + " for no key update");
  EXPECT_EQ(sql("select runs.force_stop(" + q(going) + ")"), "stopped");
  stop("rollback");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "1");
  sql("select runs.admit(a) from runs.accounts_waiting() a");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "0");
}

// The current plan applies; slots of a plan that the account no longer has are not used.
TEST_F(runs_sql, waiting_runs_are_admitted_by_the_plan_of_now) {
  EXPECT_EQ(start({}), "ok");
  const std::string going = last_run();
  EXPECT_EQ(start({.queue = true}), "queued 1");
  EXPECT_EQ(start({.queue = true}), "queued 2");
  sql("update accounts.account set tier = 'pro' where id = " + q(ann));
  EXPECT_EQ(sql("select runs.admit_by_plan(" + q(ann) + ", 'free', 9)"), "pro");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "2");
  EXPECT_EQ(sql("select coalesce(runs.admit_by_plan(" + q(ann) + ", 'pro', 2), '-')"), "-");
  EXPECT_EQ(sql("select count(*) || ' ' || min(queue_place) || ' ' || min(slot_limit) from runs.runs where waiting"),
            "1 1 2");
  EXPECT_EQ(sql("select runs.force_stop(" + q(going) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.runs where waiting"), "0") << "the new limit stays with the run";
}

TEST_F(runs_sql, a_stopped_waiter_leaves_the_thread_busy_and_its_messages_alone) {
  EXPECT_EQ(start({.max_runs = 5}), "ok");
  const std::string first = last_run();
  const std::string thread = sql("select thread_id from runs.runs");
  EXPECT_EQ(start({.thread = thread, .max_runs = 5, .behind = true}), "queued 1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1")
      << "between the steps of the other run it would be answered";
  EXPECT_EQ(start({.thread = thread, .max_runs = 5}), "thread_busy " + first);
}

// Whichever commits first, the end or the start that waits for it, no run waits forever.
TEST_F(runs_sql, an_end_and_a_wish_to_wait_at_once_never_strand_a_run) {
  for (int round = 0; round < 20; ++round) {
    const std::string account = round % 2 == 0 ? ann : bob;
    ASSERT_EQ(start({.account = account, .max_threads = 1000}), "ok");
    const std::string going = last_run();
    std::thread ender([&] { connect()("select runs.force_stop(" + q(going) + ")"); });
    const std::string answer = connect()(start_sql({.account = account, .max_threads = 1000, .queue = true}));
    ender.join();
    ASSERT_TRUE(answer == "ok" || answer == "queued 1") << answer;
    ASSERT_EQ(sql("select count(*) from runs.runs where waiting"), "0");
    ASSERT_EQ(sql("select count(*) from runs.runs where status = 'running'"), "1");
    sql("select runs.force_stop(id) from runs.runs where status = 'running'");
  }
}

// A start that locks its account (while it stores files, for example) does not delay other accounts.
TEST_F(runs_sql, a_locked_account_does_not_hold_up_the_others) {
  const auto other = connect();
  other("begin");
  other("select * from accounts.lock_account(" + q(bob) + ")");
  EXPECT_EQ(sql("select string_agg(x, ', ') from (" + batch_sql({{.account = bob}, {.account = ann}}) +
                ") as all_of_them (x)"),
            "alone, ok");
  EXPECT_EQ(sql(batch_sql({{.account = bob}})), "alone") << "nor does one that comes by itself";
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

TEST_F(runs_sql, a_plain_start_writes_what_the_others_write) {
  const std::string eve = "44444444-4444-4444-8444-444444444444";
  sql("select accounts.provision(" + q(eve) + ", " + q(eve) + ", '', '', true, '', 'free', 5000000)");
  for (const std::string& id : {bob, eve}) sql("select agents.ensure_default(" + q(id) + ")");
  // All rows written for an account; of ids and times only whether they are set.
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
        q(account) + ")) all_of_it");
  };
  for (const std::string budget : {"null", "5000"}) {
    SCOPED_TRACE(budget);
    const wish w{.model = "m", .budget = budget, .policy = budget == "null" ? "null" : "soft", .max_runs = 9};
    wish other = w;
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
      << "the second one counts, too";
  EXPECT_EQ(sql("select count(*) || ' ' || count(distinct model || budget_micro || budget_policy) from runs.runs "
                "where budget_micro = 5000"),
            "3 1");
  EXPECT_EQ(sql("select count(distinct agent_id) || ' ' || count(distinct job_id) from runs.runs"), "3 6");
}

TEST_F(runs_sql, plain_starts_together_are_made_as_far_as_each_account_has_room) {
  const std::string unknown = "33333333-3333-4333-8333-333333333333";
  const wish few{.max_runs = 2}, many{.account = bob, .max_runs = 9};
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
  wish named = many;
  named.model = "m";
  EXPECT_EQ(sql(plain_all_sql({many, named})), "apart made") << "the agent's own model is asked about";
  sql("select accounts.ledger_add(" + q(bob) + ", -5000000, 'charge', 'x')");
  EXPECT_EQ(sql(plain_all_sql({named, named})), "apart apart");
  EXPECT_EQ(counts(), "6 6 6 6 6 6");
}

TEST_F(runs_sql, plain_starts_together_leave_a_locked_account_alone_or_wait_for_it) {
  const wish w{.account = bob, .max_runs = 3};
  const auto other = connect();
  other("begin");
  EXPECT_EQ(other(plain_all_sql({w})), "made");
  EXPECT_EQ(sql(plain_all_sql({w, {}, w})), "locked made locked");
  std::string answer;
  std::thread waits([&] { answer = connect()(plain_all_sql({w, w, w}, true)); });
  for (int i = 0; i < 500 && sql("select count(*) from pg_locks where not granted") == "0"; ++i)
    sql("select pg_sleep(0.01)");
  other("commit");
  waits.join();
  EXPECT_EQ(answer, "made made apart") << "what was made meanwhile counts";
}

TEST_F(runs_sql, a_start_that_anything_speaks_against_is_none_of_the_plain_ones) {
  const std::string unknown = "33333333-3333-4333-8333-333333333333";
  EXPECT_EQ(sql(plain_sql({})), "f") << "the default agent is not made yet";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
  sql("select agents.ensure_default(" + q(ann) + ")");
  EXPECT_EQ(sql(plain_sql({.account = unknown})), "f");
  EXPECT_EQ(sql(plain_sql({.agent = unknown})), "f");
  EXPECT_EQ(sql(plain_sql({.max_threads = 0})), "f");
  EXPECT_EQ(sql(plain_sql({.max_runs = 0})), "f");
  EXPECT_EQ(sql(plain_sql({.tier = "pro"})), "f");
  sql("update agents.agent set model_name = 'own'");
  EXPECT_EQ(sql(plain_sql({})), "f") << "the agent's own model is asked about";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
  {
    const auto other = connect();
    other("begin");
    other("select * from accounts.lock_account(" + q(ann) + ")");
    EXPECT_EQ(sql(plain_sql({.model = "own"})), "f") << "nobody is waited for";
    other("commit");
  }
  EXPECT_EQ(sql(plain_sql({.model = "own"})), "t");
  EXPECT_EQ(sql(plain_sql({.model = "own"})), "f") << "at the limit";
  sql("select accounts.ledger_add(" + q(ann) + ", -5000000, 'charge', 'x')");
  EXPECT_EQ(sql(plain_sql({.model = "own", .max_runs = 9})), "f");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
}

TEST_F(runs_sql, two_plain_starts_at_the_limit_give_one_run) {
  sql("select agents.ensure_default(" + q(ann) + ")");
  const auto other = connect();
  other("begin");
  EXPECT_EQ(other(plain_sql({})), "t");
  EXPECT_EQ(sql(plain_sql({})), "f");
  other("commit");
  EXPECT_EQ(sql(plain_sql({})), "f");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
}

TEST_F(runs_sql, refused_starts_leave_nothing) {
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
  EXPECT_EQ(start({.max_runs = 0}), "no_credits") << "credits come before the limits";
  EXPECT_EQ(start({.denied = true}), "model_denied") << "the model comes before the credits";
  EXPECT_EQ(start({.thread = unknown, .denied = true}), "thread_not_found") << "404 comes first";
  EXPECT_EQ(counts(), "0 0 0 0 0 0");
}

TEST_F(runs_sql, an_agents_own_model_is_asked_about) {
  const std::string agent = sql("select agent_id from agents.resolve(" + q(ann) + ", null)");
  sql("select agents.revise(" + q(ann) + ", " + q(agent) +
      ", 0, null, null, null, 'runyard/power', null, null, 100, 'free')");
  EXPECT_EQ(start({}), "model runyard/power");
  EXPECT_EQ(start({.model = "runyard/basic"}), "ok");
  EXPECT_EQ(sql("select model from runs.runs"), "runyard/basic");
}

TEST_F(runs_sql, the_limit_of_runs_is_counted_from_rows) {
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  const std::string refused = start({.max_runs = 2});
  EXPECT_EQ(refused.find("run_limit [\""), 0u) << refused;
  EXPECT_EQ(start({.account = bob}), "ok") << "another account's runs do not count";
  const std::string first = sql("select id from runs.runs where account_id = " + q(ann) + " order by id limit 1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(first) + ")"), "stopped");
  EXPECT_EQ(start({.max_runs = 2}), "ok");
  EXPECT_EQ(start({.max_runs = 2}).find("run_limit"), 0u);
}

TEST_F(runs_sql, two_starts_at_the_limit_give_one_run) {
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

TEST_F(runs_sql, a_key_answers_the_first_result_also_at_the_limit) {
  const wish w{.key = "k1", .hash = "h1"};
  EXPECT_EQ(start(w), "ok");
  EXPECT_EQ(start(w), "replay");
  EXPECT_EQ(start({.key = "k1", .hash = "h2"}), "key_reused");
  EXPECT_EQ(start({.account = bob, .key = "k1", .hash = "h2"}), "ok") << "keys belong to an account";
  sql("update runs.idempotency set created_at = now() - interval '25 hours'");
  EXPECT_EQ(start({.key = "k1", .hash = "h2", .max_runs = 5}), "ok") << "kept for 24 hours";
  EXPECT_EQ(sql("select count(*) from runs.runs where account_id = " + q(ann)), "2");
}

TEST_F(runs_sql, the_same_key_at_once_gives_one_run) {
  std::vector<std::string> out(6);
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < out.size(); ++i)
    all.emplace_back([&, i] { out[i] = connect()(start_sql({.key = "k", .hash = "h", .max_runs = 10})); });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(std::count(out.begin(), out.end(), "ok"), 1);
  EXPECT_EQ(std::count(out.begin(), out.end(), "replay"), 5);
}

TEST_F(runs_sql, optimistic_ids) {
  const std::string thread = "44444444-4444-4444-8444-444444444444";
  const std::string project = "55555555-5555-4555-8555-555555555555";
  const wish w{.thread = thread, .project = project, .max_runs = 5, .optimistic = true};
  EXPECT_EQ(start(w), "ok");
  EXPECT_EQ(sql("select id || ' ' || project_id from runs.threads"), thread + " " + project);
  EXPECT_EQ(start(w).find("thread_busy "), 0u);
  wish foreign = w;
  foreign.account = bob;
  EXPECT_EQ(start(foreign), "thread_not_found");
  foreign.thread = "66666666-6666-4666-8666-666666666666";
  EXPECT_EQ(start(foreign), "thread_not_found") << "another account's project is no hint either";
  sql("select runs.force_stop(id) from runs.runs");
  EXPECT_EQ(start({.thread = thread, .project = "77777777-7777-4777-8777-777777777777"}), "thread_not_found");
  EXPECT_EQ(start({.thread = thread, .body = "null"}), "ok") << "an empty prompt goes on";
  EXPECT_EQ(sql("select count(*) from runs.messages"), "1");
}

TEST_F(runs_sql, a_step_is_written_once_however_often_it_is_tried) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(persist(run, 2, 5, answer_step("r:1:1", 1000)), "ok 4999000");
  EXPECT_EQ(persist(run, 2, 5, answer_step("r:1:1", 1000)), "ok");
  EXPECT_EQ(sql("select count(*) from runs.messages where role = 'assistant'"), "1");
  EXPECT_EQ(sql("select input_tokens || ' ' || charged_micro || ' ' || border_seq || ' ' || seq_reserved "
                "from runs.runs"),
            "10 1000 5 69");
  EXPECT_EQ(sql("select count(*) from runs.event"), "5");
}

TEST_F(runs_sql, the_end_is_written_once_and_ends_the_job) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(persist(run, 2, 3, end_step("completed")), "ok");
  EXPECT_EQ(persist(run, 2, 3, end_step("completed")), "ok");
  EXPECT_EQ(persist(run, 4, 4, end_step("failed")), "gone");
  EXPECT_EQ(sql("select status || ' ' || (completed_at is not null) from runs.runs"), "completed true");
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'run.completed'"), "1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(run) + ")"), "completed") << "terminal states stay";
}

// Only an end that created jobs requires a wake-up of the job queue.
TEST_F(runs_sql, an_end_tells_whether_it_made_jobs_that_wait) {
  const auto ends = [this] { return persist(last_run(), 2, 2, end_step("completed"), "", "jobs_ready"); };
  start({});
  EXPECT_EQ(persist(last_run(), 2, 2, plain_step(), "", "jobs_ready"), "f");
  EXPECT_EQ(persist(last_run(), 3, 3, end_step("completed"), "", "jobs_ready"), "f");
  start({});
  const std::string first = last_run();
  start({.queue = true});
  EXPECT_EQ(persist(first, 2, 2, end_step("completed"), "", "jobs_ready"), "t") << "who waited is admitted";
  EXPECT_EQ(sql("select count(*) from core.job where state = 0"), "1");
  start({.account = bob});
  EXPECT_EQ(ends(), "f");
  sql("create or replace function core.events_publish(p_kinds text[], p_keys text[], p_payloads jsonb[]) "
      "returns boolean language sql as 'select true'");
  start({.account = bob});
  EXPECT_EQ(ends(), "t") << "somebody hears of it";
}

TEST_F(runs_sql, each_border_tells_the_balance_and_a_take_over_the_budget) {
  EXPECT_EQ(start({.budget = "250000", .policy = "finish_turn"}), "ok");
  const std::string run = last_run();
  EXPECT_EQ(persist(run, 2, 2, plain_step()), "ok 5000000");
  EXPECT_EQ(persist(run, 3, 3, answer_step("r:1:1", 1000) + ", '{\"model\": \"m\"}'"), "ok 4999000");
  EXPECT_EQ(sql("select note->>'model' from accounts.ledger where ref = 'r:1:1'"), "m");
  sql("select accounts.ledger_add(" + q(ann) + ", -4999000, 'charge', 'elsewhere')");
  EXPECT_EQ(persist(run, 4, 4, plain_step()), "ok 0") << "what another run took is seen";
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select budget_micro || ' ' || budget_policy || ' ' || balance_micro from runs.take_over(" + q(run) +
                ", (select job_id from runs.runs), 2, 64)"),
            "250000 finish_turn 0");
}

TEST_F(runs_sql, parameters_are_kept_with_their_run_also_while_it_waits) {
  const auto start_with = [&](const std::vector<wish>& wishes, const std::string& parameters) {
    std::string text = batch_sql(wishes, wishes.size() == 1);
    text.pop_back();
    sql(text + ", " + parameters + ")");
    sql("select pg_sleep(0.002)");
  };
  start_with({{}, {.account = bob}}, R"(array['{"top_p":1}', null])");
  EXPECT_EQ(sql("select string_agg(coalesce(parameters, '-'), ' ' order by account_id) from runs.runs"),
            R"({"top_p":1} -)");
  start_with({{.queue = true}}, R"(array['{"top_p":0.5}'])");
  EXPECT_EQ(sql("select parameters from runs.runs where waiting"), R"({"top_p":0.5})");
}

TEST_F(runs_sql, tokens_written_into_a_cache_and_parameters_are_kept_for_a_take_over) {
  start({});
  const std::string run = last_run();
  const auto persist_with = [&](int from, const std::string& cache_writes) {
    return sql("select outcome from runs.persist_steps(true, array[null]::uuid[], array[" + q(run) + "]::uuid[], " +
               "array[(select job_id from runs.runs)], array[(select fence from runs.runs)], array[" +
               std::to_string(from) +
               "]::bigint[], array[100]::bigint[], array[1]::bigint[], array[10]::bigint[], array[5]::bigint[], "
               "array[0]::bigint[], array[0]::bigint[], array[''], array['{}'], array[null], array[null], array[null], "
               "array[null], array[null], array[null]::bigint[], array[null]::bigint[], array[1]::bigint[], array[" +
               std::to_string(from) + "]::bigint[], array[" + std::to_string(from) +
               "]::bigint[], array['x'], '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'" + cache_writes + ")");
  };
  EXPECT_EQ(persist_with(2, ""), "ok") << "as workers of the release before call it";
  EXPECT_EQ(sql("select runs.run_json(r)->'usage' ? 'cache_write_tokens' from runs.runs r"), "f");
  EXPECT_EQ(persist_with(3, ", array[7]::bigint[]"), "ok");
  EXPECT_EQ(persist_with(4, ", array[8]::bigint[]"), "ok");
  EXPECT_EQ(sql("select runs.run_json(r)->'usage'->>'cache_write_tokens' from runs.runs r"), "15");
  EXPECT_EQ(
      sql("select runs.terminal_payload(r) like '%\"cached_tokens\":0,\"cache_write_tokens\":15}, \"tokens\"%' from "
          "(select * from jsonb_populate_record((select r from runs.runs r), '{\"status\":\"completed\",\"reason\":\"ok\"}')) r"),
      "t");
  sql("update runs.runs set parameters = '{\"top_p\":1}'");
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select cache_write_tokens || ' ' || parameters from runs.take_over(" + q(run) +
                ", (select job_id from runs.runs), 2, 64)"),
            "15 {\"top_p\":1}");
}

TEST_F(runs_sql, a_summary_and_reasoning_stand_beside_what_readers_see) {
  start({});
  const std::string run = last_run();
  const std::string one = "array[gen_random_uuid()::text], array['";
  const std::string rest =
      "'], array['{\"role\":\"x\",\"content\":\"c\"}'], 1, 0, 0, 0, 0, '', null, null, null, null, null, 4, 7, '{}'";
  persist(run, 2, 2, one + "assistant" + rest + ", 7, '[{\"signature\":\"s\"}]'");
  persist(run, 3, 3, one + "summary" + rest + ", 2, '[1]'");
  EXPECT_EQ(
      sql("select string_agg(role || ' ' || coalesce(covers_to::text, '-') || ' ' || coalesce(reasoning, '-'), ',' "
          "order by position) from runs.messages where role <> 'user'"),
      "assistant - [{\"signature\":\"s\"}],summary 2 -");
}

// Steps of several runs in one statement: a step that is refused or has to wait does not affect the others.
TEST_F(runs_sql, steps_that_are_written_together_are_judged_each_by_itself) {
  start({});
  const std::string of_ann = last_run();
  start({.account = bob});
  const std::string of_bob = last_run();
  const auto together = [&](const std::string& from, const std::string& fences, const std::string& wait) {
    return sql(
        "select string_agg(outcome || coalesce(' ' || balance_micro, ''), ', ') from runs.persist_steps(" + wait +
        ", array[" + q(ann) + ", " + q(bob) + "]::uuid[], array[" + q(of_ann) + ", " + q(of_bob) +
        "]::uuid[], (select array_agg(job_id order by id) from runs.runs), array[" + fences + "], array[" + from +
        ", " + from +
        "], array[99, 99], array[1, 1], array[10, 20], array[1, 2], array[0, 0], array[1000, 2000], "
        "array['a:' || " +
        from + ", 'b:' || " + from +
        "], array['{}', '{}'], array[null, 'completed'], array[null, 'ok'], "
        "array[null, null]::text[], array[null, null]::text[], array[null, '{\"x\":1}'], array[1, 2], array[3, 4], "
        "array[1, 2, 2], array[" +
        from + ", 2, " + from + "], array[" + from + ", 2, " + from +
        "], array['x', 'y', 'z'], "
        "array[2, 1], array[gen_random_uuid(), gen_random_uuid()], array['assistant', 'assistant'], array['of bob', 'of ann'], "
        "array[null, null]::bigint[], array[null, null]::text[], '{}', '{}')");
  };
  const auto other = connect();
  other("begin");
  other("select * from accounts.lock_account(" + q(bob) + ")");
  EXPECT_EQ(together("3", "1, 1", "false"), "ok 4999000, alone");
  EXPECT_EQ(sql("select string_agg(status || ' ' || border_seq, ', ' order by id) from runs.runs"),
            "running 3, running 1");
  other("commit");
  EXPECT_EQ(together("4", "7, 1", "false"), "gone, ok 4998000");
  EXPECT_EQ(together("4", "7, 1", "false"), "gone, ok") << "once, however often it is tried";
  EXPECT_EQ(
      sql("select string_agg(status || ' ' || border_seq || ' ' || input_tokens, ', ' order by id) from runs.runs"),
      "running 3 10, completed 4 20");
  EXPECT_EQ(
      sql("select string_agg(m.body, ', ' order by r.id, position) from runs.messages m join runs.runs r on r.id = m.run_id "
          "where role = 'assistant'"),
      "of ann, of bob");
  EXPECT_EQ(
      sql("select string_agg(right(r.account_id::text, 1) || seq || wire, ' ' order by r.id, seq) from runs.events e "
          "join runs.runs r on r.id = e.run_id where seq > 1"),
      "13x 22y 24z");
  EXPECT_EQ(sql("select string_agg(delta_micro::text, ' ' order by id) from accounts.ledger where kind = 'charge'"),
            "-1000 -2000");
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
  EXPECT_EQ(sql("select key from core.event where kind = 'run.completed'"), bob);
}

TEST_F(runs_sql, a_stale_worker_writes_nothing) {
  start({});
  const std::string run = last_run();
  persist(run, 2, 4, plain_step());
  // The job queue gives the job to another worker.
  sql("update core.job set fence = 2");
  EXPECT_THROW(persist(run, 5, 6, plain_step()), testing_sql::sql_error);
  const std::string job = sql("select job_id from runs.runs");
  EXPECT_EQ(sql("select last_seq || ' ' || border_seq || ' ' || step from runs.take_over(" + q(run) + ", " + job +
                ", 2, 64)"),
            "68 4 1");
  EXPECT_EQ(persist(run, 69, 69, plain_step(), "1"), "gone");
  EXPECT_EQ(persist(run, 69, 69, plain_step()), "ok 5000000");
  EXPECT_THROW(sql("select runs.take_over(" + q(run) + ", " + job + ", 1, 64)"), testing_sql::sql_error);
}

TEST_F(runs_sql, a_take_over_gives_no_number_twice) {
  start({});
  const std::string run = last_run();
  const std::string job = sql("select job_id from runs.runs");
  const std::string none = "'{}', '{}', '{}'";
  const std::string start_of_turn = R"({"type": "llm_response_start", "sequence": 2, "step": 1, "attempt": 3})";
  sql(append_sql(run, log_row(2, 2, start_of_turn), none));
  sql(append_sql(run, log_row(5, 9, "{}"), none));
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select last_seq || ' ' || border_seq || ' ' || attempts from runs.take_over(" + q(run) + ", " + job +
                ", 2, 64)"),
            "64 1 3");
  EXPECT_EQ(sql("select count(*) || ' ' || min(seq) || ' ' || max(seq) from runs.event"), "64 1 64");
  EXPECT_EQ(sql("select string_agg(seq || '-' || last_seq, ' ' order by seq) from runs.events where seq < 12"),
            "1-1 2-2 3-3 4-4 5-9 10-10 11-11");
  EXPECT_EQ(sql("select payload from runs.event where seq = 3"),
            R"({"type": "gap", "sequence": 3, "from": 3, "to": 3})");
  // Late writes of the dead worker have no effect.
  for (const std::string& late : {log_row(3, 4, "late"), log_row(10, 20, "late")}) {
    EXPECT_THROW(sql(append_sql(run, late, none)), testing_sql::sql_error);
    sql(append_sql(run, late, none, true));
  }
  EXPECT_EQ(sql("select count(*) || ' ' || count(distinct seq) || ' ' || max(seq) from runs.event"), "64 64 64");
  EXPECT_EQ(sql("select count(*) from runs.event where payload = 'late'"), "0");
  const auto reserve = [&](const std::string& fence, const std::string& up_to) {
    return "array[" + q(run) + "], array[" + fence + "], array[" + up_to + "]";
  };
  const auto move = [&](const std::string& fence, const std::string& up_to) {
    return sql("select count(*) from runs.append_events('{}', '{}', '{}', '{}', " + reserve(fence, up_to) + ", false)");
  };
  EXPECT_EQ(move("1", "500"), "1") << "nor does it move the reservation";
  EXPECT_EQ(move("2", "500"), "0");
  EXPECT_EQ(sql("select seq_reserved from runs.runs"), "500");
  // Numbers above its own reservation belong to its successor.
  EXPECT_EQ(sql(append_sql(run, log_row(65, 66, "late"), reserve("1", "500"))), "1");
  EXPECT_EQ(sql("select count(*) from runs.event where payload = 'late'"), "0");
  EXPECT_EQ(sql(append_sql(run, log_row(65, 66, "new"), reserve("2", "600"))), "0");
  EXPECT_EQ(sql("select string_agg(payload, ' ') from runs.event where seq >= 65"), "new new");
}

// The last events of a worker may be lost with it.
TEST_F(runs_sql, attempts_of_workers_that_vanished_are_not_numbered_twice) {
  start({});
  const std::string run = last_run(), job = sql("select job_id from runs.runs");
  const auto take_over = [&](int fence) {
    sql("update core.job set fence = " + std::to_string(fence));
    return sql("select attempts from runs.take_over(" + q(run) + ", " + job + ", " + std::to_string(fence) + ", 64)");
  };
  const auto told = [&](int number, int attempt) {
    sql(append_sql(run,
                   log_row(number, number,
                           R"({"type": "llm_response_start", "sequence": )" + std::to_string(number) +
                               R"(, "step": 1, "attempt": )" + std::to_string(attempt) + "}"),
                   "'{}', '{}', '{}'"));
  };
  EXPECT_EQ(take_over(2), "1");
  EXPECT_EQ(take_over(3), "2");
  told(200, 5);
  EXPECT_EQ(take_over(4), "5");
  EXPECT_EQ(take_over(5), "6");
  EXPECT_EQ(persist(run, 1000, 1000, plain_step(), "5"), "ok 5000000");
  EXPECT_EQ(take_over(6), "1") << "of the next step";
}

// The dead worker's row is still in flight while another worker fills the gap: the fill waits for the outcome of the
// first number and leaves the others to that row.
TEST_F(runs_sql, a_take_over_leaves_the_numbers_of_a_row_that_was_on_its_way) {
  start({});
  const std::string run = last_run();
  const std::string job = sql("select job_id from runs.runs");
  sql("update core.job set fence = 2");
  const auto other = connect();
  other("begin");
  other(append_sql(run, log_row(7, 20, "late"), "'{}', '{}', '{}'"));
  std::thread taking([&] { sql("select runs.take_over(" + q(run) + ", " + job + ", 2, 64)"); });
  while (other("select count(*) from pg_locks where not granted and transactionid = pg_current_xact_id()::xid") == "0")
    std::this_thread::yield();
  other("commit");
  taking.join();
  EXPECT_EQ(sql("select count(*) || ' ' || count(distinct seq) || ' ' || min(seq) || ' ' || max(seq) from runs.event"),
            "64 64 1 64");
  EXPECT_EQ(
      sql("select string_agg(seq || '-' || last_seq, ' ' order by seq) from runs.events where seq between 6 and 21"),
      "6-6 7-20 21-21");
}

TEST_F(runs_sql, a_stop_is_durable_and_ends_a_run_that_nobody_works_on) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "running");
  EXPECT_EQ(sql("select cancel_requested from core.job"), "t") << "its worker hears of it at the next beat";
  // Its worker vanished: the run waits for another one.
  sql("update core.job set state = 0, node = null");
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.event where payload like '{\"type\": \"status\"%stopped%'"), "1");
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "stopped");
}

TEST_F(runs_sql, a_hand_over_leaves_no_gap) {
  start({});
  const std::string run = last_run();
  persist(run, 2, 9, plain_step());
  sql("select runs.hand_over(" + q(run) + ", 1, 9)");
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select last_seq from runs.take_over(" + q(run) + ", (select job_id from runs.runs), 2, 64)"), "9");
  EXPECT_EQ(sql("select count(*) from runs.event"), "9");
}

TEST_F(runs_sql, a_forced_stop_holds_against_its_worker) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(bob) + ", " + q(run) + ")"), "") << "foreign";
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "running");
  EXPECT_EQ(sql("select runs.force_stop(" + q(run) + ")"), "stopped");
  EXPECT_EQ(persist(run, 2, 2, end_step("completed"), "1"), "gone");
  EXPECT_EQ(persist(run, 2, 2, end_step("stopped"), "1"), "gone") << "the end that counts is another one";
  EXPECT_EQ(sql(append_sql(run, log_row(66, 67, "late"), "array[" + q(run) + "], array[1], array[500]")), "1");
  EXPECT_EQ(sql("select count(*) from runs.event where payload = 'late'"), "0") << "nothing after the end";
  const std::string end = sql("select payload from runs.event order by seq desc limit 1");
  EXPECT_EQ(end.find(R"({"type": "status", "sequence": 65, "status": "stopped", "reason": "user_stop", "usage": )"
                     R"({"input_tokens":0,"output_tokens":0,"cached_tokens":0}, "tokens": 0, "credits": 0, )"
                     R"("duration_ms": )"),
            0u)
      << end;
  EXPECT_NE(end.find(R"(, "queue_wait_ms": null, "time_to_first_token_ms": null})"), std::string::npos) << end;
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
  EXPECT_EQ(sql("select count(*) from core.event where kind like 'run.%'"), "0");
}

// An account owns a tenth of many runs, all of one status: a page reads few rows besides its own.
TEST_F(runs_sql, a_page_of_runs_touches_few_rows) {
  sql("insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, status, job_id, "
      "fence, seq_reserved, timeout_seconds) select (lpad(to_hex(n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, "
      "case when n % 10 = 0 then " +
      q(ann) +
      "::uuid else md5((n % 1000)::text)::uuid end, md5('p')::uuid, md5('t')::uuid, "
      "md5('a')::uuid, 1, 'm', 'completed', 0, 0, 9, 3000 from generate_series(1, 50000) n");
  sql("vacuum analyze runs.runs");
  for (const std::string status : {"null", "'running'", "'completed'"}) {
    const std::string page = "select n from runs.page_of(" + q(ann) + ", " + status + ", null, 20)";
    EXPECT_LT(rows_read([&] { EXPECT_EQ(sql(page), status == "'running'" ? "0" : "20"); }), 100) << status;
  }
}

TEST_F(runs_sql, deleting_a_thread_removes_all_of_it_and_nothing_else) {
  start({.max_runs = 5});
  start({.account = bob});
  const std::string thread = sql("select id from runs.threads where account_id = " + q(ann));
  const auto remove = [&](const std::string& account) {
    return sql("select outcome || ' ' || (project_id is not null) from runs.delete_thread(" + q(account) + ", " +
               q(thread) + ")");
  };
  EXPECT_EQ(remove(bob), "not_found false");
  EXPECT_EQ(remove(ann), "busy false");
  sql("select runs.force_stop(id) from runs.runs where account_id = " + q(ann));
  EXPECT_EQ(remove(ann), "ok true");
  EXPECT_EQ(counts(), "1 1 1 1 1 1");
  EXPECT_EQ(sql("select threads from runs.account_usage where account_id = " + q(ann)), "0");
  EXPECT_EQ(start({.max_threads = 1}), "ok") << "its place is free again";
}

TEST_F(runs_sql, a_project_goes_with_its_last_thread_at_the_same_cost_beside_many_others) {
  const std::string project = "55555555-5555-4555-8555-555555555555";
  const auto remove = [&](const std::string& thread) {
    return sql("select outcome || ' ' || (project_id is not null) from runs.delete_thread(" + q(ann) + ", " +
               q(thread) + ")");
  };
  std::vector<std::string> threads;
  for (int i = 0; i < 3; ++i) {
    threads.push_back("44444444-4444-4444-8444-44444444444" + std::to_string(i));
    EXPECT_EQ(start({.thread = threads.back(), .project = project, .max_runs = 5, .optimistic = true}), "ok");
    EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
    EXPECT_EQ(start({.thread = threads.back(), .max_runs = 5}), "ok") << "one more run makes no more threads";
    EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
  }
  EXPECT_EQ(sql("select threads from runs.projects"), "3");
  EXPECT_EQ(remove(threads[1]), "ok false");
  EXPECT_EQ(remove(threads[0]), "ok false");
  EXPECT_EQ(sql("select id from runs.projects"), project);
  sql("insert into runs.threads (id, project_id, account_id) select gen_random_uuid(), gen_random_uuid(), " + q(ann) +
      " from generate_series(1, 20000)");
  sql("analyze runs.threads");
  EXPECT_LT(rows_read([&] { EXPECT_EQ(remove(threads[2]), "ok true"); }), 1000);
  EXPECT_EQ(sql("select count(*) from runs.projects"), "0");
}

}  // namespace
