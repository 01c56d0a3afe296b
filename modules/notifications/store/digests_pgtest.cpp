// Digests whose carrier (the notification that carries the digest) is not sent: the other entries are still sent, once.
#include "store/notifications_sql_test.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace {

class digests_sql : public notifications_test::notifications_sql {
 protected:
  void SetUp() override {
    notifications_sql::SetUp();
    if (IsSkipped()) return;
    set_preferences(R"({"task-completed": {"digest_minutes": 30}, "newsletter": {"digest_minutes": 30}})");
  }
  void set_preferences(const std::string& workflows) {
    sql("select notifications.put_preferences(" + ann_ + ", null, false, null, null, '" + workflows + "')");
  }
  void view(const std::string& thread) { sql("select notifications.put_presence(" + ann_ + ", 's', " + thread + ")"); }
  std::string thread() { return "'" + sql("select gen_random_uuid()") + "'::uuid"; }
  // Begins an attempt. Returns the action and the keys of the sent notifications.
  std::string attempt(const std::string& key) {
    claim_job(key);
    return begin_attempt(
        key,
        "b.what, coalesce((select string_agg(i->>'task_name', ',') from jsonb_array_elements(b.items) i),"
        " b.payload->>'task_name')");
  }
  // When the job that may deliver it is due: "now", "later", or nothing.
  std::string job(const std::string& key) {
    return sql(
        "select string_agg(case when j.run_at <= now() then 'now' else 'later' end, ',') from core.job j join notifications.notification n"
        " on j.args->>'id' = n.id::text and coalesce(n.job_id, j.id) = j.id and j.state <> 1 where n.key = '" +
        key + "'");
  }
  std::string accept(const std::string& key) {
    return end(key, "[" + result(1, "accepted") + "," + result(2, "skipped") + "]");
  }
  std::string cancel(const std::string& key) { return sql("select notifications.cancel('op', " + id_of(key) + ")"); }
  std::string set_expiry(const std::string& key, const std::string& when) {
    return sql("update notifications.notification set expires_at = now() + interval '" + when + "' where key = '" +
               key + "'");
  }
  void broadcast(const std::string& id, const std::string& state) {
    sql("insert into notifications.broadcast (id, workflow, payload, state, created_by) values ('" + id +
        "', 'newsletter', '{}', '" + state + "', 'op') on conflict (id) do update set state = excluded.state");
  }
  std::string notify_broadcast(const std::string& key, const std::string& broadcast = "null") {
    return sql("select outcome from notifications.notify('" + key + "', " + ann_ +
               ", 'newsletter', '{\"task_name\": \"" + key +
               "\"}', 3, null, false, '', 'T', 'B', '', 3600, 100, null, " + broadcast + ")");
  }
};

TEST_F(digests_sql, entries_of_a_viewed_carrier_are_sent_immediately) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  view(one);
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(state("a1"), "suppressed User is actively viewing thread");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(job("a3"), "");
  EXPECT_EQ(attempt("a2"), "send a2,a3");
  EXPECT_EQ(end("a2", "[" + result(1, "refused") + "," + result(2, "skipped") + "]"), "failed");
  EXPECT_EQ(state("a1") + " / " + state("a3"), "suppressed User is actively viewing thread / failed d");
  // The failed digest can be requeued, although its first carrier was suppressed.
  EXPECT_EQ(sql("select notifications.requeue('op', " + id_of("a2") + ")"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(attempt("a2"), "send a2,a3");
  EXPECT_EQ(accept("a2"), "sent");
  EXPECT_EQ(state("a3"), "sent");
}

TEST_F(digests_sql, a_digest_ends_when_all_its_threads_are_viewed) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2", one), "gathered");
  view(one);
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(attempt("a2"), "over");
  EXPECT_EQ(state("a2"), "suppressed User is actively viewing thread");
  EXPECT_EQ(sql("select count(*) from notifications.notification where ended_at is null"), "0");
}

