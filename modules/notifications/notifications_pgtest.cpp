// Tests the module's SQL together with the real job queue and accounts.
#include "store/notifications_sql_test.hpp"

#include <thread>
#include <vector>

namespace {

using notifications_test::notifications_sql;

TEST_F(notifications_sql, a_notification_its_inbox_entry_and_its_job_are_created_once) {
  sql("begin");
  EXPECT_EQ(notify("k"), "queued");
  sql("rollback");
  EXPECT_EQ(
      sql("select (select count(*) from notifications.notification) + (select count(*) from notifications.inbox) + (select count(*) from core.job)"),
      "0");
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([this] {
      const auto db = connect();
      db("select notifications.notify('k', " + ann_ +
         ", 'task-completed', '{}', 7, null, false, '', 'T', 'B', '', 60)");
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(notify("k"), "duplicate");
  EXPECT_EQ(
      sql("select (select count(*) from notifications.notification) || ' ' || (select count(*) from notifications.inbox) || ' ' || (select count(*) from core.job)"),
      "1 1 1");
  EXPECT_EQ(sql("select unread || ' ' || last_seq from notifications.inbox_head"), "1 1");
  EXPECT_EQ(sql("select tid = left(encode(sha256('k'), 'hex'), 32) from notifications.notification"), "t");
}

TEST_F(notifications_sql, settings_override_mandatory_workflows_which_override_preferences) {
  const auto allowed = [&](const std::string& workflow) {
    return sql("select notifications.allowed(" + ann_ + ", '" + workflow + "', 7)");
  };
  EXPECT_EQ(allowed("task-completed"), "7");
  sql("insert into notifications.preference (account_id, push_enabled, workflows) values (" + ann_ +
      ", false,"
      " '{\"task-completed\": {\"email\": false}, \"payment-failed\": {\"email\": false, \"push\": true}}')");
  EXPECT_EQ(allowed("task-completed"), "4");
  EXPECT_EQ(allowed("task-failed"), "5");
  sql("update notifications.setting set mandatory = '{payment-failed}'");
  EXPECT_EQ(allowed("payment-failed"), "5");
  sql("update notifications.preference set email_enabled = false, in_app_enabled = false");
  EXPECT_EQ(notify("k"), "suppressed The account's settings do not want it");
  EXPECT_EQ(sql("select (select count(*) from notifications.inbox) + (select count(*) from core.job)"), "0");
  sql("update notifications.preference set in_app_enabled = true");
  EXPECT_EQ(notify("k2"), "sent") << "only the inbox is left";
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
}

TEST_F(notifications_sql, a_user_viewing_the_thread_gets_no_notification) {
  const auto thread = "'" + sql("select gen_random_uuid()") + "'::uuid";
  EXPECT_EQ(notify("stream", thread, "true"), "suppressed User is actively viewing thread");
  EXPECT_EQ(notify("later", thread), "queued");
  sql("insert into notifications.presence (account_id, session_id, thread_id) values (" + ann_ + ", 's', " + thread +
      ")");
  EXPECT_EQ(notify("tab", thread), "suppressed User is actively viewing thread");
  claim_job("later");
  EXPECT_EQ(begin_as_previous_release("later"), "over") << "the thread was viewed while the notification waited";
  EXPECT_EQ(state("later"), "suppressed User is actively viewing thread");
  EXPECT_EQ(notify("other", "gen_random_uuid()"), "queued");
  sql("update notifications.presence set seen_at = now() - interval '121 seconds'");
  EXPECT_EQ(notify("gone", thread), "queued");
  sql("update notifications.presence set seen_at = now(), account_id = gen_random_uuid()");
  EXPECT_EQ(notify("stranger", thread), "queued");
}

TEST_F(notifications_sql, quiet_hours_use_the_time_zone_of_the_account) {
  const auto until = [&](const std::string& at) {
    return sql("select coalesce(to_char(notifications.quiet_until(" + ann_ + ", '" + at +
               "') at time zone 'utc', 'MM-DD HH24:MI'), 'no')");
  };
  sql("select notifications.put_preferences(" + ann_ + ", 'Europe/Berlin', true, '22:00', '07:00', '{}')");
  EXPECT_EQ(until("2026-01-10 20:59:59Z"), "no");
  EXPECT_EQ(until("2026-01-10 21:00Z"), "01-11 06:00") << "22:00 in Berlin";
  EXPECT_EQ(until("2026-01-11 02:00Z"), "01-11 06:00");
  EXPECT_EQ(until("2026-01-11 06:00Z"), "no");
  EXPECT_EQ(until("2026-03-28 22:00Z"), "03-29 05:00") << "daylight saving time begins";
  EXPECT_EQ(until("2026-10-24 21:00Z"), "10-25 06:00") << "daylight saving time ends";
  sql("select notifications.put_preferences(" + ann_ + ", null, true, '12:00', '13:30', '{}')");
  EXPECT_EQ(until("2026-07-01 10:00Z"), "07-01 11:30");
  EXPECT_EQ(until("2026-07-01 11:30Z"), "no");
  EXPECT_EQ(until("2026-07-01 09:59Z"), "no");
  sql("select notifications.put_preferences(" + ann_ + ", null, true, '12:00', '12:00', '{}')");
  EXPECT_EQ(until("2026-07-01 10:00Z"), "no");
  EXPECT_EQ(sql("select notifications.put_preferences(" + ann_ + ", 'Mars/Phobos', false, null, null, '{}')"),
            "time_zone");
  EXPECT_EQ(sql("select notifications.put_preferences(" + ann_ + ", 'UTC', true, null, null, '{}')"), "");
  EXPECT_EQ(until("2026-07-01 10:00Z"), "no");
}

TEST_F(notifications_sql, quiet_hours_delay_mail_and_push_but_not_the_inbox_or_urgent_notifications) {
  sql("update notifications.setting set urgent = '{payment-failed}'");
  sql("select notifications.put_preferences(" + ann_ +
      ", 'UTC', true, (now() at time zone 'utc' - interval '1 minute')::time,"
      " (now() at time zone 'utc' + interval '3 hours')::time, '{}')");
  EXPECT_EQ(notify("quiet"), "queued");
  EXPECT_EQ(sql("select unread from notifications.inbox_head"), "1");
  claim_job("quiet");
  EXPECT_EQ(begin_as_previous_release("quiet", "b.what, (b.wait_ms between 10700000 and 10800001)"), "wait t");
  EXPECT_EQ(begin_as_previous_release("quiet", "b.what"), "wait");
  EXPECT_EQ(
      sql("select (expires_at between now() + interval '3 hours 55 minutes' and now() + interval '4 hours 1 minute') from notifications.notification"),
      "t")
      << "its time to live starts at the end of the quiet hours, and is extended only once";
  EXPECT_EQ(sql("select attempts from notifications.notification"), "0");
  EXPECT_EQ(notify("urgent", "null", "false", "payment-failed"), "queued");
  claim_job("urgent");
  EXPECT_EQ(begin_as_previous_release("urgent"), "send");
}

TEST_F(notifications_sql, a_digest_collects_notifications_until_it_is_sent) {
  sql("select notifications.put_preferences(" + ann_ +
      ", null, false, null, null, '{\"task-completed\": {\"digest_minutes\": 30}}')");
  EXPECT_EQ(notify("d1"), "queued");
  EXPECT_EQ(notify("d2"), "gathered");
  EXPECT_EQ(notify("d3"), "gathered");
  EXPECT_EQ(notify("f1", "null", "false", "task-failed"), "queued") << "another workflow";
  EXPECT_EQ(sql("select unread from notifications.inbox_head"), "4") << "the inbox entry is written immediately";
  EXPECT_EQ(sql("select (run_at > now() + interval '29 minutes') || ' ' || state from core.job where args->>'id' = " +
                id_of("d1") + "::text"),
            "true 3");
  claim_job("d1");
  EXPECT_EQ(
      begin_as_previous_release(
          "d1",
          "b.what, b.payload->>'task_name', b.items->0->>'task_name', b.items->1->>'task_name', jsonb_array_length(b.items)"),
      "send d1 d1 d2 3");
  EXPECT_EQ(notify("d4"), "queued") << "too late for the first digest";
  EXPECT_EQ(end("d1", "[" + result(1, "accepted") + "," + result(2, "skipped") + "]"), "sent");
  EXPECT_EQ(state("d2") + state("d3"), "sentsent");
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([this, i] {
      const auto db = connect();
      db("select notifications.notify('many" + std::to_string(i) + "', " + ann_ +
         ", 'task-completed', '{}', 7, null, false, '', 'T', 'B', '', 60)");
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(sql("select count(*) from notifications.notification where gathering and workflow = 'task-completed'"),
            "1");
}

TEST_F(notifications_sql, a_digest_omits_only_threads_being_viewed) {
  sql("select notifications.put_preferences(" + ann_ +
      ", null, false, null, null, '{\"task-completed\": {\"digest_minutes\": 30}}')");
  const auto view = [&](const std::string& thread) {
    sql("select notifications.put_presence(" + ann_ + ", 's', " + thread + ")");
  };
  const std::string one = "'" + sql("select gen_random_uuid()") + "'::uuid",
                    two = "'" + sql("select gen_random_uuid()") + "'::uuid";
  const auto columns =
      "b.what, b.payload->>'task_name', (select string_agg(i->>'task_name', ',') from jsonb_array_elements(b.items) i)";
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2", two), "gathered");
  EXPECT_EQ(notify("a3", two), "gathered");
  view(one);
  claim_job("a1");
  EXPECT_EQ(begin_as_previous_release("a1", columns), "over") << "only the thread of the first entry is viewed";
  EXPECT_EQ(state("a1"), "suppressed User is actively viewing thread");
  claim_job("a2");
  EXPECT_EQ(begin_as_previous_release("a2", columns), "send a2 a2,a3");
  EXPECT_EQ(end("a2", "[" + result(1, "accepted") + "," + result(2, "skipped") + "]"), "sent");
  view("null");
  EXPECT_EQ(notify("b1", one), "queued");
  EXPECT_EQ(notify("b2", two), "gathered");
  view(two);
  claim_job("b1");
  EXPECT_EQ(begin_as_previous_release("b1", columns), "send b1") << "a single remaining entry is not a digest";
  EXPECT_EQ(state("b2"), "suppressed User is actively viewing thread");
  view("null");
  EXPECT_EQ(end("b1", "[" + result(1, "retry") + "," + result(2, "skipped") + "]", 1), "queued");
  view(one);
  EXPECT_EQ(begin_as_previous_release("b1"), "over")
      << "nothing was delivered, so viewing is checked before each attempt";
  EXPECT_EQ(state("b1"), "suppressed User is actively viewing thread");
  view("null");
  EXPECT_EQ(notify("c1", one), "queued");
  claim_job("c1");
  EXPECT_EQ(begin_as_previous_release("c1"), "send");
  view(one);
  EXPECT_EQ(begin_as_previous_release("c1"), "send") << "it may already have been delivered";
}

TEST_F(notifications_sql, an_accepted_delivery_is_not_repeated) {
  sql("select notifications.put_token(" + ann_ + ", 'expo', t, t, 'mobile') from unnest('{a,b,c}'::text[]) t");
  EXPECT_EQ(notify("k"), "queued");
  claim_job("k");
  EXPECT_EQ(begin_as_previous_release(
                "k", "b.what, b.channels, jsonb_array_length(b.tokens), b.attempt, b.epoch, b.email, b.name"),
            "send 3 3 1 0 Ann@Example.test Ann Lee");
  EXPECT_EQ(end("k",
                "[" + result(1, "accepted") + "," + result(2, "accepted", "a") + "," + result(2, "gone", "b") + "," +
                    result(2, "retry", "c") + "]",
                2, "true, true"),
            "queued");
  EXPECT_EQ(sql("select string_agg(token, ',' order by token) from notifications.device_token"), "a,c")
      << "the device that is gone was deleted";
  EXPECT_EQ(begin_as_previous_release(
                "k", "b.what, b.channels, b.tokens->0->>'token', jsonb_array_length(b.tokens), b.attempt, b.epoch"),
            "send 2 c 1 2 1");
  EXPECT_EQ(end("k", "[" + result(2, "refused", "c") + "]"), "sent") << "one device received it";
  EXPECT_EQ(sql("select count(*) from core.job where kind = 'notifications.deliver'"), "0");
  EXPECT_EQ(begin_as_previous_release("k"), "");
}

TEST_F(notifications_sql, a_worker_that_lost_its_lease_cannot_write) {
  EXPECT_EQ(notify("k"), "queued");
  claim_job("k");
  EXPECT_EQ(begin_as_previous_release("k"), "send");
  claim_job("k");
  EXPECT_EQ(state_of("select notifications.begin_attempt((args->>'id')::uuid, id, fence - 1, 3) from core.job"),
            "RYF01");
  EXPECT_EQ(
      state_of(
          "select notifications.end_attempt((args->>'id')::uuid, id, fence - 1, '[]', 0, false, true) from core.job"),
      "RYF01");
  EXPECT_EQ(state("k"), "queued");
  EXPECT_EQ(begin_as_previous_release("k"), "send");
  EXPECT_EQ(sql("select attempts || ' ' || maybe_duplicate from notifications.notification"), "2 true");
}

TEST_F(notifications_sql, dead_letters_are_kept_and_can_be_retried) {
  sql("update notifications.setting set max_attempts = 2");
  EXPECT_EQ(notify("k"), "queued");
  claim_job("k");
  EXPECT_EQ(begin_as_previous_release("k"), "send");
  EXPECT_EQ(end("k", "[" + result(1, "retry") + "," + result(2, "skipped") + "]", 1, "false, false"), "queued")
      << "a cancelled attempt is not counted";
  for (const char* expected : {"queued", "dead"}) {
    EXPECT_EQ(begin_as_previous_release("k"), "send");
    EXPECT_EQ(end("k", "[" + result(1, "retry") + "]", 1), expected);
  }
  EXPECT_EQ(state("k"), "dead d");
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
  EXPECT_EQ(sql("select notifications.requeue('op', " + id_of("k") + ")"), "t");
  EXPECT_EQ(sql("select notifications.requeue('op', " + id_of("k") + ")"), "f") << "it is already queued";
  EXPECT_EQ(sql("select unread from notifications.inbox_head"), "1") << "the inbox has only one entry";
  EXPECT_EQ(sql("select string_agg(key || ' ' || (payload->>'action'), ',') from core.event where kind = 'admin.act'"),
            "op notification.requeue");
  claim_job("k");
  EXPECT_EQ(begin_as_previous_release("k", "b.what, b.channels"), "send 3")
      << "a device may have registered in the meantime";
  EXPECT_EQ(end("k", "[" + result(1, "accepted") + "]"), "sent");
}

TEST_F(notifications_sql, the_final_state_depends_on_the_results_of_the_channels) {
  const auto ended = [&](const std::string& key, const std::string& results) {
    EXPECT_EQ(notify(key, "null", "false", "task-completed", 3), "queued");
    claim_job(key);
    EXPECT_EQ(begin_as_previous_release(key), "send");
    return end(key, results);
  };
  EXPECT_EQ(ended("a", "[" + result(1, "refused") + "," + result(2, "skipped") + "]"), "failed");
  EXPECT_EQ(state("a"), "failed d");
  EXPECT_EQ(ended("b", "[" + result(1, "skipped") + "," + result(2, "skipped") + "]"), "suppressed");
  EXPECT_EQ(ended("c", "[" + result(1, "refused") + "," + result(2, "accepted") + "]"), "sent");
  // An inbox entry makes up for channels that were skipped, but not for refused ones.
  const auto with_inbox = [&](const std::string& key, const std::string& results) {
    EXPECT_EQ(notify(key), "queued");
    claim_job(key);
    EXPECT_EQ(begin_as_previous_release(key), "send");
    end(key, results);
    return state(key);
  };
  EXPECT_EQ(with_inbox("i1", "[" + result(1, "refused") + "," + result(2, "skipped") + "]"), "failed d");
  EXPECT_EQ(with_inbox("i2", "[" + result(1, "skipped") + "," + result(2, "skipped") + "]"), "sent");
  EXPECT_EQ(with_inbox("i3", "[" + result(1, "skipped") + "," + result(2, "gone", "t") + "]"), "sent");
  EXPECT_EQ(with_inbox("i4", "[" + result(1, "accepted") + "," + result(2, "refused", "t") + "]"), "sent");
  EXPECT_EQ(sql("select notifications.requeue('op', " + id_of("i1") + ")"), "t");
  // Results that arrive later change the state.
  sql("update notifications.delivery set state = 'refused', detail = 'No such user' where notification_id = " +
      id_of("i4") + " and channel = 1");
  sql("select notifications.reconsider(" + id_of("i4") + ")");
  EXPECT_EQ(state("i4"), "failed d");
  sql("update notifications.delivery set state = 'delivered' where notification_id = " + id_of("i4") +
      " and channel = 1");
  sql("select notifications.reconsider(" + id_of("i4") + ")");
  EXPECT_EQ(state("i4"), "sent");
  EXPECT_EQ(notify("e", "null", "false", "task-completed", 2), "queued");
  claim_job("e");
  EXPECT_EQ(begin_as_previous_release("e", "b.what", 1), "over") << "an orchestrator without push";
  EXPECT_EQ(state("e"), "suppressed The orchestrator does not carry this channel");
}

TEST_F(notifications_sql, an_expired_notification_is_dead_lettered_and_a_waiting_one_can_be_cancelled) {
  EXPECT_EQ(notify("late"), "queued");
  sql("update notifications.notification set expires_at = now() - interval '1 second'");
  claim_job("late");
  EXPECT_EQ(begin_as_previous_release("late"), "over");
  EXPECT_EQ(state("late"), "dead It could not be delivered in time");
  EXPECT_EQ(notify("off"), "queued");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("off") + ")"), "t");
  claim_job("off");
  EXPECT_EQ(begin_as_previous_release("off"), "over");
  EXPECT_EQ(notify("going"), "queued");
  claim_job("going");
  EXPECT_EQ(begin_as_previous_release("going"), "send");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("going") + ")"), "f") << "an attempt is in progress";
  EXPECT_EQ(sql("select coalesce(notifications.withdrawable(" + id_of("going") + "), 'no')"), "no");
  EXPECT_EQ(end("going", "[" + result(1, "accepted") + "," + result(2, "delivered") + "]"), "sent");
  EXPECT_EQ(sql("select notifications.withdrawable(" + id_of("going") +
                ") = tid from notifications.notification where key = 'going'"),
            "t");
  sql("select notifications.withdrawn('op', " + id_of("going") + ")");
  EXPECT_EQ(state("going"), "cancelled Cancelled by an operator");
  EXPECT_EQ(sql("select string_agg(state, ',' order by channel) from notifications.delivery where notification_id = " +
                id_of("going")),
            "withdrawn,delivered,delivered");
  EXPECT_EQ(sql("select coalesce(notifications.withdrawable(" + id_of("going") + "), 'no')"), "no");
}

TEST_F(notifications_sql, a_device_belongs_to_its_last_user) {
  const auto bob = account("bob@example.test");
  const auto devices = [&](const std::string& who) {
    return sql(
        "select coalesce(string_agg(provider || '/' || token, ',' order by token, provider), '') from notifications.device_token where account_id = " +
        who);
  };
  const auto put = [&](const std::string& who, const std::string& provider, const std::string& token) {
    sql("select notifications.put_token(" + who + ", '" + provider + "', '" + token + "', '" + token + "', 'mobile')");
  };
  put(ann_, "expo", "t1");
  put(ann_, "expo", "t1");
  put(ann_, "fcm", "t1");
  EXPECT_EQ(devices(ann_), "expo/t1,fcm/t1");
  put(bob, "expo", "t1");
  EXPECT_EQ(devices(ann_), "fcm/t1");
  EXPECT_EQ(devices(bob), "expo/t1");
  EXPECT_EQ(sql("select count(*) from core.job where kind = 'notifications.subscriber'"), "2")
      << "the orchestrator gets updates for both accounts";
  sql("update notifications.setting set tokens_per_provider = 2");
  for (const char* t : {"x1", "x2", "x3"}) put(bob, "web-push", t);
  EXPECT_EQ(devices(bob), "expo/t1,web-push/x2,web-push/x3");
  for (int n = 0; n < 9; ++n) put(bob, "provider" + std::to_string(n), "y");
  EXPECT_EQ(devices(bob), "provider5/y,provider6/y,provider7/y,provider8/y") << "regardless of the provider names";
  // The same browser, with its subscription written differently.
  sql("select notifications.put_token(" + ann_ + ", 'web-push', 'https://push/1', '{1}', 'web')");
  sql("select notifications.put_token(" + bob + ", 'web-push', 'https://push/1', '{ 1 }', 'web')");
  EXPECT_EQ(devices(ann_), "fcm/t1");
  EXPECT_EQ(sql("select token from notifications.device_token where name = 'https://push/1'"), "{ 1 }");
}

TEST_F(notifications_sql, a_deleted_account_leaves_nothing) {
  const auto bob = account("bob@example.test");
  sql("select notifications.put_token(" + ann_ + ", 'expo', 'a', 'a', 'mobile'), notifications.put_presence(" + ann_ +
      ", 's', gen_random_uuid()),"
      " notifications.put_preferences(" +
      ann_ + ", 'Europe/Berlin', false, null, null, '{}'), notifications.tell(" + bob + ")");
  EXPECT_EQ(notify("k"), "queued");
  EXPECT_EQ(notify("going"), "queued");
  claim_job("going");
  EXPECT_EQ(begin_as_previous_release("going"), "send");
  const auto job = sql("select id || ', ' || fence from core.job where args->>'id' = " + id_of("going") + "::text");
  const auto going = id_of("going");
  sql("select notifications.forget_account(" + ann_ + ")");
  for (const char* table :
       {"device_token", "preference", "presence", "inbox_head", "inbox", "notification", "delivery"})
    EXPECT_EQ(sql(std::string("select count(*) from notifications.") + table), "0") << table;
  EXPECT_EQ(sql("select gone from notifications.subscriber where account_id = " + ann_), "t");
  EXPECT_EQ(sql("select notifications.end_attempt(" + going + ", " + job + ", '[" + result(1, "accepted") +
                "]', 0, false, true)"),
            "cancelled")
      << "an attempt of one was in progress";
  EXPECT_EQ(sql("select count(*) from notifications.delivery"), "0");
  EXPECT_EQ(sql("select gone from notifications.subscriber where account_id = " + bob), "f");
  sql("update core.job set state = 1, fence = 1 where kind = 'notifications.subscriber'");
  EXPECT_EQ(sql("select notifications.told(" + ann_ +
                ", s.version, '[]', j.id, j.fence) from core.job j, notifications.subscriber s"
                " where j.args->>'account_id' = " +
                ann_ + " and s.account_id = " + ann_),
            "t");
  EXPECT_EQ(sql("select count(*) from notifications.subscriber where account_id = " + ann_), "0");
}

TEST_F(notifications_sql, presence_keeps_100_sessions_per_account) {
  for (int n = 0; n < 103; ++n)
    sql("select notifications.put_presence(" + ann_ + ", 's" + std::to_string(n) + "', gen_random_uuid())");
  EXPECT_EQ(
      sql("select count(*) || ' ' || count(*) filter (where session_id in ('s0', 's1', 's2')) from notifications.presence"),
      "100 0");
  sql("select notifications.put_presence(" + ann_ + ", 's9', null)");
  EXPECT_EQ(sql("select count(*) from notifications.presence"), "99");
}

TEST_F(notifications_sql, one_job_sends_the_latest_subscriber_data_to_the_orchestrator) {
  sql("select notifications.tell(" + ann_ + "), notifications.tell(" + ann_ + ")");
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
  sql("update core.job set state = 1, fence = 1");
  const auto update = [&](const std::string& version) {
    return sql("select notifications.told(" + ann_ + ", " + version + ", '[\"expo\"]', j.id, j.fence) from core.job j");
  };
  EXPECT_EQ(update("1"), "f") << "there is a newer version";
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
  EXPECT_EQ(update("2"), "t");
  EXPECT_EQ(sql("select count(*) from core.job"), "0");
  sql("select notifications.tell(" + ann_ + ")");
  EXPECT_EQ(sql("select count(*) from core.job"), "1");
}

TEST_F(notifications_sql, inbox_versions_have_no_gaps_with_concurrent_writers) {
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i) {
    all.emplace_back([this, i] {
      const auto db = connect();
      for (int n = 0; n < 5; ++n)
        db("select notifications.notify('" + std::to_string(i) + "-" + std::to_string(n) + "', " + ann_ +
           ", 'promotional', '{}', 4, null, false, '', 'T', 'B', '', 60)");
    });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(sql("select count(*) || ' ' || min(seq) || ' ' || max(seq) from notifications.inbox"), "40 1 40");
  const auto first = sql("select id from notifications.inbox where seq = 1");
  EXPECT_EQ(sql("select marked || ' ' || unread from notifications.inbox_read(" + ann_ + ", '" + first + "')"), "1 39");
  EXPECT_EQ(sql("select marked || ' ' || unread from notifications.inbox_read(" + ann_ + ", '" + first + "')"), "0 39");
  EXPECT_EQ(sql("select count(*) from notifications.inbox_read(" + account("x@y.test") + ", '" + first + "')"), "0")
      << "it belongs to another account";
  EXPECT_EQ(sql("select marked || ' ' || unread from notifications.inbox_read(" + ann_ + ", null)"), "39 0");
  EXPECT_EQ(sql("select unread || ' ' || (version > 41) from notifications.inbox_head"), "0 true");
}

TEST_F(notifications_sql, preferences_are_merged_by_workflow) {
  const auto put = [&](const std::string& workflows) {
    sql("select notifications.put_preferences(" + ann_ + ", null, false, null, null, '" + workflows + "')");
    return sql("select workflows from notifications.preference");
  };
  EXPECT_EQ(put("{\"a\": {\"email\": false}, \"b\": {\"push\": false}}"),
            "{\"a\": {\"email\": false}, \"b\": {\"push\": false}}");
  EXPECT_EQ(put("{\"a\": {\"push\": true}, \"b\": null}"), "{\"a\": {\"push\": true, \"email\": false}}");
  EXPECT_EQ(put("{}"), "{\"a\": {\"push\": true, \"email\": false}}");
  const auto many = [&](const std::string& name, int n) {
    return sql("select notifications.put_preferences(" + ann_ +
               ", null, false, null, null, (select jsonb_object_agg('" + name +
               "' || i, '{\"email\": false}'::jsonb) from generate_series(1, " + std::to_string(n) + ") i))");
  };
  EXPECT_EQ(many("x", 99), "");
  EXPECT_EQ(many("y", 1), "workflows") << "the 101st workflow";
  EXPECT_EQ(many("x", 99), "");
  EXPECT_EQ(sql("select count(*) from notifications.preference, jsonb_object_keys(workflows)"), "100");
}

// Fingerprints with the length that the table requires.
std::string mark(char c) {
  return "fp:" + std::string(64, c);
}

TEST_F(notifications_sql, workers_of_the_previous_release_skip_sealed_devices) {
  sql("select notifications.put_token(" + ann_ + ", 'expo', '" + mark('a') + "', '" + mark('b') +
      "', 'mobile', '\\x01', 1)");
  EXPECT_EQ(notify("k"), "queued");
  claim_job("k");
  EXPECT_EQ(begin_as_previous_release("k"), "wait");
  EXPECT_EQ(sql("select attempts || ' ' || under_way || ' ' || state from notifications.notification"),
            "0 false queued");
  EXPECT_EQ(begin_as_previous_release("k", "b.what", 1), "send") << "without push, devices are not needed";
  end("k", "[" + result(1, "accepted") + "]", 2);
  const auto opening =
      "select b.what || ' ' || (b.tokens->0->>'sealed') || ' ' || (b.tokens->0->>'name') from core.job j, lateral"
      " notifications.begin_attempt((j.args->>'id')::uuid, j.id, j.fence, 3, true) b where j.kind = 'notifications.deliver'";
  EXPECT_EQ(sql(opening), "send AQ== " + mark('a'));
}

TEST_F(notifications_sql, an_unencrypted_device_and_its_log_are_sealed) {
  sql("select notifications.put_token(" + ann_ + ", 'expo', 'plain', 'plain', 'mobile')");
  sql("insert into notifications.delivery (notification_id, account_id, channel, token, state) values"
      " ('" +
      std::string("00000000-0000-0000-0000-000000000001") + "', " + ann_ +
      ", 2, 'plain', 'accepted'),"
      " ('" +
      std::string("00000000-0000-0000-0000-000000000002") + "', " + ann_ +
      ", 2, 'plain', 'retry'),"
      " ('" +
      std::string("00000000-0000-0000-0000-000000000002") + "', " + ann_ + ", 2, '" + mark('d') + "', 'accepted')");
  const auto seal = "select notifications.seal_device('expo', 'plain', 'plain', '" + mark('a') + "', '" + mark('d') +
                    "', '\\x01', 1)";
  sql(seal);
  EXPECT_EQ(sql("select name || ' ' || token || ' ' || fingerprint_key from notifications.device_token"),
            mark('a') + " " + mark('d') + " 1");
  EXPECT_EQ(
      sql("select string_agg(right(notification_id::text, 1) || ' ' || state, ',' order by notification_id) from notifications.delivery where token = '" +
          mark('d') + "'"),
      "1 accepted,2 accepted")
      << "of two log entries of one device, the settled one is kept";
  EXPECT_EQ(sql("select count(*) from notifications.delivery"), "2");
  sql(seal);
  EXPECT_EQ(sql("select count(*) from notifications.device_token"), "1") << "already sealed";

  // A node of the previous release registered the same device again.
  const auto bob = account("bob@example.test");
  sql("select notifications.put_token(" + bob + ", 'expo', 'plain', 'plain', 'mobile')");
  sql(seal);
  EXPECT_EQ(sql("select count(*) || ' ' || min(account_id::text) from notifications.device_token"),
            "1 " + bob.substr(1, 36))
      << "the newer row is kept";
  EXPECT_EQ(state_of("update notifications.device_token set name = 'plain'"), "23514");
}

TEST_F(notifications_sql, registering_a_device_reports_the_evicted_ones) {
  sql("update notifications.setting set tokens_per_provider = 1");
  const auto put = [&](char c) {
    return sql("select notifications.put_token(" + ann_ + ", 'expo', '" + mark(c) + "', '" + mark(c) +
               "', 'mobile', '\\x01', 1)");
  };
  EXPECT_EQ(put('a'), "0");
  EXPECT_EQ(put('a'), "0");
  EXPECT_EQ(put('b'), "1");
  EXPECT_EQ(sql("select name from notifications.device_token"), mark('b'));
}

TEST_F(notifications_sql, fingerprint_keys_are_added_once_for_all_nodes) {
  sql("select notifications.add_fingerprint_key('\\x01', null), notifications.add_fingerprint_key('\\x02', null)");
  EXPECT_EQ(sql("select string_agg(sealed::text, ',') from notifications.fingerprint_key"), "\\x01");
  sql("select notifications.add_fingerprint_key('\\x03', id) from notifications.fingerprint_key");
  EXPECT_EQ(sql("select string_agg(sealed::text, ',' order by id) from notifications.fingerprint_key"), "\\x01,\\x03");
}

TEST_F(notifications_sql, an_inbox_keeps_the_newest_entries_of_the_limit) {
  const auto add = [&](const std::string& key, int most) {
    return sql("select outcome || ' ' || inbox_evicted from notifications.notify('" + key + "', " + ann_ +
               ", 'promotional', '{}', 4, null, false, '', '" + key + "', 'B', '', 60, " + std::to_string(most) + ")");
  };
  EXPECT_EQ(add("a", 2), "sent 0");
  EXPECT_EQ(add("b", 2), "sent 0");
  EXPECT_EQ(add("c", 2), "sent 1");
  EXPECT_EQ(add("c", 2), "duplicate 0");
  EXPECT_EQ(sql("select string_agg(title, '' order by seq) from notifications.inbox"), "bc");
  EXPECT_EQ(add("d", 5), "sent 0") << "the limit was raised";
  EXPECT_EQ(add("e", 1), "sent 3") << "and then lowered";
  EXPECT_EQ(sql("select unread from notifications.inbox_head"), "1");
  EXPECT_EQ(notify("old"), "queued") << "from a node of the previous release";
  EXPECT_EQ(sql("select string_agg(title, '' order by seq) from notifications.inbox"), "eTitle");
}

TEST_F(notifications_sql, throttled_emails_of_a_workflow_are_combined) {
  const auto throttled = [&](const std::string& key) {
    claim_job(key);
    EXPECT_EQ(begin_attempt(key), "send");
    return sql("select notifications.end_attempt((j.args->>'id')::uuid, j.id, j.fence, '[" + result(1, "retry") +
               "]', 1, false, false, true) from core.job j where j.args->>'id' = " + id_of(key) + "::text");
  };
  for (const char* key : {"task-completed:1:x", "task-completed:2:x", "task-completed:3:x"})
    EXPECT_EQ(notify(key, "null", "false", "task-completed", 1), "queued");
  EXPECT_EQ(throttled("task-completed:2:x"), "queued") << "it joins the others";
  EXPECT_EQ(throttled("task-completed:3:x"), "gathered");
  EXPECT_EQ(throttled("task-completed:1:x"), "gathered");
  EXPECT_EQ(sql("select attempts from notifications.notification where key = 'task-completed:2:x'"), "0")
      << "waiting does not count as an attempt";
  claim_job("task-completed:2:x");
  EXPECT_EQ(begin_attempt("task-completed:2:x",
                          "b.what, b.items->0->>'task_name', b.items->1->>'task_name', jsonb_array_length(b.items)"),
            "send task-completed:1:x task-completed:2:x 3")
      << "in the order of the events";
  EXPECT_EQ(end("task-completed:2:x", "[" + result(1, "accepted") + "]"), "sent");
  EXPECT_EQ(sql("select string_agg(state, ',') from notifications.notification"), "sent,sent,sent");
}

TEST_F(notifications_sql, changed_preferences_release_waiting_notifications) {
  const auto put = [&](const std::string& quiet, const std::string& workflows) {
    return sql("select notifications.put_preferences(" + ann_ + ", null, " + quiet + ", '" + workflows + "')");
  };
  const auto jobs = [&] { return sql("select count(*) from core.job where state = 0 and run_at <= now()"); };
  put("false, null, null", R"({"task-completed": {"digest_minutes": 60}})");
  EXPECT_EQ(notify("a"), "queued");
  EXPECT_EQ(notify("b"), "gathered");
  EXPECT_EQ(jobs(), "0");
  put("false, null, null", R"({"task-completed": {"digest_minutes": 0}})");
  EXPECT_EQ(jobs(), "1");
  sql("update core.job set state = 1, fence = fence + 1");
  EXPECT_EQ(
      sql("select string_agg(b.what, ',' order by b.what) from core.job j, lateral notifications.begin_attempt((j.args->>'id')::uuid, j.id,"
          " j.fence, 3, true, true) b"),
      "over,send")
      << "the job that waited has nothing left to do";
}

TEST_F(notifications_sql, unsubscriptions_and_preferences_update_each_other) {
  sql("select notifications.follow_subscription(" + ann_ + ", 'task_completed', false)");
  EXPECT_EQ(sql("select workflows from notifications.preference"),
            R"({"task-completed": {"email": false, "unsubscribed": true}})");
  EXPECT_EQ(notify("a", "null", "false", "task-completed", 1), "suppressed The account's settings do not want it");
  sql("select notifications.put_preferences(" + ann_ +
      ", null, false, null, null, '{\"task-completed\": {\"email\": true}, \"welcome-email\": {\"push\": true}}')");
  EXPECT_EQ(
      sql("select string_agg((payload->>'address') || ' ' || (payload->>'category'), ',') from core.event where kind = 'notifications.mail_preference'"),
      "Ann@Example.test task_completed");
  sql("select notifications.put_preferences(" + ann_ +
      ", null, false, null, null, '{\"task-completed\": {\"email\": false}}')");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'notifications.mail_preference'"), "1");
  sql("select notifications.put_preferences(" + ann_ + ", null, false, null, null, '{\"task-completed\": null}')");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'notifications.mail_preference'"), "2")
      << "e-mail is enabled by default";
}

TEST_F(notifications_sql, only_the_link_or_the_verified_owner_can_undo_an_unsubscription) {
  sql("update accounts.account set verified_at = null");
  const auto workflows = [&] { return sql("select workflows from notifications.preference"); };
  const auto put = [&](const std::string& preference) {
    sql("select notifications.put_preferences(" + ann_ +
        ", null, false, null, null, '{\"task-completed\": " + preference + "}')");
    return workflows();
  };
  const auto asked = [&] {
    return sql("select count(*) from core.event where kind = 'notifications.mail_preference'");
  };
  EXPECT_EQ(put(R"({"email": false})"), R"({"task-completed": {"email": false}})");
  EXPECT_EQ(put(R"({"email": true})"), R"({"task-completed": {"email": true}})") << "the account's own decision";
  sql("select notifications.follow_subscription(" + ann_ + ", 'task_completed', false)");
  EXPECT_EQ(put(R"({"email": true, "push": false})"),
            R"({"task-completed": {"push": false, "email": false, "unsubscribed": true}})");
  EXPECT_EQ(put("null"), R"({"task-completed": {"email": false, "unsubscribed": true}})");
  EXPECT_EQ(asked(), "0");
  sql("select notifications.follow_subscription(" + ann_ + ", 'task_completed', true)");
  EXPECT_EQ(workflows(), R"({"task-completed": {"email": true}})");
  sql("select notifications.follow_subscription(" + ann_ + ", 'task_completed', false)");
  sql("update accounts.account set verified_at = now()");
  EXPECT_EQ(put(R"({"push": true})"), R"({"task-completed": {"push": true, "email": false, "unsubscribed": true}})");
  EXPECT_EQ(put(R"({"email": true})"), R"({"task-completed": {"push": true, "email": true}})");
  EXPECT_EQ(asked(), "1");
}

TEST_F(notifications_sql, emails_about_short_tasks_can_be_disabled) {
  const auto notify_task = [&](const std::string& key, int minutes) {
    return sql("select outcome from notifications.notify('" + key + "', " + ann_ +
               ", 'task-completed', '{}', 1, null, false, '', 'T', 'B', '', 60, 100,"
               " jsonb_build_object('duration_ms', " +
               std::to_string(minutes * 60'000) + "), null)");
  };
  EXPECT_EQ(notify_task("a", 0), "queued");
  EXPECT_EQ(sql("select payload from notifications.notification where key = 'a'"),
            R"({"$details": {"duration_ms": 0}})");
  sql("update notifications.setting set task_email_minutes = 5");
  EXPECT_EQ(notify_task("b", 4), "suppressed");
  EXPECT_EQ(notify_task("c", 5), "queued");
  sql("select notifications.put_preferences(" + ann_ +
      ", null, false, null, null, '{\"task-completed\": {\"min_minutes\": 0}}')");
  EXPECT_EQ(notify_task("d", 0), "queued") << "the preference of the account overrides the setting";
}

TEST_F(notifications_sql, broadcasts_are_paused_resumed_and_cancelled) {
  const std::string id = "'0190b1e4-0000-7000-8000-00000000000b'";
  sql("select notifications.create_broadcast('op', '{}', " + id +
      ", 'newsletter', '{\"title\": \"T\"}', now() + interval '1 hour')");
  const auto change_state = [&](const char* action) {
    return sql("select notifications.steer_broadcast('op', " + id + ", '" + action + "')");
  };
  const auto step = [&](const char* finished) {
    return sql("select notifications.broadcast_step(" + id + ", " + ann_ + ", 1, " + finished + ")");
  };
  EXPECT_EQ(sql("select state || ' ' || (select run_at > now() from core.job) from notifications.broadcast"),
            "scheduled true");
  EXPECT_EQ(change_state("resume"), "");
  EXPECT_EQ(change_state("pause"), "paused");
  EXPECT_EQ(change_state("resume"), "scheduled");
  EXPECT_EQ(step("false"), "running");
  EXPECT_EQ(sql("select outcome from notifications.notify('k', " + ann_ +
                ", 'newsletter', '{}', 3, null, false, '', 'T', 'B', '', 60, 100, null, " + id + ")"),
            "queued");
  EXPECT_EQ(sql("select priority from core.job where kind = 'notifications.deliver'"), "10")
      << "with a lower priority than other notifications";
  EXPECT_EQ(step("true"), "completed");
  EXPECT_EQ(change_state("pause"), "paused") << "its messages are paused";
  claim_job("k");
  EXPECT_EQ(begin_attempt("k"), "wait");
  EXPECT_EQ(change_state("resume"), "completed");
  EXPECT_EQ(begin_attempt("k"), "send");
  EXPECT_EQ(end("k", "[" + result(1, "retry") + "]", 1), "queued");
  EXPECT_EQ(change_state("cancel"), "cancelled");
  EXPECT_EQ(begin_attempt("k"), "over");
  EXPECT_EQ(state("k"), "cancelled The broadcast was cancelled");
  EXPECT_EQ(change_state("cancel"), "");
  EXPECT_EQ(sql("select notifications.steer_broadcast('op', gen_random_uuid(), 'cancel') is null"), "t");
  EXPECT_EQ(
      sql("select string_agg(payload->>'state', ',' order by id) from core.event where kind = 'notifications.broadcast'"),
      "paused,released,paused,released,cancelled");
  EXPECT_EQ(sql("select notifications.audience('newsletter', 7)"),
            R"({"push": 0, "email": 1, "in_app": 1, "accounts": 1})");
}

}  // namespace
