// Database decisions about checkpoints, ends, stops, claims and deletions.
#include <gtest/gtest.h>

#include <thread>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

TEST_F(runs_sql, retrying_a_step_writes_it_only_once) {
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
  EXPECT_EQ(sql("select runs.force_stop(" + q(run) + ")"), "completed") << "a terminal state does not change";
}

// Only an end that created jobs requires a wake-up of the job queue.
TEST_F(runs_sql, an_end_reports_whether_jobs_became_ready) {
  const auto end_last_run = [this] { return persist(last_run(), 2, 2, end_step("completed"), "", "jobs_ready"); };
  start({});
  EXPECT_EQ(persist(last_run(), 2, 2, plain_step(), "", "jobs_ready"), "f");
  EXPECT_EQ(persist(last_run(), 3, 3, end_step("completed"), "", "jobs_ready"), "f");
  start({});
  const std::string first = last_run();
  start({.queue = true});
  EXPECT_EQ(persist(first, 2, 2, end_step("completed"), "", "jobs_ready"), "t") << "the waiting run is admitted";
  EXPECT_EQ(sql("select count(*) from core.job where state = 0"), "1");
  start({.account = bob});
  EXPECT_EQ(end_last_run(), "f");
  sql("create or replace function core.events_publish(p_kinds text[], p_keys text[], p_payloads jsonb[]) "
      "returns boolean language sql as 'select true'");
  start({.account = bob});
  EXPECT_EQ(end_last_run(), "t") << "events_publish created a job";
}

TEST_F(runs_sql, each_checkpoint_returns_the_balance_and_each_claim_the_budget) {
  EXPECT_EQ(start({.budget = "250000", .policy = "finish_turn"}), "ok");
  const std::string run = last_run();
  EXPECT_EQ(persist(run, 2, 2, plain_step()), "ok 5000000");
  EXPECT_EQ(persist(run, 3, 3, answer_step("r:1:1", 1000) + ", '{\"model\": \"m\"}'"), "ok 4999000");
  EXPECT_EQ(sql("select note->>'model' from accounts.ledger where ref = 'r:1:1'"), "m");
  sql("select accounts.ledger_add(" + q(ann) + ", -4999000, 'charge', 'elsewhere')");
  EXPECT_EQ(persist(run, 4, 4, plain_step()), "ok 0") << "the balance includes charges of other runs";
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select budget_micro || ' ' || budget_policy || ' ' || balance_micro from runs.claim_run(" + q(run) +
                ", (select job_id from runs.runs), 2, 64)"),
            "250000 finish_turn 0");
}

