#include <ry/cpp/cancel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace ry {
namespace {

TEST(cancel, runs_callbacks_once_with_the_reason) {
  cancel_source s;
  int calls = 0;
  std::int32_t why = 0;
  cancel_callback on(s.token(), [&](std::int32_t w) {
    ++calls;
    why = w;
  });
  EXPECT_FALSE(s.token().cancelled());
  s.cancel(RY_REASON_DEADLINE);
  s.cancel(RY_REASON_USER);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(why, RY_REASON_DEADLINE);
  EXPECT_EQ(s.token().why(), RY_REASON_DEADLINE);
  EXPECT_THROW(s.token().check(), error);
}

TEST(cancel, a_callback_added_after_the_cancellation_runs_immediately) {
  cancel_source s;
  s.cancel(RY_REASON_GONE);
  int calls = 0;
  cancel_callback on(s.token(), [&](std::int32_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(cancel, removed_callback_does_not_run) {
  cancel_source s;
  int calls = 0;
  {
    cancel_callback on(s.token(), [&](std::int32_t) { ++calls; });
  }
  s.cancel();
  EXPECT_EQ(calls, 0);
}

TEST(cancel, callback_may_remove_itself_and_others) {
  cancel_source s;
  int calls = 0;
  struct any {
    virtual ~any() = default;
  };
  std::vector<std::unique_ptr<any>> all;
  struct one : any {
    one(cancel_token t, std::vector<std::unique_ptr<any>>& all, int& calls)
        : on(std::move(t), [&all, &calls](std::int32_t) {
            ++calls;
            all.clear();
          }) {}
    cancel_callback<std::function<void(std::int32_t)>> on;
  };
  for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<one>(s.token(), all, calls));
  s.cancel();
  EXPECT_EQ(calls, 1);
}

TEST(cancel, a_parent_cancels_its_child_but_not_vice_versa) {
  cancel_source parent;
  cancel_source first(parent.token()), second(parent.token());
  first.cancel(RY_REASON_USER);
  EXPECT_FALSE(parent.cancelled());
  EXPECT_FALSE(second.cancelled());
  parent.cancel(RY_REASON_SHUTDOWN);
  EXPECT_EQ(second.token().why(), RY_REASON_SHUTDOWN);
  EXPECT_EQ(first.token().why(), RY_REASON_USER);
  EXPECT_TRUE(cancel_source(parent.token()).cancelled());
}

TEST(cancel, a_child_may_be_destroyed_before_its_parent) {
  cancel_source parent;
  { cancel_source child(parent.token()); }
  parent.cancel();
  EXPECT_FALSE(cancel_token().cancelled());
}

// Registration, removal and cancel race; a callback never runs after its removal returned.
TEST(cancel, removal_waits_for_a_running_callback) {
  for (int round = 0; round < 300; ++round) {
    cancel_source s;
    std::atomic<int> alive{0};
    std::atomic<bool> bad{false};
    std::thread canceller([&] { s.cancel(); });
    for (int i = 0; i < 8; ++i) {
      auto flag = std::make_unique<std::atomic<bool>>(true);
      {
        cancel_callback on(s.token(), [&, f = flag.get()](std::int32_t) {
          if (!f->load()) bad = true;
          alive.fetch_add(1);
        });
      }
      flag->store(false);
    }
    canceller.join();
    EXPECT_FALSE(bad);
    EXPECT_LE(alive.load(), 8);
  }
}

}  // namespace
}  // namespace ry
