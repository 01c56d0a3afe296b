#include "models/sink_guards.hpp"

#include <gtest/gtest.h>

#include <ry/testing.hpp>
#include <thread>

namespace runs {
namespace {

// A driver whose callbacks the test invokes, and a request that waits for them.
struct sink_guards_test : testing::Test {
  sink_guards_test() {
    driver_->name = "faulty";
    static const ry_llm_provider_v1 table = [] {
      ry_llm_provider_v1 t{};
      t.close = [](void*, void*) noexcept {};
      return t;
    }();
    driver_->table = &table;
    auto made = std::make_shared<provider_set::provider>();
    made->of = driver_;
    provider = made;
    target.struct_size = sizeof target;
    target.on_text = [](void* ctx, ry_str text) noexcept { of(ctx).text += ry::view(text); };
    target.on_end = [](void* ctx, ry_status st, const ry_llm_end*, const ry_error_view*) noexcept {
      of(ctx).ends.push_back(st);
    };
  }
  static sink_guards_test& of(void* ctx) { return *static_cast<sink_guards_test*>(ctx); }

  void* begin() {
    void* handle = guards.open(provider, host.exec(), target, this);
    guards.returned(handle, RY_OK);
    return handle;
  }
  void send_text(void* handle, const char* text) { sink_guards::sink().on_text(handle, ry::str(text)); }
  void end(void* handle, ry_status st = RY_OK) { sink_guards::sink().on_end(handle, st, nullptr, nullptr); }
  std::size_t violations() const { return host.driver_violations.size(); }

  ry::testing::fake_host host;
  sink_guards guards{host.ctx()};
  std::shared_ptr<provider_set::driver> driver_ = std::make_shared<provider_set::driver>();
  provider_set::handle provider;
  ry_llm_sink target{};
  std::string text;
  std::vector<ry_status> ends;
};

TEST_F(sink_guards_test, callbacks_that_obey_the_contract_are_forwarded) {
  void* handle = begin();
  send_text(handle, "Hello ");
  send_text(handle, "you");
  end(handle);
  EXPECT_EQ(text, "Hello you");
  EXPECT_EQ(ends, std::vector{RY_OK});
  EXPECT_EQ(violations(), 0u);
}

TEST_F(sink_guards_test, callbacks_after_the_end_are_dropped_and_reported_once) {
  void* handle = begin();
  end(handle);
  send_text(handle, "too late");
  send_text(handle, "too late");
  end(handle);
  EXPECT_EQ(text, "");
  EXPECT_EQ(ends, std::vector{RY_OK});
  ASSERT_EQ(violations(), 1u);
  EXPECT_EQ(host.driver_violations[0], "llm.provider/1 faulty: a callback after on_end: on_text");
}

TEST_F(sink_guards_test, a_late_callback_does_not_reach_another_answer) {
  void* old = begin();
  end(old);
  std::vector<void*> others;
  for (int i = 0; i < 600; ++i) {
    others.push_back(begin());
    EXPECT_NE(others.back(), old);
    end(others.back());
  }
  send_text(old, "too late");
  end(old);
  EXPECT_EQ(text, "");
  EXPECT_EQ(ends.size(), 601u);
  EXPECT_EQ(violations(), 1u);
}

TEST_F(sink_guards_test, callbacks_inside_complete_are_forwarded_and_reported) {
  void* handle = guards.open(provider, host.exec(), target, this);
  send_text(handle, "early");
  end(handle);
  guards.returned(handle, RY_OK);
  EXPECT_EQ(text, "early");
  EXPECT_EQ(ends, std::vector{RY_OK});
  ASSERT_EQ(violations(), 1u);
  EXPECT_NE(host.driver_violations[0].find("inside of complete()"), std::string::npos);
}

TEST_F(sink_guards_test, on_another_thread_text_is_dropped_and_the_end_fails_the_answer) {
  void* handle = begin();
  std::thread([&] {
    send_text(handle, "from elsewhere");
    end(handle);
  }).join();
  EXPECT_TRUE(ends.empty()) << "on_end is not called on the other thread";
  host.run_ready();
  EXPECT_EQ(text, "");
  EXPECT_EQ(ends, std::vector{RY_INTERNAL});
  ASSERT_EQ(violations(), 1u);
  EXPECT_NE(host.driver_violations[0].find("on a thread other than the executor"), std::string::npos);
}

TEST_F(sink_guards_test, an_abandoned_answer_keeps_its_provider_until_it_ends) {
  const std::weak_ptr<const provider_set::provider> alive = provider;
  void* handle = begin();
  provider.reset();
  guards.abandon(handle, "too long");
  send_text(handle, "no waiter");
  EXPECT_FALSE(alive.expired());
  end(handle);
  host.run_ready();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(text, "");
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(host.driver_violations,
            std::vector<std::string>{"llm.provider/1 faulty: an answer that is not ended: too long"});
}

TEST_F(sink_guards_test, a_failed_complete_frees_its_handle) {
  void* handle = guards.open(provider, host.exec(), target, this);
  guards.returned(handle, RY_UNAVAILABLE);
  end(handle);
  EXPECT_TRUE(ends.empty());
  EXPECT_EQ(violations(), 1u);
}

}  // namespace
}  // namespace runs
