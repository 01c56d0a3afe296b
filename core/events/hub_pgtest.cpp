#include "core/events/hub.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>

#include "core/events/abi.hpp"
#include "core/jobs/test_node.hpp"

namespace {

using namespace std::chrono_literals;
using ry::jobs::test::database;
using ry::jobs::test::node;
using ry::jobs::test::wait_for;

struct event_node {
  // For nodes that must see each other throughout the test: a lease that does not expire on a busy machine.
  static constexpr auto long_lease = std::chrono::milliseconds(60000);
  explicit event_node(database& d, std::string name = "consumer",
                      std::chrono::milliseconds lease = std::chrono::milliseconds(1500))
      : n(d, {}, 100, lease), hub(n.rt), host(n.rt, std::move(name), 1) {
    n.rt.events = &hub;
  }
  ~event_node() {
    hub.stop();
    n.queue.stop(std::chrono::steady_clock::now() + 200ms);
    n.vanish();  // the loops must end before the hub that their handlers use
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
    r.payloads.push_back(ry::core::str(v->kind) + " " + ry::core::str(v->key) + " " + ry::core::str(v->payload_json));
  }
  const int n = ++r.count;
  ry::events::events_v1().ack(e, n <= r.fail_first ? RY_UNAVAILABLE : RY_OK, nullptr);
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

TEST(events, a_consumer_gets_its_kinds_after_the_commit) {
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

TEST(events, several_events_of_one_statement_reach_their_consumers) {
  database d;
  event_node n(d);
  received r;
  EXPECT_EQ(n.hub.add_consumers({consumer(n, r, {"run.completed", "payment.*"})}), "");
  n.n.start();
  EXPECT_EQ(d.number("select core.events_publish(array['run.completed', 'run.failed', 'payment.made', 'run.completed'],"
                     " array['k1', 'k2', 'k3', 'k4'], array['{\"a\": 1}', '{}', '{}', '{}']::jsonb[])::int"),
            1);
  EXPECT_EQ(d.number("select core.events_publish(array['run.failed'], array['k5'], array['{}']::jsonb[])::int"), 0)
      << "no consumer gets it";
  ASSERT_TRUE(wait_for([&] { return r.count == 3 && d.number("select count(*) from core.job") == 0; }));
  EXPECT_EQ(d.number("select count(*) from core.event"), 5);
  std::lock_guard lock(r.mutex);
  std::sort(r.payloads.begin(), r.payloads.end());
  EXPECT_EQ(r.payloads,
            (std::vector<std::string>{"payment.made k3 {}", "run.completed k1 {\"a\":1}", "run.completed k4 {}"}));
}

TEST(events, a_rejected_event_is_delivered_again) {
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

TEST(live, a_topic_reaches_only_its_subscribers_and_in_order) {
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

// Messages sent before the other node listens are lost. `first` outlives the nodes.
void until_heard(event_node& from, event_node& by, live& first) {
  auto* s = by.hub.subscribe(&by.host, "ready", &by.n.loops.at(0), on_live, &first);
  EXPECT_TRUE(wait_for([&] {
    from.hub.publish("ready", 1, "", RY_LIVE_WAKEUP);
    return first.size() > 0;
  }));
  by.hub.unsubscribe(s);
}

TEST(live, another_node_gets_a_wakeup_with_the_cursor) {
  database d;
  live first;
  event_node a(d, "a", event_node::long_lease), b(d, "b", event_node::long_lease);
  a.hub.start();
  b.hub.start();
  a.n.start();
  b.n.start();
  ASSERT_TRUE(wait_for([&] { return a.n.queue.other_nodes() == 1 && b.n.queue.other_nodes() == 1; }));
  until_heard(a, b, first);
  live got;
  auto* s = b.hub.subscribe(&b.host, "run:1", &b.n.loops.at(0), on_live, &got);
  a.hub.publish("run:1", 7, "the bytes stay here", 0);
  ASSERT_TRUE(wait_for([&] { return got.size() == 1; }));
  EXPECT_EQ(got.got[0].first, 7u);
  EXPECT_EQ(got.got[0].second, "");
  a.hub.publish("run:1", 8, "", RY_LIVE_WAKEUP);
  ASSERT_TRUE(wait_for([&] { return got.size() == 2; }));
  b.hub.unsubscribe(s);
}

// ---- with a bus ----------------------------------------------------------------------------------

// A fake bus: immediately delivers what one node publishes to the sinks of the other nodes.
struct wire {
  struct end {
    wire* of = nullptr;
    const ry_bus_sink* sink = nullptr;
    void* ctx = nullptr;
    std::atomic<bool> up{false}, deaf{false};
    std::atomic<ry_status> answer{RY_OK};
    std::atomic<int> taken{0};
  };
  std::mutex mutex;
  std::vector<end*> ends;

  void set(end& e, bool up) {
    e.up = up;
    e.sink->state(e.ctx, up ? 1 : 0, ry::core::view(up ? "fine" : "connection lost"));
  }
  static end& of(void* self) { return *static_cast<end*>(self); }
  static ry_status open(void* self, const ry_bus_sink* sink, void* ctx) noexcept {
    auto& e = of(self);
    std::lock_guard lock(e.of->mutex);
    e.sink = sink;
    e.ctx = ctx;
    e.of->ends.push_back(&e);
    return RY_OK;
  }
  static void close(void* self, ry_done done) noexcept {
    auto& e = of(self);
    {
      std::lock_guard lock(e.of->mutex);
      std::erase(e.of->ends, &e);
    }
    done.fn(done.ctx, RY_OK, nullptr);
  }
  static ry_status publish(void* self, ry_str topic, uint64_t cursor, ry_bytes bytes) noexcept {
    auto& e = of(self);
    if (const ry_status no = e.answer; no != RY_OK) return no;
    ++e.taken;
    std::lock_guard lock(e.of->mutex);
    for (end* other : e.of->ends)
      if (other != &e && other->up && !other->deaf) other->sink->message(other->ctx, topic, cursor, bytes);
    return RY_OK;
  }
};
constexpr ry_event_bus_v1 wire_table{sizeof(ry_event_bus_v1), 0, wire::open, wire::close, wire::publish};

// Two nodes that see each other; each is attached to the fake bus, which is not up yet.
struct two_nodes {
  two_nodes() {
    for (auto* e : {&at_a, &at_b}) e->of = &between;
    a.hub.bus().add({"wire", &a.host, &wire_table, &at_a});
    b.hub.bus().add({"wire", &b.host, &wire_table, &at_b});
    a.hub.start();
    b.hub.start();
    a.n.start();
    b.n.start();
    EXPECT_TRUE(wait_for([&] { return a.n.queue.other_nodes() == 1 && b.n.queue.other_nodes() == 1; }));
    until_heard(a, b, first);
  }
  ~two_nodes() {
    int gone = 0;
    a.hub.bus().remove("wire", [&] { ++gone; });
    b.hub.bus().remove("wire", [&] { ++gone; });
    EXPECT_EQ(gone, 2);
  }
  void both_up() {
    between.set(at_a, true);
    between.set(at_b, true);
    ASSERT_TRUE(wait_for([&] { return a.hub.bus().received_by_all() && a.hub.bus().carries(); }));
  }
  database d;
  live first;
  wire between;
  wire::end at_a, at_b;
  event_node a{d, "a", event_node::long_lease}, b{d, "b", event_node::long_lease};
};

TEST(bus, bytes_reach_the_other_node_and_no_wakeup_goes_through_the_database) {
  two_nodes t;
  t.both_up();
  live got;
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &t.b.n.loops.at(0), on_live, &got);
  // On a busy machine heartbeats arrive late; then wake-ups through the database are correct.
  bool quiet = false;
  for (int i = 0; i < 20 && !quiet; ++i) {
    ASSERT_TRUE(wait_for([&] { return t.a.hub.bus().received_by_all(); }));
    const auto before = t.a.hub.stats().wakeups_sent;
    t.a.hub.publish("run:2", 1, "", RY_LIVE_WAKEUP);
    std::this_thread::sleep_for(50ms);
    quiet = t.a.hub.stats().wakeups_sent == before;
  }
  EXPECT_TRUE(quiet);
  EXPECT_EQ(t.a.hub.publish("run:1", 7, "ahead of the log", RY_LIVE_AHEAD), RY_OK);
  EXPECT_EQ(t.a.hub.publish("run:1", 7, "not sent twice", RY_LIVE_WAKEUP), RY_OK);
  EXPECT_EQ(t.a.hub.publish("run:1", 8, "both", 0), RY_OK);
  ASSERT_TRUE(wait_for([&] { return got.size() >= 3; }));
  EXPECT_EQ(got.got[0], (std::pair<std::uint64_t, std::string>{7, "ahead of the log"}));
  EXPECT_EQ(got.got[1], (std::pair<std::uint64_t, std::string>{7, ""}));
  EXPECT_EQ(got.got[2], (std::pair<std::uint64_t, std::string>{8, "both"}));
  t.b.hub.unsubscribe(s);
}

TEST(bus, without_a_bus_nothing_is_sent_ahead_of_the_log) {
  two_nodes t;
  EXPECT_FALSE(t.a.hub.bus().carries());
  EXPECT_EQ(t.a.hub.publish("run:1", 7, "bytes", RY_LIVE_AHEAD), RY_UNAVAILABLE);
  EXPECT_NE(t.a.hub.bus().problem(), std::nullopt);
  t.both_up();
  EXPECT_EQ(t.a.hub.bus().problem(), std::nullopt);
}

TEST(bus, while_a_node_does_not_receive_the_bus_wakeups_go_through_the_database_too) {
  two_nodes t;
  live got;
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &t.b.n.loops.at(0), on_live, &got);
  t.between.set(t.at_a, true);
  ASSERT_TRUE(wait_for([&] { return t.a.hub.bus().carries(); }));
  EXPECT_FALSE(t.a.hub.bus().received_by_all());
  t.a.hub.publish("run:1", 7, "", RY_LIVE_WAKEUP);
  ASSERT_TRUE(wait_for([&] { return got.size() == 1; }));
  EXPECT_GE(t.at_a.taken, 1);
  bool at_once = false;  // may need several attempts on a busy machine
  for (int i = 0; i < 5 && !at_once; ++i) {
    t.between.set(t.at_b, true);
    ASSERT_TRUE(wait_for([&] { return t.a.hub.bus().received_by_all(); }));
    t.between.set(t.at_b, false);
    at_once = wait_for([&] { return !t.a.hub.bus().received_by_all(); }, 1s);
  }
  EXPECT_TRUE(at_once) << "it notifies the other nodes, which would detect it only after three seconds";
  t.b.hub.unsubscribe(s);
}

TEST(bus, a_bus_that_is_up_but_reaches_no_node_is_not_used_alone) {
  two_nodes t;
  t.at_b.deaf = t.at_a.deaf = true;  // two separate bus clusters instead of one
  t.between.set(t.at_a, true);
  t.between.set(t.at_b, true);
  live got;
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &t.b.n.loops.at(0), on_live, &got);
  std::this_thread::sleep_for(3500ms);
  EXPECT_TRUE(t.a.hub.bus().carries());
  EXPECT_FALSE(t.a.hub.bus().received_by_all());
  t.a.hub.publish("run:1", 7, "", RY_LIVE_WAKEUP);
  ASSERT_TRUE(wait_for([&] { return got.size() == 1; }));
  t.b.hub.unsubscribe(s);
}

TEST(bus, the_confirmations_of_a_silent_node_expire) {
  two_nodes t;
  t.both_up();
  t.b.hub.bus().stop();
  EXPECT_TRUE(wait_for([&] { return !t.a.hub.bus().received_by_all(); }));
}

TEST(bus, a_replacement_node_does_not_inherit_the_confirmations_of_its_predecessor) {
  two_nodes t;
  t.both_up();
  t.b.n.vanish();
  const std::string successor = "00000000-0000-4000-9000-000000000001";
  t.d.sql("delete from core.node where id = '" + t.b.n.queue.node_id() + "'");
  t.d.sql("insert into core.node (id, lease_until) values ('" + successor + "', now() + interval '1 hour')");
  ASSERT_TRUE(wait_for([&] { return t.a.n.queue.peers() == std::vector{successor}; }));
  EXPECT_TRUE(wait_for([&] { return !t.a.hub.bus().received_by_all(); }, 1500ms));
}

TEST(bus, every_subscriber_reads_its_log_when_the_bus_goes_down) {
  two_nodes t;
  t.both_up();
  live got;
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &t.b.n.loops.at(1), on_live, &got);
  t.between.set(t.at_b, false);
  ASSERT_TRUE(wait_for([&] { return got.size() >= 2; })) << "and again a little later";
  EXPECT_EQ(got.got[0], (std::pair<std::uint64_t, std::string>{0, ""}));
  t.b.hub.unsubscribe(s);
}

TEST(bus, a_rejected_or_lost_message_becomes_a_wakeup_through_the_database) {
  two_nodes t;
  t.both_up();
  live got;
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &t.b.n.loops.at(0), on_live, &got);
  t.at_a.answer = RY_RESOURCE_EXHAUSTED;
  EXPECT_EQ(t.a.hub.publish("run:1", 7, "bytes", RY_LIVE_AHEAD), RY_RESOURCE_EXHAUSTED);
  t.a.hub.publish("run:1", 8, "", RY_LIVE_WAKEUP);
  ASSERT_TRUE(wait_for([&] { return got.size() == 1; }));
  EXPECT_EQ(got.got[0].first, 8u);
  t.at_a.sink->lost(t.at_a.ctx, ry::core::view("run:1"), 9);
  ASSERT_TRUE(wait_for([&] { return got.size() == 2; }));
  EXPECT_EQ(got.got[1].first, 9u);
  EXPECT_EQ(t.a.hub.stats().bus.lost, 1u);
  t.b.hub.unsubscribe(s);
}

