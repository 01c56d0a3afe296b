#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/module/abi.hpp"
#include "core/module/test_host.hpp"
#include "core/observe/tracer.hpp"

namespace ry::module {
namespace {

using core::sv;
using core::view;
using testing::HasSubstr;

// A completion that the test can wait for.
struct completion {
  std::promise<ry_status> promise;
  std::thread::id thread;
  ry_done done() {
    return {[](void* ctx, ry_status st, const ry_error_view*) noexcept {
              auto* self = static_cast<completion*>(ctx);
              self->thread = std::this_thread::get_id();
              self->promise.set_value(st);
            },
            this};
  }
  ry_status wait() {
    auto f = promise.get_future();
    if (f.wait_for(std::chrono::seconds(20)) != std::future_status::ready) return -1;
    return f.get();
  }
};

struct abi_test : testing::Test {
  void settle() {
    while (self.outstanding.load() != 0) std::this_thread::yield();
  }
  test_host host;
  ry_host self{host.rt, "mod", 1};
  const ry_core_v1& core = core_v1();
};

TEST_F(abi_test, interfaces_are_found_by_name_and_size) {
  EXPECT_EQ(get_interface(&self, view("ry.core/1"), sizeof(ry_core_v1)), &core);
  EXPECT_EQ(get_interface(&self, view("ry.core/1"), 0), &core);
  EXPECT_EQ(get_interface(&self, view("ry.core/1"), sizeof(ry_core_v1) + 1), nullptr);
  EXPECT_EQ(get_interface(&self, view("ry.core/2"), 0), nullptr);
  EXPECT_EQ(get_interface(&self, {nullptr, 0}, 0), nullptr);
  for (const char* id : {"ry.registrar/1", "ry.services/1", "ry.trace/1"})
    EXPECT_NE(get_interface(&self, view(id), 0), nullptr) << id;
}

TEST_F(abi_test, an_interface_that_is_not_declared_as_a_need_is_not_returned) {
  EXPECT_EQ(get_interface(&self, view("ry.metrics/1"), 0), nullptr);
  host.modules.admit(&self, {"ry.db/1"});
  EXPECT_EQ(get_interface(&self, view("ry.metrics/1"), 0), nullptr);
  EXPECT_NE(get_interface(&self, view("ry.core/1"), 0), nullptr) << "available to every module";
  host.modules.admit(&self, {"ry.metrics/1"});
  EXPECT_NE(get_interface(&self, view("ry.metrics/1"), 0), nullptr);
  host.modules.dismiss(&self);
  EXPECT_EQ(self.violations, 2u);
  EXPECT_EQ(get_interface(&self, view("ry.metrics/1"), 0), nullptr);
  EXPECT_EQ(self.violations, 3u);
  EXPECT_EQ(self.last_violation,
            "an interface that its manifest does not list in `needs` in get_interface: ry.metrics/1");
}

TEST_F(abi_test, spawned_work_keeps_the_trace_of_its_start) {
  observe::trace_settings settings;
  settings.record = observe::recording::on;
  observe::tracer tracer(settings);
  const auto mine = tracer.begin(std::nullopt, "");
  struct callbacks {
    std::promise<observe::trace_ref> in;
    static void call(void* p) noexcept { static_cast<callbacks*>(p)->in.set_value(observe::trace_of_thread()); }
    static void done(void* p, ry_status, const ry_error_view*) noexcept { call(p); }
  } posted, slept, blocked, finished, other;
  {
    const observe::trace_scope scope(mine);
    ASSERT_EQ(core.exec_post(&self, &host.loops.at(0), &callbacks::call, &posted), RY_OK);
    ASSERT_EQ(core.sleep_ms(&self, &host.loops.at(1), 1, {&callbacks::done, &slept}, nullptr), RY_OK);
    ASSERT_EQ(core.run_blocking(&self, &host.loops.at(0), &callbacks::call, &blocked, {&callbacks::done, &finished}),
              RY_OK);
  }
  for (auto* h : {&posted, &slept, &blocked, &finished}) EXPECT_EQ(h->in.get_future().get(), mine);
  ASSERT_EQ(core.exec_post(&self, &host.loops.at(0), &callbacks::call, &other), RY_OK);
  EXPECT_EQ(other.in.get_future().get(), nullptr) << "no trace remains current on the thread";
  settle();
}

TEST_F(abi_test, a_module_enters_another_trace_until_it_returns) {
  observe::trace_settings settings;
  settings.record = observe::recording::on;
  observe::tracer tracer(settings);
  const auto mine = tracer.begin(std::nullopt, ""), others = tracer.begin(std::nullopt, "");
  const auto& t = trace_v1();
  EXPECT_EQ(t.current(&self), nullptr);
  t.release(nullptr);
  ry_trace* handle = nullptr;
  {
    const observe::trace_scope scope(mine);
    handle = t.current(&self);
  }
  EXPECT_EQ(handle, mine.get());
  struct state {
    const ry_host* host;
    ry_trace* handle;
  } s{&self, handle};
  {
    const observe::trace_scope scope(others);
    invoke(
        &self, "test",
        +[](void* p) noexcept {
          const auto& s = *static_cast<state*>(p);
          trace_v1().enter(s.host, s.handle);
          EXPECT_EQ(observe::trace_of_thread().get(), s.handle);
          trace_v1().enter(s.host, nullptr);
          EXPECT_EQ(observe::trace_of_thread(), nullptr);
          trace_v1().enter(s.host, s.handle);
        },
        static_cast<void*>(&s));
    EXPECT_EQ(observe::trace_of_thread(), others);
  }
  EXPECT_EQ(mine->use_count(), 2u);
  t.release(handle);
  EXPECT_EQ(mine->use_count(), 1u);
}

TEST_F(abi_test, uuids_are_version_7_unique_and_increasing_across_threads) {
  std::vector<std::vector<std::string>> all(4);
  std::vector<std::thread> threads;
  for (auto& mine : all)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        ry_uuid u;
        core.new_uuid(&self, &u);
        mine.emplace_back(reinterpret_cast<char*>(u.bytes), 16);
      }
    });
  for (auto& t : threads) t.join();
  std::set<std::string> seen;
  for (const auto& mine : all) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    for (const auto& u : mine) {
      EXPECT_EQ(static_cast<unsigned char>(u[6]) >> 4, 7);
      EXPECT_EQ(static_cast<unsigned char>(u[8]) >> 6, 2);
      EXPECT_TRUE(seen.insert(u.substr(0, 8)).second);
    }
  }
  ry_uuid u;
  core.new_uuid(&self, &u);
  std::uint64_t ms = 0;
  for (int i = 0; i < 6; ++i) ms = ms << 8 | u.bytes[i];
  EXPECT_NEAR(static_cast<double>(ms), static_cast<double>(core.now_unix_us(&self)) / 1000, 5000);
}

