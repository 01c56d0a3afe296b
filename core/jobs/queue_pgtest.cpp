#include "core/jobs/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <set>
#include <thread>

#include "core/jobs/test_node.hpp"

namespace {

using namespace std::chrono_literals;
using ry::db::value;
using ry::jobs::test::database;
using ry::jobs::test::ends_when_cancelled;
using ry::jobs::test::kind;
using ry::jobs::test::node;
using ry::jobs::test::wait_for;

TEST(queue, runs_each_job_once_and_removes_it) {
  database d;
  node n(d);
  std::mutex mutex;
  std::multiset<std::int64_t> ran;
  auto k = kind("t.count");
  k.concurrency = 50;
  n.queue.add(k, [&](const ry_job_view* v, ry_job* j) {
    {
      std::lock_guard lock(mutex);
      ran.insert(v->id);
    }
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.count', jsonb_build_object('n', n)) from generate_series(1, 500) n");
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  std::lock_guard lock(mutex);
  EXPECT_EQ(ran.size(), 500u);
  EXPECT_EQ(std::set<std::int64_t>(ran.begin(), ran.end()).size(), 500u);
}

TEST(queue, a_free_slot_is_filled_immediately_while_jobs_wait) {
  database d;
  node n(d);
  auto k = kind("t.short");
  k.concurrency = 4;
  std::mutex mutex;
  std::vector<std::thread> enders;
  n.queue.add(k, [&](const ry_job_view* v, ry_job* j) {
    std::lock_guard lock(mutex);
    // The jobs end one by one while freed slots are refilled.
    enders.emplace_back([j, ms = 1 + v->id % 7] {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    });
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.short', '{}') from generate_series(1, 300)");
  n.start();
  // If freed slots waited for the next poll, this would take several times as long.
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }, 6s));
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  std::lock_guard lock(mutex);
  for (auto& t : enders) t.join();
}

TEST(queue, two_nodes_share_the_work_without_duplicates) {
  database d;
  node a(d), b(d);
  std::mutex mutex;
  std::multiset<std::int64_t> ran;
  auto run = [&](const ry_job_view* v, ry_job* j) {
    {
      std::lock_guard lock(mutex);
      ran.insert(v->id);
    }
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  };
  a.queue.add(kind("t.share"), run);
  b.queue.add(kind("t.share"), run);
  d.sql("select core.job_enqueue('t.share', '{}') from generate_series(1, 300)");
  a.start();
  b.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  std::lock_guard lock(mutex);
  EXPECT_EQ(ran.size(), 300u);
  EXPECT_EQ(std::set<std::int64_t>(ran.begin(), ran.end()).size(), 300u);
}

// The arguments of the first jobs, in the order in which they start.
std::vector<std::string> order_of(node& n, const std::string& name, std::size_t first) {
  auto out = std::make_shared<std::vector<std::string>>();
  auto mutex = std::make_shared<std::mutex>();
  auto k = kind(name);
  k.concurrency = 1;
  n.queue.add(k, [=](const ry_job_view* v, ry_job* j) {
    {
      std::lock_guard lock(*mutex);
      out->emplace_back(v->args_json.ptr, v->args_json.len);
    }
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  n.start();
  EXPECT_TRUE(wait_for([&] {
    std::lock_guard lock(*mutex);
    return out->size() >= first;
  }));
  std::lock_guard lock(*mutex);
  return *out;
}

std::size_t place_of(const std::vector<std::string>& order, const std::string& args) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), args) - order.begin());
}

constexpr char flood_share[] = "'00000000-0000-4000-8000-00000000000a'";
constexpr char small_share[] = "'00000000-0000-4000-8000-00000000000b'";

