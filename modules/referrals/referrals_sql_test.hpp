// Test fixture: the module's SQL together with the real schemas of the job queue, accounts and mail.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "../../tests/support/schema.hpp"
#include "code.hpp"
#include "migrations.hpp"

namespace testing_referrals {

class referrals_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    migrate_jobs();
    for (const char* module : {"accounts", "mail"}) migrate_module(module);
    migrate("referrals", ry_migrations::all);
    ann_ = account("ann@example.test");
    code_ = code_of(ann_);
  }
  enum class verified { no, yes };
  // Creates an account and returns its quoted id.
  std::string account(const std::string& email, verified v = verified::yes) {
    const auto id = "'" + sql("select gen_random_uuid()") + "'";
    sql("select accounts.provision(" + id + ", " + id + ", '" + email + "', '', " +
        (v == verified::yes ? "true" : "false") + ", '', 'free', 0)");
    return id;
  }
  static std::string candidates() { return "array['" + referrals::make_code() + "','" + referrals::make_code() + "']"; }
  std::string code_of(const std::string& id) {
    return sql("select referrals.ensure_code(" + id + ", " + candidates() + ")");
  }
  std::string attach(const std::string& id, const std::string& code, const std::string& ip = "null") {
    return sql("select referrals.attach(" + id + ", '" + code + "', " + ip + ")");
  }
  std::string referred_account(const std::string& code, verified v = verified::yes) {
    const auto id = account("friend" + std::to_string(++referred_) + "@example.test", v);
    last_outcome_ = attach(id, code);
    return id;
  }
  std::string balance(const std::string& id) {
    return sql("select balance_micro / 1000000 from accounts.account where id = " + id);
  }
  std::string stat(const std::string& id, const std::string& name) {
    return sql("select referrals.stats(" + id + ")::json->>'" + name + "'");
  }
  std::string reason(const std::string& id) {
    return sql("select referrals.history(" + ann_ + ", 100, 0)::jsonb @? ('$[*] ? (@.referred_account_id == \"' || " +
               id + " || '\").reason')::jsonpath") == "t"
               ? sql("select coalesce(h->>'reason', '') from jsonb_array_elements(referrals.history(" + ann_ +
                     ", 100, 0)::jsonb) h where h->>'referred_account_id' = " + id)
               : "?";
  }
  std::string qualify(const std::string& id) { return sql("select referrals.qualify(array[" + id + "::uuid])"); }
  std::string settle_all() {
    return sql("select count(*) from referrals.settle((select array_agg(id) from referrals.referral))");
  }
  std::string review(const std::string& id, const std::string& action) {
    return state_of(
        "select referrals.review('admin', (select id from referrals.referral where "
        "referred_account_id = " +
        id + "), '" + action + "', 'test reason')");
  }
  void expect_consistency() {
    EXPECT_EQ(sql("select count(*) from referrals.counter k where k.earned > k.cap or k.earned <> (select "
                  "coalesce(sum(r.credits_awarded), 0) from referrals.referral r where r.referrer_id = k.account_id)"),
              "0");
    EXPECT_EQ(sql("select count(*) from accounts.unbalanced()"), "0");
    EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0");
    EXPECT_EQ(sql("select count(*) from referrals.referral r left join lateral (select sum(l.delta_micro) as got from "
                  "accounts.ledger l where l.kind = 'referral' and l.note->>'referral_id' = r.id::text) l on true "
                  "where coalesce(l.got, 0) <> case when r.void_reason is null then (r.credits_awarded + "
                  "r.referee_credits)::bigint * 1000000 else 0 end"),
              "0");
  }

  std::string ann_, code_, last_outcome_;
  int referred_ = 0;
};

}  // namespace testing_referrals
