#include "account_gate.hpp"

#include <gtest/gtest.h>

using runs::account_gate;

namespace {

ry::uuid account(unsigned char n) {
  ry::uuid id;
  id.bytes[15] = n;
  return id;
}

TEST(account_gate_test, one_statement_at_a_time_has_an_account) {
  account_gate gate;
  const auto first = gate.next(), second = gate.next();
  EXPECT_TRUE(gate.enter(account(1), first));
  EXPECT_TRUE(gate.enter(account(2), second));
  EXPECT_FALSE(gate.enter(account(1), second));
  const ry::uuid left[] = {account(1)};
  gate.leave(left);
  EXPECT_TRUE(gate.enter(account(1), second));
}

TEST(account_gate_test, a_statement_may_have_several_entries_of_an_account) {
  account_gate gate;
  const auto first = gate.next(), second = gate.next();
  EXPECT_TRUE(gate.enter(account(1), first));
  EXPECT_TRUE(gate.enter(account(1), first));
  const ry::uuid left[] = {account(1)};
  gate.leave(left);
  EXPECT_FALSE(gate.enter(account(1), second)) << "one of them is still under way";
  gate.leave(left);
  EXPECT_TRUE(gate.enter(account(1), second));
}

TEST(account_gate_test, whoever_waits_is_told_when_accounts_were_left) {
  account_gate gate;
  int told = 0;
  bool free = false;
  gate.on_left([&] {
    ++told;
    free = gate.enter(account(1), gate.next());
  });
  EXPECT_TRUE(gate.enter(account(1), gate.next()));
  const ry::uuid left[] = {account(1)};
  gate.leave(left);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(free);
  gate.leave({});
  EXPECT_EQ(told, 2) << "a statement that had no account has ended, too";
}

TEST(account_gate_test, a_pass_keeps_others_away_until_it_goes_and_hinders_none_that_was_there) {
  account_gate gate;
  int told = 0;
  gate.on_left([&] { ++told; });
  const auto first = gate.next(), second = gate.next();
  {
    const account_gate::pass here(gate, account(1));
    EXPECT_FALSE(gate.enter(account(1), first));
    const account_gate::pass another(gate, account(1));
  }
  EXPECT_EQ(told, 1) << "the one that did not enter has nothing to leave";
  EXPECT_TRUE(gate.enter(account(1), first));
  { const account_gate::pass late(gate, account(1)); }
  EXPECT_FALSE(gate.enter(account(1), second)) << "the statement still has it";
}

}  // namespace