TEST(queue, a_flood_of_one_share_does_not_delay_another) {
  database d;
  node n(d);
  d.sql(std::string("select core.job_enqueue('t.fair', '\"flood\"', p_share => ") + flood_share +
        ") from generate_series(1, 2000);"
        "select core.job_enqueue('t.fair', '\"one\"', p_share => " +
        small_share +
        ");"
        "select core.job_enqueue('t.fair', '\"two\"', p_share => " +
        small_share + ")");
  const auto order = order_of(n, "t.fair", 4);
  EXPECT_LE(place_of(order, "\"one\""), 1u);
  EXPECT_LE(place_of(order, "\"two\""), 3u);
}

TEST(queue, jobs_of_a_vanished_node_are_requeued_in_turn) {
  database d;
  node n(d);
  // The state after a node that ran all of them was killed: the flood comes first.
  d.sql(std::string("select core.job_enqueue('t.back', '\"flood\"', p_node => gen_random_uuid(), p_share => ") +
        flood_share +
        ") from generate_series(1, 1000);"
        "select core.job_enqueue('t.back', '\"one\"', p_node => gen_random_uuid(), p_share => " +
        small_share + ")");
  const auto order = order_of(n, "t.back", 2);
  EXPECT_LE(place_of(order, "\"one\""), 1u);
  EXPECT_EQ(n.queue.stats().rescued, 1001u);
}

TEST(queue, priority_precedes_turn_and_jobs_without_shares_run_by_age) {
  database d;
  node n(d);
  d.sql(std::string("select core.job_enqueue('t.order', '1', p_priority => 1);"
                    "select core.job_enqueue('t.order', '2', p_priority => 1);"
                    "select core.job_enqueue('t.order', '0', p_priority => 0, p_share => ") +
        flood_share + ")");
  EXPECT_EQ(order_of(n, "t.order", 3), (std::vector<std::string>{"0", "1", "2"}));
}

