#include "api/run_filter.hpp"

#include <gtest/gtest.h>

#include <ry/ry.hpp>

namespace runs {
namespace {

std::string error_message(const query_parameters& given) {
  try {
    (void)read_run_filter(given);
  } catch (const ry::error& e) {
    EXPECT_EQ(e.http_status(), 422u);
    return std::string(e.message());
  }
  return {};
}

TEST(run_filter, lists_unfinished_runs_without_filters_and_all_matching_runs_with_filters) {
  EXPECT_EQ(read_run_filter({}).effective_status(), "running");
  EXPECT_EQ(read_run_filter({{"limit", "5"}, {"cursor", "x"}}).effective_status(), "running");
  EXPECT_EQ(read_run_filter({{"status", "failed"}}).effective_status(), "failed");
  EXPECT_EQ(read_run_filter({{"status", "FAILED"}}).effective_status(), "failed");
  EXPECT_EQ(read_run_filter({{"status", "all"}}).effective_status(), std::nullopt);
  EXPECT_EQ(read_run_filter({{"model", "runyard/basic"}}).effective_status(), std::nullopt);
}

TEST(run_filter, invalid_filters_are_rejected_by_name) {
  EXPECT_EQ(
      error_message({{"account", "x"}}),
      "account is not a known parameter; the parameters are limit, cursor, status, account_id, thread_id, agent_id, model, reason, "
      "error_code, from, to, metadata[KEY]");
  EXPECT_EQ(error_message({{"status", "broken"}}), "status must be all, running, completed, failed or stopped");
  EXPECT_EQ(error_message({{"account_id", "me"}}), "account_id must be a UUID");
  for (const char* name : {"model", "reason", "error_code"})
    for (const std::string& wrong :
         {std::string(), std::string(201, 'x'), std::string(1, '\0'), std::string("\xff"), std::string("\xed\xa0\x80")})
      EXPECT_EQ(error_message({{name, wrong}}),
                std::string(name) + " must be UTF-8 text of 1 to 200 bytes without NUL characters");
  EXPECT_EQ(error_message({{"to", "tomorrow"}}),
            "to must be a date or a time as in 2026-11-20 or 2026-11-20T09:30:00Z");
  EXPECT_EQ(error_message({{"status", "all"}, {"status", "failed"}}), "status is given twice");
}

TEST(run_filter, accepts_common_forms_of_times) {
  EXPECT_EQ(canonical_time("2026-11-20"), "2026-11-20 00:00:00Z");
  EXPECT_EQ(canonical_time("2026-11-20T09:30"), "2026-11-20T09:30Z");
  EXPECT_EQ(canonical_time("2026-11-20T09:30:00.123Z"), "2026-11-20T09:30:00.123Z");
  EXPECT_EQ(canonical_time("2026-11-20T09:30:00+02:00"), "2026-11-20T09:30:00+02:00");
  for (const char* wrong : {"", "now", "2026-13-01", "2026-02-30", "2026-11-20T24:00", "2026-11-20T09:30:61Z",
                            "0000-01-01", "2026-11-20T09:30:00+99:00", "2026-11-20'; --"})
    EXPECT_EQ(canonical_time(wrong), std::nullopt) << wrong;
}

TEST(run_filter, the_text_for_cursors_depends_on_the_filters) {
  EXPECT_NE(read_run_filter({{"status", "failed"}}).text(), read_run_filter({{"status", "all"}}).text());
  EXPECT_EQ(read_run_filter({{"from", "2026-11-20"}}).text(), "admin_runs&from=2026-11-20 00:00:00Z");
}

TEST(run_filter, reads_filters_by_metadata) {
  const run_filter filter = read_run_filter({{"metadata[user]", "u1"}, {"metadata[a.b]", ""}, {"limit", "5"}});
  EXPECT_EQ(filter.metadata, R"({"user":"u1","a.b":""})");
  EXPECT_EQ(filter.effective_status(), std::nullopt) << "a filter lists runs of all statuses";
  EXPECT_NE(filter.text(), run_filter().text());
  EXPECT_EQ(error_message({{"metadata[]", "x"}}), "metadata[]: the key must have 1 to 64 characters");
  EXPECT_EQ(error_message({{"metadata[a]", "x"}, {"metadata[a]", "y"}}), "metadata[a] is given twice");
}

}  // namespace
}  // namespace runs
