// Digests whose carrier is not sent: their other entries are sent all the same, once.
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
    wants(R"({"task-completed": {"digest_minutes": 30}, "newsletter": {"digest_minutes": 30}})");
  }
  void wants(const std::string& workflows) {
    sql("select notifications.put_preferences(" + ann_ + ", null, false, null, null, '" + workflows + "')");
  }
  void view(const std::string& thread) { sql("select notifications.put_presence(" + ann_ + ", 's', " + thread + ")"); }
  std::string thread() { return "'" + sql("select gen_random_uuid()") + "'::uuid"; }
  // The worker's attempt: what, and the names of all that goes out.
  std::string attempt(const std::string& key) {
    take(key);
    return begin_now(key,
                     "b.what, coalesce((select string_agg(i->>'task_name', ',') from jsonb_array_elements(b.items) i),"
                     " b.payload->>'task_name')");
  }
  // Of the job that may deliver it: "now", "later", or nothing.
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
  std::string expires(const std::string& key, const std::string& when) {
    return sql("update notifications.notification set expires_at = now() + interval '" + when + "' where key = '" +
               key + "'");
  }
  void broadcast(const std::string& id, const std::string& state) {
    sql("insert into notifications.broadcast (id, workflow, payload, state, created_by) values ('" + id +
        "', 'newsletter', '{}', '" + state + "', 'op') on conflict (id) do update set state = excluded.state");
  }
  std::string rendered_texts(const std::string& key, const std::string& broadcast = "null") {
    return sql("select outcome from notifications.notify('" + key + "', " + ann_ +
               ", 'newsletter', '{\"task_name\": \"" + key +
               "\"}', 3, null, false, '', 'T', 'B', '', 3600, 100, null, " + broadcast + ")");
  }
};

TEST_F(digests_sql, entries_of_a_carrier_that_is_looked_at_go_out_at_once) {
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
  // The failed digest can be requeued, although its first carrier was left out.
  EXPECT_EQ(sql("select notifications.requeue('op', " + id_of("a2") + ")"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(attempt("a2"), "send a2,a3");
  EXPECT_EQ(accept("a2"), "sent");
  EXPECT_EQ(state("a3"), "sent");
}

TEST_F(digests_sql, the_last_entry_that_is_looked_at_ends_the_digest) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2", one), "gathered");
  view(one);
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(attempt("a2"), "over");
  EXPECT_EQ(state("a2"), "suppressed User is actively viewing thread");
  EXPECT_EQ(sql("select count(*) from notifications.notification where ended_at is null"), "0");
}

TEST_F(digests_sql, a_carrier_that_is_cancelled_leaves_the_others_waiting) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(state("a1"), "cancelled Cancelled by an operator");
  EXPECT_EQ(job("a2"), "later") << "its digest goes on";
  EXPECT_EQ(notify("a4"), "gathered");
  EXPECT_EQ(cancel("a3"), "t") << "one that is carried";
  EXPECT_EQ(state("a3"), "cancelled Cancelled by an operator");
  EXPECT_EQ(cancel("a3"), "f");
  EXPECT_EQ(attempt("a2"), "send a2,a4");
  EXPECT_EQ(cancel("a4"), "f") << "it is being sent";
  EXPECT_EQ(accept("a2"), "sent");
  EXPECT_EQ(state("a4"), "sent");
  EXPECT_EQ(state("a1") + state("a3"), "cancelled Cancelled by an operatorcancelled Cancelled by an operator");
  EXPECT_EQ(sql("select notifications.cancel('op', gen_random_uuid())"), "f");
}

TEST_F(digests_sql, a_digest_whose_window_is_over_goes_out_when_its_carrier_is_cancelled) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  sql("update notifications.notification set created_at = now() - interval '31 minutes'");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(notify("a3"), "queued") << "the next digest";
  EXPECT_EQ(attempt("a2"), "send a2");
}

TEST_F(digests_sql, entries_outlive_a_carrier_that_is_too_late) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(notify("a3"), "gathered");
  expires("a1", "-1 second");
  expires("a2", "-1 second");
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(state("a1") + " / " + state("a2"),
            "dead It could not be delivered in time / dead It could not be delivered in time");
  EXPECT_EQ(attempt("a3"), "send a3");
  // Also by the hourly clean-up.
  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  sql("select notifications.expire(" + id_of("b1") + ")");
  EXPECT_EQ(state("b1"), "queued") << "it has time";
  expires("b1", "-1 second");
  sql("select notifications.expire(" + id_of("b1") + ")");
  EXPECT_EQ(attempt("b2"), "send b2");
}

