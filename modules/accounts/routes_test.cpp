#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/cpp/input.hpp>
#include <ry/testing.hpp>

#include <algorithm>

using testing::HasSubstr;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";

class account_routes : public testing::Test {
 protected:
  account_routes() {
    host_.db.on("update accounts.setting", {});
    host_.db.on("as ended_us", {});
    host_.db.on("as closed_us", {});
    host_.db.on("token_role", {});
    host_.db.on("closed_at is null", {{"id", "subject", "tier", "role", "email", "display_name", "verified"},
                                      {{ann, ann, "free", "0", "", "", "f"}}});
    host_.db.on("accounts.provision", {{"id", "subject", "tier", "role", "email", "display_name", "verified"},
                                       {{ann, ann, "free", "0", "", "", "f"}}});
    host_.load(*ry_module_entry());
  }
  ry::testing::answer call(const std::string& method, const std::string& path, const std::string& body = "",
                           const std::string& kind = "jwt") {
    ry::testing::call_options o;
    o.body = body;
    o.role = RY_ROLE_SUPER_ADMIN;
    o.auth_kind = kind;
    return host_.call(method, path, o);
  }
  bool has_query(const std::string& part) const {
    for (const auto& c : host_.db.calls) {
      if (c.sql.find(part) != std::string::npos) return true;
    }
    return false;
  }
  ry::testing::fake_host host_;
};

}  // namespace

TEST_F(account_routes, an_api_key_cannot_create_or_revoke_keys) {
  EXPECT_EQ(call("POST", "/api-keys", "{}", "api_key").status, 403u);
  EXPECT_EQ(call("DELETE", "/api-keys/0123456789abcdef", "", "api_key").status, 403u);
  EXPECT_FALSE(has_query("add_key"));
  EXPECT_FALSE(has_query("accounts.revoke_key"));
}

TEST_F(account_routes, creating_too_many_keys_within_an_hour_is_rejected) {
  host_.db.on("throttle_take", {{"w"}, {{"7"}}});
  const auto a = call("POST", "/api-keys", "{}");
  EXPECT_EQ(a.status, 429u);
  EXPECT_FALSE(has_query("add_key"));
}

TEST_F(account_routes, old_audit_entries_are_deleted_until_none_is_left) {
  host_.db.on("tidy_logins", {{"t"}, {{""}}});
  for (const std::string n : {"1000", "1000", "3", "1000"}) host_.db.on("tidy_audit", {{"n"}, {{n}}});
  EXPECT_EQ(host_.run_job("accounts.tidy", "{}"), RY_JOB_DONE);
  EXPECT_EQ(std::count_if(host_.db.calls.begin(), host_.db.calls.end(),
                          [](const auto& c) { return c.sql.find("tidy_audit") != std::string::npos; }),
            3);
}

TEST_F(account_routes, malformed_key_ids_are_unknown) {
  for (const std::string id : {"x", "%ff", "0123456789ABCDEF", "0123456789abcdef0"}) {
    const auto a = call("DELETE", "/api-keys/" + id);
    EXPECT_EQ(a.status, 404u) << id;
    EXPECT_EQ(a.failure.message(), "API key not found");
  }
  EXPECT_FALSE(has_query("accounts.revoke_key"));
}

TEST_F(account_routes, malformed_ids_and_cursors_are_bad_requests) {
  const auto a = call("GET", "/admin/accounts/nonsense");
  EXPECT_EQ(a.status, 400u);
  EXPECT_EQ(a.failure.message(), "Invalid UUID format");
  EXPECT_EQ(call("GET", "/admin/audit?account_id=7").failure.message(), "Invalid UUID format");
  const auto cursor_of_other_list = ry::make_cursor("ledger:22222222-2222-4222-8222-222222222222", "5");
  for (const auto& cursor : {std::string("5"), std::string("x"), cursor_of_other_list}) {
    const auto b = call("GET", "/admin/accounts/" + ann + "/ledger?cursor=" + cursor);
    EXPECT_EQ(b.status, 400u) << cursor;
    EXPECT_EQ(b.failure.message(), "cursor is not valid for this list");
    EXPECT_EQ(call("GET", "/admin/audit?cursor=" + cursor).status, 400u) << cursor;
  }
  EXPECT_EQ(call("GET", "/admin/audit?limit=0").status, 422u);
  for (const std::string name : {"actor", "action"}) {
    for (const std::string value : {"", "%00", "%ff", "%ed%a0%80"}) {
      const auto b = call("GET", "/admin/audit?" + name + "=" + value);
      EXPECT_EQ(b.status, 422u) << name << value;
      EXPECT_EQ(b.failure.message(), name + " must be UTF-8 text of 1 to 200 bytes without NUL characters");
    }
  }
}

TEST_F(account_routes, cursors_of_the_audit_log_belong_to_their_filter) {
  host_.db.on("from accounts.audit where id < $1", {{"id", "doc"}, {{"9", R"({"id":9})"}, {"8", R"({"id":8})"}}});
  const auto a = call("GET", "/admin/audit?limit=1&action=grant");
  EXPECT_EQ(a.status, 200u);
  const auto cursor = ry::make_cursor("audit:::grant", "9");
  EXPECT_EQ(a.body, R"({"entries":[{"id":9}],"next_cursor":")" + cursor + R"("})");
  EXPECT_EQ(host_.db.calls.back().params.at(3), "grant");
  EXPECT_EQ(call("GET", "/admin/audit?limit=1&action=grant&cursor=" + cursor).status, 200u);
  EXPECT_EQ(host_.db.calls.back().params.at(0), "9");
  EXPECT_EQ(call("GET", "/admin/audit?limit=1&action=revoke&cursor=" + cursor).status, 400u);
}

TEST_F(account_routes, the_ref_includes_the_account_and_the_idempotency_key) {
  host_.db.on("accounts.admin_move", {{"doc"}, {{R"({"balance_micro":1,"replayed":true})"}}});
  ry::testing::call_options o;
  o.role = RY_ROLE_ADMIN;
  o.body = R"({"credits":5,"reason":"sorry"})";
  o.fields = {{"Idempotency-Key", "k1"}};
  const auto a = host_.call("POST", "/admin/accounts/" + ann + "/revoke", o);
  EXPECT_EQ(a.status, 200u);
  EXPECT_THAT(a.body, HasSubstr(R"("replayed":true)"));
  const auto& p = host_.db.calls.back().params;
  EXPECT_EQ(p.at(2), "revoke");
  EXPECT_EQ(p.at(3), "-5000000");
  EXPECT_EQ(p.at(4), "admin:" + ann + ":k1");
}

TEST_F(account_routes, only_a_super_admin_changes_roles) {
  ry::testing::call_options o;
  o.role = RY_ROLE_ADMIN;
  o.body = R"({"role":"admin"})";
  EXPECT_EQ(host_.call("PUT", "/admin/accounts/" + ann, o).status, 403u);
  EXPECT_FALSE(has_query("update accounts.account"));
}
