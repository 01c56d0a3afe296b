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
  EXPECT_FALSE(legacy->is_final());
  EXPECT_EQ(legacy->ttl_ms, 60000);
  EXPECT_EQ(legacy->poll_ms, 5000);
  EXPECT_EQ(task_line(*legacy), "task working: half\n");
  const auto modern = read_task(j(
      R"({"resultType":"complete","taskId":"b","status":"completed","ttlMs":null,"pollIntervalMs":10,"result":{"content":[]}})"));
  ASSERT_TRUE(modern);
  EXPECT_TRUE(modern->is_final());
  EXPECT_FALSE(modern->ttl_ms);
  EXPECT_EQ(modern->result, j(R"({"content":[]})"));
}

TEST(remote_task, rejects_values_that_do_not_describe_a_task) {
  for (const char* text :
       {"7", "{}", R"({"taskId":"a"})", R"({"taskId":"a","status":"asleep"})", R"({"taskId":"","status":"working"})",
        R"({"taskId":7,"status":"working"})", R"({"task":"a"})"}) {
    EXPECT_FALSE(read_task(j(text))) << text;
  }
  EXPECT_FALSE(read_task(j(R"({"taskId":")" + std::string(2000, 'x') + R"(","status":"working"})")));
}

TEST(remote_task, recognises_a_created_task_in_place_of_a_result) {
  EXPECT_TRUE(is_created_task(j(R"({"task":{"taskId":"a","status":"working"}})")));
  EXPECT_TRUE(is_created_task(j(R"({"resultType":"task","taskId":"a","status":"working"})")));
  // A result may contain a member with this name.
  EXPECT_FALSE(is_created_task(j(R"({"content":[],"task":{"taskId":"a","status":"working"}})")));
  EXPECT_FALSE(is_created_task(j(R"({"resultType":"complete","taskId":"a"})")));
}

TEST(remote_task, reads_task_capabilities_and_task_support) {
  EXPECT_TRUE(offers_task_calls(j(R"({"tasks":{"requests":{"tools":{"call":{}}},"cancel":{}}})").get_object()));
  EXPECT_TRUE(offers_task_cancel(j(R"({"tasks":{"requests":{"tools":{"call":{}}},"cancel":{}}})").get_object()));
  EXPECT_FALSE(offers_task_calls(j(R"({"tasks":{"requests":{"tools":{}}}})").get_object()));
  EXPECT_FALSE(offers_task_calls(j(R"({"tools":{}})").get_object()));
  EXPECT_EQ(task_support_of(j(R"({"execution":{"taskSupport":"optional"}})").get_object()), task_support::optional);
  EXPECT_EQ(task_support_of(j(R"({"execution":{"taskSupport":"forbidden"}})").get_object()), task_support::forbidden);
}

TEST(remote_task, the_poll_interval_of_the_server_is_clamped) {
  remote_task t;
  t.poll_ms = 700;
  EXPECT_EQ(poll_interval_ms(t, 0), 700u);
  t.poll_ms = 1;
  EXPECT_EQ(poll_interval_ms(t, 9), 50u);
  t.poll_ms = 86'400'000;
  EXPECT_EQ(poll_interval_ms(t, 9), 60'000u);
  t.poll_ms.reset();
  EXPECT_LT(poll_interval_ms(t, 0), poll_interval_ms(t, 3));
  EXPECT_EQ(poll_interval_ms(t, 1000), 5'000u);
}

TEST(remote_task, the_retry_delay_grows_and_respects_retry_after_within_bounds) {
  EXPECT_EQ(retry_delay_ms(1, 0), 1'000u);
  EXPECT_LT(retry_delay_ms(1, 0), retry_delay_ms(3, 0));
  EXPECT_EQ(retry_delay_ms(1000, 0), 15'000u);
  EXPECT_EQ(retry_delay_ms(1, 7), 7'000u);
  EXPECT_EQ(retry_delay_ms(1, 61), 60'000u);
  EXPECT_EQ(retry_delay_ms(1, 4'294'967'295u), 60'000u);
}

}  // namespace
}  // namespace mcp
