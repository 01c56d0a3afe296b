// Approvals of tool calls: slots of parked runs, time limits, lists, and what a worker learns about earlier ones.
#include <gtest/gtest.h>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

class runs_approvals : public runs_sql {
 protected:
  // Creates an approval of the call c of the run.
  std::string request(const std::string& run, const std::string& columns = "status") const {
    return sql("select " + columns + " from runs.request_approvals(" + q(run) +
               ", (select fence from runs.runs where id = " + q(run) +
               "), 1, array[accounts.new_id()], array['c'], array['shell'], array['sandbox'], array['{}'], "
               "array['approval'], 'deny', 86400)");
  }
  std::string park(const std::string& run, int slot_seconds) const {
    request(run);
    return sql("select runs.park_run(id, job_id, fence, border_seq, " + std::to_string(slot_seconds) +
               ") from runs.runs where id = " + q(run));
  }
  // Starts a run, and parks it without a slot.
  std::string park_new(int max_runs) const {
    EXPECT_EQ(start({.max_runs = max_runs}), "ok");
    std::string run = last_run();
    EXPECT_EQ(park(run, -1), "parked");
    return run;
  }
  std::string decide(const std::string& run, const std::string& status) const {
    return sql("select outcome || ' ' || wake from runs.decide_approval(" + q(ann) +
               ", (select id from runs.approvals where run_id = " + q(run) + "), " + q(status) +
               ", null, null, 'none')");
  }
  std::string log(const std::string& run, const std::string& event) const {
    return sql(
        "insert into runs.events (run_id, seq, last_seq, wire) select id, border_seq + 1, border_seq + 1, "
        "runs.event_wire(border_seq + 1, " +
        event + ") from runs.runs where id = " + q(run) + " returning seq");
  }
};

TEST_F(runs_approvals, runs_that_wake_and_new_starts_stay_within_the_limit_together) {
  const std::string a = park_new(3), b = park_new(3), c = park_new(3);
  EXPECT_EQ(start({.max_runs = 3}), "ok");
  EXPECT_EQ(decide(a, "approved"), "ok true");
  EXPECT_EQ(decide(b, "denied"), "ok true");
  EXPECT_EQ(start({.max_runs = 3}).substr(0, 9), "run_limit");
  EXPECT_EQ(sql(plain_sql({.max_runs = 3})), "f");
  EXPECT_EQ(decide(c, "approved"), "ok false") << "all slots are in use";
  EXPECT_EQ(sql("select runs.occupied_slots(" + q(ann) + ")"), "3");
  EXPECT_EQ(sql("select waiting from runs.runs where id = " + q(c)), "t");
  EXPECT_EQ(sql("select runs.force_stop(" + q(a) + ")"), "stopped");
  EXPECT_EQ(sql("select waiting from runs.runs where id = " + q(c)), "f") << "it gets the free slot";
  EXPECT_EQ(sql("select runs.occupied_slots(" + q(ann) + ")"), "3");
}

TEST_F(runs_approvals, the_time_limit_continues_where_it_was_after_the_wait_for_a_slot) {
  const std::string run = park_new(1);
  sql("update runs.runs set started_at = now() - interval '2900 seconds' where id = " + q(run));
  EXPECT_EQ(start({}), "ok");
  const std::string other = last_run();
  EXPECT_EQ(decide(run, "approved"), "ok false");
  EXPECT_EQ(sql("select runs.force_stop(" + q(other) + ")"), "stopped");
  EXPECT_EQ(
      sql("select waiting || ' ' || (clock_timestamp() - admitted_at > interval '2800 seconds') from runs.runs where id = " +
          q(run)),
      "false true");
}

TEST_F(runs_approvals, a_new_worker_learns_from_the_log_which_events_were_written) {
  start({});
  const std::string run = last_run();
  const std::string flags = "announced || ' ' || resolved_event";
  EXPECT_EQ(request(run, flags), "false false");
  const std::string id = sql("select id from runs.approvals");
  const auto event = [&](const std::string& type) {
    return "'{\"type\": \"" + type + "\", \"sequence\": 9, \"approval_id\": \"" + id + "\"}'";
  };
  EXPECT_EQ(decide(run, "approved"), "ok false");
  sql("select runs.begin_approved(" + q(run) + ", (select fence from runs.runs where id = " + q(run) + "), array[" +
      q(id) + "::uuid])");
  EXPECT_EQ(request(run, flags + " || ' ' || begun"), "false false true") << "the event may be lost with its worker";
  log(run, event("approval_resolved"));
  EXPECT_EQ(request(run, flags), "false true");
}

