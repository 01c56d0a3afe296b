// Questions to the person: creation, rounds, answers, limits and calls that were open in a lost worker.
#include <gtest/gtest.h>

#include "store/runs_sql_test.hpp"

namespace {

using namespace testing_runs;

class runs_questions : public runs_sql {
 protected:
  void SetUp() override {
    runs_sql::SetUp();
    if (IsSkipped()) return;
    start({});
    run_ = last_run();
  }
  std::string fence() const { return sql("select fence from runs.runs where id = " + q(run_)); }
  // Asks one question of the call c; problem: SQL.
  std::string ask(int round, const std::string& request, int limit = 10, const std::string& problem = "null",
                  const std::string& held = "false", const std::string& kind = "elicitation") const {
    return sql("select runs.ask_questions(" + q(run_) + ", (select fence from runs.runs where id = " + q(run_) +
               "), 1, array[accounts.new_id()], array['c'], array[" + std::to_string(round) + "], array[" + q(request) +
               "], array[" + q(kind) +
               "], array['tool'], array['mcp:s'], array['{}'], array['{\"message\":\"m\"}'], array['state " +
               std::to_string(round) + "'], array[" + problem + "]::text[], " + std::to_string(limit) +
               ", 'deny', 60, " + held + ")");
  }
  std::string asked(const std::string& columns) const {
    return sql("select coalesce(string_agg(" + columns + ", ',' order by request), '') from runs.questions_of(" +
               q(run_) + ", (select fence from runs.runs where id = " + q(run_) + "), 1, array['c'])");
  }
  std::string decide(const std::string& request, const std::string& status, const std::string& content) const {
    return sql("select outcome from runs.decide_approval(" + q(ann) +
               ", (select id from runs.approvals where request = " + q(request) + " order by round desc limit 1), " +
               q(status) + ", null, null, 'none', p_content => " + q(content) + ")");
  }
  std::string run_;
};

TEST_F(runs_questions, are_created_once_and_only_the_latest_round_counts) {
  EXPECT_EQ(ask(1, "a"), "t");
  EXPECT_EQ(ask(1, "a"), "t");
  EXPECT_EQ(ask(1, "b"), "t");
  EXPECT_EQ(asked("request || ' ' || status || ' ' || state"), "a pending state 1,b pending state 1");
  EXPECT_EQ(ask(2, "a"), "t");
  EXPECT_EQ(asked("request || ' ' || round"), "a 2");
  sql("update runs.runs set completed_at = now()");
  EXPECT_EQ(ask(3, "a"), "f") << "the run has ended";
}

TEST_F(runs_questions, an_answer_is_recognized_after_it_was_passed_on) {
  ask(1, "a");
  EXPECT_EQ(decide("a", "approved", "null"), "not_found") << "a node of an earlier version cannot give an answer";
  EXPECT_EQ(decide("a", "approved", "{\"n\":1}"), "ok");
  EXPECT_EQ(asked("status || ' ' || content"), "approved {\"n\":1}");
  EXPECT_EQ(sql("select runs.begin_approved(" + q(run_) + ", " + fence() + ", array(select id from runs.approvals))"),
            "t");
  EXPECT_EQ(sql("select count(*) from runs.approvals where content is not null or state is not null"), "0");
  EXPECT_EQ(decide("a", "approved", "{\"n\":1}"), "same");
  EXPECT_EQ(decide("a", "approved", "{\"n\":2}"), "other");
  EXPECT_EQ(decide("a", "denied", "null"), "other");
  EXPECT_EQ(asked("begun::text"), "true");
}

TEST_F(runs_questions, beyond_the_limit_are_cancelled_and_refused_ones_do_not_count) {
  EXPECT_EQ(ask(1, "a", 1, "'not flat'"), "t");
  EXPECT_EQ(asked("status || ' ' || reason"), "cancelled not flat");
  sql("update runs.approvals set question = '{}'");
  EXPECT_EQ(ask(2, "b", 1), "t");
  EXPECT_EQ(asked("status"), "pending");
  EXPECT_EQ(ask(3, "c", 1), "t");
  EXPECT_EQ(asked("status || ' ' || reason"), "cancelled limit");
}

TEST_F(runs_questions, of_a_lost_worker_are_cancelled_by_the_next) {
  ask(1, "a", 10, "null", "true");
  EXPECT_EQ(asked("status || ' ' || begun"), "pending true");
  sql("update runs.runs set fence = fence + 1");
  EXPECT_EQ(asked("status || ' ' || begun"), "cancelled true");
}

TEST_F(runs_questions, are_listed_and_end_with_the_run) {
  ask(1, "a");
  ask(1, "b", 10, "null", "false", "url");
  const std::string page = "from runs.approvals_page(" + q(ann) + ", null, 'pending', null, 10)";
  EXPECT_EQ(sql("select n " + page), "2");
  EXPECT_EQ(
      sql("select string_agg(x->>'kind' || ' ' || (x->>'message'), ',' order by x->>'kind') from json_array_elements((select items::json " +
          page + ")) x"),
      "elicitation m,url m");
  EXPECT_EQ(sql("select n from runs.approvals_page(" + q(bob) + ", null, null, null, 10)"), "0");
  decide("a", "approved", "{}");
  sql("select runs.drop_approvals(" + q(run_) + ")");
  EXPECT_EQ(sql("select string_agg(request || ' ' || status, ',' order by request) from runs.approvals"),
            "a approved,b cancelled");
  EXPECT_EQ(sql("select count(*) from runs.approvals where content is not null or state is not null"), "0");
}

}  // namespace