TEST_F(runs_sql, parameters_are_stored_with_their_run_even_while_it_waits) {
  const auto start_with = [&](const std::vector<start_request>& requests, const std::string& parameters) {
    std::string text = batch_sql(requests, requests.size() == 1);
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

TEST_F(runs_sql, cache_write_tokens_and_parameters_are_kept_for_the_next_worker) {
  start({});
  const std::string run = last_run();
  const auto persist_with = [&](int from, const std::string& cache_writes) {
    return sql("select outcome from runs.commit_steps(true, array[null]::uuid[], array[" + q(run) + "]::uuid[], " +
               "array[(select job_id from runs.runs)], array[(select fence from runs.runs)], array[" +
               std::to_string(from) +
               "]::bigint[], array[100]::bigint[], array[1]::bigint[], array[10]::bigint[], array[5]::bigint[], "
               "array[0]::bigint[], array[0]::bigint[], array[''], array['{}'], array[null], array[null], array[null], "
               "array[null], array[null], array[null]::bigint[], array[null]::bigint[], array[1]::bigint[], array[" +
               std::to_string(from) + "]::bigint[], array[" + std::to_string(from) +
               "]::bigint[], array['x'], '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'" + cache_writes + ")");
  };
  EXPECT_EQ(persist_with(2, ""), "ok") << "workers of the previous release omit the argument";
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
  EXPECT_EQ(sql("select cache_write_tokens || ' ' || parameters from runs.claim_run(" + q(run) +
                ", (select job_id from runs.runs), 2, 64)"),
            "15 {\"top_p\":1}");
}

TEST_F(runs_sql, a_summary_and_reasoning_are_stored_in_addition_to_the_visible_text) {
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

// A step that is refused or has to wait does not affect the other steps of its statement.
TEST_F(runs_sql, a_batch_of_steps_decides_each_step_separately) {
  start({});
  const std::string ann_run = last_run();
  start({.account = bob});
  const std::string bob_run = last_run();
  const auto together = [&](const std::string& from, const std::string& fences, const std::string& wait) {
    return sql(
        "select string_agg(outcome || coalesce(' ' || balance_micro, ''), ', ') from runs.commit_steps(" + wait +
        ", array[" + q(ann) + ", " + q(bob) + "]::uuid[], array[" + q(ann_run) + ", " + q(bob_run) +
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
  EXPECT_EQ(together("4", "7, 1", "false"), "gone, ok") << "a retry writes nothing";
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
  EXPECT_EQ(sql("select last_seq || ' ' || border_seq || ' ' || step from runs.claim_run(" + q(run) + ", " + job +
                ", 2, 64)"),
            "68 4 1");
  EXPECT_EQ(persist(run, 69, 69, plain_step(), "1"), "gone");
  EXPECT_EQ(persist(run, 69, 69, plain_step()), "ok 5000000");
  EXPECT_THROW(sql("select runs.claim_run(" + q(run) + ", " + job + ", 1, 64)"), testing_sql::sql_error);
}

TEST_F(runs_sql, a_claim_does_not_reuse_event_numbers) {
  start({});
  const std::string run = last_run();
  const std::string job = sql("select job_id from runs.runs");
  const std::string none = "'{}', '{}', '{}'";
  const std::string start_of_turn = R"({"type": "llm_response_start", "sequence": 2, "step": 1, "attempt": 3})";
  sql(append_sql(run, log_row(2, 2, start_of_turn), none));
  sql(append_sql(run, log_row(5, 9, "{}"), none));
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select last_seq || ' ' || border_seq || ' ' || attempts from runs.claim_run(" + q(run) + ", " + job +
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
  EXPECT_EQ(move("1", "500"), "1") << "the dead worker cannot move the reservation either";
  EXPECT_EQ(move("2", "500"), "0");
  EXPECT_EQ(sql("select seq_reserved from runs.runs"), "500");
  // Numbers above the dead worker's reservation belong to its successor.
  EXPECT_EQ(sql(append_sql(run, log_row(65, 66, "late"), reserve("1", "500"))), "1");
  EXPECT_EQ(sql("select count(*) from runs.event where payload = 'late'"), "0");
  EXPECT_EQ(sql(append_sql(run, log_row(65, 66, "new"), reserve("2", "600"))), "0");
  EXPECT_EQ(sql("select string_agg(payload, ' ') from runs.event where seq >= 65"), "new new");
}

// The last events of a crashed worker may be lost.
TEST_F(runs_sql, attempt_numbers_of_crashed_workers_are_not_reused) {
  start({});
  const std::string run = last_run(), job = sql("select job_id from runs.runs");
  const auto claim = [&](int fence) {
    sql("update core.job set fence = " + std::to_string(fence));
    return sql("select attempts from runs.claim_run(" + q(run) + ", " + job + ", " + std::to_string(fence) + ", 64)");
  };
  const auto deliver = [&](int number, int attempt) {
    sql(append_sql(run,
                   log_row(number, number,
                           R"({"type": "llm_response_start", "sequence": )" + std::to_string(number) +
                               R"(, "step": 1, "attempt": )" + std::to_string(attempt) + "}"),
                   "'{}', '{}', '{}'"));
  };
  EXPECT_EQ(claim(2), "1");
  EXPECT_EQ(claim(3), "2");
  deliver(200, 5);
  EXPECT_EQ(claim(4), "5");
  EXPECT_EQ(claim(5), "6");
  EXPECT_EQ(persist(run, 1000, 1000, plain_step(), "5"), "ok 5000000");
  EXPECT_EQ(claim(6), "1") << "the next step begins again with attempt 1";
}

// The dead worker's transaction is still open while another worker fills the gap: the fill waits for the outcome of the
// row's first number and skips the others.
TEST_F(runs_sql, a_claim_skips_the_numbers_of_an_uncommitted_row) {
  start({});
  const std::string run = last_run();
  const std::string job = sql("select job_id from runs.runs");
  sql("update core.job set fence = 2");
  const auto other = connect();
  other("begin");
  other(append_sql(run, log_row(7, 20, "late"), "'{}', '{}', '{}'"));
  std::thread claimer([&] { sql("select runs.claim_run(" + q(run) + ", " + job + ", 2, 64)"); });
  while (other("select count(*) from pg_locks where not granted and transactionid = pg_current_xact_id()::xid") == "0")
    std::this_thread::yield();
  other("commit");
  claimer.join();
  EXPECT_EQ(sql("select count(*) || ' ' || count(distinct seq) || ' ' || min(seq) || ' ' || max(seq) from runs.event"),
            "64 64 1 64");
  EXPECT_EQ(
      sql("select string_agg(seq || '-' || last_seq, ' ' order by seq) from runs.events where seq between 6 and 21"),
      "6-6 7-20 21-21");
}

TEST_F(runs_sql, a_stop_is_durable_and_ends_a_run_without_a_worker) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "running");
  EXPECT_EQ(sql("select cancel_requested from core.job"), "t") << "the next heartbeat reports it to the worker";
  // The worker crashed: the run waits for another one.
  sql("update core.job set state = 0, node = null");
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "stopped");
  EXPECT_EQ(sql("select count(*) from runs.event where payload like '{\"type\": \"status\"%stopped%'"), "1");
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "stopped");
}

TEST_F(runs_sql, a_release_leaves_no_gap) {
  start({});
  const std::string run = last_run();
  persist(run, 2, 9, plain_step());
  sql("select runs.release_run(" + q(run) + ", 1, 9)");
  sql("update core.job set fence = 2");
  EXPECT_EQ(sql("select last_seq from runs.claim_run(" + q(run) + ", (select job_id from runs.runs), 2, 64)"), "9");
  EXPECT_EQ(sql("select count(*) from runs.event"), "9");
}

TEST_F(runs_sql, a_forced_stop_prevails_over_the_runs_worker) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(bob) + ", " + q(run) + ")"), "")
      << "another account cannot stop the run";
  EXPECT_EQ(sql("select status from runs.request_stop(" + q(ann) + ", " + q(run) + ")"), "running");
  EXPECT_EQ(sql("select runs.force_stop(" + q(run) + ")"), "stopped");
  EXPECT_EQ(persist(run, 2, 2, end_step("completed"), "1"), "gone");
  EXPECT_EQ(persist(run, 2, 2, end_step("stopped"), "1"), "gone") << "the forced stop is the end that counts";
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

