#include "account_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include "key_authenticator.hpp"

using namespace accounts;

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";

struct answer {
  int calls = 0;
  ry_status st = -1;
  std::string id, email, tier;
  std::uint32_t role = 0;
  static void take(void* p, ry_status st, const ry_account_view* v, const ry_error_view*) noexcept {
    auto& a = *static_cast<answer*>(p);
    ++a.calls;
    a.st = st;
    if (!v) return;
    a.id = ry::text(v->account_id_text);
    a.email = ry::text(v->email);
    a.tier = ry::text(v->tier->name);
    a.role = v->role;
  }
};

struct verdict {
  int calls = 0;
  ry_status st = -1;
  std::string subject, kind;
  static void take(void* p, ry_status st, const ry_principal* who) noexcept {
    auto& v = *static_cast<verdict*>(p);
    ++v.calls;
    v.st = st;
    if (!who) return;
    v.subject = ry::text(who->subject);
    v.kind = ry::text(who->auth_kind);
  }
};

class directory_test : public testing::Test {
 protected:
  ry::testing::db_reply row(std::string email, std::string tier = "pro") {
    return {{"id", "subject", "tier", "role", "email", "display_name", "verified"},
            {{ann, "sub", std::move(tier), "1", std::move(email), "Ann", "t"}}};
  }
  ry_principal who(std::string_view email = {}, std::uint32_t role = RY_ROLE_USER) {
    ry_principal p{};
    p.struct_size = sizeof p;
    p.role = role;
    p.subject = ry::str("sub");
    p.email = ry::str(email);
    p.claims_json = ry::str("{}");
    return p;
  }
  void ensure(answer& a, const ry_principal& p) {
    ASSERT_EQ(account_cache::table()->ensure(&people_, &p, host_.exec(), &answer::take, &a), RY_OK);
    EXPECT_EQ(a.calls, 0) << "never inside the call";
  }
  answer ask(const ry_principal& p) {
    answer a;
    ensure(a, p);
    host_.run_ready();
    EXPECT_EQ(a.calls, 1);
    return a;
  }

  ry::testing::fake_host host_;
  ry::settings_faults faults_;
  config cfg_ = read_config("{}", faults_);
  repository repo_{host_.ctx()};
  account_cache people_{host_.ctx(), repo_, cfg_};
  key_authenticator keys_{host_.ctx(), repo_};
};

}  // namespace

TEST_F(directory_test, many_first_requests_ask_the_database_once) {
  host_.db.on("accounts.provision", row("a@b"));
  answer a, b, c;
  ensure(a, who());
  ensure(b, who({}, RY_ROLE_SUPER_ADMIN));
  ensure(c, who());
  host_.run_ready();
  EXPECT_EQ(host_.db.calls.size(), 1u);
  for (const auto* x : {&a, &b, &c}) {
    EXPECT_EQ(x->calls, 1);
    EXPECT_EQ(x->st, RY_OK);
    EXPECT_EQ(x->id, ann);
    EXPECT_EQ(x->tier, "pro");
  }
  EXPECT_EQ(a.role, RY_ROLE_ADMIN) << "the account's role is the higher one";
  EXPECT_EQ(b.role, RY_ROLE_SUPER_ADMIN);
  EXPECT_EQ(ask(who()).email, "a@b");
  EXPECT_EQ(host_.db.calls.size(), 1u) << "from memory";
}