TEST_F(abi_test, info_values_and_a_data_directory_per_module) {
  const auto root = std::filesystem::temp_directory_path() / "ry_core_table_test";
  std::filesystem::remove_all(root);
  EXPECT_EQ(sv(core.info(&self, view("data_dir"))), "");
  host.rt.host_values = {{"version", "0.1.0"}, {"data_dir", root.string()}};
  EXPECT_EQ(sv(core.info(&self, view("version"))), "0.1.0");
  EXPECT_EQ(sv(core.info(&self, view("nothing"))), "");
  const auto dir = core.info(&self, view("data_dir"));
  EXPECT_EQ(sv(dir), (root / "modules/mod").string());
  EXPECT_TRUE(std::filesystem::is_directory(std::string(sv(dir))));
  EXPECT_EQ(core.info(&self, view("data_dir")).ptr, dir.ptr);
  std::filesystem::remove_all(root);
}

TEST_F(abi_test, posts_run_on_their_executor_and_never_inside_the_call) {
  ry_exec* exec = core.pick_exec(&self);
  EXPECT_EQ(core.on_exec(exec), 0u);
  struct state {
    const ry_core_v1& core;
    ry_host* self;
    ry_exec* exec;
    std::promise<bool> there;
    std::promise<bool> inside;
    bool second_ran = false;
  } s{core, &self, exec, {}, {}};
  ASSERT_EQ(core.exec_post(
                &self, exec,
                [](void* ctx) noexcept {
                  auto& s = *static_cast<state*>(ctx);
                  s.there.set_value(s.core.on_exec(s.exec) == 1 && ry_host::current() == s.self);
                  s.core.exec_post(
                      s.self, s.exec, [](void* c) noexcept { static_cast<state*>(c)->second_ran = true; }, ctx);
                  s.inside.set_value(s.second_ran);
                },
                &s),
            RY_OK);
  EXPECT_TRUE(s.there.get_future().get());
  EXPECT_FALSE(s.inside.get_future().get());
  settle();
  EXPECT_TRUE(s.second_ran);
  EXPECT_EQ(core.exec_post(
                &self, nullptr, [](void*) noexcept {}, nullptr),
            RY_INVALID_ARGUMENT);
}

