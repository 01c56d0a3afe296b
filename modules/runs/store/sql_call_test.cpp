#include "store/sql_call.hpp"

#include <gtest/gtest.h>

#include <vector>

using runs::arg;
using runs::sql_call;

namespace {

struct recorder {
  std::string sql;
  int number = 0;
  std::string text;
  int query(const std::string& statement, int n, const std::string& t) {
    sql = statement;
    number = n;
    text = t;
    return 7;
  }
};

}  // namespace

TEST(sql_call_test, passes_each_argument_by_its_name) {
  const int limit = 3;
  const std::string account = "ann";
  const sql_call call("outcome, n", "runs.decide", arg("p_limit", limit), arg("p_account", account, "text::uuid"));
  EXPECT_EQ(call.text(), "select outcome, n from runs.decide(p_limit => $1, p_account => $2::text::uuid)");
  recorder db;
  EXPECT_EQ(call.run_on(db), 7);
  EXPECT_EQ(db.sql, call.text());
  EXPECT_EQ(db.number, 3);
  EXPECT_EQ(db.text, "ann");
}