TEST_F(digests_sql, cancelling_a_carrier_does_not_send_the_others_early) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(state("a1"), "cancelled Cancelled by an operator");
  EXPECT_EQ(job("a2"), "later") << "its digest continues";
  EXPECT_EQ(notify("a4"), "gathered");
  EXPECT_EQ(cancel("a3"), "t") << "a carried entry";
  EXPECT_EQ(state("a3"), "cancelled Cancelled by an operator");
  EXPECT_EQ(cancel("a3"), "f");
  EXPECT_EQ(attempt("a2"), "send a2,a4");
  EXPECT_EQ(cancel("a4"), "f") << "it is being sent";
  EXPECT_EQ(accept("a2"), "sent");
  EXPECT_EQ(state("a4"), "sent");
  EXPECT_EQ(state("a1") + state("a3"), "cancelled Cancelled by an operatorcancelled Cancelled by an operator");
  EXPECT_EQ(sql("select notifications.cancel('op', gen_random_uuid())"), "f");
}

TEST_F(digests_sql, a_due_digest_is_sent_when_its_carrier_is_cancelled) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  sql("update notifications.notification set created_at = now() - interval '31 minutes'");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(notify("a3"), "queued") << "the next digest";
  EXPECT_EQ(attempt("a2"), "send a2");
}

TEST_F(digests_sql, entries_are_sent_after_their_carrier_expired) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  set_expiry("a1", "-1 second");
  set_expiry("a2", "-1 second");
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(state("a1") + " / " + state("a2"),
            "dead It could not be delivered in time / dead It could not be delivered in time");
  EXPECT_EQ(attempt("a3"), "send a3");
  // The hourly clean-up does the same.
  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  sql("select notifications.expire(" + id_of("b1") + ")");
  EXPECT_EQ(state("b1"), "queued") << "it has not expired";
  set_expiry("b1", "-1 second");
  sql("select notifications.expire(" + id_of("b1") + ")");
  EXPECT_EQ(attempt("b2"), "send b2");
}

TEST_F(digests_sql, entries_of_an_expired_carrier_are_sent_on_pending_channels_only) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  set_expiry("a1", "-1 second");
  EXPECT_EQ(attempt("a1"), "over");
  claim_job("a2");
  EXPECT_EQ(begin_attempt("a2", "b.what, b.channels"), "send 2") << "the e-mail has already been sent";
  EXPECT_EQ(end("a2", "[" + result(2, "accepted", "t") + "]"), "sent");

  set_preferences(R"({"task-completed": {"digest_minutes": 0}})");
  EXPECT_EQ(notify("b1", "null", "false", "task-completed", 3), "queued");
  claim_job("b1");
  EXPECT_EQ(begin_attempt("b1"), "send");
  EXPECT_EQ(end("b1", "[" + result(1, "retry") + "," + result(2, "accepted", "t") + "]", 1, "false, false, true"),
            "queued");
  EXPECT_EQ(notify("b2", "null", "false", "task-completed", 1), "queued");
  claim_job("b2");
  EXPECT_EQ(begin_attempt("b2"), "send");
  EXPECT_EQ(end("b2", "[" + result(1, "retry") + "]", 1, "false, false, true"), "gathered");
  set_expiry("b1", "-1 second");
  EXPECT_EQ(attempt("b1"), "over");
  claim_job("b2");
  EXPECT_EQ(begin_attempt("b2", "b.what, b.channels"), "send 1")
      << "only the push message of the carrier has been sent";
}

TEST_F(digests_sql, entries_end_with_an_expired_carrier_that_may_have_been_delivered) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  set_expiry("a1", "-1 second");
  EXPECT_EQ(attempt("a1"), "over") << "the previous worker reported no result";
  EXPECT_EQ(state("a2"), "dead It could not be delivered in time");
  EXPECT_EQ(job("a2"), "");

  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  EXPECT_EQ(attempt("b1"), "send b1,b2");
  EXPECT_EQ(
      end("b1", "[" + result(1, "skipped") + "," + result(2, "accepted", "t1") + "," + result(2, "retry", "t2") + "]",
          2),
      "queued");
  set_expiry("b1", "-1 second");
  EXPECT_EQ(attempt("b1"), "over");
  EXPECT_EQ(state("b2"), "dead It could not be delivered in time") << "one of the devices received it";
}

