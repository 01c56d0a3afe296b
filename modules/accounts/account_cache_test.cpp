#include "account_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include "key_authenticator.hpp"

using namespace accounts;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";

struct account_result {
  int calls = 0;
  ry_status st = -1;
  std::string id, email, tier;
  std::uint32_t role = 0;
  static void receive(void* p, ry_status st, const ry_account_view* v, const ry_error_view*) noexcept {
    auto& a = *static_cast<account_result*>(p);
    ++a.calls;
    a.st = st;
    if (!v) return;
    a.id = ry::text(v->account_id_text);
    a.email = ry::text(v->email);
    a.tier = ry::text(v->tier->name);
    a.role = v->role;
  }
};

struct principal_result {
  int calls = 0;
  ry_status st = -1;
  std::string subject, kind;
  static void receive(void* self, ry_status st, const ry_principal* p) noexcept {
    auto& v = *static_cast<principal_result*>(self);
    ++v.calls;
    v.st = st;
    if (!p) return;
    v.subject = ry::text(p->subject);
    v.kind = ry::text(p->auth_kind);
  }
};

class account_cache_test : public testing::Test {
 protected:
  ry::testing::db_reply row(std::string email, std::string tier = "pro") {
    return {{"id", "subject", "tier", "role", "email", "display_name", "verified"},
            {{ann, "sub", std::move(tier), "1", std::move(email), "Ann", "t"}}};
  }
  ry_principal principal(std::string_view email = {}, std::uint32_t role = RY_ROLE_USER) {
    ry_principal p{};
    p.struct_size = sizeof p;
    p.role = role;
    p.subject = ry::str("sub");
    p.email = ry::str(email);
    p.claims_json = ry::str("{}");
    return p;
  }
  void ensure(account_result& a, const ry_principal& p) {
    ASSERT_EQ(account_cache::table()->ensure(&cache_, &p, host_.exec(), &account_result::receive, &a), RY_OK);
    EXPECT_EQ(a.calls, 0) << "the callback must not run inside the call";
  }
  account_result ensure_now(const ry_principal& p) {
    account_result a;
    ensure(a, p);
    host_.run_ready();
    EXPECT_EQ(a.calls, 1);
    return a;
  }

  ry::testing::fake_host host_;
  ry::settings_faults faults_;
  config cfg_ = read_config("{}", faults_);
  repository repo_{host_.ctx()};
  account_cache cache_{host_.ctx(), repo_, cfg_};
  key_authenticator keys_{host_.ctx(), repo_};
};

}  // namespace

TEST_F(account_cache_test, concurrent_first_requests_share_one_query) {
  host_.db.on("accounts.provision", row("a@b"));
  account_result a, b, c;
  ensure(a, principal());
  ensure(b, principal({}, RY_ROLE_SUPER_ADMIN));
  ensure(c, principal());
  host_.run_ready();
  EXPECT_EQ(host_.db.calls.size(), 1u);
  for (const auto* x : {&a, &b, &c}) {
    EXPECT_EQ(x->calls, 1);
    EXPECT_EQ(x->st, RY_OK);
    EXPECT_EQ(x->id, ann);
    EXPECT_EQ(x->tier, "pro");
  }
  EXPECT_EQ(a.role, RY_ROLE_ADMIN) << "the higher of both roles";
  EXPECT_EQ(b.role, RY_ROLE_SUPER_ADMIN);
  EXPECT_EQ(ensure_now(principal()).email, "a@b");
  EXPECT_EQ(host_.db.calls.size(), 1u) << "cached";
}

