// Tests the module's SQL together with the job queue.
#include <gtest/gtest.h>

#include "../../../tests/support/schema.hpp"
#include "migrations.hpp"

namespace {

class webhooks_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    migrate_jobs();
    migrate("webhooks", ry_migrations::all);
    configure("http://a", "http://b");
  }
  void configure(const std::string& a, const std::string& b) {
    sql("select webhooks.configure(array['a', 'b'], array['" + a + "', '" + b + "'])");
  }
  std::string enqueue(const std::string& name, const std::string& id) {
    return sql("select webhooks.enqueue('" + name + "', '" + id + "', '{}', 30)");
  }
  std::string fail(const std::string& patience = "5 days") {
    return sql("select webhooks.failed('a', 'answered 500', interval '" + patience + "')");
  }
  std::string disabled(const std::string& name) {
    return sql("select disabled_at is not null from webhooks.endpoint where name = '" + name + "'");
  }
};

TEST_F(webhooks_sql, a_message_is_enqueued_once_per_receiver) {
  EXPECT_EQ(enqueue("a", "evt_1"), "t");
  EXPECT_EQ(enqueue("a", "evt_1"), "f");
  EXPECT_EQ(enqueue("b", "evt_1"), "t");
  EXPECT_EQ(enqueue("unknown", "evt_1"), "f");
  EXPECT_EQ(sql("select count(*) || ' ' || min(queue) || ' ' || min(max_attempts) from core.job"), "2 webhooks 30");
  EXPECT_EQ(sql("select args from core.job order by id limit 1"), R"({"id": "evt_1", "body": "{}", "endpoint": "a"})");
}

TEST_F(webhooks_sql, long_failure_disables_and_success_resets) {
  EXPECT_EQ(fail(), "f");
  sql("update webhooks.endpoint set failing_since = now() - interval '4 days'");
  EXPECT_EQ(fail(), "f");
  EXPECT_EQ(sql("select last_error from webhooks.endpoint where name = 'a'"), "answered 500");
  sql("select webhooks.succeeded('a')");
  EXPECT_EQ(sql("select failing_since is null and last_error is null and delivered = 1 from "
                "webhooks.endpoint where name = 'a'"),
            "t");
  EXPECT_EQ(fail(), "f");
  sql("update webhooks.endpoint set failing_since = now() - interval '5 days 1 second' where name "
      "= 'a'");
  EXPECT_EQ(fail(), "t");
  EXPECT_EQ(fail(), "f") << "already disabled";
  EXPECT_EQ(enqueue("a", "evt_2"), "f");
  EXPECT_EQ(enqueue("b", "evt_2"), "t") << "other receivers are not affected";
  EXPECT_EQ(sql("select webhooks.enable('a')"), "t");
  EXPECT_EQ(sql("select webhooks.enable('unknown')"), "f");
  EXPECT_EQ(enqueue("a", "evt_3"), "t");
  EXPECT_EQ(fail("0"), "t") << "with a time limit of 0, the first failure disables the receiver";
}

TEST_F(webhooks_sql, a_changed_address_enables_a_disabled_receiver) {
  EXPECT_EQ(fail("0"), "t");
  configure("http://a", "http://b");
  EXPECT_EQ(disabled("a"), "t");
  configure("http://elsewhere", "http://b");
  EXPECT_EQ(disabled("a"), "f");
  sql("select webhooks.configure(array['b'], array['http://b'])");
  EXPECT_EQ(sql("select string_agg(name, ',') from webhooks.endpoint"), "b");
  sql("select webhooks.configure('{}', '{}')");
  EXPECT_EQ(sql("select count(*) from webhooks.endpoint"), "0");
}

}  // namespace
