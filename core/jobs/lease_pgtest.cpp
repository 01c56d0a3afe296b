// Jobs of a node that vanishes, misses heartbeats, or cannot reach the database.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/jobs/queue.hpp"
#include "core/jobs/test_node.hpp"

namespace {

using namespace std::chrono_literals;
using ry::jobs::test::database;
using ry::jobs::test::ends_when_cancelled;
using ry::jobs::test::kind;
using ry::jobs::test::node;
using ry::jobs::test::wait_for;

TEST(queue, the_jobs_of_a_vanished_node_are_claimed_and_its_fence_is_rejected) {
  database d;
  std::atomic<std::int64_t> id{0}, old_fence{0};
  auto dead = std::make_unique<node>(d);
  dead->queue.add(kind("t.hold"), [&](const ry_job_view* v, ry_job*) {
    old_fence = v->fence;
    id = v->id;
    return RY_OK;  // never finishes
  });
  d.sql("select core.job_enqueue('t.hold', '{}')");
  dead->start();
  ASSERT_TRUE(wait_for([&] { return id != 0; }));
  dead->vanish();

  node heir(d);
  std::atomic<int> crashes{-1};
  std::atomic<std::int64_t> fence{0};
  std::atomic<ry_job*> job{nullptr};
  heir.queue.add(kind("t.hold"), [&](const ry_job_view* v, ry_job* j) {
    crashes = static_cast<int>(v->crashes);
    fence = v->fence;
    job = j;
    return RY_OK;
  });
  heir.start();
  ASSERT_TRUE(wait_for([&] { return job.load() != nullptr; }));
  EXPECT_EQ(crashes, 1);
  EXPECT_GT(fence, old_fence);
  const auto args = std::to_string(id) + ", ";
  EXPECT_EQ(d.sqlstate("select core.job_hold(" + args + std::to_string(old_fence) + ")"), "RYF01");
  EXPECT_EQ(d.sqlstate("select core.job_complete(" + args + std::to_string(old_fence) + ")"), "RYF01");
  EXPECT_EQ(d.sqlstate("select core.job_hold(" + args + std::to_string(fence) + ")"), "");
  heir.queue.finish(job, RY_JOB_DONE, 0, nullptr);
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
}

TEST(queue, a_restart_claims_the_jobs_of_its_previous_process_immediately) {
  database d;
  d.sql(
      "insert into core.node (id, lease_until) values "
      "('00000000-0000-0000-0000-0000000000aa', now() + interval '1 hour')");
  d.sql(
      "select core.job_enqueue('t.again', '{}', "
      "p_node => '00000000-0000-0000-0000-0000000000aa')");
  node n(d, "00000000-0000-0000-0000-0000000000aa");
  std::atomic<int> ran{0};
  n.queue.add(kind("t.again"), [&](const ry_job_view*, ry_job* j) {
    ++ran;
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  n.start();
  ASSERT_TRUE(wait_for([&] { return ran == 1; }, 3s));
}

TEST(queue, a_job_ended_by_another_node_is_cancelled_although_it_writes_nothing) {
  database d;
  node a(d);
  ends_when_cancelled seen;
  a.queue.add(kind("t.silent"), std::ref(seen));
  a.start();
  const auto job = d.number("select id from core.job_enqueue('t.silent', '{}')");
  ASSERT_TRUE(wait_for([&] { return seen.job.load() != nullptr; }));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(seen.why, 0) << "accepted while the lease is ours";
  d.sql("delete from core.job where id = " + std::to_string(job));
  EXPECT_TRUE(wait_for([&] { return seen.why == RY_REASON_LEASE_LOST; }));
  EXPECT_EQ(a.queue.stats().leases_lost, 1u);
}

// Rejects new database connections and terminates the open ones.
void shut(database& d) {
  d.sql("update pg_database set datallowconn = false where datname = current_database()");
  d.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity "
      "where datname = current_database() and pid <> pg_backend_pid()");
}
void open_again(database& d) {
  d.sql("update pg_database set datallowconn = true where datname = current_database()");
}

TEST(queue, running_jobs_survive_an_outage_of_the_database) {
  database d;
  node a(d), b(d);
  ends_when_cancelled seen;
  a.queue.add(kind("t.patient"), std::ref(seen));
  b.queue.add(kind("t.patient"), [](const ry_job_view*, ry_job*) { return RY_OK; });
  a.start();
  const auto job = d.number("select id from core.job_enqueue('t.patient', '{}')");
  ASSERT_TRUE(wait_for([&] { return seen.job.load() != nullptr; }));
  b.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 2; }));
  shut(d);
  EXPECT_TRUE(wait_for([&] { return !a.queue.stats().connected && !b.queue.stats().connected; }));
  std::this_thread::sleep_for(1500ms);
  open_again(d);
  EXPECT_TRUE(wait_for([&] { return a.queue.stats().connected && b.queue.stats().connected; }));
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(seen.why, 0);
  EXPECT_EQ(a.queue.stats().leases_lost, 0u);
  EXPECT_EQ(d.number("select fence from core.job where state = 1 and id = " + std::to_string(job)), 1);
  a.queue.finish(seen.job, RY_JOB_DONE, 0, nullptr);
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
}