TEST(queue, a_draining_node_claims_nothing_and_keeps_its_running_jobs) {
  database d;
  node a(d);
  std::atomic<int> begun{0};
  std::atomic<ry_job*> held{nullptr};
  a.queue.add(kind("t.drain"), [&](const ry_job_view*, ry_job* j) {
    ++begun;
    held = j;
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.drain', '{}')");
  a.start();
  ASSERT_TRUE(wait_for([&] { return held.load() != nullptr; }));
  d.sql("update core.node set draining = true");
  ASSERT_TRUE(wait_for([&] { return a.queue.draining(); }));
  d.sql("select core.job_enqueue('t.drain', '{}')");
  a.queue.wake();
  std::this_thread::sleep_for(600ms);  // two polls
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(d.number("select running from core.node"), 1);
  held.load()->q.finish(held.exchange(nullptr), RY_JOB_DONE, 0, nullptr);
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job where state = 1") == 0; }));
  EXPECT_EQ(begun, 1);
  d.sql("update core.node set draining = false");
  ASSERT_TRUE(wait_for([&] { return begun == 2; }));
  held.load()->q.finish(held.load(), RY_JOB_DONE, 0, nullptr);
}

// Does not expire during a test, even on a busy machine: a job with an expired lease would be claimed again.
constexpr std::chrono::milliseconds long_lease{60'000};

TEST(queue, a_node_with_less_weight_claims_smaller_batches) {
  database d;
  node light(d, {}, 25, long_lease);
  std::atomic<int> begun{0};
  auto k = kind("t.weight");
  k.concurrency = 1000;
  light.queue.add(k, [&](const ry_job_view*, ry_job*) {
    ++begun;
    return RY_OK;
  });
  // Transaction ids identify the first claim: rows claimed together were updated in one transaction.
  d.sql("select core.job_enqueue('t.weight', '{}') from generate_series(1, 100)");
  light.start();
  ASSERT_TRUE(wait_for([&] { return begun == 100; }));
  EXPECT_EQ(d.number("select max(n) from (select count(*) n from core.job group by xmin::text) t"), 25);
  EXPECT_EQ(d.number("select weight from core.node"), 25);
}

TEST(queue, a_node_with_less_weight_runs_fewer_concurrent_jobs) {
  database d;
  node light(d, {}, 25, long_lease), heavy(d, {}, 100, long_lease);
  auto k = kind("t.share");
  k.concurrency = 8;
  const auto stays = [](const ry_job_view*, ry_job*) { return RY_OK; };
  light.queue.add(k, stays);
  heavy.queue.add(k, stays);
  k = kind("t.single");
  k.concurrency = 1;
  light.queue.add(k, stays);
  d.sql(
      "select core.job_enqueue('t.share', '{}') from generate_series(1, 50);"
      "select core.job_enqueue('t.single', '{}')");
  light.start();
  heavy.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job where state = 1") == 11; }));
  EXPECT_EQ(light.queue.stats().running, 3u) << "two of eight next to other nodes, but all if it is the only node";
  EXPECT_EQ(heavy.queue.stats().running, 8u);
}

TEST(queue, jobs_created_leased_do_not_keep_a_less_loaded_node_from_waiting_jobs) {
  database d;
  node light(d, {}, 25, long_lease);
  auto k = kind("t.both");
  k.concurrency = 8;
  light.queue.add(k, [](const ry_job_view*, ry_job*) { return RY_OK; });
  light.start();
  for (int i = 0; i < 5; ++i) {
    const auto id =
        d.number("select id from core.job_enqueue('t.both', '{}', p_node => '" + light.queue.node_id() + "')");
    ASSERT_EQ(light.queue.adopt("t.both", id, 1, "{}"), RY_OK);
  }
  d.sql("select core.job_enqueue('t.both', '{}') from generate_series(1, 5)");
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job where state = 1") == 7; }))
      << "its share is two of the eight waiting jobs";
  for (int i = 0; i < 2; ++i) {
    const auto id =
        d.number("select id from core.job_enqueue('t.both', '{}', p_node => '" + light.queue.node_id() + "')");
    ASSERT_EQ(light.queue.adopt("t.both", id, 1, "{}"), RY_OK);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_EQ(light.queue.stats().running, 9u);
  EXPECT_EQ(d.number("select count(*) from core.job where state = 0"), 3);
}

TEST(queue, many_jobs_becoming_due_do_not_block_claims) {
  database d;
  // Another node has locked the first job to promote it, and its transaction does not end.
  ry::db::connection other{ry::db::connect_settings{d.url()}};
  other.open();
  d.sql(
      "select core.job_enqueue('t.due', '{}', p_run_at => now() + interval '1 h') from generate_series(1, 1500);"
      "update core.job set run_at = now() - interval '1 s';"
      "select core.job_enqueue('t.now', '{}')");
  auto held = other.begin();
  other.exec("select 1 from core.job where state = 3 order by run_at, id limit 10 for update");
  node n(d);
  std::atomic<int> due{0}, now{0};
  auto k = kind("t.due");
  k.concurrency = 100;
  const auto counts = [](std::atomic<int>& of) {
    return [&of](const ry_job_view*, ry_job* j) {
      ++of;
      j->q.finish(j, RY_JOB_DONE, 0, nullptr);
      return RY_OK;
    };
  };
  n.queue.add(k, counts(due));
  n.queue.add(kind("t.now"), counts(now));
  n.start();
  ASSERT_TRUE(wait_for([&] { return now == 1; }, std::chrono::seconds(10)));
  EXPECT_GE(d.number("select count(*) from core.job where state = 3"), 10);
  ASSERT_TRUE(wait_for([&] { return due >= 1490; }, std::chrono::seconds(20)));
  held.rollback();
  EXPECT_TRUE(wait_for([&] { return due == 1500; }));
}

TEST(queue, retries_with_backoff_and_dead_letters_after_the_last_attempt) {
  database d;
  node n(d);
  std::atomic<int> attempts{0};
  n.queue.add(kind("t.fail"), [&](const ry_job_view* v, ry_job* j) {
    EXPECT_EQ(static_cast<int>(v->attempt), ++attempts);
    ry::core::error e{RY_INTERNAL, "t.broken", "it broke", "", 0, 0};
    const auto view = e.view();
    j->q.finish(j, RY_JOB_RETRY, 0, &view);
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.fail', '{}', p_max_attempts => 3)");
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.dead_job") == 1; }));
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(d.text("select last_error from core.dead_job"), "t.broken: it broke");
  EXPECT_EQ(d.number("select count(*) from core.job"), 0);
}

TEST(queue, an_error_from_a_handler_counts_as_a_failed_attempt) {
  database d;
  node n(d);
  std::atomic<int> calls{0};
  n.queue.add(kind("t.refuse"), [&](const ry_job_view*, ry_job* j) -> ry_status {
    if (++calls < 3) return RY_UNAVAILABLE;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.refuse', '{}')");
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  EXPECT_EQ(calls, 3);
}

TEST(queue, a_unique_key_admits_one_unfinished_job) {
  database d;
  EXPECT_EQ(d.number("select count(*) from core.job_enqueue('t.u', '{}', p_unique_key => 'k')"), 1);
  EXPECT_EQ(d.number("select count(*) from core.job_enqueue('t.u', '{}', p_unique_key => 'k')"), 0);
  d.sql("delete from core.job");
  EXPECT_EQ(d.number("select count(*) from core.job_enqueue('t.u', '{}', p_unique_key => 'k')"), 1);
}

TEST(queue, an_adopted_job_runs_without_a_claim) {
  database d;
  node n(d);
  std::atomic<std::int64_t> ran{0};
  n.queue.add(kind("t.adopt"), [&](const ry_job_view* v, ry_job* j) {
    ran = v->id;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 1; }));
  const auto id =
      d.number("select id from core.job_enqueue('t.adopt', '{\"a\":1}', p_node => '" + n.queue.node_id() + "')");
  EXPECT_EQ(n.queue.adopt("t.adopt", id, 1, "{\"a\":1}"), RY_OK);
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  EXPECT_EQ(ran, id);
}

TEST(queue, the_adopter_learns_that_another_instance_runs_the_job) {
  database d;
  node n(d);
  std::atomic<std::int64_t> ran{0};
  n.queue.add(kind("t.adopt"), [&](const ry_job_view* v, ry_job* j) {
    ran = v->id;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 1; }));
  const auto id = d.number("select id from core.job_enqueue('t.adopt', '{}', p_node => '" + n.queue.node_id() + "')");
  const ry_host* const replaced = reinterpret_cast<const ry_host*>(&ran);  // only compared
  EXPECT_EQ(n.queue.adopt("t.adopt", id, 1, "{}", replaced), RY_CANCELLED);
  EXPECT_TRUE(wait_for([&] { return ran == id; }));
}

TEST(queue, an_adopted_job_ends_with_its_last_attempt) {
  database d;
  node n(d);
  std::atomic<int> attempts{0};
  n.queue.add(kind("t.adopt"), [&](const ry_job_view*, ry_job* j) {
    ++attempts;
    j->q.finish(j, RY_JOB_RETRY, 1, nullptr);
    return RY_OK;
  });
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 1; }));
  const auto id = d.number("select id from core.job_enqueue('t.adopt', '{}', p_max_attempts => 1, p_node => '" +
                           n.queue.node_id() + "')");
  EXPECT_EQ(n.queue.adopt("t.adopt", id, 1, "{}"), RY_OK);
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.dead_job") == 1; }));
  EXPECT_EQ(d.number("select count(*) from core.job"), 0);
  EXPECT_EQ(attempts, 1);
}

TEST(queue, cancels_a_waiting_job_and_a_running_one_on_another_node) {
  database d;
  node a(d), b(d);
  ends_when_cancelled seen;
  a.queue.add(kind("t.cancel"), std::ref(seen));
  a.start();
  const auto running = d.number("select id from core.job_enqueue('t.cancel', '{}')");
  ASSERT_TRUE(wait_for([&] { return seen.job.load() != nullptr; }));
  b.start();
  std::atomic<int> st{-1};
  b.queue.cancel(running, [&](ry_status s) { st = s; });
  ASSERT_TRUE(wait_for([&] { return seen.why == RY_REASON_USER; }));
  EXPECT_EQ(st, RY_OK);

  const auto waiting =
      d.number("select id from core.job_enqueue('t.other', '{}', p_run_at => now() + interval '1 day')");
  st = -1;
  b.queue.cancel(waiting, [&](ry_status s) { st = s; });
  ASSERT_TRUE(wait_for([&] { return st != -1; }));
  EXPECT_EQ(st, RY_OK);
  EXPECT_EQ(d.number("select count(*) from core.job where id = " + std::to_string(waiting)), 0);
  st = -1;
  b.queue.cancel(waiting, [&](ry_status s) { st = s; });
  ASSERT_TRUE(wait_for([&] { return st != -1; }));
  EXPECT_EQ(st, RY_NOT_FOUND);
}

TEST(queue, sql_cancels_a_running_job_and_leaves_a_waiting_one) {
  database d;
  node a(d);
  ends_when_cancelled seen;
  a.queue.add(kind("t.cancel"), std::ref(seen));
  const auto job = d.number("select id from core.job_enqueue('t.cancel', '{}')");
  const auto cancel = "select core.job_cancel(" + std::to_string(job) + ")::int";
  EXPECT_EQ(d.number(cancel), 0) << "no worker has it";
  EXPECT_EQ(d.number("select count(*) from core.job where not cancel_requested"), 1);
  a.start();
  ASSERT_TRUE(wait_for([&] { return seen.job.load() != nullptr; }));
  EXPECT_EQ(d.number(cancel), 1);
  EXPECT_TRUE(wait_for([&] { return seen.why == RY_REASON_USER; }));
}

TEST(queue, stop_releases_jobs_that_do_not_end) {
  database d;
  std::atomic<int> why{0};
  {
    node n(d);
    n.queue.add(kind("t.slow"), [&](const ry_job_view*, ry_job* j) {
      return j->q.on_cancel(
          j, [](void* ctx, std::int32_t w) noexcept { static_cast<std::atomic<int>*>(ctx)->store(w); }, &why);
    });
    d.sql("select core.job_enqueue('t.slow', '{}')");
    n.start();
    ASSERT_TRUE(wait_for([&] { return n.queue.stats().running == 1; }));
    n.queue.stop(std::chrono::steady_clock::now() + 300ms);
  }
  EXPECT_EQ(why, RY_REASON_SHUTDOWN);
  EXPECT_EQ(d.number("select count(*) from core.job where state = 0 and attempt = 0"), 1);
  EXPECT_EQ(d.number("select count(*) from core.node"), 0);
}

TEST(queue, cron_creates_one_job_per_tick_in_the_cluster) {
  database d;
  node a(d), b(d);
  std::atomic<int> ran{0};
  auto k = kind("t.tick");
  k.cron = "@every 1s";
  auto run = [&](const ry_job_view*, ry_job* j) {
    ++ran;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  };
  a.queue.add(k, run);
  b.queue.add(k, run);
  const auto begin = std::chrono::system_clock::now();
  a.start();
  b.start();
  ASSERT_TRUE(wait_for([&] { return ran >= 3; }));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now() - begin);
  EXPECT_LE(ran, seconds.count() + 2);
}

TEST(queue, a_tick_from_a_wrong_clock_does_not_stop_the_schedule) {
  database d;
  const auto tick = [&](const std::string& at) {
    return d.number("select core.cron_tick('t.tick', " + at + ", 'default', 3)::int");
  };
  EXPECT_EQ(tick("now() + interval '1 year'"), 0);
  EXPECT_EQ(d.number("select count(*) from core.job"), 0);
  EXPECT_EQ(tick("now()"), 1);
  EXPECT_EQ(tick("now() - interval '1 second'"), 0) << "the tick was already handled";
  EXPECT_EQ(d.number("select count(*) from core.job"), 1);
  d.sql("update core.cron set last_tick = now() + interval '1 year'");
  EXPECT_EQ(tick("now()"), 1);
  EXPECT_EQ(tick("now() - interval '1 second'"), 0);
}

TEST(queue, a_draining_node_keeps_draining_after_its_row_was_deleted) {
  database d;
  node n(d);
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 1; }));
  d.sql("update core.node set draining = true");
  ASSERT_TRUE(wait_for([&] { return n.queue.draining(); }));
  d.sql("delete from core.node");
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 1; }));
  EXPECT_EQ(d.number("select count(*) from core.node where draining"), 1);
  EXPECT_TRUE(n.queue.draining());
}

