#include "store/account_locks.hpp"

#include <gtest/gtest.h>

using runs::account_locks;
using side = account_locks::side;

namespace {

ry::uuid account(unsigned char n) {
  ry::uuid id;
  id.bytes[15] = n;
  return id;
}

TEST(account_locks_test, only_one_statement_at_a_time_holds_an_account) {
  account_locks locks;
  const auto first = locks.next(), second = locks.next();
  EXPECT_TRUE(locks.try_acquire(account(1), first, side::starts));
  EXPECT_TRUE(locks.try_acquire(account(2), second, side::starts));
  EXPECT_FALSE(locks.try_acquire(account(1), second, side::starts));
  const ry::uuid released[] = {account(1)};
  locks.release(released);
  EXPECT_TRUE(locks.try_acquire(account(1), second, side::starts));
}

TEST(account_locks_test, one_statement_may_acquire_an_account_several_times) {
  account_locks locks;
  const auto first = locks.next(), second = locks.next();
  EXPECT_TRUE(locks.try_acquire(account(1), first, side::starts));
  EXPECT_TRUE(locks.try_acquire(account(1), first, side::starts));
  const ry::uuid released[] = {account(1)};
  locks.release(released);
  EXPECT_FALSE(locks.try_acquire(account(1), second, side::starts)) << "one of the two entries is still held";
  locks.release(released);
  EXPECT_TRUE(locks.try_acquire(account(1), second, side::starts));
}

TEST(account_locks_test, waiters_are_notified_when_an_account_is_released) {
  account_locks locks;
  int wakes = 0;
  bool acquired = false;
  locks.on_release([&] {
    ++wakes;
    acquired = locks.try_acquire(account(1), locks.next(), side::starts);
  });
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::starts));
  const ry::uuid released[] = {account(1)};
  locks.release(released);
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(acquired);
  locks.release({});
  EXPECT_EQ(wakes, 2) << "also notified when a statement that held no account ends";
}

// Both sides retry after each wake-up, as the queues do; the loop covers both orders of the retries.
TEST(account_locks_test, the_sides_take_turns_while_both_request_an_account) {
  for (const bool checkpoints_first : {false, true}) {
    account_locks locks;
    std::string order;
    int starts = 3, checkpoints = 3;
    const ry::uuid one[] = {account(1)};
    const auto try_acquire = [&](side of, int& remaining) {
      if (remaining == 0 || !locks.try_acquire(account(1), locks.next(), of)) return;
      --remaining;
      order += of == side::starts ? 's' : 'c';
    };
    locks.on_release(
        [&] { checkpoints_first ? try_acquire(side::checkpoints, checkpoints) : try_acquire(side::starts, starts); });
    locks.on_release(
        [&] { checkpoints_first ? try_acquire(side::starts, starts) : try_acquire(side::checkpoints, checkpoints); });
    try_acquire(side::starts, starts);
    try_acquire(side::checkpoints, checkpoints);
    for (int i = 0; i < 6; ++i) locks.release(one);
    EXPECT_EQ(order, "scscsc") << checkpoints_first;
    EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints)) << "no waiter";
    locks.release(one);
    EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints)) << "no waiter";
  }
}

TEST(account_locks_test, a_pass_does_not_count_as_a_turn) {
  account_locks locks;
  const ry::uuid one[] = {account(1)};
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints));
  EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::starts));
  locks.release(one);
  EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::checkpoints)) << "it is the other side's turn";
  { const account_locks::pass pass(locks, account(1)); }
  EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::checkpoints)) << "a pass does not count as a turn";
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::starts));
  locks.release(one);
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints));
}

TEST(account_locks_test, an_unused_turn_expires) {
  account_locks locks;
  const ry::uuid one[] = {account(1)};
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints));
  EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::starts));
  locks.release(one);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::checkpoints));
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::checkpoints))
      << "the starts may be blocked by other accounts";
  locks.release(one);
  EXPECT_FALSE(locks.try_acquire(account(1), locks.next(), side::checkpoints)) << "it is still the turn of the starts";
  EXPECT_TRUE(locks.try_acquire(account(1), locks.next(), side::starts));
}

TEST(account_locks_test, a_pass_blocks_new_entries_until_released_but_not_a_current_holder) {
  account_locks locks;
  int wakes = 0;
  locks.on_release([&] { ++wakes; });
  const auto first = locks.next(), second = locks.next();
  {
    const account_locks::pass first_pass(locks, account(1));
    EXPECT_FALSE(locks.try_acquire(account(1), first, side::starts));
    const account_locks::pass second_pass(locks, account(1));
  }
  EXPECT_EQ(wakes, 1) << "the second pass did not acquire the account, so it releases nothing";
  EXPECT_TRUE(locks.try_acquire(account(1), first, side::starts));
  { const account_locks::pass later_pass(locks, account(1)); }
  EXPECT_FALSE(locks.try_acquire(account(1), second, side::starts)) << "the first statement still holds the account";
}

}  // namespace