TEST_F(runs_approvals, a_new_worker_learns_whether_the_policy_required_an_approval) {
  start({});
  const std::string run = last_run();
  const auto event = [](const std::string& call, const std::string& rest) {
    return R"('{"type": "tool_call", "sequence": 9, "tool_call_id": ")" + call +
           R"(", "name": "shell", "arguments": {"x": "\"needs_approval\": true}"}, "source": "sandbox")" + rest + "}'";
  };
  log(run, event("c", ", \"needs_approval\": true"));
  sql("update runs.runs set border_seq = border_seq + 1 where id = " + q(run));
  log(run, event("d", ""));
  const std::string all =
      "select string_agg(tool_call_id || ' ' || requested || ' ' || needed, ', ' order by tool_call_id) "
      "from runs.earlier_approvals(" +
      q(run) + ", 1, array['c', 'd', 'e'])";
  EXPECT_EQ(sql(all), "c false true, d false false, e false false");
  request(run);
  EXPECT_EQ(sql(all), "c true true, d false false, e false false");
}

TEST_F(runs_approvals, a_decision_before_the_park_is_in_the_log_of_the_parked_run) {
  start({});
  const std::string run = last_run();
  sql("select runs.request_approvals(" + q(run) + ", (select fence from runs.runs where id = " + q(run) +
      "), 1, array[accounts.new_id(), accounts.new_id()], array['c', 'd'], array['shell', 'shell'], array['', ''], "
      "array['{}', '{}'], array['approval', 'approval'], 'deny', 86400)");
  sql("select outcome from runs.decide_approval(" + q(ann) +
      ", (select id from runs.approvals where tool_call_id = 'c'), 'denied', null, null, 'none')");
  EXPECT_EQ(park(run, 60), "parked");
  EXPECT_EQ(sql("select count(*) from runs.events where run_id = " + q(run) +
                " and wire like '%approval_resolved%\"c\"%denied%'"),
            "1");
  EXPECT_EQ(sql("select seq = border_seq from runs.runs r join runs.events e on e.run_id = r.id where r.id = " +
                q(run) + " and wire like '%approval_resolved%'"),
            "t");
}

TEST_F(runs_approvals, a_page_reads_only_its_own_rows) {
  sql("insert into runs.approvals (id, account_id, run_id, thread_id, agent_id, step, tool_call_id, tool, arguments, "
      "expires_at, status) select gen_random_uuid(), case when n % 100 = 0 then " +
      q(ann) +
      "::uuid else md5((n % 1000)::text)::uuid end, md5((n / 3)::text)::uuid, md5('t')::uuid, md5('a')::uuid, 1, n::text, 't', '{}', "
      "now(), case when n % 50 = 0 then 'pending' else 'approved' end from generate_series(1, 50000) n");
  sql("vacuum analyze runs.approvals");
  for (const char* rest : {"null, null", "null, 'pending'", "md5('33')::uuid, null"}) {
    const std::string page = "select n from runs.approvals_page(" + q(ann) + ", " + rest + ", null, 20)";
    EXPECT_LT(rows_read([&] { sql(page); }), 200) << rest;
  }
}

TEST_F(runs_approvals, a_page_ends_after_4_mb_of_arguments) {
  sql("insert into runs.approvals (id, account_id, run_id, thread_id, agent_id, step, tool_call_id, tool, arguments, expires_at) "
      "select gen_random_uuid(), " +
      q(ann) +
      ", md5('r')::uuid, md5('t')::uuid, md5('a')::uuid, 1, n::text, 't', '\"' || repeat('x', 1000000) || '\"', now() from "
      "generate_series(1, 6) n");
  const auto page = [&](const std::string& before) {
    return sql("select n || ' ' || coalesce(last, '') from runs.approvals_page(" + q(ann) + ", null, null, " + before +
               ", 50)");
  };
  const std::string first = page("null");
  EXPECT_EQ(first.substr(0, 2), "3 ");
  EXPECT_EQ(page(q(first.substr(2))), "3 ");
}

}  // namespace