TEST(bus, a_slow_loop_gets_a_wakeup_instead_of_an_unbounded_queue) {
  two_nodes t;
  t.both_up();
  live got;
  auto& loop = t.b.n.loops.at(0);
  auto* s = t.b.hub.subscribe(&t.b.host, "run:1", &loop, on_live, &got);
  std::promise<void> held, go;
  loop.post([&] {
    held.set_value();
    go.get_future().wait();
  });
  held.get_future().wait();
  // A wake-up without a known cursor keeps cursor 0, even if other messages arrive before the loop drains.
  live other;
  auto* o = t.b.hub.subscribe(&t.b.host, "run:2", &loop, on_live, &other);
  const std::string big(64 * 1024, 'x');
  for (std::uint64_t i = 1; i <= 1000; ++i) t.a.hub.publish("run:1", i, big, RY_LIVE_AHEAD);
  for (const std::uint64_t cursor : {5, 0, 6})
    t.at_b.sink->message(t.at_b.ctx, ry::core::view("run:2"), cursor, ry::core::bytes(cursor == 0 ? "" : big));
  go.set_value();
  ASSERT_TRUE(wait_for([&] {
    std::lock_guard lock(got.mutex);
    return !got.got.empty() && got.got.back().first == 1000;
  }));
  EXPECT_LE(got.size(), 129u) << "eight megabytes and one wake-up";
  EXPECT_EQ(got.got.back().second, "") << "the reader must read its log";
  EXPECT_GT(t.b.hub.stats().lagged, 800u);
  ASSERT_TRUE(wait_for([&] { return other.size() > 0; }));
  EXPECT_EQ(other.got[0], (std::pair<std::uint64_t, std::string>{0, ""}));
  t.b.hub.unsubscribe(o);
  t.b.hub.unsubscribe(s);
}

