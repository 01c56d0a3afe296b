#include "remote_task.hpp"

#include <gtest/gtest.h>

namespace mcp {
namespace {

json::value j(std::string_view text) {
  return parse(text);
}

TEST(remote_task, reads_the_forms_of_both_revisions) {
  const auto legacy = read_task(
      j(R"({"task":{"taskId":"a","status":"working","ttl":60000,"pollInterval":5000,"statusMessage":"half"}})"));
  ASSERT_TRUE(legacy);
  EXPECT_EQ(legacy->id, "a");
  EXPECT_FALSE(legacy->over());
  EXPECT_EQ(legacy->ttl_ms, 60000);
  EXPECT_EQ(legacy->poll_ms, 5000);
  EXPECT_EQ(task_line(*legacy), "task working: half\n");
  const auto modern = read_task(j(
      R"({"resultType":"complete","taskId":"b","status":"completed","ttlMs":null,"pollIntervalMs":10,"result":{"content":[]}})"));
  ASSERT_TRUE(modern);
  EXPECT_TRUE(modern->over());
  EXPECT_FALSE(modern->ttl_ms);
  EXPECT_EQ(modern->result, j(R"({"content":[]})"));
}

TEST(remote_task, what_is_no_task_is_none) {
  for (const char* none :
       {"7", "{}", R"({"taskId":"a"})", R"({"taskId":"a","status":"asleep"})", R"({"taskId":"","status":"working"})",
        R"({"taskId":7,"status":"working"})", R"({"task":"a"})"}) {
    EXPECT_FALSE(read_task(j(none))) << none;
  }
  EXPECT_FALSE(read_task(j(R"({"taskId":")" + std::string(2000, 'x') + R"(","status":"working"})")));
}

TEST(remote_task, only_a_created_task_stands_for_a_result) {
  EXPECT_TRUE(is_created_task(j(R"({"task":{"taskId":"a","status":"working"}})")));
  EXPECT_TRUE(is_created_task(j(R"({"resultType":"task","taskId":"a","status":"working"})")));
  // A result may contain a member with this name.
  EXPECT_FALSE(is_created_task(j(R"({"content":[],"task":{"taskId":"a","status":"working"}})")));
  EXPECT_FALSE(is_created_task(j(R"({"resultType":"complete","taskId":"a"})")));
}

TEST(remote_task, capabilities_are_read_whole) {
  EXPECT_TRUE(offers_task_calls(j(R"({"tasks":{"requests":{"tools":{"call":{}}},"cancel":{}}})").get_object()));
  EXPECT_TRUE(offers_task_cancel(j(R"({"tasks":{"requests":{"tools":{"call":{}}},"cancel":{}}})").get_object()));
  EXPECT_FALSE(offers_task_calls(j(R"({"tasks":{"requests":{"tools":{}}}})").get_object()));
  EXPECT_FALSE(offers_task_calls(j(R"({"tools":{}})").get_object()));
  EXPECT_EQ(task_support_of(j(R"({"execution":{"taskSupport":"optional"}})").get_object()), task_support::optional);
  EXPECT_EQ(task_support_of(j(R"({"execution":{"taskSupport":"forbidden"}})").get_object()), task_support::forbidden);
}

TEST(remote_task, polls_at_the_interval_of_the_server_within_bounds) {
  remote_task t;
  t.poll_ms = 700;
  EXPECT_EQ(poll_pause_ms(t, 0), 700u);
  t.poll_ms = 1;
  EXPECT_EQ(poll_pause_ms(t, 9), 50u);
  t.poll_ms = 86'400'000;
  EXPECT_EQ(poll_pause_ms(t, 9), 60'000u);
  t.poll_ms.reset();
  EXPECT_LT(poll_pause_ms(t, 0), poll_pause_ms(t, 3));
  EXPECT_EQ(poll_pause_ms(t, 1000), 5'000u);
}

TEST(remote_task, failed_requests_are_repeated_after_a_pause_within_bounds) {
  EXPECT_EQ(retry_pause_ms(1, 0), 1'000u);
  EXPECT_LT(retry_pause_ms(1, 0), retry_pause_ms(3, 0));
  EXPECT_EQ(retry_pause_ms(1000, 0), 15'000u);
  EXPECT_EQ(retry_pause_ms(1, 7), 7'000u);
  EXPECT_EQ(retry_pause_ms(1, 61), 60'000u);
  EXPECT_EQ(retry_pause_ms(1, 4'294'967'295u), 60'000u);
}

}  // namespace
}  // namespace mcp
