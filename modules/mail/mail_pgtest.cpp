// Tests the SQL of the outbox together with the real job queue.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "../../tests/support/schema.hpp"
#include "migrations.hpp"

namespace {

class mail_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    migrate_jobs();
    migrate("mail", ry_migrations::all);
  }
  std::string enqueue(const std::string& address, const std::string& more = "") {
    return sql("select outcome from mail.enqueue('invitation', '" + address + "', 'Hi', 'text'" + more + ")");
  }
  // Simulates a worker that claims the only job.
  void claim_job() { sql("update core.job set state = 1, fence = fence + 1"); }
  std::string begin(int gap = 0, const std::string& fence = "fence") {
    return sql(
        "select b.what || coalesce(' ' || b.attempt, '') from core.job j, lateral "
        "mail.begin_attempt((j.args->>'id')::uuid, j.id, j." +
        fence + ", " + std::to_string(gap) + ") b");
  }
  std::string begin_sealed() {
    return sql(
        "select b.what || coalesce(' ' || b.attempt, '') from core.job j, lateral "
        "mail.begin_attempt((j.args->>'id')::uuid, j.id, j.fence, 0, true) b");
  }
  void end(const std::string& state, const std::string& more = "false, false") {
    sql("select mail.end_attempt((args->>'id')::uuid, id, fence, '" + state + "', 250, 'r', " + more +
        ") from core.job");
  }
};

TEST_F(mail_sql, a_message_and_its_job_commit_with_the_callers_transaction) {
  sql("begin");
  EXPECT_EQ(enqueue("a@b.test"), "queued");
  sql("rollback");
  EXPECT_EQ(sql("select (select count(*) from mail.message) + (select count(*) from core.job)"), "0");
  EXPECT_EQ(enqueue("a@b.test"), "queued");
  EXPECT_EQ(sql("select kind || ' ' || queue || ' ' || priority from core.job"), "mail.send mail 0");
}

TEST_F(mail_sql, addresses_and_subjects_cannot_contain_line_breaks) {
  for (const char* bad : {"", "a", "a@b>", "a b@c", "a@b\r\nRCPT TO:<e@f>", "a@b\n", "a@-b", "a..b@c", ".a@b", "a.@b",
                          "a@1.2.3.4", "a\xc2\xa0@b",
                          "a@b.\xe2\x80\xae"
                          "c",
                          "a@b\xe3\x80\x80"}) {
    EXPECT_EQ(state_of("select mail.enqueue('x', E'" + std::string(bad) + "', 's', 't')"), "RY422") << bad;
  }
  for (const char* good : {"\xc3\xa9@b",
                           "x@b\xc3\xbc"
                           "cher.example",
                           "a+b@c-d.example", "a@xn--bcher-kva.example"}) {
    EXPECT_EQ(sql("select mail.address_ok('" + std::string(good) + "')"), "t") << good;
  }
  EXPECT_EQ(sql("select mail.address_ok(repeat('a', 65) || '@b') or mail.address_ok('a@' || repeat('b', 64) || '.c')"),
            "f");
  EXPECT_EQ(state_of("select mail.enqueue('x', null, 's', 't')"), "RY422");
  EXPECT_EQ(state_of("select mail.enqueue('x', repeat('a', 250) || '@b.cd', 's', 't')"), "RY422");
  sql("select mail.enqueue('x', 'a@b', E'Ann\\r\\nBcc: e@f', 't')");
  EXPECT_EQ(sql("select subject from mail.message"), "Ann Bcc: e@f");
}

