#include "start/account_locks.hpp"

#include <gtest/gtest.h>

#include "store/batch_policy.hpp"

using runs::account_locks;
using runs::batch_policy;
using side = account_locks::side;

namespace {

ry::uuid account(unsigned char n) {
  ry::uuid id;
  id.bytes[15] = n;
  return id;
}

TEST(account_locks_test, one_statement_at_a_time_has_an_account) {
  account_locks locks;
  const auto first = locks.next(), second = locks.next();
  EXPECT_TRUE(locks.enter(account(1), first, side::starts));
  EXPECT_TRUE(locks.enter(account(2), second, side::starts));
  EXPECT_FALSE(locks.enter(account(1), second, side::starts));
  const ry::uuid left[] = {account(1)};
  locks.leave(left);
  EXPECT_TRUE(locks.enter(account(1), second, side::starts));
}

TEST(account_locks_test, a_statement_may_have_several_entries_of_an_account) {
  account_locks locks;
  const auto first = locks.next(), second = locks.next();
  EXPECT_TRUE(locks.enter(account(1), first, side::starts));
  EXPECT_TRUE(locks.enter(account(1), first, side::starts));
  const ry::uuid left[] = {account(1)};
  locks.leave(left);
  EXPECT_FALSE(locks.enter(account(1), second, side::starts)) << "one of them is still under way";
  locks.leave(left);
  EXPECT_TRUE(locks.enter(account(1), second, side::starts));
}

TEST(account_locks_test, waiters_are_notified_when_an_account_is_released) {
  account_locks locks;
  int wakes = 0;
  bool free = false;
  locks.on_left([&] {
    ++wakes;
    free = locks.enter(account(1), locks.next(), side::starts);
  });
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::starts));
  const ry::uuid left[] = {account(1)};
  locks.leave(left);
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(free);
  locks.leave({});
  EXPECT_EQ(wakes, 2) << "a statement that had no account has ended, too";
}

// Two sides that retry after each wake-up, as the queues do, one always before the other.
TEST(account_locks_test, the_sides_take_turns_while_both_want_an_account) {
  for (const bool checkpoints_first : {false, true}) {
    account_locks locks;
    std::string order;
    int starts = 3, checkpoints = 3;
    const ry::uuid one[] = {account(1)};
    const auto ask = [&](side of, int& left) {
      if (left == 0 || !locks.enter(account(1), locks.next(), of)) return;
      --left;
      order += of == side::starts ? 's' : 'b';
    };
    locks.on_left([&] { checkpoints_first ? ask(side::checkpoints, checkpoints) : ask(side::starts, starts); });
    locks.on_left([&] { checkpoints_first ? ask(side::starts, starts) : ask(side::checkpoints, checkpoints); });
    ask(side::starts, starts);
    ask(side::checkpoints, checkpoints);
    for (int i = 0; i < 6; ++i) locks.leave(one);
    EXPECT_EQ(order, "sbsbsb") << checkpoints_first;
    EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints)) << "no waiter";
    locks.leave(one);
    EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints)) << "no waiter";
  }
}

TEST(account_locks_test, a_delayed_pass_holds_the_account_when_it_is_granted) {
  account_locks locks;
  const ry::uuid one[] = {account(1)};
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints));
  EXPECT_FALSE(locks.enter(account(1), locks.next(), side::starts));
  locks.leave(one);
  EXPECT_FALSE(locks.enter(account(1), locks.next(), side::checkpoints)) << "it is the other side's turn";
  { const account_locks::pass by(locks, account(1)); }
  EXPECT_FALSE(locks.enter(account(1), locks.next(), side::checkpoints)) << "a pass is no turn";
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::starts));
  locks.leave(one);
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints));
}

TEST(account_locks_test, a_turn_that_is_not_taken_lapses) {
  account_locks locks;
  const ry::uuid one[] = {account(1)};
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints));
  EXPECT_FALSE(locks.enter(account(1), locks.next(), side::starts));
  locks.leave(one);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(locks.enter(account(1), locks.next(), side::checkpoints));
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::checkpoints)) << "the starts may be held up by others";
  locks.leave(one);
  EXPECT_FALSE(locks.enter(account(1), locks.next(), side::checkpoints)) << "it is still their turn";
  EXPECT_TRUE(locks.enter(account(1), locks.next(), side::starts));
}

TEST(batch_policy_test, a_second_statement_begins_for_a_whole_batch_or_beside_a_slow_one) {
  struct entry {
    ry_exec* exec;
  };
  ry_exec* const somewhere = reinterpret_cast<ry_exec*>(8);
  batch_policy pace(10);
  bool can_take = true;
  // The result with this many waiting: B a statement begins, L another look is scheduled, - nothing.
  const auto begin = [&](std::size_t waiting, std::int64_t now) {
    entry one{somewhere};
    const std::vector<entry*> all(waiting, &one);
    ry_exec* look_on = nullptr;
    const auto batch = pace.begin(
        all, now, [&] { return can_take ? all : std::vector<entry*>(); }, look_on);
    EXPECT_TRUE(look_on == nullptr || (look_on == somewhere && batch.empty()));
    return !batch.empty() ? 'B' : look_on != nullptr ? 'L' : '-';
  };
  EXPECT_EQ(begin(0, 0), '-');
  can_take = false;
  EXPECT_EQ(begin(1, 0), 'L') << "the accounts of all are in other statements";
  can_take = true;
  EXPECT_EQ(begin(1, 0), 'B');
  EXPECT_EQ(begin(0, 1000), '-');
  EXPECT_EQ(begin(9, 1000), 'L');
  EXPECT_EQ(begin(0, batch_policy::slow_us), '-');
  EXPECT_EQ(begin(1, batch_policy::slow_us), 'B') << "the first is slow";
  EXPECT_EQ(begin(100, 100 * batch_policy::slow_us), '-') << "two are enough";
  pace.ended();
  EXPECT_EQ(begin(1, batch_policy::slow_us + 1), 'L') << "the later one is not slow yet";
  EXPECT_EQ(begin(10, batch_policy::slow_us + 1), 'B') << "a whole batch";
  pace.ended();
  pace.ended();
  EXPECT_EQ(begin(1, batch_policy::slow_us + 1), 'B');
}

TEST(account_locks_test, a_pass_keeps_others_away_until_it_goes_and_hinders_none_that_was_there) {
  account_locks locks;
  int wakes = 0;
  locks.on_left([&] { ++wakes; });
  const auto first = locks.next(), second = locks.next();
  {
    const account_locks::pass here(locks, account(1));
    EXPECT_FALSE(locks.enter(account(1), first, side::starts));
    const account_locks::pass another(locks, account(1));
  }
  EXPECT_EQ(wakes, 1) << "the one that did not enter has nothing to leave";
  EXPECT_TRUE(locks.enter(account(1), first, side::starts));
  { const account_locks::pass late(locks, account(1)); }
  EXPECT_FALSE(locks.enter(account(1), second, side::starts)) << "the statement still has it";
}

}  // namespace
