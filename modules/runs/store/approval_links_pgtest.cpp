// Database decisions about approvals: their events, and links that decide once.
#include <gtest/gtest.h>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

class approvals_sql : public runs_sql {
 protected:
  // Requests an approval for a call of a new run, as its worker does.
  std::string request(const std::string& tool = "shell", const std::string& arguments = R"({"command":"ls"})") {
    start({.max_runs = 100});
    run_ = last_run();
    return request_again(tool, arguments);
  }
  std::string request_again(const std::string& tool = "shell", const std::string& arguments = R"({"command":"ls"})") {
    return sql("select id from runs.request_approvals(" + q(run_) + ", (select fence from runs.runs where id = " +
               q(run_) + "), 1, array[gen_random_uuid()], array['c1'], array[" + q(tool) +
               "], array['sandbox'], array[" + q(arguments) + "], array['approval'], 'deny', 3600)");
  }
  std::string decide(const std::string& id, const std::string& status, const std::string& arguments = "null") {
    return sql("select outcome from runs.decide_approval(" + q(ann) + ", " + q(id) + ", " + q(status) + ", " +
               (arguments == "null" ? arguments : q(arguments)) + ", null, 'none')");
  }
  std::string events(const std::string& kind) {
    return sql(
        "select string_agg(coalesce(payload->>'status', payload->>'arguments'), ' ' order by id) from core.event where kind = " +
        q(kind));
  }
  std::string put_link(const std::string& account, const std::string& id, const std::string& hash) {
    return sql("select runs.put_approval_link(" + q(account) + ", " + q(id) + ", " + q(hash) + "::bytea)");
  }
  std::string decide_by_link(const std::string& hash, const std::string& status) {
    return sql("select coalesce((select made::text from runs.decide_by_link(" + q(hash) + "::bytea, " + q(status) +
               ", null)), 'unknown')");
  }
  std::string link_state(const std::string& hash) {
    return sql("select coalesce((select state from runs.approval_link(" + q(hash) + "::bytea)), 'unknown')");
  }
  std::string run_;
};

TEST_F(approvals_sql, an_approval_is_announced_once_in_its_transaction) {
  sql("begin");
  request();
  sql("rollback");
  EXPECT_EQ(events("approval.requested"), "");
  const std::string id = request();
  EXPECT_EQ(request_again(), id) << "another worker continues the run";
  EXPECT_EQ(events("approval.requested"), R"({"command":"ls"})");
  EXPECT_EQ(
      sql("select payload->>'title' || ' ' || (payload->>'project_id' is not null) || ' ' || (payload->>'expires_at' > now()::text)"
          "  from core.event where kind = 'approval.requested'"),
      "title true true");
}

TEST_F(approvals_sql, the_event_has_the_beginning_of_long_arguments) {
  request("shell", "{\"a\":\"" + std::string(100'000, 'x') + "\\u0000\"}");
  EXPECT_EQ(sql("select length(payload->>'arguments') from core.event where kind = 'approval.requested'"), "4000");
}

TEST_F(approvals_sql, a_remembered_approval_is_not_announced) {
  start({.max_runs = 100});
  run_ = last_run();
  sql("insert into runs.remembered_approvals (account_id, scope_id, tool) values (" + q(ann) + ", " + q(run_) +
      ", 'shell')");
  request_again();
  EXPECT_EQ(sql("select status from runs.approvals"), "approved");
  EXPECT_EQ(events("approval.requested"), "");
}

TEST_F(approvals_sql, each_end_of_an_approval_publishes_one_event) {
  decide(request(), "approved");
  const std::string denied = request();
  decide(denied, "denied");
  EXPECT_EQ(decide(denied, "denied"), "same");
  EXPECT_EQ(decide(denied, "approved"), "other");
  request();
  sql("select runs.drop_approvals(" + q(run_) + "), runs.drop_approvals(" + q(run_) + ")");
  EXPECT_EQ(events("approval.resolved"), "approved denied cancelled");
}

TEST_F(approvals_sql, the_stream_shows_changed_arguments) {
  const std::string id = request();
  sql("insert into runs.parked (run_id, account_id, slot_until) values (" + q(run_) + ", " + q(ann) + ", now())");
  decide(id, "approved", R"({"command":"echo"})");
  EXPECT_NE(sql("select wire from runs.events where run_id = " + q(run_) + " order by seq desc limit 1")
                .find(R"("arguments": {"command":"echo"}})"),
            std::string::npos);
}

TEST_F(approvals_sql, a_link_decides_once) {
  const std::string id = request();
  EXPECT_EQ(put_link(bob, id, "\\x01"), "f") << "of another account";
  EXPECT_EQ(put_link(ann, id, "\\x01"), "t");
  EXPECT_EQ(put_link(ann, id, "\\x01"), "t");
  EXPECT_EQ(link_state("\\x02"), "unknown");
  EXPECT_EQ(decide_by_link("\\x02", "approved"), "unknown");
  EXPECT_EQ(link_state("\\x01"), "open");
  EXPECT_EQ(decide_by_link("\\x01", "approved"), "true");
  EXPECT_EQ(decide_by_link("\\x01", "approved"), "false");
  EXPECT_EQ(decide_by_link("\\x01", "denied"), "false");
  EXPECT_EQ(link_state("\\x01"), "used");
  EXPECT_EQ(put_link(ann, id, "\\x03"), "f") << "the approval does not wait any more";
  EXPECT_EQ(sql("select status from runs.approvals"), "approved");
}

TEST_F(approvals_sql, a_link_ends_with_its_approval) {
  const std::string decided = request();
  put_link(ann, decided, "\\x01");
  decide(decided, "denied");
  EXPECT_EQ(decide_by_link("\\x01", "denied"), "false") << "even the same decision";
  EXPECT_EQ(link_state("\\x01"), "decided");
  const std::string expired = request();
  put_link(ann, expired, "\\x02");
  sql("update runs.approvals set expires_at = now() where id = " + q(expired));
  EXPECT_EQ(decide_by_link("\\x02", "approved"), "false");
  EXPECT_EQ(link_state("\\x02"), "expired");
  const std::string cancelled = request();
  put_link(ann, cancelled, "\\x03");
  sql("select runs.force_stop(" + q(run_) + ")");
  EXPECT_EQ(decide_by_link("\\x03", "approved"), "false");
  EXPECT_EQ(link_state("\\x03"), "cancelled");
  sql("delete from runs.approvals");
  EXPECT_EQ(sql("select count(*) from runs.approval_links"), "0");
}

}  // namespace