TEST_F(digests_sql, entries_of_a_carrier_that_is_too_late_are_sent_on_pending_channels_only) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  expires("a1", "-1 second");
  EXPECT_EQ(attempt("a1"), "over");
  take("a2");
  EXPECT_EQ(begin_now("a2", "b.what, b.channels"), "send 2") << "the e-mail has been sent";
  EXPECT_EQ(end("a2", "[" + result(2, "accepted", "t") + "]"), "sent");

  wants(R"({"task-completed": {"digest_minutes": 0}})");
  EXPECT_EQ(notify("b1", "null", "false", "task-completed", 3), "queued");
  take("b1");
  EXPECT_EQ(begin_now("b1"), "send");
  EXPECT_EQ(end("b1", "[" + result(1, "retry") + "," + result(2, "accepted", "t") + "]", 1, "false, false, true"),
            "queued");
  EXPECT_EQ(notify("b2", "null", "false", "task-completed", 1), "queued");
  take("b2");
  EXPECT_EQ(begin_now("b2"), "send");
  EXPECT_EQ(end("b2", "[" + result(1, "retry") + "]", 1, "false, false, true"), "gathered");
  expires("b1", "-1 second");
  EXPECT_EQ(attempt("b1"), "over");
  take("b2");
  EXPECT_EQ(begin_now("b2", "b.what, b.channels"), "send 1") << "only the push message of the carrier has been sent";
}

TEST_F(digests_sql, entries_end_with_a_carrier_that_is_too_late_and_may_have_arrived) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  expires("a1", "-1 second");
  EXPECT_EQ(attempt("a1"), "over") << "the previous worker ended without a result";
  EXPECT_EQ(state("a2"), "dead It could not be delivered in time");
  EXPECT_EQ(job("a2"), "");

  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  EXPECT_EQ(attempt("b1"), "send b1,b2");
  EXPECT_EQ(
      end("b1", "[" + result(1, "skipped") + "," + result(2, "accepted", "t1") + "," + result(2, "retry", "t2") + "]",
          2),
      "queued");
  expires("b1", "-1 second");
  EXPECT_EQ(attempt("b1"), "over");
  EXPECT_EQ(state("b2"), "dead It could not be delivered in time") << "one of the devices has it";
}

TEST_F(digests_sql, entries_of_a_cancelled_carrier_are_sent_on_pending_channels_only) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("a1") + ")"), "t");
  take("a2");
  EXPECT_EQ(begin_now("a2", "b.what, b.channels"), "send 2") << "the e-mail has been sent";

  EXPECT_EQ(notify("b1"), "queued");
  EXPECT_EQ(notify("b2"), "gathered");
  EXPECT_EQ(attempt("b1"), "send b1,b2");
  EXPECT_EQ(
      end("b1", "[" + result(1, "skipped") + "," + result(2, "accepted", "t1") + "," + result(2, "retry", "t2") + "]",
          2),
      "queued");
  EXPECT_EQ(sql("select notifications.cancel('op', " + id_of("b1") + ")"), "t");
  EXPECT_EQ(state("b2"), "cancelled Cancelled by an operator") << "one of the devices has it";
}