// An account owns a tenth of many runs, all of one status: a page reads few rows in addition to its own.
TEST_F(runs_sql, a_page_of_runs_reads_few_rows) {
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

TEST_F(runs_sql, runs_are_listed_by_their_metadata) {
  start({.max_runs = 9, .extras = R"({"metadata": {"a": "1", "b": "2"}})"});
  const std::string first = last_run();
  start({.max_runs = 9, .extras = R"({"metadata": {"a": "1"}})"});
  const std::string second = last_run();
  start({.max_runs = 9});
  start({.account = bob, .extras = R"({"metadata": {"a": "1", "b": "2"}})"});
  EXPECT_EQ(sql("select count(*) from runs.runs where metadata is null"), "1");
  EXPECT_EQ(
      sql("select string_agg(runs.run_json(r)->>'metadata', ' ' order by id) from runs.runs r where account_id = " +
          q(ann)),
      R"({"a": "1", "b": "2"} {"a": "1"} {})");
  const auto page = [&](const std::string& filter, const std::string& rest = "null, null, 10") {
    return sql("select coalesce(string_agg(x.run->>'id', ' ' order by x.i), '-') from runs.page_of_metadata(" + q(ann) +
               ", " + rest + ", " + q(filter) + ") p, jsonb_array_elements(p.items::jsonb) with ordinality x (run, i)");
  };
  EXPECT_EQ(page(R"({"a": "1"})", "null, null, 10"), second + " " + first);
  EXPECT_EQ(page(R"({"a": "1", "b": "2"})"), first);
  EXPECT_EQ(page(R"({"b": "1"})"), "-");
  EXPECT_EQ(page(R"({"a": "1"})", "'completed', null, 10"), "-");
  EXPECT_EQ(page(R"({"a": "1"})", "null, " + q(second) + ", 10"), first);
  EXPECT_EQ(page(R"({"a": "1"})", "null, null, 1"), second);
}

TEST_F(runs_sql, the_output_is_part_of_the_end_and_of_reads_of_one_run) {
  start({});
  const std::string run = last_run();
  EXPECT_EQ(sql("select runs.run_json(r) || runs.output_json(r) ? 'output' from runs.runs r"), "f");
  EXPECT_EQ(
      sql("select outcome from runs.commit_steps(true, array[" + q(ann) + "]::uuid[], array[" + q(run) +
          "]::uuid[], array[(select job_id from runs.runs)], array[1], array[3], array[3], array[1], array[0], array[0], "
          "array[0], array[0], array[''], array['{}'], array['completed'], array['ok'], array[null]::text[], "
          "array[null]::text[], array['{}'], array[1], array[1], array[1], array[2], array[3], array['x'], '{}', '{}', '{}', "
          "'{}', '{}', '{}', '{}', '{}', p_results => array['{\"a\":[1.50]}'])"),
      "ok");
  EXPECT_EQ(sql("select (runs.run_json(r) || runs.output_json(r))->>'output' from runs.runs r"), R"({"a": [1.50]})");
  EXPECT_EQ(sql("select runs.run_json(r) ? 'output' from runs.runs r"), "f") << "lists do not contain it";
  EXPECT_EQ(sql("select runs.terminal_payload(r)::jsonb->>'output' from runs.runs r"), R"({"a": [1.50]})");
}

// The job contains the message but not the URL, and each way to end a run creates it.
TEST_F(runs_sql, the_end_of_a_run_notifies_the_webhook_of_its_start) {
  const std::string extras = R"({"webhook_url": "https://example.com/secret", "webhook_secret": "sealed"})";
  start({.max_runs = 9, .extras = extras});
  const std::string completed = last_run();
  start({.max_runs = 9, .extras = extras});
  const std::string stopped = last_run();
  start({.max_runs = 9});
  EXPECT_EQ(persist(completed, 2, 2, end_step("completed")).substr(0, 2), "ok");
  EXPECT_EQ(persist(completed, 2, 2, end_step("completed")).substr(0, 2), "ok");
  EXPECT_EQ(sql("select runs.force_stop(" + q(stopped) + ")"), "stopped");
  EXPECT_EQ(persist(last_run(), 2, 2, end_step("completed")).substr(0, 2), "ok");
  EXPECT_EQ(
      sql("select string_agg((args->>'run') || ' ' || (args->>'id') || ' ' || ((args->>'body')::jsonb->>'type'), ', ' order by "
          "args->>'run') from core.job where kind = 'runs.start_webhook'"),
      completed + " run_" + completed + " run.completed, " + stopped + " run_" + stopped + " run.stopped");
  EXPECT_EQ(sql("select count(*) from core.job where args::text like '%example.com%' or args::text like '%sealed%'"),
            "0");
  EXPECT_EQ(sql("select count(*) from runs.runs r where runs.run_json(r)::text like '%example.com%'"), "0");
}

// A rare value among many runs of the same and of another account, and a value that most runs of the account have.
TEST_F(runs_sql, a_page_of_runs_with_metadata_reads_few_rows) {
  sql("insert into runs.runs (id, account_id, project_id, thread_id, agent_id, agent_version, model, status, job_id, "
      "fence, seq_reserved, timeout_seconds, metadata) select (lpad(to_hex(n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, "
      "case when n % 10 = 0 then " +
      q(ann) +
      "::uuid else md5((n % 1000)::text)::uuid end, md5('p')::uuid, md5('t')::uuid, md5('a')::uuid, 1, 'm', 'completed', 0, "
      "0, 9, 3000, jsonb_build_object('env', 'prod', 'customer', 'c' || n / 100) from generate_series(1, 50000) n");
  sql("vacuum analyze runs.runs");
  const auto page = [&](const std::string& filter) {
    return "select n from runs.page_of_metadata(" + q(ann) + ", null, null, 20, " + q(filter) + ")";
  };
  EXPECT_LT(rows_read([&] { EXPECT_EQ(sql(page(R"({"customer": "c77"})")), "10"); }), 200);
  EXPECT_LT(rows_read([&] { EXPECT_EQ(sql(page(R"({"env": "prod", "customer": "none"})")), "0"); }), 100);
  EXPECT_EQ(sql(page(R"({"env": "prod"})")), "20");
}

TEST_F(runs_sql, deleting_a_thread_removes_all_its_data_and_nothing_else) {
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
  EXPECT_EQ(start({.max_threads = 1}), "ok") << "the deleted thread no longer counts";
}

TEST_F(runs_sql, deleting_the_last_thread_deletes_the_project_at_a_cost_independent_of_other_threads) {
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
    EXPECT_EQ(start({.thread = threads.back(), .max_runs = 5}), "ok") << "another run does not add a thread";
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
