// Jobs continue the trace in which they were created.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/jobs/abi.hpp"
#include "core/jobs/queue.hpp"
#include "core/jobs/test_node.hpp"
#include "core/observe/tracer.hpp"

namespace {

using namespace std::chrono_literals;
using namespace ry::observe;
using ry::jobs::test::database;
using ry::jobs::test::node;
using ry::jobs::test::wait_for;

trace_settings recorded() {
  trace_settings s;
  s.record = recording::on;
  return s;
}

ry::module::job_kind kind(std::string name) {
  ry::module::job_kind k;
  k.kind = std::move(name);
  k.queue = "default";
  k.backoff_ms = 20;
  return k;
}

// Records the traces in which jobs run, in order.
struct seen {
  std::mutex mutex;
  std::vector<trace_ref> traces;
  void note() {
    std::lock_guard lock(mutex);
    traces.push_back(trace_of_thread());
  }
  trace_ref at(std::size_t i) {
    std::lock_guard lock(mutex);
    return i < traces.size() ? traces[i] : trace_ref();
  }
};

TEST(job_trace, every_attempt_is_in_the_trace_of_the_enqueuing_request) {
  tracer traces(recorded());
  database d;
  node n(d);
  n.rt.tracer = &traces;
  ry_host host{n.rt, "core", 1};
  seen s;
  n.queue.add(kind("t.traced"), [&](const ry_job_view* v, ry_job* j) {
    s.note();
    j->q.finish(j, v->attempt < 2 ? RY_JOB_RETRY : RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  n.start();
  const auto mine = traces.begin(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), "a=1");
  std::atomic<bool> added{false};
  {
    const trace_scope scope(mine);
    ry_job_request request{};
    request.struct_size = sizeof request;
    request.kind = ry::core::view("t.traced");
    ASSERT_EQ(ry::jobs::jobs_v1().enqueue(
                  &host, nullptr, &request, &n.loops.at(0),
                  [](void* p, ry_status st, std::int64_t, const ry_error_view*) noexcept {
                    EXPECT_EQ(st, RY_OK);
                    EXPECT_TRUE(trace_of_thread()) << "the completion continues the trace";
                    *static_cast<std::atomic<bool>*>(p) = true;
                  },
                  &added),
              RY_OK);
  }
  ASSERT_TRUE(wait_for([&] { return added.load(); }));
  n.queue.wake();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto t = s.at(i);
    ASSERT_TRUE(t);
    EXPECT_EQ(t->trace_id, mine->trace_id);
    EXPECT_EQ(*t->parent_id, mine->span_id);
    EXPECT_EQ(t->state, "a=1");
  }
  EXPECT_NE(s.at(0)->span_id, s.at(1)->span_id);
  const auto spans = traces.take(100);
  const auto jobs = std::count_if(spans.begin(), spans.end(), [](const span& x) { return x.name == "job t.traced"; });
  const auto sql = std::find_if(spans.begin(), spans.end(), [](const span& x) { return x.name == "SELECT"; });
  EXPECT_EQ(jobs, 2);
  ASSERT_NE(sql, spans.end());
  EXPECT_EQ(*sql->parent_id, mine->span_id);
}

TEST(job_trace, a_job_created_leased_and_claimed_by_another_node_keeps_its_trace) {
  tracer traces(recorded());
  database d;
  seen s;
  const auto run = [&](const ry_job_view* v, ry_job* j) {
    s.note();
    if (v->attempt > 1) j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;  // the first attempt does not finish
  };
  node a(d);
  a.rt.tracer = &traces;
  a.queue.add(kind("t.leased"), run);
  a.start();
  const auto mine = traces.begin(std::nullopt, "");
  const auto id = d.number("select (core.jobs_create_leased('t.leased', 'default', array['{}'::jsonb], 5, '" +
                           a.queue.node_id() + "'))[1]");
  {
    const trace_scope scope(mine);
    ASSERT_EQ(a.queue.adopt("t.leased", id, 1, "{}"), RY_OK);
  }
  ASSERT_TRUE(wait_for([&] { return d.text("select coalesce(trace, '') from core.job") == kept_text(mine); }));
  a.vanish();
  node b(d);
  b.rt.tracer = &traces;
  b.queue.add(kind("t.leased"), run);
  b.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  EXPECT_EQ(s.at(0)->trace_id, mine->trace_id);
  EXPECT_EQ(s.at(1)->trace_id, mine->trace_id);
  EXPECT_EQ(*s.at(1)->parent_id, mine->span_id);
}

TEST(job_trace, a_transaction_sets_the_trace_of_its_jobs_and_events_but_not_of_batched_jobs) {
  database d;
  d.sql(
      "insert into core.event_consumer (module, name, kinds) values ('m', 'c', array['k.*']);"
      "select set_config('core.trace', 'the trace', true);"
      "select core.job_enqueue('t.one', '{}'); select core.event_publish('k.x', '', '{}');"
      "select core.jobs_create_leased('t.many', 'default', array['{}'::jsonb], 5, '00000000-0000-4000-8000-000000000001');");
  EXPECT_EQ(d.text("select string_agg(kind || '=' || coalesce(trace, '-'), ' ' order by kind) from core.job"),
            "event.m.c=the trace t.many=- t.one=the trace");
  d.sql("select core.job_enqueue('t.two', '{}')");
  EXPECT_EQ(d.text("select coalesce(trace, '-') from core.job where kind = 't.two'"), "-");
}

TEST(job_trace, without_a_tracer_no_trace_is_stored) {
  database d;
  node n(d);
  seen s;
  n.queue.add(kind("t.plain"), [&](const ry_job_view*, ry_job* j) {
    s.note();
    j->q.finish(j, RY_JOB_DONE, 0, nullptr);
    return RY_OK;
  });
  d.sql("select core.job_enqueue('t.plain', '{}')");
  n.start();
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
  EXPECT_FALSE(s.at(0));
}

}  // namespace
