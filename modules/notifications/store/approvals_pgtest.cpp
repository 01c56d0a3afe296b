// Notifications about approvals: none is sent after the decision.
#include "store/notifications_sql_test.hpp"

namespace {

using notifications_test::notifications_sql;

// The module runs is replaced by a table of the approvals that wait.
class notifications_approvals : public notifications_sql {
 protected:
  void SetUp() override {
    notifications_sql::SetUp();
    if (IsSkipped()) return;
    sql("create schema runs");
    sql("create table runs.waiting (id uuid)");
    sql("create function runs.lock_pending_approval(p_approval uuid) returns boolean language sql as"
        " 'select exists (select 1 from runs.waiting w where w.id = p_approval)'");
    sql("insert into runs.waiting values ('" + first + "'), ('" + second + "')");
  }
  std::string begin_delivery(const std::string& key, const std::string& columns = "b.what") {
    claim_job(key);
    return sql("select concat_ws(' ', " + columns +
               ") from core.job j, lateral notifications.begin_delivery((j.args->>'id')::uuid, j.id, j.fence, 3) b"
               " where j.args->>'id' = " +
               id_of(key) + "::text");
  }
  void resolve(const std::string& approval) { sql("delete from runs.waiting where id = '" + approval + "'"); }
  static constexpr const char* resolved = "suppressed The approval no longer waits for a decision";
  const std::string first = "0190b1e4-0000-7000-8000-000000000001", second = "0190b1e4-0000-7000-8000-000000000002";
};

TEST_F(notifications_approvals, a_resolved_approval_is_not_announced) {
  resolve(first);
  EXPECT_EQ(notify_of_approval("k", first), resolved);
  EXPECT_EQ(sql("select (select count(*) from notifications.inbox) + (select count(*) from core.job)"), "0");
  EXPECT_EQ(notify_of_approval("k2", second), "queued");
  resolve(second);
  EXPECT_EQ(begin_delivery("k2"), "over");
  EXPECT_EQ(state("k2"), resolved);
}

TEST_F(notifications_approvals, the_decision_marks_the_inbox_entry_and_ends_a_waiting_notification) {
  notify_of_approval("k", first);
  EXPECT_EQ(sql("select version from notifications.resolve_approval(" + account("bob@example.test") + ", '" + first +
                "', 'approved')"),
            "");
  resolve(first);
  const std::string call =
      "select version from notifications.resolve_approval(" + ann_ + ", '" + first + "', 'approved')";
  EXPECT_EQ(sql(call), "2");
  EXPECT_EQ(sql(call), "") << "the inbox did not change again";
  EXPECT_EQ(state("k"), resolved);
  EXPECT_EQ(sql("select (read_at is not null) || ' ' || (payload->>'status') from notifications.inbox"),
            "true approved");
  EXPECT_EQ(sql("select unread from notifications.inbox_head"), "0");
}

TEST_F(notifications_approvals, an_accepted_channel_is_not_repeated_after_the_decision) {
  notify_of_approval("k", first);
  EXPECT_EQ(begin_delivery("k"), "send");
  end("k", "[" + result(1, "accepted") + "]", 2);
  resolve(first);
  EXPECT_EQ(begin_delivery("k"), "over");
  EXPECT_EQ(state("k"), "sent");
}

TEST_F(notifications_approvals, a_digest_omits_resolved_approvals) {
  sql("insert into notifications.preference (account_id, workflows) values (" + ann_ +
      ", '{\"approval-requested\": {\"digest_minutes\": 60}}')");
  EXPECT_EQ(notify_of_approval("k", first), "queued");
  EXPECT_EQ(notify_of_approval("k2", second), "gathered");
  resolve(first);
  EXPECT_EQ(begin_delivery("k"), "over");
  EXPECT_EQ(state("k"), resolved);
  EXPECT_EQ(state("k2"), "queued") << "it carries the rest of the digest";
  EXPECT_EQ(begin_delivery("k2", "b.what, b.items is null"), "send t");
}

TEST_F(notifications_approvals, an_unverified_address_gets_neither_arguments_nor_a_link) {
  sql("create or replace function accounts.contact(account uuid) returns table (email text, display_name text, verified boolean)"
      " language sql as $$ select 'ann@example.test', 'Ann', false $$");
  notify_of_approval("k", first);
  EXPECT_EQ(sql("select payload->'$details' from notifications.notification"), "{}");
}

}  // namespace
