#include <ry/testing.hpp>

#include <gtest/gtest.h>

#include <deque>

namespace ry {
namespace {

using testing::fake_host;

task<int> answer() {
  co_return 42;
}
task<int> plus_one() {
  co_return 1 + co_await answer();
}
task<int> failing() {
  throw not_found("t.not_found", "nothing there");
  co_return 0;
}

struct task_test : ::testing::Test {
  fake_host host;
  context& ctx = host.ctx();
};

TEST_F(task_test, is_lazy_and_nests) {
  bool ran = false;
  const auto body = [&]() -> task<void> {
    ran = true;
    co_return;
  };
  task<void> t = body();
  EXPECT_FALSE(ran);
  host.await(std::move(t));
  EXPECT_TRUE(ran);
  EXPECT_EQ(host.await(plus_one()), 43);
}

TEST_F(task_test, a_task_dropped_before_it_ran_frees_its_arguments) {
  auto shared = std::make_shared<int>(1);
  const auto body = [](std::shared_ptr<int> p) -> task<void> {
    *p = 2;
    co_return;
  };
  { task<void> t = body(shared); }
  EXPECT_EQ(*shared, 1);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(task_test, exceptions_reach_the_awaiter) {
  const auto body = []() -> task<std::string> {
    try {
      co_await failing();
    } catch (const error& e) {
      co_return std::string(e.reason());
    }
    co_return "not thrown";
  };
  EXPECT_EQ(host.await(body()), "t.not_found");
  EXPECT_THROW(host.await(failing()), error);
}

TEST_F(task_test, move_only_values) {
  const auto body = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
  EXPECT_EQ(*host.await(body()), 5);
}

TEST_F(task_test, many_awaits_in_a_loop_do_not_grow_the_stack) {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const int rounds = 200'000;
#else
  const int rounds = 1'000;  // without optimisation g++ does not turn a symmetric transfer into a tail call
#endif
  const auto body = [](int n) -> task<std::int64_t> {
    std::int64_t sum = 0;
    for (int i = 0; i < n; ++i) sum += co_await answer();
    co_return sum;
  };
  EXPECT_EQ(host.await(body(rounds)), std::int64_t{42} * rounds);
}

TEST_F(task_test, sleep_moves_the_clock) {
  const auto body = [this]() -> task<std::int64_t> {
    const std::int64_t before = ctx.now_unix_us();
    result<void> slept = co_await ctx.sleep(1500);
    slept.value();
    co_return ctx.now_unix_us() - before;
  };
  EXPECT_EQ(host.await(body()), 1'500'000);
}

TEST_F(task_test, cancel_ends_a_sleep_early) {
  cancel_source s;
  ry_status st = -1;
  const auto body = [&]() -> task<void> {
    result<void> slept = co_await ctx.sleep(60'000);
    st = slept.status();
  };
  ctx.spawn(body(), host.exec(), s.token());
  host.advance(10);
  EXPECT_EQ(st, -1);
  s.cancel(RY_REASON_USER);
  host.run_ready();
  EXPECT_EQ(st, RY_CANCELLED);
}

TEST_F(task_test, cancelled_before_the_sleep_starts) {
  cancel_source s;
  s.cancel();
  ry_status st = -1;
  const auto body = [&]() -> task<void> {
    result<void> slept = co_await ctx.sleep(60'000);
    st = slept.status();
  };
  ctx.spawn(body(), host.exec(), s.token());
  host.run_ready();
  EXPECT_EQ(st, RY_CANCELLED);
}

TEST_F(task_test, shielded_work_continues_and_the_token_is_restored) {
  cancel_source s;
  std::vector<ry_status> seen;
  const auto pause = [&]() -> task<void> {
    result<void> slept = co_await ctx.sleep(10);
    seen.push_back(slept.status());
  };
  const auto body = [&]() -> task<void> {
    s.cancel();
    co_await shield(pause());
    co_await pause();
  };
  ctx.spawn(body(), host.exec(), s.token());
  host.run();
  EXPECT_EQ(seen, (std::vector<ry_status>{RY_OK, RY_CANCELLED}));
}

TEST_F(task_test, run_blocking_returns_values_and_exceptions) {
  const auto body = [this]() -> task<int> {
    int n = co_await ctx.run_blocking([] { return 7; });
    co_await ctx.run_blocking([&n] { n += 1; });
    try {
      co_await ctx.run_blocking([] { throw not_found("a", "b"); });
    } catch (const error& e) {
      n += e.status();
    }
    co_return n;
  };
  EXPECT_EQ(host.await(body()), 8 + RY_NOT_FOUND);
}

TEST_F(task_test, when_all_keeps_order_and_failures) {
  const auto part = [this](int n) -> task<int> {
    result<void> slept = co_await ctx.sleep(static_cast<std::uint64_t>(100 - n));
    slept.value();
    if (n == 1) throw conflict("one", "one is taken");
    co_return n;
  };
  const auto body = [&]() -> task<void> {
    std::vector<task<int>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(part(i));
    const std::int64_t before = ctx.now_unix_us();
    const std::vector<result<int>> all = co_await when_all(std::move(parts));
    EXPECT_EQ(ctx.now_unix_us() - before, 100'000);  // concurrently, not sequentially
    EXPECT_EQ(all[0].value(), 0);
    EXPECT_EQ(all[1].error().reason(), "one");
    EXPECT_EQ(all[2].value(), 2);
    std::vector<task<void>> none;
    const auto nothing = co_await when_all(std::move(none));
    EXPECT_TRUE(nothing.empty());
  };
  host.await(body());
}

TEST_F(task_test, when_all_propagates_cancellation) {
  cancel_source s;
  int cancelled = 0;
  const auto part = [&]() -> task<void> {
    result<void> slept = co_await ctx.sleep(60'000);
    if (slept.status() == RY_CANCELLED) ++cancelled;
  };
  const auto body = [&]() -> task<void> {
    std::vector<task<void>> parts;
    parts.push_back(part());
    parts.push_back(part());
    const auto all = co_await when_all(std::move(parts));
    EXPECT_EQ(all.size(), 2u);
  };
  ctx.spawn(body(), host.exec(), s.token());
  host.run_ready();
  s.cancel();
  host.run_ready();
  EXPECT_EQ(cancelled, 2);
}

TEST_F(task_test, a_failed_detached_task_is_logged_not_fatal) {
  const auto body = []() -> task<void> {
    throw std::runtime_error("boom");
    co_return;
  };
  EXPECT_TRUE(ctx.spawn(body(), host.exec()));
  ASSERT_EQ(host.log.size(), 1u);
  EXPECT_EQ(host.log[0].level, RY_LOG_ERROR);
  EXPECT_NE(host.log[0].fields.find("boom"), std::string::npos);
}

TEST_F(task_test, group_join_waits_for_its_tasks) {
  int ended = 0;
  const auto part = [&]() -> task<void> {
    result<void> slept = co_await ctx.sleep(50);
    EXPECT_EQ(slept.status(), RY_CANCELLED);
    ++ended;
  };
  const auto body = [&]() -> task<void> {
    task_group group(ctx, co_await this_cancel());
    for (int i = 0; i < 4; ++i) group.spawn(part(), host.exec());
    EXPECT_EQ(group.size(), 4u);
    group.cancel(RY_REASON_USER);
    result<void> joined = co_await group.join();
    joined.value();
    EXPECT_EQ(ended, 4);
    EXPECT_EQ(group.size(), 0u);
    EXPECT_FALSE(group.spawn(part(), host.exec()));
  };
  host.await(body());
  EXPECT_EQ(ended, 4);
}

TEST_F(task_test, empty_group_joins) {
  const auto body = [&]() -> task<void> {
    task_group group(ctx);
    result<void> joined = co_await group.join();
    joined.value();
  };
  host.await(body());
}

TEST_F(task_test, signal_wakes_all_waiters_and_stores_one_set) {
  signal s;
  int woken = 0;
  const auto waiter = [&]() -> task<void> {
    result<void> w = co_await s.wait();
    w.value();
    ++woken;
  };
  ctx.spawn(waiter(), host.exec());
  ctx.spawn(waiter(), host.exec());
  host.run_ready();
  EXPECT_EQ(woken, 0);
  s.set();
  EXPECT_EQ(woken, 0);  // never inside set()
  host.run_ready();
  EXPECT_EQ(woken, 2);
  s.set();
  ctx.spawn(waiter(), host.exec());
  EXPECT_EQ(woken, 3);
}

TEST_F(task_test, signal_wait_resumes_once_if_cancelled_and_set_together) {
  signal s;
  cancel_source c;
  std::vector<ry_status> seen;
  const auto waiter = [&]() -> task<void> {
    result<void> w = co_await s.wait();
    seen.push_back(w.status());
  };
  ctx.spawn(waiter(), host.exec(), c.token());
  ctx.spawn(waiter(), host.exec(), c.token());
  c.cancel();
  s.set();
  host.run_ready();
  EXPECT_EQ(seen, (std::vector<ry_status>{RY_CANCELLED, RY_CANCELLED}));
}

TEST_F(task_test, queue_returns_values_in_order_and_then_ends) {
  queue<std::string> q(2);
  std::vector<std::string> got;
  ry_status end = -1;
  const auto consumer = [&]() -> task<void> {
    for (;;) {
      result<std::optional<std::string>> item = co_await q.pop();
      if (!item || !*item) {
        end = item.status();
        co_return;
      }
      got.push_back(**item);
    }
  };
  ctx.spawn(consumer(), host.exec());
  q.push("a");
  q.push("b");
  EXPECT_TRUE(q.full());
  host.run_ready();
  EXPECT_FALSE(q.full());
  q.push("c");
  q.close();
  q.push("dropped");
  host.run_ready();
  EXPECT_EQ(got, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(end, RY_OK);
}

TEST_F(task_test, queue_closed_with_an_error_returns_it_after_the_values) {
  queue<int> q;
  q.push(1);
  q.close(unavailable("x", "gone"));
  const auto body = [&]() -> task<void> {
    result<std::optional<int>> one = co_await q.pop();
    EXPECT_EQ(one.value(), 1);
    result<std::optional<int>> end = co_await q.pop();
    EXPECT_EQ(end.error().reason(), "x");
  };
  host.await(body());
}

TEST_F(task_test, call_reports_an_operation_that_was_not_started) {
  const auto body = []() -> task<ry_status> {
    result<void> r = co_await call_done([](ry_exec*, ry_done) -> ry_status { return RY_INVALID_ARGUMENT; });
    co_return r.status();
  };
  EXPECT_EQ(host.await(body()), RY_INVALID_ARGUMENT);
}

TEST_F(task_test, call_converts_its_values_and_guards_the_conversion) {
  using fn = void(void*, ry_status, int, const ry_error_view*) noexcept;
  const auto start = [this](ry_exec*, fn* done, void* p) -> ry_status {
    ctx.post(host.exec(), [done, p] { done(p, RY_OK, 20, nullptr); });
    return RY_OK;
  };
  const auto body = [&]() -> task<int> {
    result<int> r = co_await call<int, int>(start, [](int v) { return v + 1; });
    result<int> bad = co_await call<int, int>(start, [](int) -> int { throw not_found("a", "b"); });
    EXPECT_EQ(bad.status(), RY_NOT_FOUND);
    co_return r.value();
  };
  EXPECT_EQ(host.await(body()), 21);
}

TEST_F(task_test, missing_interface_is_a_clear_error) {
  host.hide("ry.db/1");
  try {
    ctx.db();
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.message(), "ry.db/1 is not among the module's needs, or this host does not offer it");
  }
}

// A host with several executors on one thread, whose posts sometimes fail because memory is exhausted.
struct scarce_host {
  struct posted {
    ry_exec* on;
    ry_call_fn fn;
    void* ctx;
  };
  static inline std::deque<posted> posts;
  static inline ry_exec* here = nullptr;
  static inline int refusals = 0;

  static const void* get(const ry_host*, ry_str id, std::uint32_t) noexcept {
    static const ry_core_v1 core = [] {
      ry_core_v1 c{};
      c.struct_size = sizeof c;
      c.on_exec = [](const ry_exec* e) noexcept -> std::uint32_t { return e == here; };
      c.exec_post = [](const ry_host*, ry_exec* e, ry_call_fn fn, void* ctx) noexcept -> ry_status {
        if (refusals > 0) return --refusals, RY_RESOURCE_EXHAUSTED;
        posts.push_back({e, fn, ctx});
        return RY_OK;
      };
      return c;
    }();
    return view(id) == RY_CORE_1 ? &core : nullptr;
  }
  static void run() {
    for (; !posts.empty(); here = nullptr) {
      const auto next = posts.front();
      posts.pop_front();
      here = next.on;
      next.fn(next.ctx);
    }
  }
};

TEST(scarce_host, when_all_returns_and_a_failed_switch_stays_on_its_executor) {
  char places[2];
  ry_exec* const home = reinterpret_cast<ry_exec*>(&places[0]);
  ry_exec* const away = reinterpret_cast<ry_exec*>(&places[1]);
  context ctx(nullptr, &scarce_host::get, "{}");
  ry_exec* back_on = nullptr;
  ry_exec* stayed_on = nullptr;
  int got = 0;
  const auto part = [&]() -> task<int> {
    co_await ctx.switch_to(away);
    scarce_host::refusals = 3;
    co_return 7;
  };
  const auto body = [&]() -> task<void> {
    std::vector<task<int>> parts;
    parts.push_back(part());
    const std::vector<result<int>> all = co_await when_all(std::move(parts));
    got = all[0].value();
    back_on = scarce_host::here;
    scarce_host::refusals = 1;
    try {
      co_await ctx.switch_to(away);
    } catch (const error&) {
      stayed_on = scarce_host::here;
    }
  };
  ASSERT_TRUE(ctx.spawn(body(), home));
  scarce_host::run();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(back_on, home);
  EXPECT_EQ(stayed_on, home);
}

}  // namespace
}  // namespace ry