TEST_F(digests_sql, entries_of_a_cancelled_carrier_are_sent_on_pending_channels_only) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("a1") + ")"), "t");
  claim_job("a2");
  EXPECT_EQ(begin_attempt("a2", "b.what, b.channels"), "send 2") << "the e-mail has already been sent";

  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  EXPECT_EQ(attempt("b1"), "send b1,b2");
  EXPECT_EQ(
      end("b1", "[" + result(1, "skipped") + "," + result(2, "accepted", "t1") + "," + result(2, "retry", "t2") + "]",
          2),
      "queued");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("b1") + ")"), "t");
  EXPECT_EQ(state("b2"), "cancelled Cancelled by an operator") << "one of the devices received it";
}

TEST_F(digests_sql, entries_of_a_carrier_whose_broadcast_is_cancelled_are_sent_on_pending_channels_only) {
  const std::string news = "0190b1e4-0000-7000-8000-00000000000a";
  broadcast(news, "running");
  EXPECT_EQ(notify_broadcast("a1", "'" + news + "'"), "queued");
  EXPECT_EQ(notify_broadcast("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  broadcast(news, "cancelled");
  EXPECT_EQ(attempt("a1"), "over");
  claim_job("a2");
  EXPECT_EQ(begin_attempt("a2", "b.what, b.channels"), "send 2") << "the e-mail has already been sent";
}

TEST_F(digests_sql, after_quiet_hours_entries_expire_with_their_carrier) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  set_expiry("a2", "-1 second");  // the quiet hours extended the time to live of the carrier
  view(one);
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(attempt("a2"), "send a2");
}

TEST_F(digests_sql, digests_combine_only_notifications_with_the_same_channels) {
  const auto task = [&](const std::string& key, int minutes) {
    return sql("select outcome from notifications.notify('" + key + "', " + ann_ +
               ", 'task-completed', '{\"task_name\": \"" + key +
               "\"}', 3, null, false, '', 'T', 'B', '', 3600, 100, jsonb_build_object('duration_ms', " +
               std::to_string(minutes * 60'000) + "), null)");
  };
  set_preferences(R"({"task-completed": {"min_minutes": 5}})");
  EXPECT_EQ(task("short1", 1), "queued") << "push only";
  EXPECT_EQ(task("long1", 9), "queued") << "e-mail and push";
  EXPECT_EQ(task("short2", 1), "gathered");
  EXPECT_EQ(task("long2", 9), "gathered");
  claim_job("short1");
  EXPECT_EQ(begin_attempt("short1", "b.channels, jsonb_array_length(b.items)"), "2 2");
  claim_job("long1");
  EXPECT_EQ(begin_attempt("long1", "b.channels, jsonb_array_length(b.items)"), "3 2");
  // A change of preferences in the meantime does not remove the e-mail of later notifications.
  set_preferences(R"({"task-completed": {"email": false, "min_minutes": 0}})");
  EXPECT_EQ(task("before", 1), "queued");
  set_preferences(R"({"task-completed": {"email": true}})");
  EXPECT_EQ(task("after", 1), "queued");
  claim_job("after");
  EXPECT_EQ(begin_attempt("after", "b.channels"), "3");
}

TEST_F(digests_sql, a_throttled_email_does_not_join_a_digest_with_push_messages) {
  set_preferences(R"({"task-completed": {"digest_minutes": 0}})");
  EXPECT_EQ(notify("alone", "null", "false", "task-completed", 3), "queued");
  EXPECT_EQ(attempt("alone"), "send alone");
  set_preferences(R"({"task-completed": {"digest_minutes": 30}})");
  EXPECT_EQ(notify("digest", "null", "false", "task-completed", 3), "queued");
  EXPECT_EQ(end("alone", "[" + result(1, "retry") + "," + result(2, "accepted", "t") + "]", 1, "false, false, true"),
            "queued");
  EXPECT_EQ(attempt("digest"), "send digest") << "the push message of the other one was delivered";
  EXPECT_EQ(attempt("alone"), "send alone");
}

TEST_F(digests_sql, throttled_entries_are_sent_after_their_carrier_expired) {
  set_preferences(R"({"task-completed": {"digest_minutes": 0}})");
  const auto throttled = [&](const std::string& key) {
    EXPECT_EQ(notify(key, "null", "false", "task-completed", 1), "queued");
    claim_job(key);
    EXPECT_EQ(begin_attempt(key), "send");
    return end(key, "[" + result(1, "retry") + "]", 1, "false, false, true");
  };
  EXPECT_EQ(throttled("a1"), "queued");
  EXPECT_EQ(throttled("a2"), "gathered");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(attempt("a2"), "send a2");
  EXPECT_EQ(end("a2", "[" + result(1, "accepted") + "]"), "sent");
}

TEST_F(digests_sql, a_cancelled_or_paused_broadcast_does_not_hold_back_other_entries) {
  const std::string first = "0190b1e4-0000-7000-8000-00000000000a", second = "0190b1e4-0000-7000-8000-00000000000b";
  broadcast(first, "running");
  broadcast(second, "running");
  EXPECT_EQ(notify_broadcast("a1", "'" + first + "'"), "queued");
  EXPECT_EQ(notify_broadcast("a2", "'" + second + "'"), "gathered");
  EXPECT_EQ(notify_broadcast("a3"), "gathered");
  broadcast(first, "cancelled");
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(state("a1"), "cancelled The broadcast was cancelled");
  EXPECT_EQ(sql("select priority from core.job where args->>'id' = " + id_of("a2") + "::text"), "10");
  broadcast(second, "paused");
  EXPECT_EQ(attempt("a2"), "wait");
  EXPECT_EQ(attempt("a3"), "send a3");
  EXPECT_EQ(accept("a3"), "sent");
  broadcast(second, "completed");
  EXPECT_EQ(attempt("a2"), "send a2");
  EXPECT_EQ(accept("a2"), "sent");
}

TEST_F(digests_sql, entries_of_a_cancelled_or_paused_broadcast_are_not_sent) {
  const std::string first = "0190b1e4-0000-7000-8000-00000000000a", second = "0190b1e4-0000-7000-8000-00000000000b";
  broadcast(first, "running");
  broadcast(second, "running");
  EXPECT_EQ(notify_broadcast("a1"), "queued");
  EXPECT_EQ(notify_broadcast("a2", "'" + first + "'"), "gathered");
  EXPECT_EQ(notify_broadcast("a3", "'" + second + "'"), "gathered");
  broadcast(first, "paused");
  broadcast(second, "cancelled");
  EXPECT_EQ(attempt("a1"), "send a1");
  EXPECT_EQ(accept("a1"), "sent");
  EXPECT_EQ(state("a3"), "cancelled The broadcast was cancelled");
  EXPECT_EQ(attempt("a2"), "wait");
  broadcast(first, "running");
  EXPECT_EQ(attempt("a2"), "send a2");
}

TEST_F(digests_sql, a_possibly_delivered_digest_has_no_new_carrier) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  view(one);
  EXPECT_EQ(attempt("a1"), "send a1,a2") << "both the e-mail and the push message contain both entries";
  EXPECT_EQ(end("a1", "[" + result(2, "accepted", "t") + "]"), "sent");
  EXPECT_EQ(state("a2"), "sent");
}

TEST_F(digests_sql, a_withdrawn_digest_is_sent_without_the_cancelled_entry) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "delivered", "t") + "]"), "sent");
  sql("select notifications.withdrawn('op', " + id_of("a1") + ")");
  EXPECT_EQ(state("a1"), "cancelled Cancelled by an operator");
  claim_job("a2");
  EXPECT_EQ(begin_attempt("a2", "b.what, b.channels, b.payload->>'task_name'"), "send 1 a2")
      << "the push message was delivered";
}