TEST_F(abi_test, timers_end_by_time_or_cancellation_and_late_cancels_do_nothing) {
  ry_exec* exec = core.pick_exec(&self);
  completion quick;
  ry_op_id quick_id = 0;
  const auto begin = core.mono_us(&self);
  ASSERT_EQ(core.sleep_ms(&self, exec, 20, quick.done(), &quick_id), RY_OK);
  EXPECT_EQ(quick.wait(), RY_OK);
  EXPECT_GE(core.mono_us(&self) - begin, 20'000);
  core.op_cancel(&self, quick_id);

  completion slow;
  ry_op_id slow_id = 0;
  ASSERT_EQ(core.sleep_ms(&self, exec, UINT64_MAX, slow.done(), &slow_id), RY_OK);
  EXPECT_NE(slow_id, quick_id);
  core.op_cancel(&self, slow_id);
  core.op_cancel(&self, slow_id);
  EXPECT_EQ(slow.wait(), RY_CANCELLED);
  settle();

  completion all;
  ASSERT_EQ(core.sleep_ms(&self, exec, 3'600'000, all.done(), nullptr), RY_OK);
  EXPECT_EQ(self.outstanding, 1);
  host.modules.timers.cancel_all(&self);
  EXPECT_EQ(all.wait(), RY_CANCELLED);
  EXPECT_EQ(core.sleep_ms(&self, exec, 1, {nullptr, nullptr}, nullptr), RY_INVALID_ARGUMENT);
  settle();
}

TEST_F(abi_test, a_timer_can_be_started_and_cancelled_on_its_own_loop) {
  struct state {
    abi_test& t;
    completion c;
  } s{*this, {}};
  core.exec_post(
      &self, &host.loops.at(0),
      [](void* ctx) noexcept {
        auto& s = *static_cast<state*>(ctx);
        ry_op_id id = 0;
        s.t.core.sleep_ms(&s.t.self, &s.t.host.loops.at(0), 60'000, s.c.done(), &id);
        s.t.core.op_cancel(&s.t.self, id);
      },
      &s);
  EXPECT_EQ(s.c.wait(), RY_CANCELLED);
  settle();
}

TEST_F(abi_test, blocking_work_runs_elsewhere_and_completes_here) {
  ry_exec* exec = core.pick_exec(&self);
  struct state {
    ry_exec* at = reinterpret_cast<ry_exec*>(1);
  } s;
  completion c;
  ASSERT_EQ(
      core.run_blocking(
          &self, exec, [](void* ctx) noexcept { static_cast<state*>(ctx)->at = ry_exec::current(); }, &s, c.done()),
      RY_OK);
  EXPECT_EQ(c.wait(), RY_OK);
  EXPECT_EQ(s.at, nullptr);
  settle();
  host.rt.blocking = nullptr;
  EXPECT_EQ(core.run_blocking(
                &self, exec, [](void*) noexcept {}, nullptr, c.done()),
            RY_UNAVAILABLE);
}

TEST_F(abi_test, a_callback_that_blocks_its_loop_is_counted) {
  std::promise<void> done;
  core.exec_post(
      &self, &host.loops.at(0),
      [](void* ctx) noexcept {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        static_cast<std::promise<void>*>(ctx)->set_value();
      },
      &done);
  done.get_future().get();
  settle();
  EXPECT_EQ(self.slow_callbacks, 1u);
}

TEST_F(abi_test, metrics_carry_the_modules_name) {
  const auto& m = metrics_v1();
  const ry_header label = {view("tier"), view("free")};
  auto* c = m.get(&self, RY_METRIC_COUNTER, view("runs_total"), view("Runs"), &label, 1, nullptr, 0);
  ASSERT_NE(c, nullptr);
  m.add(c, 2);
  EXPECT_THAT(host.metrics.render(), HasSubstr("runyard_mod_runs_total{tier=\"free\"} 2"));
  EXPECT_EQ(m.get(&self, 9, view("x"), view(""), nullptr, 0, nullptr, 0), nullptr);
  EXPECT_EQ(m.get(&self, RY_METRIC_GAUGE, view("a b"), view(""), nullptr, 0, nullptr, 0), nullptr);
  EXPECT_EQ(m.get(&self, RY_METRIC_GAUGE, view("x"), view(""), nullptr, 3, nullptr, 0), nullptr);
  m.add(nullptr, 1);
}

TEST_F(abi_test, services_are_leased_only_to_modules_that_need_them) {
  ry_host provider{host.rt, "provider", 2};
  const std::uint32_t table[2] = {8, 42};
  int object = 0;
  const auto& s = services_v1();
  const void* found = nullptr;
  void* obj = nullptr;
  ry_lease* lease = nullptr;
  const auto acquire = [&](std::uint32_t size) { return s.acquire(&self, view("svc/1"), size, &found, &obj, &lease); };
  EXPECT_EQ(acquire(0), RY_FAILED_PRECONDITION);
  host.modules.admit(&self, {"svc/1"});
  EXPECT_EQ(acquire(0), RY_NOT_FOUND);
  host.modules.publish("svc/1", &provider, table, &object);
  EXPECT_EQ(acquire(9), RY_FAILED_PRECONDITION);
  EXPECT_EQ(acquire(8), RY_OK);
  EXPECT_EQ(found, table);
  EXPECT_EQ(obj, &object);
  EXPECT_EQ(provider.outstanding, 1);
  EXPECT_THAT(host.modules.leases_on(&provider), testing::ElementsAre("mod (svc/1)"));
  host.modules.withdraw(&provider);
  ry_lease* first = lease;
  EXPECT_EQ(acquire(0), RY_NOT_FOUND);
  s.release(first);
  s.release(nullptr);
  EXPECT_EQ(provider.outstanding, 0);
  EXPECT_EQ(s.acquire(&self, view("svc/1"), 0, nullptr, &obj, &lease), RY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace ry::module