TEST(queue, a_job_past_its_deadline_is_cancelled) {
  database d;
  node n(d);
  ends_when_cancelled seen;
  auto k = kind("t.late");
  k.timeout_ms = 50;
  n.queue.add(k, std::ref(seen));
  d.sql("select core.job_enqueue('t.late', '{}')");
  n.start();
  ASSERT_TRUE(wait_for([&] { return seen.why == RY_REASON_DEADLINE; }));
}

// Inserts a dead-lettered job.
std::int64_t add_dead_letter(database& d, const std::string& key = {}) {
  return d.number(
      "insert into core.job (kind, queue, state, attempt, max_attempts, crashes, unique_key, args, last_error) "
      "values ('t.lost', 'default', 2, 3, 3, 1, nullif('" +
      key + "', ''), '{}', 'it failed') returning id");
}

TEST(queue, depths_count_each_queue_by_state_and_find_the_oldest_ready_job) {
  database d;
  d.sql(
      "select core.job_enqueue('t.none', '{}', 'slow', 0, now() - interval '90 s');"
      "select core.job_enqueue('t.none', '{}', 'slow');"
      "select core.job_enqueue('t.none', '{}', 'slow', 0, now() + interval '1 h');");
  add_dead_letter(d);
  node n(d);
  auto k = kind("t.idle");
  k.queue = "empty";
  n.queue.add(k, [](const ry_job_view*, ry_job*) { return RY_INTERNAL; });
  n.start();
  ASSERT_TRUE(wait_for([&] { return !n.queue.stats().depths.empty(); }));
  const auto depths = n.queue.stats().depths;
  ASSERT_EQ(depths.size(), 3u);
  EXPECT_EQ(depths[0].queue, "default");
  EXPECT_EQ(depths[0].dead, 1);
  EXPECT_EQ(depths[0].ready, 0);
  EXPECT_EQ(depths[0].oldest_ready_seconds, 0);
  EXPECT_EQ(depths[1].queue, "empty");
  EXPECT_EQ(depths[1].ready + depths[1].scheduled + depths[1].running + depths[1].dead, 0);
  EXPECT_EQ(depths[2].queue, "slow");
  EXPECT_EQ(depths[2].ready, 2);
  EXPECT_EQ(depths[2].scheduled, 1);
  const auto kinds = n.queue.stats().kind_depths;
  EXPECT_EQ(kinds.at("t.none").ready, 2);
  EXPECT_EQ(kinds.at("t.none").scheduled, 1);
  EXPECT_EQ(kinds.at("t.lost").dead, 1);
  EXPECT_EQ(kinds.at("t.idle").ready, 0);
  EXPECT_GE(depths[2].oldest_ready_seconds, 89);
  EXPECT_LT(depths[2].oldest_ready_seconds, 600);
}