TEST_F(digests_sql, entries_whose_carrier_was_deleted_are_adopted) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  sql("select notifications.adopt_entries()");
  EXPECT_EQ(attempt("a1"), "send a1,a2,a3") << "nothing is missing";
  sql("delete from notifications.notification where key = 'a1'");
  sql("select notifications.adopt_entries()");
  EXPECT_EQ(attempt("a2"), "send a2,a3");
  EXPECT_EQ(accept("a2"), "sent");
  sql("select notifications.adopt_entries()");
  EXPECT_EQ(sql("select string_agg(state, ',') from notifications.notification"), "sent,sent");
}

// Concurrent workers, events, an operator and an open page: each notification that is not suppressed is sent once.
TEST_F(digests_sql, concurrent_changes_lose_nothing_and_send_nothing_twice) {
  constexpr int events = 150;
  sql("create table sent (name text)");
  const std::vector<std::string> threads{thread(), thread(), thread()};
  std::atomic<bool> over = false;
  const auto work = [&](const testing_sql::connection& db) {
    const auto job = db(
        "update core.job set state = 1, fence = fence + 1 where id = (select id from core.job where kind = 'notifications.deliver'"
        " and state in (0, 3) order by random() limit 1 for update skip locked) returning id || ', ' || fence");
    if (job.empty()) return false;
    const auto id = "(select (args->>'id')::uuid from core.job where id = " + job.substr(0, job.find(',')) + ")";
    const auto what = db(
        "with b as (select * from notifications.begin_attempt(" + id + ", " + job +
        ", 1, true, true)), s as ("
        "insert into sent select i->>'task_name' from b, jsonb_array_elements(coalesce(b.items, jsonb_build_array(b.payload))) i"
        " where b.what = 'send') select what from b");
    if (what == "send") {
      db("select notifications.end_attempt(" + id + ", " + job + ", '[" + result(1, "accepted") +
         "]', 0, false, true, false)");
    } else {
      db("delete from core.job where id = " + job.substr(0, job.find(',')));
    }
    return true;
  };
  std::vector<std::thread> all;
  for (int w = 0; w < 2; ++w) {
    all.emplace_back([&] {
      const auto db = connect();
      while (!over) work(db);
    });
  }
  all.emplace_back([&] {
    const auto db = connect();
    while (!over) {
      db("select notifications.cancel('op', n.id) from (select id from notifications.notification where state in ('queued', 'gathered')"
         " order by random() limit 1) n");
    }
  });
  all.emplace_back([&] {
    const auto db = connect();
    for (std::size_t i = 0; !over; ++i)
      db("select notifications.put_presence(" + ann_ + ", 's', " + threads[i % threads.size()] + ")");
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      const auto db = connect();
      for (int i = 0; i < events; ++i) {
        const auto key = std::to_string(w) + "-" + std::to_string(i);
        db("select notifications.notify('" + key + "', " + ann_ + ", 'task-completed', '{\"task_name\": \"" + key +
           "\"}', 1, " + threads[static_cast<std::size_t>(i) % threads.size()] + ", false, '', 'T', 'B', '', 3600)");
      }
    });
  }
  for (auto& t : writers) t.join();
  over = true;
  for (auto& t : all) t.join();
  const auto db = connect();
  while (work(db)) {
  }
  EXPECT_EQ(sql("select count(*) from notifications.notification"), std::to_string(2 * events));
  EXPECT_EQ(
      sql("select count(*) from notifications.notification where state not in ('sent', 'suppressed', 'cancelled')"),
      "0");
  EXPECT_NE(sql("select count(*) from sent"), "0");
  EXPECT_EQ(
      sql("select count(*) from notifications.notification where state = 'cancelled'"),
      sql("select count(*) from core.event where kind = 'admin.act' and payload->>'action' = 'notification.cancel'"))
      << "only those that the operator cancelled";
  EXPECT_EQ(sql("select count(*) from sent"),
            sql("select count(*) from notifications.notification where state = 'sent'"));
  EXPECT_EQ(
      sql("select count(*) from notifications.notification n where n.state = 'sent' and not exists (select from sent s where s.name = n.key)"),
      "0");
}

TEST_F(digests_sql, unsubscribing_by_a_link_works_for_every_workflow) {
  sql("select notifications.follow_subscription(" + ann_ + ", 'referral_successful', false)");
  EXPECT_EQ(sql("select workflows -> 'referral-successful' -> 'email' from notifications.preference"), "false");
}

}  // namespace