TEST_F(account_cache_test, entries_expire_and_can_be_invalidated) {
  host_.db.on("accounts.provision", row("a@b"));
  ensure_now(principal());
  cache_.invalidate("other");
  ensure_now(principal());
  EXPECT_EQ(host_.db.calls.size(), 1u);
  cache_.invalidate("sub");
  ensure_now(principal());
  EXPECT_EQ(host_.db.calls.size(), 2u);
  host_.advance(61'000);
  ensure_now(principal());
  EXPECT_EQ(host_.db.calls.size(), 3u);
}

TEST_F(account_cache_test, the_role_of_a_token_is_stored_once) {
  auto user_row = row("a@b");
  user_row.rows[0][3] = "0";
  host_.db.on("accounts.provision", user_row);
  host_.db.on("token_role", {});
  auto token = principal({}, RY_ROLE_SUPER_ADMIN);
  token.auth_kind = ry::str("jwt");
  auto user = token;
  user.role = RY_ROLE_USER;
  ensure_now(user);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ensure_now(token);
  ASSERT_EQ(host_.db.calls.size(), 3u);
  EXPECT_NE(host_.db.calls.back().sql.find("set token_role"), std::string::npos);
  ensure_now(token);
  ensure_now(user);
  EXPECT_EQ(host_.db.calls.size(), 3u);
  auto key = token;
  key.auth_kind = ry::str("api_key");
  cache_.invalidate("sub");
  ensure_now(key);
  EXPECT_EQ(host_.db.calls.size(), 4u) << "API keys have the role of their account";
}

TEST_F(account_cache_test, a_session_from_before_a_demotion_does_not_query_repeatedly) {
  auto user_row = row("a@b");
  user_row.rows[0][3] = "0";
  host_.db.on("accounts.provision", user_row);
  host_.db.on("token_role", {});
  auto session = principal({}, RY_ROLE_ADMIN);
  session.auth_kind = ry::str("jwt");
  session.claims_json = ry::str(R"({"iss":"runyard","sid":"s"})");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ensure_now(session).st, RY_OK);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  auto token = session;
  token.claims_json = ry::str("{}");
  ensure_now(token);
  EXPECT_EQ(host_.db.calls.size(), 3u) << "a role from the identity provider is stored";
}