TEST(events, old_events_are_dropped_with_their_partition) {
  database d;
  // No partition exists yet.
  d.sql("select core.event_publish('a.b', 'first', '{}')");
  EXPECT_EQ(d.number("select count(*) from core.event_default"), 1);
  d.sql("select core.partitions_make('core.event', '1 day')");
  EXPECT_GE(d.number("select count(*) from core.partitions_of('core.event')"), 2);
  d.sql(
      "create table core.event_old partition of core.event for values from (now() - interval '40 days') to (now() - interval '31 days')");
  d.sql(
      "insert into core.event (published_at, kind, key, payload) values (now() - interval '35 days', 'a.b', 'old', '{}'), "
      "(now() - interval '41 days', 'a.b', 'older', '{}'), (now() - interval '2 days', 'a.b', 'young', '{}')");
  EXPECT_EQ(d.number("select count(*) from core.event_old"), 1);
  d.sql("select core.partitions_trim('core.event', '30 days')");
  EXPECT_EQ(d.text("select string_agg(key, ' ' order by published_at) from core.event"), "young first");
  EXPECT_EQ(d.text("select to_regclass('core.event_old')::text"), "");
}

TEST(events, the_host_creates_and_drops_partitions_each_minute) {
  database d;
  event_node n(d);
  n.n.start();
  n.hub.start();
  d.sql(
      "insert into core.event (published_at, kind, key, payload) values (now() - interval '31 days', 'a.b', 'old', '{}')");
  d.sql("select core.job_enqueue('core.trim_events', '{}', 'core')");
  EXPECT_TRUE(wait_for([&] { return d.number("select count(*) from core.event") == 0; }));
  EXPECT_GE(d.number("select count(*) from core.partitions_of('core.event')"), 3);
}

}  // namespace