TEST_F(digests_sql, entries_of_a_carrier_whose_broadcast_is_cancelled_are_sent_on_pending_channels_only) {
  const std::string news = "0190b1e4-0000-7000-8000-00000000000a";
  broadcast(news, "running");
  EXPECT_EQ(rendered_texts("a1", "'" + news + "'"), "queued");
  EXPECT_EQ(rendered_texts("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "retry", "t") + "]", 2), "queued");
  broadcast(news, "cancelled");
  EXPECT_EQ(attempt("a1"), "over");
  take("a2");
  EXPECT_EQ(begin_now("a2", "b.what, b.channels"), "send 2") << "the e-mail has been sent";
}

TEST_F(digests_sql, after_quiet_hours_entries_have_the_time_of_their_carrier) {
  const auto one = thread();
  EXPECT_EQ(notify("a1", one), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  expires("a2", "-1 second");  // the carrier's time was extended by the quiet hours
  view(one);
  EXPECT_EQ(attempt("a1"), "over");
  EXPECT_EQ(attempt("a2"), "send a2");
}

TEST_F(digests_sql, entries_gather_only_with_those_of_the_same_channels) {
  const auto task = [&](const std::string& key, int minutes) {
    return sql("select outcome from notifications.notify('" + key + "', " + ann_ +
               ", 'task-completed', '{\"task_name\": \"" + key +
               "\"}', 3, null, false, '', 'T', 'B', '', 3600, 100, jsonb_build_object('duration_ms', " +
               std::to_string(minutes * 60'000) + "), null)");
  };
  wants(R"({"task-completed": {"min_minutes": 5}})");
  EXPECT_EQ(task("short1", 1), "queued") << "push only";
  EXPECT_EQ(task("long1", 9), "queued") << "e-mail and push";
  EXPECT_EQ(task("short2", 1), "gathered");
  EXPECT_EQ(task("long2", 9), "gathered");
  take("short1");
  EXPECT_EQ(begin_now("short1", "b.channels, jsonb_array_length(b.items)"), "2 2");
  take("long1");
  EXPECT_EQ(begin_now("long1", "b.channels, jsonb_array_length(b.items)"), "3 2");
  // Preferences that change meanwhile take no e-mail away from what came after the change.
  wants(R"({"task-completed": {"email": false, "min_minutes": 0}})");
  EXPECT_EQ(task("before", 1), "queued");
  wants(R"({"task-completed": {"email": true}})");
  EXPECT_EQ(task("after", 1), "queued");
  take("after");
  EXPECT_EQ(begin_now("after", "b.channels"), "3");
}

TEST_F(digests_sql, a_throttled_email_joins_no_digest_that_also_has_push_messages) {
  wants(R"({"task-completed": {"digest_minutes": 0}})");
  EXPECT_EQ(notify("alone", "null", "false", "task-completed", 3), "queued");
  EXPECT_EQ(attempt("alone"), "send alone");
  wants(R"({"task-completed": {"digest_minutes": 30}})");
  EXPECT_EQ(notify("digest", "null", "false", "task-completed", 3), "queued");
  EXPECT_EQ(end("alone", "[" + result(1, "retry") + "," + result(2, "accepted", "t") + "]", 1, "false, false, true"),
            "queued");
  EXPECT_EQ(attempt("digest"), "send digest") << "the other one's push message was delivered";
  EXPECT_EQ(attempt("alone"), "send alone");
}

TEST_F(digests_sql, throttled_entries_outlive_their_carrier) {
  wants(R"({"task-completed": {"digest_minutes": 0}})");
  const auto throttled = [&](const std::string& key) {
    EXPECT_EQ(notify(key, "null", "false", "task-completed", 1), "queued");
    take(key);
    EXPECT_EQ(begin_now(key), "send");
    return end(key, "[" + result(1, "retry") + "]", 1, "false, false, true");
  };
  EXPECT_EQ(throttled("a1"), "queued");
  EXPECT_EQ(throttled("a2"), "gathered");
  EXPECT_EQ(cancel("a1"), "t");
  EXPECT_EQ(job("a2"), "now");
  EXPECT_EQ(attempt("a2"), "send a2");
  EXPECT_EQ(end("a2", "[" + result(1, "accepted") + "]"), "sent");
}

TEST_F(digests_sql, a_broadcast_that_is_cancelled_or_paused_takes_no_others_along) {
  const std::string first = "0190b1e4-0000-7000-8000-00000000000a", second = "0190b1e4-0000-7000-8000-00000000000b";
  broadcast(first, "running");
  broadcast(second, "running");
  EXPECT_EQ(rendered_texts("a1", "'" + first + "'"), "queued");
  EXPECT_EQ(rendered_texts("a2", "'" + second + "'"), "gathered");
  EXPECT_EQ(rendered_texts("a3"), "gathered");
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

TEST_F(digests_sql, entries_of_a_broadcast_that_is_cancelled_or_paused_stay_behind) {
  const std::string first = "0190b1e4-0000-7000-8000-00000000000a", second = "0190b1e4-0000-7000-8000-00000000000b";
  broadcast(first, "running");
  broadcast(second, "running");
  EXPECT_EQ(rendered_texts("a1"), "queued");
  EXPECT_EQ(rendered_texts("a2", "'" + first + "'"), "gathered");
  EXPECT_EQ(rendered_texts("a3", "'" + second + "'"), "gathered");
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
  EXPECT_EQ(attempt("a1"), "send a1,a2") << "the e-mail has both, and so has the push message";
  EXPECT_EQ(end("a1", "[" + result(2, "accepted", "t") + "]"), "sent");
  EXPECT_EQ(state("a2"), "sent");
}

TEST_F(digests_sql, a_digest_that_was_taken_back_is_sent_without_the_one_that_is_cancelled) {
  EXPECT_EQ(notify("a1"), "queued");
  EXPECT_EQ(notify("a2"), "gathered");
  EXPECT_EQ(attempt("a1"), "send a1,a2");
  EXPECT_EQ(end("a1", "[" + result(1, "accepted") + "," + result(2, "delivered", "t") + "]"), "sent");
  sql("select notifications.withdrawn('op', " + id_of("a1") + ")");
  EXPECT_EQ(state("a1"), "cancelled Cancelled by an operator");
  take("a2");
  EXPECT_EQ(begin_now("a2", "b.what, b.channels, b.payload->>'task_name'"), "send 1 a2")
      << "the push message was delivered";
}

TEST_F(digests_sql, entries_whose_carrier_was_removed_are_adopted) {
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

// Workers, events, an operator and an open page at once: what was not left out is sent once.
TEST_F(digests_sql, nothing_is_lost_or_sent_twice_in_any_order) {
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
      << "only what the operator cancelled";
  EXPECT_EQ(sql("select count(*) from sent"),
            sql("select count(*) from notifications.notification where state = 'sent'"));
  EXPECT_EQ(
      sql("select count(*) from notifications.notification n where n.state = 'sent' and not exists (select from sent s where s.name = n.key)"),
      "0");
}

TEST_F(digests_sql, unsubscribing_by_a_link_knows_every_workflow) {
  sql("select notifications.follow_subscription(" + ann_ + ", 'referral_successful', false)");
  EXPECT_EQ(sql("select workflows -> 'referral-successful' -> 'email' from notifications.preference"), "false");
}

}  // namespace