TEST_F(account_cache_test, only_tokens_from_before_a_closure_are_rejected) {
  host_.db.on("accounts.provision", row("a@b"));
  auto old = principal(), later = principal(), key = principal(), query = principal();
  query.auth_kind = ry::str("query_token");
  old.auth_kind = later.auth_kind = ry::str("jwt");
  key.auth_kind = ry::str("api_key");
  old.claims_json = ry::str(R"({"iat":1000})");
  later.claims_json = ry::str(R"({"iat":1002})");
  EXPECT_EQ(ensure_now(old).st, RY_OK);
  cache_.record_closure("sub", 1'001'000'000, 60'000'000);
  cache_.record_closure("sub", 1'000'000, 60'000'000);
  EXPECT_EQ(ensure_now(old).st, RY_UNAUTHENTICATED) << "the subject has an account again";
  EXPECT_EQ(ensure_now(later).st, RY_OK);
  EXPECT_EQ(ensure_now(key).st, RY_OK);
  EXPECT_EQ(ensure_now(query).st, RY_OK) << "the host rejects old query tokens";
  auto unknown = old;
  unknown.claims_json = ry::str("{}");
  EXPECT_EQ(ensure_now(unknown).st, RY_UNAUTHENTICATED) << "no time of issue";
  host_.advance(61'000);
  EXPECT_EQ(ensure_now(old).st, RY_OK) << "the closure is forgotten after the lifetime of such tokens";
}

TEST_F(account_cache_test, a_new_address_is_stored_but_not_on_every_request) {
  host_.db.on("accounts.provision", row("a@b"));
  ensure_now(principal("a@b"));
  ensure_now(principal("new@b"));
  EXPECT_EQ(host_.db.calls.size(), 1u);
  host_.advance(7'000);
  ensure_now(principal("a@b"));
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ensure_now(principal("new@b"));
  EXPECT_EQ(host_.db.calls.size(), 2u);
  ensure_now(principal("other@b"));
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(account_cache_test, a_verified_address_takes_effect_immediately_and_is_stored_once) {
  const auto unverified = [this] {
    auto r = row("a@b");
    r.rows[0][6] = "f";
    return r;
  };
  host_.db.on("accounts.provision", unverified());
  auto verified = principal("a@b");
  verified.claims_json = ry::str(R"({"email_verified":true})");
  auto not_yet = principal("a@b");
  not_yet.claims_json = ry::str(R"({"email_verified":false})");
  ensure_now(not_yet);
  ensure_now(not_yet);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ensure_now(verified);
  EXPECT_EQ(host_.db.calls.size(), 2u) << "immediately";
  // The database does not consider the address verified, so requests must not query it repeatedly.
  ensure_now(verified);
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(account_cache_test, the_claim_of_entra_takes_effect_immediately) {
  auto unverified = row("a@b");
  unverified.rows[0][6] = "f";
  host_.db.on("accounts.provision", unverified);
  ensure_now(principal("a@b"));
  auto entra = principal("a@b");
  entra.claims_json = ry::str(R"({"iss":"https://login.microsoftonline.com/0f/v2.0","xms_edov":true})");
  ensure_now(entra);
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(account_cache_test, a_failure_reaches_all_callers_and_is_not_cached) {
  host_.db.fail("accounts.provision", ry::unavailable("db.down", "away"));
  host_.db.on("accounts.provision", row("a@b"));
  account_result a, b;
  ensure(a, principal());
  ensure(b, principal());
  host_.run_ready();
  EXPECT_EQ(a.st, RY_UNAVAILABLE);
  EXPECT_EQ(b.st, RY_UNAVAILABLE);
  EXPECT_EQ(ensure_now(principal()).st, RY_OK);
}

TEST_F(account_cache_test, a_value_read_before_a_change_is_not_cached) {
  host_.db.on("accounts.provision", row("a@b"));
  account_result a;
  ensure(a, principal());
  cache_.invalidate("sub");
  host_.run_ready();
  EXPECT_EQ(a.st, RY_OK);
  ensure_now(principal());
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(account_cache_test, finds_accounts_by_id_and_rejects_a_missing_principal) {
  host_.db.on("from accounts.account where id", row("a@b", "gone_tier"));
  account_result a;
  const auto id = *ry::uuid::parse(ann);
  ASSERT_EQ(account_cache::table()->find(&cache_, &id, host_.exec(), &account_result::receive, &a), RY_OK);
  host_.run_ready();
  EXPECT_EQ(a.st, RY_OK);
  EXPECT_EQ(a.tier, "free") << "an unknown tier has the limits of the default one";
  EXPECT_EQ(account_cache::table()->ensure(&cache_, nullptr, host_.exec(), &account_result::receive, &a),
            RY_INVALID_ARGUMENT);
}

TEST_F(account_cache_test, api_keys_authenticate_their_owner) {
  const auto key = make_api_key();
  const auto other = make_api_key();
  host_.db.on(
      "from accounts.api_key k",
      {{"secret_hash", "expires_us", "old_touch", "id", "subject", "tier", "role", "email", "display_name", "verified"},
       {{hash_secret(key.secret), std::nullopt, "t", ann, "sub", "pro", "0", "a@b", "Ann", "t"}}});
  const auto authenticate = [&](const std::string& bearer, principal_result& v) {
    return key_authenticator::table()->authenticate(&keys_, ry::str(bearer), host_.exec(), &principal_result::receive,
                                                    &v);
  };
  principal_result valid, wrong, not_a_key;
  ASSERT_EQ(authenticate("ry_" + key.id + "_" + key.secret, valid), RY_OK);
  EXPECT_EQ(valid.calls, 0);
  host_.run_ready();
  EXPECT_EQ(valid.calls, 1);
  EXPECT_EQ(valid.st, RY_OK);
  EXPECT_EQ(valid.subject, "sub");
  EXPECT_EQ(valid.kind, "api_key");
  EXPECT_THAT(host_.db.calls.back().sql, testing::HasSubstr("last_used_at = now()"));

  ASSERT_EQ(authenticate("ry_" + key.id + "_" + other.secret, wrong), RY_OK);
  host_.run_ready();
  EXPECT_EQ(wrong.calls, 1);
  EXPECT_EQ(wrong.st, RY_UNAUTHENTICATED);

  EXPECT_EQ(authenticate("sk-something-else", not_a_key), RY_NOT_FOUND);
  EXPECT_EQ(authenticate("ry_short", not_a_key), RY_UNAUTHENTICATED);
  EXPECT_EQ(not_a_key.calls, 0);
}