TEST(queue, a_starting_node_waits_for_returning_nodes) {
  database d;
  const std::string other = "00000000-0000-0000-0000-0000000000ab";
  d.sql("insert into core.node (id, lease_until) values ('" + other + "', now() - interval '1 minute')");
  d.sql("select core.job_enqueue('t.back', '{}', p_node => '" + other + "')");
  node n(d);
  n.queue.add(kind("t.back"), [](const ry_job_view*, ry_job*) { return RY_OK; });
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.node") == 2; }));
  d.sql("update core.node set lease_until = now() + interval '1 hour' where id = '" + other + "'");
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(n.queue.stats().rescued, 0u);
  EXPECT_EQ(d.number("select fence from core.job where state = 1 and node = '" + other + "'"), 1);
}

TEST(queue, a_late_heartbeat_does_not_count_as_a_crash) {
  database d;
  node a(d);
  struct execution {
    std::atomic<int> why{0}, begun{0};
    std::atomic<ry_job*> job{nullptr};
  } late;
  auto k = kind("t.late");
  k.concurrency = 1;  // no node claims the row until this job has ended
  a.queue.add(k, [&](const ry_job_view*, ry_job* j) {
    late.job = j;
    ++late.begun;
    return j->q.on_cancel(
        j, [](void* ctx, std::int32_t why) noexcept { static_cast<execution*>(ctx)->why = why; }, &late);
  });
  a.start();
  const auto job = std::to_string(d.number("select id from core.job_enqueue('t.late', '{}')"));
  ASSERT_TRUE(wait_for([&] { return late.begun == 1; }));
  // What another node does when it considers node a dead.
  d.sql("begin; delete from core.node where id = '" + a.queue.node_id() + "'; select core.jobs_return(array[" + job +
        "], true); commit");
  EXPECT_TRUE(wait_for([&] { return late.why == RY_REASON_LEASE_LOST; }));
  EXPECT_TRUE(wait_for([&] { return d.number("select crashes from core.job where id = " + job) == 0; }));
  a.queue.finish(late.job, RY_JOB_RELEASE, 0, nullptr);
  EXPECT_TRUE(wait_for([&] { return late.begun == 2; }));
  EXPECT_EQ(d.number("select attempt from core.job where id = " + job), 2);
  a.queue.finish(late.job, RY_JOB_DONE, 0, nullptr);
}

TEST(queue, a_long_outage_of_the_database_cancels_running_jobs_once) {
  database d;
  node a(d, {}, 100, 1500ms, 500ms);
  ends_when_cancelled seen;
  a.queue.add(kind("t.patient"), std::ref(seen));
  a.start();
  d.sql("select core.job_enqueue('t.patient', '{}')");
  ASSERT_TRUE(wait_for([&] { return seen.job.load() != nullptr; }));
  shut(d);
  EXPECT_TRUE(wait_for([&] { return seen.why == RY_REASON_LEASE_LOST; }));
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(a.queue.stats().leases_lost, 1u);
  open_again(d);
}

TEST(queue, a_job_whose_row_is_claimed_again_here_lives_until_it_ends) {
  database d;
  node n(d);
  auto k = kind("t.twice");
  k.concurrency = 2;
  k.max_attempts = 9;
  struct execution {
    ry_job* job;
    std::atomic<int> why{0};
  };
  std::mutex mutex;
  std::deque<execution> all;
  const auto count = [&] {
    std::lock_guard lock(mutex);
    return all.size();
  };
  n.queue.add(k, [&](const ry_job_view*, ry_job* j) {
    std::lock_guard lock(mutex);
    auto& mine = all.emplace_back();
    mine.job = j;
    return j->q.on_cancel(
        j, [](void* ctx, std::int32_t why) noexcept { static_cast<execution*>(ctx)->why = why; }, &mine);
  });
  d.sql("select core.job_enqueue('t.twice', '{}')");
  n.start();
  ASSERT_TRUE(wait_for([&] { return count() == 1; }));
  // What another node does with the jobs of a node that missed its heartbeats.
  d.sql("update core.job set state = 0, node = null");
  n.queue.wake();
  ASSERT_TRUE(wait_for([&] { return count() == 2; }));
  EXPECT_TRUE(wait_for([&] { return all[0].why == RY_REASON_LEASE_LOST; }));
  EXPECT_EQ(all[1].why, 0);
  EXPECT_EQ(n.queue.stats().running, 2u);

  // The outcome of the first job must not change the row.
  n.queue.finish(all[0].job, RY_JOB_DEAD, 0, nullptr);
  EXPECT_EQ(n.queue.stats().running, 1u);
  n.queue.finish(all[1].job, RY_JOB_DONE, 0, nullptr);
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));

  // Both slots are free again.
  d.sql("select core.job_enqueue('t.twice', '{}') from generate_series(1, 2)");
  n.queue.wake();
  ASSERT_TRUE(wait_for([&] { return count() == 4; }));
  for (const std::size_t i : {2, 3}) n.queue.finish(all[i].job, RY_JOB_DONE, 0, nullptr);
  EXPECT_TRUE(wait_for([&] { return n.queue.stats().running == 0; }));
}

}  // namespace
