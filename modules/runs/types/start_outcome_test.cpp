#include "types/start_outcome.hpp"

#include <gtest/gtest.h>

using runs::is_granted;
using runs::name_of;
using runs::refusal_of;
using runs::start_outcome;
using runs::start_outcome_of;

TEST(start_outcome_test, names_convert_back_to_their_outcomes) {
  for (int i = 0; i <= static_cast<int>(start_outcome::apart); ++i) {
    const auto o = static_cast<start_outcome>(i);
    EXPECT_FALSE(name_of(o).empty()) << i;
    EXPECT_EQ(start_outcome_of(name_of(o)), o) << name_of(o);
  }
  EXPECT_EQ(start_outcome_of("granted"), std::nullopt);
}

TEST(start_outcome_test, only_refusals_have_a_status) {
  EXPECT_EQ(refusal_of(start_outcome::thread_not_found).http_status, 404u);
  EXPECT_EQ(refusal_of(start_outcome::key_reused).http_status, 409u);
  for (const auto o :
       {start_outcome::ok, start_outcome::queued, start_outcome::joined, start_outcome::replay, start_outcome::tier})
    EXPECT_EQ(refusal_of(o).http_status, 0u) << name_of(o);
}

TEST(start_outcome_test, refusals_with_details_name_their_values) {
  const auto run_limit = refusal_of(start_outcome::run_limit, {"free", "m", 5, 2, R"(["a","b"])"});
  EXPECT_EQ(run_limit.http_status, 402u);
  EXPECT_EQ(
      run_limit.detail_json,
      R"({"message":"You have reached the limit of 2 concurrent runs of your plan","running_thread_ids":["a","b"],)"
      R"("running_count":2,"limit":2,"error_code":"AGENT_RUN_LIMIT_EXCEEDED"})");
  EXPECT_EQ(refusal_of(start_outcome::thread_limit, {"free", "m", 5, 2, "5"}).detail_json,
            R"({"message":"You have reached the limit of 5 threads of your plan","current_count":5,"limit":5,)"
            R"("error_code":"THREAD_LIMIT_EXCEEDED"})");
  EXPECT_EQ(refusal_of(start_outcome::thread_busy, {"free", "m", 5, 2, "run"}).detail_json,
            R"({"message":"The thread has a run in progress","agent_run_id":"run","error_code":"THREAD_BUSY"})");
  const auto full = refusal_of(start_outcome::prompts_full, {"free", "m", 5, 2, "run"});
  EXPECT_EQ(full.http_status, 429u);
  EXPECT_EQ(full.detail_json,
            R"({"message":"Too many prompts wait for the next step of the run in progress; try again later",)"
            R"("agent_run_id":"run","error_code":"PENDING_PROMPTS_EXCEEDED"})");
  // The `detail` of this response is a string.
  EXPECT_EQ(refusal_of(start_outcome::key_reused).detail_json, "");
  EXPECT_EQ(refusal_of(start_outcome::no_credits).detail_json,
            R"({"message":"Insufficient credits","error_code":"INSUFFICIENT_CREDITS"})");
}

TEST(start_outcome_test, values_in_a_message_are_not_expanded) {
  const auto denied = refusal_of(start_outcome::model_denied, {"{model}", "a\"{tier}{", 0, 0, {}});
  EXPECT_EQ(denied.message, "Your plan ({model}) does not include the model a\"{tier}{");
  EXPECT_EQ(denied.detail_json,
            R"({"message":"Your plan ({model}) does not include the model a\"{tier}{","tier_name":"{model}",)"
            R"("error_code":"MODEL_ACCESS_DENIED"})");
}

TEST(start_outcome_test, a_queued_run_exists) {
  EXPECT_TRUE(is_granted(start_outcome::ok));
  EXPECT_TRUE(is_granted(start_outcome::queued));
  EXPECT_FALSE(is_granted(start_outcome::replay));
  EXPECT_FALSE(is_granted(start_outcome::run_limit));
}