TEST(queue, a_retried_dead_letter_gets_all_attempts_again_and_is_audited) {
  database d;
  d.sql("insert into core.event_consumer (module, name, kinds) values ('x', 'audit', '{admin.act}')");
  const auto id = add_dead_letter(d);
  std::atomic<std::uint32_t> attempt{0}, crashes{9};
  node n(d);
  n.queue.add(kind("t.lost"), [&](const ry_job_view* v, ry_job* j) {
    attempt = v->attempt;
    crashes = v->crashes;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  EXPECT_EQ(d.text("select core.job_act('ann', 'retry', " + std::to_string(id) + ")"), "done");
  EXPECT_EQ(d.number("select count(*) from core.dead_job"), 0);
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job where kind = 't.lost'") == 0; }));
  EXPECT_EQ(attempt, 1u);
  EXPECT_EQ(crashes, 0u);
  EXPECT_EQ(d.text("select payload::text from core.event"),
            R"({"actor": "ann", "action": "job.retry", "detail": {"kind": "t.lost", "queue": "default", "job_id": )" +
                std::to_string(id) + "}}");
}

TEST(queue, operator_actions_affect_only_dead_letters_and_never_duplicate_work) {
  database d;
  const auto act = [&](const std::string& what, std::int64_t id) {
    return d.text("select core.job_act('ann', '" + what + "', " + std::to_string(id) + ")");
  };
  const auto waiting = d.number("select id from core.job_enqueue('t.lost', '{}', 'default', 0, null, 'one')");
  for (const std::string what : {"retry", "discard"}) {
    EXPECT_EQ(act(what, waiting), "unknown");
    EXPECT_EQ(act(what, 4711), "unknown");
  }
  const auto lost = add_dead_letter(d, "one");
  EXPECT_EQ(act("retry", lost), "twin");
  EXPECT_EQ(d.number("select count(*) from core.dead_job where id = " + std::to_string(lost)), 1);
  EXPECT_EQ(act("discard", lost), "done");
  EXPECT_EQ(act("discard", lost), "unknown");
  EXPECT_EQ(d.number("select count(*) from core.job"), 1);
  EXPECT_EQ(d.text("select payload->>'action' from core.event"), "job.discard");
}

TEST(jobs, expired_jobs_and_dead_letters_are_deleted_and_no_others) {
  database d;
  node n(d);
  n.queue.add_trim();
  d.sql(
      "insert into core.job (kind, queue, state, max_attempts, args, enqueued_at, run_at) "
      "select kind, 'default', state, 3, '{}', now() - interval '200 days', now() - days * interval '1 day' from (values "
      "('dead', 2, 91), ('lately', 2, 89), ('unknown', 0, 91), ('retried', 0, 1), ('later', 3, -1)) j (kind, state, days)");
  d.sql("update core.dead_job set died_at = now() - (case kind when 'lately' then 89 else 91 end) * interval '1 day'");
  // An expired partition is dropped; rows of the default partition are deleted one by one.
  d.sql(
      "create table core.dead_job_old partition of core.dead_job for values from (now() - interval '130 days') to (now() - interval '110 days');"
      "insert into core.dead_job (died_at, id, kind, queue, priority, attempt, max_attempts, crashes, fence, enqueued_at, args) "
      "select now() - interval '120 days', 4711, 'long_ago', 'default', 0, 1, 1, 0, 1, now(), '{}'");
  n.start();
  d.sql("select core.job_enqueue('core.trim', '{}', 'core')");
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.job where kind = 'core.trim'") == 0; }));
  EXPECT_EQ(d.text("select string_agg(kind, ' ' order by kind) from core.job where kind not like 'core.%'"),
            "later retried");
  EXPECT_EQ(d.text("select string_agg(kind, ' ' order by kind) from core.dead_job"), "lately");
  EXPECT_EQ(d.number("select count(*) from pg_class where relname = 'dead_job_old'"), 0);
  EXPECT_GE(d.number("select count(*) from core.partitions_of('core.dead_job')"), 2);
}

}  // namespace