TEST_F(mail_sql, concurrent_calls_with_one_key_enqueue_one_message) {
  EXPECT_EQ(enqueue("a@b", ", key => 'k'"), "queued");
  EXPECT_EQ(enqueue("a@b", ", key => 'k'"), "duplicate");
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([this] {
      const auto db = connect();
      db("select mail.enqueue('invitation', 'c@d', 'Hi', 'text', key => 'many')");
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(sql("select count(*) from mail.message where key = 'many'"), "1");
  EXPECT_EQ(sql("select count(*) from core.job"), "2");
}

TEST_F(mail_sql, the_hourly_limit_ignores_the_case_of_the_address) {
  sql("update mail.setting set per_recipient_hour = 2");
  EXPECT_EQ(enqueue("a@b"), "queued");
  EXPECT_EQ(enqueue("A@B"), "queued");
  EXPECT_EQ(enqueue("a@B"), "throttled");
  EXPECT_EQ(enqueue("a@B", ", bulk => true"), "queued") << "counted separately";
  EXPECT_EQ(enqueue("a@B", ", bulk => true"), "queued");
  EXPECT_EQ(enqueue("a@B", ", bulk => true"), "throttled");
  EXPECT_EQ(enqueue("c@b"), "queued");
  sql("update mail.message set created_at = created_at - interval '61 minutes'");
  EXPECT_EQ(enqueue("a@b"), "queued");
}

TEST_F(mail_sql, unsubscribing_suppresses_queued_messages) {
  EXPECT_EQ(enqueue("Ann@b", ", bulk => true"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  end("queued");
  EXPECT_EQ(sql("select address || ' ' || category from mail.subscription where out_at is null"), "ann@b invitation");
  sql("update mail.subscription set out_at = now(), reason = 'unsubscribed'");
  EXPECT_EQ(begin(), "over");
  EXPECT_EQ(sql("select state from mail.message"), "suppressed");
  EXPECT_EQ(enqueue("ANN@B"), "suppressed");
  EXPECT_EQ(sql("select outcome from mail.enqueue('account', 'ann@b', 's', 't')"), "queued") << "another category";
}

TEST_F(mail_sql, a_bounced_address_is_suppressed_until_a_message_is_requeued) {
  EXPECT_EQ(enqueue("a@b"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  end("refused", "false, true");
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
  EXPECT_EQ(enqueue("a@b"), "suppressed");
  EXPECT_EQ(sql("select mail.requeue('op', id) from mail.message"), "t");
  EXPECT_EQ(sql("select mail.requeue('op', id) from mail.message"), "f") << "it is already queued";
  claim_job();
  EXPECT_EQ(begin(), "send 2");
  end("sent");
  EXPECT_EQ(sql("select state || ' ' || (body_text is null) from mail.message"), "sent true");
  EXPECT_EQ(sql("select string_agg(payload->>'action' || ' ' || (payload->'detail'->>'address'), ',') from core.event "
                "where kind = 'admin.act' and key = 'op' and payload->>'actor' = 'op'"),
            "mail.requeue a@b")
      << "audited once, with the actor";
}

TEST_F(mail_sql, account_mail_has_its_own_limit_and_ignores_the_rate_limit) {
  sql("update mail.setting set per_recipient_hour = 1, account_per_recipient_hour = 2");
  const auto account = [&] { return sql("select outcome from mail.enqueue('account', 'a@b', 's', 't')"); };
  EXPECT_EQ(enqueue("a@b"), "queued");
  EXPECT_EQ(enqueue("a@b"), "throttled");
  EXPECT_EQ(account(), "queued");
  EXPECT_EQ(account(), "queued");
  EXPECT_EQ(account(), "throttled") << "its own limit";
  EXPECT_EQ(sql("select string_agg(distinct kind, ',' order by kind) from core.job"), "mail.send,mail.send_account");
  claim_job();
  const auto next_action = [&](const char* kind) {
    return sql(
        "select b.what from core.job j, lateral mail.begin_attempt((j.args->>'id')::uuid, j.id, j.fence, 60000, true) b where kind = '" +
        std::string(kind) + "' limit 1");
  };
  EXPECT_EQ(next_action("mail.send"), "send");
  EXPECT_EQ(next_action("mail.send"), "wait");
  EXPECT_EQ(next_action("mail.send_account"), "send") << "it does not wait for the rate limit";
}

TEST_F(mail_sql, a_bounce_expires_and_does_not_stop_account_mail) {
  EXPECT_EQ(enqueue("a@b"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  end("refused", "false, true");
  EXPECT_EQ(enqueue("a@b"), "suppressed");
  EXPECT_EQ(
      sql("select reason || ' ' || detail || ' ' || (expires_at between now() + interval '89 days' and now() + interval '91 days')"
          " from mail.subscription"),
      "bounced r true");
  EXPECT_EQ(sql("select outcome from mail.enqueue('account', 'A@b', 's', 't')"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  end("sent");
  EXPECT_EQ(enqueue("a@b"), "queued") << "the relay accepted a message, so the bounce is cleared";
  sql("update mail.subscription set out_at = now(), reason = 'bounced', expires_at = now() - interval '1 second'");
  EXPECT_EQ(enqueue("a@b"), "queued") << "expired";
  sql("update mail.subscription set out_at = now(), reason = 'operator', expires_at = null");
  EXPECT_EQ(sql("select outcome from mail.enqueue('account', 'a@b', 's', 't')"), "suppressed")
      << "an operator's block applies to all mail";
}

TEST_F(mail_sql, lift_many_lifts_bounces_but_not_unsubscriptions) {
  sql("insert into mail.subscription (address, category, out_at, reason) values"
      " ('a@x.test', '*', now(), 'bounced'), ('b@mx.x.test', '*', now() - interval '2 days', 'bounced'), ('c@yx.test', '*', now(), 'bounced'),"
      " ('d@x.test', 'promotional', now(), 'unsubscribed'), ('e@x.test', '*', now(), 'operator')");
  const auto lift = [&](const std::string& more) { return sql("select mail.lift_many('op', " + more + ")"); };
  EXPECT_EQ(lift("'bounced', null, 'X.test', now() - interval '1 day', null"), "1");
  EXPECT_EQ(lift("'bounced', null, 'x.test', null, null"), "1") << "a subdomain";
  EXPECT_EQ(lift("'bounced', '{C@yx.test,e@x.test}', null, null, null"), "1");
  EXPECT_EQ(lift("'bounced', null, null, null, null"), "0");
  EXPECT_EQ(sql("select string_agg(address, ',' order by address) from mail.subscription where out_at is not null"),
            "d@x.test,e@x.test");
  EXPECT_EQ(sql("select count(*) from core.event where payload->>'action' = 'mail.lift_many'"), "3")
      << "lifting nothing is not audited";
}

TEST_F(mail_sql, unsubscriptions_and_preferences_update_each_other) {
  EXPECT_EQ(enqueue("a@b", ", bulk => true"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  const auto token = sql("select token from mail.subscription");
  const auto set_subscribed = [&](const char* subscribed) {
    return sql("select mail.set_subscribed('" + token + "', " + subscribed + ")");
  };
  EXPECT_EQ(set_subscribed("true"), "f") << "nothing to undo";
  EXPECT_EQ(set_subscribed("false"), "t");
  EXPECT_EQ(set_subscribed("false"), "f");
  EXPECT_EQ(enqueue("a@b"), "suppressed");
  EXPECT_EQ(set_subscribed("true"), "t");
  EXPECT_EQ(enqueue("a@b"), "queued");
  EXPECT_EQ(
      sql("select string_agg((payload->>'subscribed') || ' ' || (payload->>'category'), ',' order by id) from core.event"
          " where kind = 'mail.subscription' and key = 'a@b'"),
      "false invitation,true invitation");
  set_subscribed("false");
  sql("select mail.follow_preference('A@b', 'invitation', false)");
  EXPECT_EQ(enqueue("a@b"), "suppressed");
  sql("select mail.follow_preference('A@b', 'invitation', true)");
  EXPECT_EQ(enqueue("a@b"), "queued");
  EXPECT_EQ(sql("select mail.set_subscribed(gen_random_uuid(), false) is null"), "t");
}

TEST_F(mail_sql, lifting_a_suppression_is_audited) {
  EXPECT_EQ(enqueue("a@b", ", bulk => true"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  end("refused", "false, true");
  sql("update mail.subscription set out_at = now(), reason = 'unsubscribed' where category = 'invitation'");
  EXPECT_EQ(sql("select mail.lift('op', 'A@B')"), "t");
  EXPECT_EQ(sql("select mail.lift('op', 'A@B')"), "f");
  EXPECT_EQ(enqueue("a@b"), "queued");
  EXPECT_EQ(sql("select string_agg(payload->>'action' || ' ' || (payload->'detail')::text, ',') from core.event "
                "where kind = 'admin.act'"),
            "mail.lift {\"address\": \"a@b\", \"categories\": [\"*\", \"invitation\"]}");
}

TEST_F(mail_sql, a_worker_that_lost_its_lease_cannot_write) {
  EXPECT_EQ(enqueue("a@b"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "send 1");
  claim_job();
  EXPECT_EQ(state_of("select mail.begin_attempt((args->>'id')::uuid, id, fence - 1, 0) from core.job"), "RYF01");
  EXPECT_EQ(state_of("select mail.end_attempt((args->>'id')::uuid, id, fence - 1, 'sent', 250, '', false, "
                     "false) from core.job"),
            "RYF01");
  EXPECT_EQ(sql("select state from mail.message"), "queued");
  EXPECT_EQ(begin(), "send 2");
  end("sent");
  EXPECT_EQ(sql("select maybe_duplicate from mail.message"), "t") << "the first attempt may have sent it";
}

TEST_F(mail_sql, the_rate_limit_applies_to_all_workers_together) {
  EXPECT_EQ(enqueue("a@b"), "queued");
  claim_job();
  EXPECT_EQ(begin(60'000), "send 1");
  end("queued");
  EXPECT_EQ(sql("select b.what || ' ' || (b.wait_ms between 50000 and 60001) from core.job j, lateral "
                "mail.begin_attempt((j.args->>'id')::uuid, j.id, j.fence, 60000) b"),
            "wait true");
  EXPECT_EQ(sql("select attempts || ' ' || under_way from mail.message"), "1 false");
}

TEST_F(mail_sql, an_expired_message_is_dead_lettered) {
  EXPECT_EQ(enqueue("a@b", ", ttl => interval '-1 second'"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "over");
  EXPECT_EQ(sql("select state from mail.message"), "dead");
}

TEST_F(mail_sql, a_worker_of_the_previous_release_does_not_send_sealed_messages) {
  EXPECT_EQ(sql("select outcome from mail.enqueue('account', 'a@b', 's', 'ry-sealed:-:QUJD')"), "queued");
  claim_job();
  EXPECT_EQ(begin(), "wait");
  EXPECT_EQ(sql("select attempts || ' ' || under_way || ' ' || state from mail.message"), "0 false queued");
  EXPECT_EQ(begin_sealed(), "send 1");
  EXPECT_EQ(sql("select count(*) from mail.subscription"), "0") << "its bodies have no unsubscribe link";
  end("queued");
  sql("update mail.message set body_text = 'plain'");
  EXPECT_EQ(begin(), "send 2") << "both kinds of workers send plain messages";
}

TEST_F(mail_sql, a_sealed_message_with_an_unsubscribe_link_gets_its_token) {
  EXPECT_EQ(sql("select outcome from mail.enqueue('news', 'a@b', 's', 'ry-sealed:u:QUJD')"), "queued");
  claim_job();
  EXPECT_EQ(begin_sealed(), "send 1");
  EXPECT_EQ(sql("select address || ' ' || category from mail.subscription"), "a@b news");
}

TEST_F(mail_sql, bodies_of_suppressed_messages_are_erased_and_those_of_dead_ones_kept) {
  for (const char* address : {"gone@b", "late@b"})
    EXPECT_EQ(sql("select outcome from mail.enqueue('account', '" + std::string(address) + "', 's', 't', 'h')"),
              "queued");
  claim_job();
  sql("insert into mail.subscription (address, category, out_at, reason) values ('gone@b', '*', now(), 'operator')");
  sql("update mail.message set expires_at = now() - interval '1 second' where address = 'late@b'");
  sql("select mail.begin_attempt((args->>'id')::uuid, id, fence, 0, true) from core.job");
  EXPECT_EQ(
      sql("select string_agg(state || ' ' || coalesce(body_text || body_html, 'none'), ',' order by address) from mail.message"),
      "suppressed none,dead th");
}

}  // namespace
