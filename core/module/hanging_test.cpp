// Tests that a module which does not return from a lifecycle call affects no other module.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "core/module/module_set.hpp"
#include "core/module/module_swap.hpp"
#include "core/module/test_host.hpp"

namespace ry::module {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

struct hanging_test : testing::Test {
  hanging_test() { host.modules.limits = {2s, 2s, 2s}; }
  ~hanging_test() override {
    trace_log::get().hold("");
    while (host.modules.lifecycle.not_back() > 0) std::this_thread::sleep_for(5ms);
  }
  static module_spec spec(const std::string& name) {
    return {fixture(name), module_spec::use::enabled, module_spec::on_failure::skip, {}};
  }
  void running(const std::string& one, const std::string& another) {
    ASSERT_EQ(set.prepare({spec(one), spec(another)}).text(), "");
    ASSERT_EQ(set.start().text(), "");
  }
  void stop() { set.stop(std::chrono::system_clock::now() + 1s); }
  module_description described(const std::string& name) {
    for (auto& d : set.describe())
      if (d.manifest.name == name) return d;
    ADD_FAILURE() << name << " is not described";
    return {};
  }
  void expect_left_behind(const std::string& name, const std::string& call) {
    EXPECT_EQ(described(name).state, module_state::retired);
    EXPECT_THAT(described(name).reason, HasSubstr("did not return from " + call));
    EXPECT_THAT(described(name).last_violation, HasSubstr("did not return in " + call));
    EXPECT_EQ(host.modules.lifecycle.not_back(), 1u);
  }

  test_host host;
  module_set set{host.rt, {}};
};

TEST_F(hanging_test, a_module_that_hangs_in_create_is_skipped) {
  trace_log::get().hold("plain create");
  EXPECT_EQ(set.prepare({spec("plain"), spec("other")}).text(),
            "skipped: module \"plain\" failed in create: it did not return.\n");
  expect_left_behind("plain", "create");
  EXPECT_EQ(set.start().text(), "");
  ASSERT_THAT(set.routes(), SizeIs(1));
  EXPECT_EQ(set.routes()[0].pattern, "/other");
  stop();
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(hanging_test, a_module_that_hangs_in_start_is_skipped) {
  trace_log::get().hold("plain start");
  ASSERT_EQ(set.prepare({spec("plain"), spec("other")}).text(), "");
  EXPECT_EQ(set.start().text(), "skipped: module \"plain\" did not return from start.\n");
  expect_left_behind("plain", "start");
  EXPECT_EQ(described("other").state, module_state::started);
  stop();
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(hanging_test, a_module_that_hangs_in_stop_does_not_affect_the_others) {
  running("other", "plain");
  trace_log::get().hold("plain stop");
  stop();
  expect_left_behind("plain", "stop");
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(hanging_test, a_module_that_hangs_in_destroy_does_not_affect_the_others) {
  running("other", "plain");
  trace_log::get().hold("plain destroy");
  stop();
  expect_left_behind("plain", "destroy");
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(hanging_test, an_owner_hung_in_a_driver_callback_takes_down_only_its_drivers) {
  trace_log::get().hold("owner driver added");
  EXPECT_EQ(set.prepare({spec("owner"), spec("driver_a"), spec("other")}).text(),
            "skipped: module \"owner\" did not return from driver added.\n"
            "skipped: module \"driver_a\" needs owner.point/1 of module \"owner\", which failed.\n");
  expect_left_behind("owner", "driver added");
  EXPECT_EQ(set.start().text(), "");
  EXPECT_EQ(described("other").state, module_state::started);
  stop();
  EXPECT_EQ(described("other").state, module_state::stopped);
}

TEST_F(hanging_test, an_instance_that_does_not_stop_is_abandoned_and_swaps_continue) {
  running("other", "plain");
  const auto changed = [&](const std::string& name) {
    const auto swap = set.begin_swap();
    EXPECT_EQ(swap->stage({{{name, spec(name)}}, {}}).text(), "");
    EXPECT_EQ(swap->start().text(), "");
    swap->commit(std::chrono::steady_clock::now() + 1s);
    return swap->end_leaving(std::chrono::steady_clock::now() + 1s);
  };
  trace_log::get().hold("plain stop");
  const auto ends = changed("plain");
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].how, module_end::outcome::retired);
  EXPECT_EQ(ends[0].why, "it did not return from stop");
  EXPECT_EQ(described("plain").state, module_state::started);
  EXPECT_THAT(changed("other"), SizeIs(1));
  trace_log::get().hold("");
  EXPECT_NE(changed("plain").at(0).how, module_end::outcome::retired);
}

}  // namespace
}  // namespace ry::module
