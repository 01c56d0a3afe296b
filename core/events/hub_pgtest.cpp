#include "core/events/hub.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "core/events/abi.hpp"
#include "core/jobs/test_node.hpp"

namespace {

using namespace std::chrono_literals;
using ry::jobs::test::database;
using ry::jobs::test::node;
using ry::jobs::test::wait_for;

struct event_node {
  explicit event_node(database& d, std::string name = "consumer")
      : n(d), hub(n.rt), host(n.rt, std::move(name), 1) {
    n.rt.events = &hub;
  }
  ~event_node() {
    hub.stop();
    n.queue.stop(std::chrono::steady_clock::now() + 200ms);
    n.vanish();  // the loops end before the hub that their handlers refer to
  }
  node n;
  ry::events::hub hub;
  ry_host host;
};

struct received {
  std::mutex mutex;
  std::vector<std::string> payloads;
  std::atomic<int> count{0};
  int fail_first = 0;
};

ry_status on_event(void* ctx, const ry_event_view* v, ry_event* e) noexcept {
  auto& r = *static_cast<received*>(ctx);
  {
    std::lock_guard lock(r.mutex);
    r.payloads.push_back(ry::core::str(v->kind) + " " + ry::core::str(v->key) + " " +
                         ry::core::str(v->payload_json));
  }
  const int n = ++r.count;
  ry::events::table()->ack(e, n <= r.fail_first ? RY_UNAVAILABLE : RY_OK, nullptr);
  return RY_OK;
}

ry::module::consumer consumer(event_node& n, received& r, std::vector<std::string> kinds) {
  ry::module::consumer c;
  c.owner = &n.host;
  c.name = "test";
  c.kinds = std::move(kinds);
  c.handle = on_event;
  c.ctx = &r;
  return c;
}

TEST(events, a_consumer_gets_what_it_asked_for_after_the_commit) {
  database d;
  event_node n(d);
  received r;
  EXPECT_EQ(n.hub.add_consumers({consumer(n, r, {"run.completed", "payment.*"})}), "");
  n.n.start();
  d.sql("begin; select core.event_publish('run.completed', 'k', '{\"a\": 1}'); rollback;");
  d.sql("select core.event_publish('run.completed', 'k1', '{\"a\": 1}')");
  d.sql("select core.event_publish('run.failed', 'k2', '{}')");
  d.sql("select core.event_publish('payment.failed', 'k3', '{}')");
  d.sql("select core.event_publish('payments', 'k4', '{}')");
  ASSERT_TRUE(wait_for([&] { return r.count == 2 && d.number("select count(*) from core.job") == 0; }));
  std::lock_guard lock(r.mutex);
  std::sort(r.payloads.begin(), r.payloads.end());
  EXPECT_EQ(r.payloads, (std::vector<std::string>{"payment.failed k3 {}", "run.completed k1 {\"a\":1}"}));
}

TEST(events, many_in_one_statement_reach_whom_they_concern) {
  database d;
  event_node n(d);
  received r;
  EXPECT_EQ(n.hub.add_consumers({consumer(n, r, {"run.completed", "payment.*"})}), "");
  n.n.start();
  d.sql("select core.events_publish(array['run.completed', 'run.failed', 'payment.made', 'run.completed'],"
        " array['k1', 'k2', 'k3', 'k4'], array['{\"a\": 1}', '{}', '{}', '{}']::jsonb[])");
  ASSERT_TRUE(wait_for([&] { return r.count == 3 && d.number("select count(*) from core.job") == 0; }));
  EXPECT_EQ(d.number("select count(*) from core.event"), 4);
  std::lock_guard lock(r.mutex);
  std::sort(r.payloads.begin(), r.payloads.end());
  EXPECT_EQ(r.payloads, (std::vector<std::string>{"payment.made k3 {}", "run.completed k1 {\"a\":1}", "run.completed k4 {}"}));
}

TEST(events, a_refused_event_comes_again) {
  database d;
  event_node n(d);
  received r;
  r.fail_first = 1;
  EXPECT_EQ(n.hub.add_consumers({consumer(n, r, {"a.b"})}), "");
  n.n.start();
  d.sql("select core.event_publish('a.b', 'k', '{}')");
  ASSERT_TRUE(wait_for([&] { return r.count == 2; }));
  ASSERT_TRUE(wait_for([&] { return d.number("select count(*) from core.job") == 0; }));
}

struct live {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::string>> got;
  std::size_t size() {
    std::lock_guard lock(mutex);
    return got.size();
  }
};

void on_live(void* ctx, ry_str, std::uint64_t cursor, ry_bytes bytes, ry_buffer* buffer) noexcept {
  auto& l = *static_cast<live*>(ctx);
  EXPECT_EQ(bytes.len == 0, buffer == nullptr);
  std::lock_guard lock(l.mutex);
  l.got.emplace_back(cursor, ry::core::sv(bytes));
}

TEST(live, a_topic_reaches_its_subscribers_in_order_and_nobody_else) {
  database d;
  event_node n(d);
  live a, b, other;
  auto* sa = n.hub.subscribe(&n.host, "t1", &n.n.loops.at(0), on_live, &a);
  auto* sb = n.hub.subscribe(&n.host, "t1", &n.n.loops.at(1), on_live, &b);
  auto* so = n.hub.subscribe(&n.host, "t2", &n.n.loops.at(1), on_live, &other);
  EXPECT_EQ(n.hub.stats().subscriptions, 3u);
  for (std::uint64_t i = 1; i <= 1000; ++i) n.hub.publish("t1", i, "event " + std::to_string(i), RY_LIVE_LOCAL);
  ASSERT_TRUE(wait_for([&] { return a.size() == 1000 && b.size() == 1000; }));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a.got[i].first, i + 1);
    EXPECT_EQ(b.got[i].second, "event " + std::to_string(i + 1));
  }
  EXPECT_EQ(other.size(), 0u);
  n.hub.unsubscribe(sa);
  n.hub.publish("t1", 1001, "last", RY_LIVE_LOCAL);
  ASSERT_TRUE(wait_for([&] { return b.size() == 1001; }));
  EXPECT_EQ(a.size(), 1000u);
  n.hub.unsubscribe(sb);
  n.hub.unsubscribe(so);
  EXPECT_EQ(n.hub.stats().subscriptions, 0u);
  EXPECT_TRUE(wait_for([&] { return n.host.outstanding == 0; }));
}

TEST(live, another_node_gets_a_hint_with_the_cursor) {
  database d;
  event_node a(d), b(d);
  a.hub.start();
  b.hub.start();
  a.n.start();
  b.n.start();
  ASSERT_TRUE(wait_for([&] { return a.n.queue.other_nodes() == 1 && b.n.queue.other_nodes() == 1; }));
  live got;
  auto* s = b.hub.subscribe(&b.host, "run:1", &b.n.loops.at(0), on_live, &got);
  a.hub.publish("run:1", 7, "the bytes stay here", 0);
  ASSERT_TRUE(wait_for([&] { return got.size() == 1; }));
  EXPECT_EQ(got.got[0].first, 7u);
  EXPECT_EQ(got.got[0].second, "");
  a.hub.publish("run:1", 8, "", RY_LIVE_HINT);
  ASSERT_TRUE(wait_for([&] { return got.size() == 2; }));
  b.hub.unsubscribe(s);
}

}  // namespace