TEST_F(directory_test, refreshes_on_request_and_after_its_time_to_live) {
  host_.db.on("accounts.provision", row("a@b"));
  ask(who());
  people_.forget("other");
  ask(who());
  EXPECT_EQ(host_.db.calls.size(), 1u);
  people_.forget("sub");
  ask(who());
  EXPECT_EQ(host_.db.calls.size(), 2u);
  host_.advance(61'000);
  ask(who());
  EXPECT_EQ(host_.db.calls.size(), 3u);
}

TEST_F(directory_test, a_role_of_a_token_is_noted_once) {
  auto plain = row("a@b");
  plain.rows[0][3] = "0";
  host_.db.on("accounts.provision", plain);
  host_.db.on("token_role", {});
  auto token = who({}, RY_ROLE_SUPER_ADMIN);
  token.auth_kind = ry::str("jwt");
  auto user = token;
  user.role = RY_ROLE_USER;
  ask(user);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ask(token);
  ASSERT_EQ(host_.db.calls.size(), 3u);
  EXPECT_NE(host_.db.calls.back().sql.find("set token_role"), std::string::npos);
  ask(token);
  ask(user);
  EXPECT_EQ(host_.db.calls.size(), 3u);
  auto key = token;
  key.auth_kind = ry::str("api_key");
  people_.forget("sub");
  ask(key);
  EXPECT_EQ(host_.db.calls.size(), 4u) << "API keys have the role of their account";
}

TEST_F(directory_test, a_session_from_before_a_demotion_asks_the_database_once) {
  auto plain = row("a@b");
  plain.rows[0][3] = "0";
  host_.db.on("accounts.provision", plain);
  host_.db.on("token_role", {});
  auto session = who({}, RY_ROLE_ADMIN);
  session.auth_kind = ry::str("jwt");
  session.claims_json = ry::str(R"({"iss":"runyard","sid":"s"})");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(session).st, RY_OK);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  auto token = session;
  token.claims_json = ry::str("{}");
  ask(token);
  EXPECT_EQ(host_.db.calls.size(), 3u) << "a role that the identity provider names is noted";
}

