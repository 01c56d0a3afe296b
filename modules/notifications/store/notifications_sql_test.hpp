// Fixture of the database tests: the module's SQL together with the real job queue and accounts.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "../../../tests/support/schema.hpp"
#include "migrations.hpp"

namespace notifications_test {

class notifications_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    migrate_jobs();
    migrate_module("accounts");
    sql("create or replace function accounts.can_verify(account uuid) returns boolean language sql as 'select true'");
    migrate("notifications", ry_migrations::all);
    ann_ = account("Ann@Example.test");
  }
  // Creates an account and returns its quoted id.
  std::string account(const std::string& email) {
    const auto id = "'" + sql("select gen_random_uuid()") + "'";
    sql("select accounts.provision(" + id + ", " + id + ", '" + email + "', 'Ann Lee', true, '', 'free', 0)");
    return id;
  }
  // Calls notifications.notify() and returns the outcome and the reason.
  std::string notify(const std::string& key, const std::string& thread = "null", const std::string& viewed = "false",
                     const std::string& workflow = "task-completed", int channels = 7) {
    return sql("select outcome || coalesce(' ' || nullif(reason, ''), '') from notifications.notify('" + key + "', " +
               ann_ + ", '" + workflow + "', '{\"task_name\": \"" + key + "\"}', " + std::to_string(channels) + ", " +
               thread + ", " + viewed + ", '', 'Title', 'Body', '', 3600)");
  }
  // Stores a notification about an approval, as notify().
  std::string notify_of_approval(const std::string& key, const std::string& approval,
                                 const std::string& details = "{\"arguments\": \"a: 1\", \"decidable\": true}") {
    return sql("select outcome || coalesce(' ' || nullif(reason, ''), '') from notifications.notify('" + key + "', " +
               ann_ +
               ", 'approval-requested', '{\"expires_at\": \"2100-01-01T00:00:00.000Z\"}', 7, null, false, '', 'Title', "
               "'Body', '', 3600, 100, '" +
               details + "', null, '" + approval + "')");
  }
  std::string id_of(const std::string& key) {
    return "'" + sql("select id from notifications.notification where key = '" + key + "'") + "'";
  }
  // Simulates a worker that claims the job of a notification.
  void claim_job(const std::string& key) {
    sql("update core.job set state = 1, fence = fence + 1 where args->>'id' = (select id::text from notifications.notification"
        " where key = '" +
        key + "')");
  }
  // Begins an attempt as workers of the previous release do.
  std::string begin_as_previous_release(const std::string& key, const std::string& columns = "b.what",
                                        int supported = 3) {
    return sql("select concat_ws(' ', " + columns +
               ") from core.job j, lateral notifications.begin_attempt("
               "(j.args->>'id')::uuid, j.id, j.fence, " +
               std::to_string(supported) + ") b where j.args->>'id' = " + id_of(key) + "::text");
  }
  // Begins an attempt as workers of this release do.
  std::string begin_attempt(const std::string& key, const std::string& columns = "b.what") {
    return sql("select concat_ws(' ', " + columns +
               ") from core.job j, lateral notifications.begin_attempt((j.args->>'id')::uuid, j.id, j.fence,"
               " 3, true, true) b where j.args->>'id' = " +
               id_of(key) + "::text");
  }
  std::string end(const std::string& key, const std::string& results, int pending = 0,
                  const std::string& more = "false, true") {
    return sql("select notifications.end_attempt((j.args->>'id')::uuid, j.id, j.fence, '" + results + "', " +
               std::to_string(pending) + ", " + more + ") from core.job j where j.args->>'id' = " + id_of(key) +
               "::text");
  }
  static std::string result(int channel, const std::string& state, const std::string& token = "") {
    return "{\"channel\":" + std::to_string(channel) + ",\"token\":\"" + token + "\",\"state\":\"" + state +
           "\",\"provider\":\"p\",\"provider_id\":\"i\",\"detail\":\"d\"}";
  }
  std::string state(const std::string& key) {
    return sql("select state || coalesce(' ' || nullif(reason, ''), '') from notifications.notification where key = '" +
               key + "'");
  }
  std::string ann_;
};

}  // namespace notifications_test
