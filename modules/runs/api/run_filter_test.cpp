#include "api/run_filter.hpp"

#include <gtest/gtest.h>

#include <ry/ry.hpp>

namespace runs {
namespace {

std::string refusal_of(const query_parameters& given) {
  try {
    (void)read_run_filter(given);
  } catch (const ry::error& e) {
    EXPECT_EQ(e.http_status(), 422u);
    return std::string(e.message());
  }
  return {};
}

TEST(run_filter, without_one_the_unfinished_runs_are_listed_and_with_one_all_that_match) {
  EXPECT_EQ(read_run_filter({}).wanted_status(), "running");
  EXPECT_EQ(read_run_filter({{"limit", "5"}, {"cursor", "x"}}).wanted_status(), "running");
  EXPECT_EQ(read_run_filter({{"status", "failed"}}).wanted_status(), "failed");
  EXPECT_EQ(read_run_filter({{"status", "FAILED"}}).wanted_status(), "failed");
  EXPECT_EQ(read_run_filter({{"status", "all"}}).wanted_status(), std::nullopt);
  EXPECT_EQ(read_run_filter({{"model", "runyard/basic"}}).wanted_status(), std::nullopt);
}

TEST(run_filter, each_filter_is_checked_and_named) {
  EXPECT_EQ(
      refusal_of({{"account", "x"}}),
      "account is not a known parameter; the parameters are limit, cursor, status, account_id, thread_id, agent_id, model, reason, "
      "error_code, from, to");
  EXPECT_EQ(refusal_of({{"status", "broken"}}), "status must be all, running, completed, failed or stopped");
  EXPECT_EQ(refusal_of({{"account_id", "me"}}), "account_id must be a UUID");
  EXPECT_EQ(refusal_of({{"reason", ""}}), "reason must have 1 to 200 bytes");
  EXPECT_EQ(refusal_of({{"to", "tomorrow"}}), "to must be a date or a time as in 2026-11-20 or 2026-11-20T09:30:00Z");
  EXPECT_EQ(refusal_of({{"status", "all"}, {"status", "failed"}}), "status is given twice");
}

TEST(run_filter, times_are_read_in_the_usual_forms) {
  EXPECT_EQ(normal_time("2026-11-20"), "2026-11-20 00:00:00Z");
  EXPECT_EQ(normal_time("2026-11-20T09:30"), "2026-11-20T09:30Z");
  EXPECT_EQ(normal_time("2026-11-20T09:30:00.123Z"), "2026-11-20T09:30:00.123Z");
  EXPECT_EQ(normal_time("2026-11-20T09:30:00+02:00"), "2026-11-20T09:30:00+02:00");
  for (const char* wrong : {"", "now", "2026-13-01", "2026-02-30", "2026-11-20T24:00", "2026-11-20T09:30:61Z",
                            "0000-01-01", "2026-11-20T09:30:00+99:00", "2026-11-20'; --"})
    EXPECT_EQ(normal_time(wrong), std::nullopt) << wrong;
}

TEST(run_filter, a_cursor_belongs_to_its_filters) {
  EXPECT_NE(read_run_filter({{"status", "failed"}}).text(), read_run_filter({{"status", "all"}}).text());
  EXPECT_EQ(read_run_filter({{"from", "2026-11-20"}}).text(), "admin_runs&from=2026-11-20 00:00:00Z");
}

}  // namespace
}  // namespace runs