TEST_F(directory_test, tokens_from_before_a_closing_are_refused_and_later_ones_are_not) {
  host_.db.on("accounts.provision", row("a@b"));
  auto old = who(), later = who(), key = who(), query = who();
  query.auth_kind = ry::str("query_token");
  old.auth_kind = later.auth_kind = ry::str("jwt");
  key.auth_kind = ry::str("api_key");
  old.claims_json = ry::str(R"({"iat":1000})");
  later.claims_json = ry::str(R"({"iat":1002})");
  EXPECT_EQ(ask(old).st, RY_OK);
  people_.note_closing("sub", 1'001'000'000, 60'000'000);
  people_.note_closing("sub", 1'000'000, 60'000'000);
  EXPECT_EQ(ask(old).st, RY_UNAUTHENTICATED) << "the subject has an account again";
  EXPECT_EQ(ask(later).st, RY_OK);
  EXPECT_EQ(ask(key).st, RY_OK);
  EXPECT_EQ(ask(query).st, RY_OK) << "the host refuses the old ones";
  auto unknown = old;
  unknown.claims_json = ry::str("{}");
  EXPECT_EQ(ask(unknown).st, RY_UNAUTHENTICATED) << "a token without a time of issue";
  host_.advance(61'000);
  EXPECT_EQ(ask(old).st, RY_OK) << "after the life of such tokens nothing is remembered";
}

TEST_F(directory_test, a_new_address_is_written_down_but_not_at_every_request) {
  host_.db.on("accounts.provision", row("a@b"));
  ask(who("a@b"));
  ask(who("new@b"));
  EXPECT_EQ(host_.db.calls.size(), 1u);
  host_.advance(7'000);
  ask(who("a@b"));
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ask(who("new@b"));
  EXPECT_EQ(host_.db.calls.size(), 2u);
  ask(who("other@b"));
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(directory_test, a_token_that_says_verified_counts_at_once_and_is_written_once) {
  const auto unverified = [this] {
    auto r = row("a@b");
    r.rows[0][6] = "f";
    return r;
  };
  host_.db.on("accounts.provision", unverified());
  auto verified = who("a@b");
  verified.claims_json = ry::str(R"({"email_verified":true})");
  auto not_yet = who("a@b");
  not_yet.claims_json = ry::str(R"({"email_verified":false})");
  ask(not_yet);
  ask(not_yet);
  EXPECT_EQ(host_.db.calls.size(), 1u);
  ask(verified);
  EXPECT_EQ(host_.db.calls.size(), 2u) << "at once";
  // The database does not agree: it is not asked at every request.
  ask(verified);
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(directory_test, the_claim_of_entra_counts_at_once) {
  auto unverified = row("a@b");
  unverified.rows[0][6] = "f";
  host_.db.on("accounts.provision", unverified);
  ask(who("a@b"));
  auto entra = who("a@b");
  entra.claims_json = ry::str(R"({"iss":"https://login.microsoftonline.com/0f/v2.0","xms_edov":true})");
  ask(entra);
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(directory_test, a_failure_reaches_everyone_and_is_not_remembered) {
  host_.db.fail("accounts.provision", ry::unavailable("db.down", "away"));
  host_.db.on("accounts.provision", row("a@b"));
  answer a, b;
  ensure(a, who());
  ensure(b, who());
  host_.run_ready();
  EXPECT_EQ(a.st, RY_UNAVAILABLE);
  EXPECT_EQ(b.st, RY_UNAVAILABLE);
  EXPECT_EQ(ask(who()).st, RY_OK);
}

TEST_F(directory_test, a_value_read_before_a_change_is_not_cached) {
  host_.db.on("accounts.provision", row("a@b"));
  answer a;
  ensure(a, who());
  people_.forget("sub");
  host_.run_ready();
  EXPECT_EQ(a.st, RY_OK);
  ask(who());
  EXPECT_EQ(host_.db.calls.size(), 2u);
}

TEST_F(directory_test, finds_by_id_and_refuses_nonsense) {
  host_.db.on("from accounts.account where id", row("a@b", "gone_tier"));
  answer a;
  const auto id = *ry::uuid::parse(ann);
  ASSERT_EQ(account_cache::table()->find(&people_, &id, host_.exec(), &answer::take, &a), RY_OK);
  host_.run_ready();
  EXPECT_EQ(a.st, RY_OK);
  EXPECT_EQ(a.tier, "free") << "an unknown tier has the limits of the default one";
  EXPECT_EQ(account_cache::table()->ensure(&people_, nullptr, host_.exec(), &answer::take, &a), RY_INVALID_ARGUMENT);
}

TEST_F(directory_test, api_keys) {
  const auto key = make_api_key();
  const auto other = make_api_key();
  host_.db.on(
      "from accounts.api_key k",
      {{"secret_hash", "expires_us", "old_touch", "id", "subject", "tier", "role", "email", "display_name", "verified"},
       {{hash_secret(key.secret), std::nullopt, "t", ann, "sub", "pro", "0", "a@b", "Ann", "t"}}});
  const auto ask_key = [&](const std::string& bearer, verdict& v) {
    return key_authenticator::table()->authenticate(&keys_, ry::str(bearer), host_.exec(), &verdict::take, &v);
  };
  verdict good, wrong, none;
  ASSERT_EQ(ask_key("ry_" + key.id + "_" + key.secret, good), RY_OK);
  EXPECT_EQ(good.calls, 0);
  host_.run_ready();
  EXPECT_EQ(good.calls, 1);
  EXPECT_EQ(good.st, RY_OK);
  EXPECT_EQ(good.subject, "sub");
  EXPECT_EQ(good.kind, "api_key");
  EXPECT_THAT(host_.db.calls.back().sql, testing::HasSubstr("last_used_at = now()"));

  ASSERT_EQ(ask_key("ry_" + key.id + "_" + other.secret, wrong), RY_OK);
  host_.run_ready();
  EXPECT_EQ(wrong.calls, 1);
  EXPECT_EQ(wrong.st, RY_UNAUTHENTICATED);

  EXPECT_EQ(ask_key("sk-something-else", none), RY_NOT_FOUND);
  EXPECT_EQ(ask_key("ry_short", none), RY_UNAUTHENTICATED);
  EXPECT_EQ(none.calls, 0);
}
