#include "common/call_states.hpp"

#include <gtest/gtest.h>

using tool_calls::call_states;

TEST(call_states, a_run_waits_when_only_calls_with_a_pending_approval_are_open) {
  call_states s;
  EXPECT_FALSE(s.waiting());
  s.called("a");
  s.called("b");
  EXPECT_FALSE(s.waiting());
  s.approval_requested("b");
  EXPECT_FALSE(s.waiting()) << "a is executed";
  s.finished("a");
  EXPECT_TRUE(s.waiting());
  s.finished("unknown");
  s.approval_resolved("b");
  EXPECT_FALSE(s.waiting());
}

TEST(call_states, a_call_of_the_client_waits_for_its_result) {
  call_states s;
  s.result_requested("c");
  EXPECT_TRUE(s.waits_for_client());
  EXPECT_FALSE(s.waiting());
  s.finished("c");
  EXPECT_FALSE(s.waits_for_client());
}

TEST(call_states, a_decided_call_waits_for_the_other_approvals) {
  call_states s;
  for (const char* id : {"a", "b"}) {
    s.called(id);
    s.approval_requested(id);
  }
  s.approval_resolved("a");
  EXPECT_TRUE(s.waiting());
  s.begin_answer();
  EXPECT_FALSE(s.waiting());
}
