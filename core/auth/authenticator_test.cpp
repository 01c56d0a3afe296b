#include "core/auth/authenticator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>

#include "core/auth/secret_box.hpp"
#include "core/auth/test_keys.hpp"

using namespace ry::auth;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr std::int64_t second = 1'000'000;
const std::string shared_secret = "0123456789abcdef0123456789abcdef";

// Fake JWKS endpoint: responds immediately, or, with `hold`, when the test calls answer_all().
struct fake_provider {
  std::string body;
  std::string error;
  bool hold = false;
  int fetches = 0;
  std::vector<std::function<void(fetched)>> held;

  fetch_fn fn() {
    return [this](const std::string&, std::function<void(fetched)> done) {
      ++fetches;
      if (hold) {
        held.push_back(std::move(done));
      } else {
        done({body, error});
      }
    };
  }
  void answer_all() {
    auto all = std::move(held);
    held.clear();
    for (auto& done : all) done({body, error});
  }
};

class auth_test : public testing::Test {
 protected:
  auth_test() {
    std::string pattern = (fs::temp_directory_path() / "ry_auth_XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    settings_.data_dir = dir_;
    settings_.now_unix_us = [this] { return now_.load(); };
  }
  ~auth_test() override {
    loops_.stop_and_join();
    fs::remove_all(dir_);
  }
  std::unique_ptr<authenticator> make() { return std::make_unique<authenticator>(settings_, provider_.fn()); }
  // Returns the verdict; waits if authenticate() does not return it synchronously.
  verdict ask(authenticator& a, const std::string& bearer) {
    auto promise = std::make_shared<std::promise<verdict>>();
    auto future = promise->get_future();
    ry_exec* exec = &loops_.at(0);
    waited_ = false;
    auto v = a.authenticate(bearer, exec, [promise, exec](verdict v) {
      EXPECT_TRUE(exec->is_current());
      promise->set_value(std::move(v));
    });
    if (v) return *v;
    waited_ = true;
    if (provider_.hold) provider_.answer_all();
    EXPECT_EQ(future.wait_for(10s), std::future_status::ready);
    return future.get();
  }
  std::string claims(const std::string& more = "") const {
    return R"({"sub":"u1","exp":)" + std::to_string(now_ / second + 3600) + more + "}";
  }
  std::string hs256(const std::string& payload, const std::string& secret = shared_secret) const {
    return sign_hs256(secret, "JWT", json::parse(payload).as_object());
  }

  fs::path dir_;
  std::atomic<std::int64_t> now_{1'700'000'000 * second};
  fake_provider provider_;
  settings settings_;
  ry::exec::loop_pool loops_{2};
  bool waited_ = false;
};

}  // namespace

TEST_F(auth_test, own_tokens_are_accepted_without_any_configuration) {
  const auto a = make();
  const auto made = a->mint_token({"11111111-1111-4111-8111-111111111111", "a@b.c", role::admin, 60s});
  ASSERT_FALSE(made.error);
  const auto v = ask(*a, made.token);
  ASSERT_EQ(v.status, RY_OK) << v.why;
  EXPECT_EQ(v.who->subject, "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(v.who->email, "a@b.c");
  EXPECT_EQ(v.who->role, role::admin);
  EXPECT_EQ(v.who->issuer, own_issuer);
  EXPECT_EQ(a->cached(made.token), v.who);

  struct stat st {};
  ASSERT_EQ(stat((dir_ / "auth.key").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_EQ(ask(*make(), made.token).status, RY_OK) << "the key is persisted";

  now_ += 60 * second + settings_.main.leeway_s * second;
  EXPECT_FALSE(a->cached(made.token));
  EXPECT_EQ(ask(*a, made.token).status, RY_UNAUTHENTICATED);
}

TEST_F(auth_test, tokens_of_a_revoked_session_are_rejected_immediately) {
  const auto a = make();
  const auto of = [&](const char* claims) { return a->mint(claims, 600s).token; };
  const auto ended = of(R"({"sub":"u","sid":"one"})");
  const auto other = of(R"({"sub":"u","sid":"two"})");
  const auto without = of(R"({"sub":"u"})");
  for (const auto& t : {ended, other, without}) ASSERT_EQ(ask(*a, t).status, RY_OK);

  a->revoke_session("u", "one", now_ + 600 * second);
  EXPECT_FALSE(a->cached(ended)) << "even if it was cached";
  EXPECT_EQ(ask(*a, ended).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, of(R"({"sub":"u","sid":"one","n":2})")).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, other).status, RY_OK);
  EXPECT_EQ(ask(*a, without).status, RY_OK);
  now_ += 590 * second;
  a->revoke_session("u", "three", now_);
  EXPECT_EQ(ask(*a, ended).status, RY_UNAUTHENTICATED) << "the revocation is kept until the token expires";
}

TEST_F(auth_test, tokens_of_a_subject_issued_before_a_cutoff_are_rejected) {
  const auto a = make();
  const auto of = [&](const char* claims) { return a->mint(claims, 24h * 10).token; };
  const auto old = of(R"({"sub":"u","role":"admin"})");
  const auto other = of(R"({"sub":"u2"})");
  const auto query = [&](const std::string& bearer) {
    return a->mint_query_token(ask(*a, bearer).who->view(), "/p", 24h * 8).token;
  };
  const auto old_query = query(old);
  const auto closed = now_ + 1 * second;
  now_ += 10 * second;
  const auto later = of(R"({"sub":"u"})");
  const auto later_query = query(later);
  ASSERT_EQ(ask(*a, old).status, RY_OK);

  const auto before = a->revocation_count();
  a->revoke_session("u", "", closed);
  EXPECT_GT(a->revocation_count(), before) << "so that open streams are rechecked";
  EXPECT_EQ(ask(*a, old).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(a->authenticate_query(old_query, "/p").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, later).status, RY_OK);
  EXPECT_EQ(a->authenticate_query(later_query, "/p").status, RY_OK);
  EXPECT_EQ(ask(*a, other).status, RY_OK);
  now_ += 8 * 86'400 * second - 20 * second;
  a->revoke_session("u3", "", now_ + second);
  EXPECT_EQ(ask(*a, old).status, RY_UNAUTHENTICATED) << "until the longest-lived query token has expired";

  a->revoke_session("u", "", now_ + second);
  EXPECT_EQ(ask(*a, later).status, RY_UNAUTHENTICATED) << "a cutoff in the future covers all tokens issued so far";
}

TEST_F(auth_test, shared_secret_with_issuer_and_audience) {
  settings_.main.hs256_secret = shared_secret;
  settings_.main.issuer = "https://id";
  settings_.main.audiences = {"api"};
  const auto a = make();
  EXPECT_EQ(ask(*a, hs256(claims(R"(,"iss":"https://id","aud":"api")"))).status, RY_OK);
  EXPECT_EQ(ask(*a, hs256(claims(R"(,"iss":"https://id")"))).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, hs256(claims(R"(,"aud":"api")"))).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, a->mint_token({"u1", "", role::user, 60s}).token).status, RY_OK);
  EXPECT_EQ(ask(*a, hs256(claims(R"(,"iss":"https://id","aud":"api")"), shared_secret + "x")).status,
            RY_UNAUTHENTICATED);
  EXPECT_FALSE(fs::exists(dir_ / "auth.key"));
}

TEST_F(auth_test, rejects_hostile_tokens_immediately) {
  settings_.main.hs256_secret = shared_secret;
  const auto a = make();
  const auto good = hs256(claims());
  ASSERT_EQ(ask(*a, good).status, RY_OK);
  const auto body = good.substr(good.find('.'), good.rfind('.') - good.find('.') + 1);
  std::vector<std::string> bad = {"",
                                  ".",
                                  "..",
                                  "garbage",
                                  std::string("a\0b", 3),
                                  good + ".",
                                  good.substr(0, good.size() - 1),
                                  good.substr(0, good.rfind('.') + 1),
                                  base64url_encode(R"({"alg":"none"})") + body,
                                  base64url_encode(R"({"alg":"RS256"})") + body + "AAAA",
                                  std::string(9000, 'e'),
                                  "e" + std::string(4000, '.'),
                                  hs256(claims(), "another secret of thirty-two bytes")};
  for (const auto& token : bad) {
    EXPECT_EQ(ask(*a, token).status, RY_UNAUTHENTICATED) << token.substr(0, 60);
    EXPECT_FALSE(waited_);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto changed = good;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (changed == good) continue;
    EXPECT_EQ(ask(*a, changed).status, RY_UNAUTHENTICATED) << i;
  }
}

TEST_F(auth_test, key_set_from_url_is_fetched_once_and_refreshed_for_an_unknown_key) {
  const test::rsa_key first, second_key;
  settings_.main.jwks_url = "https://id/jwks";
  provider_.body = first.jwks("k1");
  provider_.hold = true;
  const auto a = make();

  EXPECT_EQ(ask(*a, first.sign("k1", claims())).status, RY_OK);
  EXPECT_TRUE(waited_);
  EXPECT_EQ(provider_.fetches, 1);
  EXPECT_EQ(ask(*a, first.sign("k1", claims(R"(,"n":2)"))).status, RY_OK);
  EXPECT_FALSE(waited_);

  provider_.body = second_key.jwks("k2");
  EXPECT_EQ(ask(*a, second_key.sign("k2", claims())).status, RY_UNAUTHENTICATED) << "rate limit";
  EXPECT_EQ(provider_.fetches, 1);
  now_ += settings_.jwks_min_interval_us;
  const auto old_token = first.sign("k1", claims(R"(,"n":3)"));
  EXPECT_EQ(ask(*a, old_token).status, RY_OK);
  EXPECT_EQ(ask(*a, second_key.sign("k2", claims())).status, RY_OK);
  EXPECT_EQ(provider_.fetches, 2);
  EXPECT_FALSE(a->cached(old_token)) << "its key was removed";
  EXPECT_EQ(ask(*a, second_key.sign("k1", claims())).status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, first.sign("k2", claims())).status, RY_UNAUTHENTICATED) << "signed with another key";
  EXPECT_EQ(provider_.fetches, 2);
}

TEST_F(auth_test, stale_keys_are_used_while_the_provider_is_unreachable) {
  const test::rsa_key key;
  settings_.main.jwks_url = "https://id/jwks";
  provider_.error = "connection refused";
  const auto a = make();
  EXPECT_EQ(ask(*a, key.sign("k1", claims())).status, RY_UNAVAILABLE) << "no key set was fetched yet";
  EXPECT_EQ(ask(*a, key.sign("k1", claims())).status, RY_UNAVAILABLE);
  EXPECT_EQ(provider_.fetches, 1);

  now_ += settings_.jwks_min_interval_us;
  provider_.error.clear();
  provider_.body = key.jwks("k1");
  EXPECT_EQ(ask(*a, key.sign("k1", claims())).status, RY_OK);

  provider_.body = "<html>maintenance</html>";
  now_ += settings_.jwks_max_age_us;
  EXPECT_EQ(ask(*a, key.sign("k1", claims(R"(,"n":2)"))).status, RY_OK);
  EXPECT_EQ(provider_.fetches, 3) << "refreshed in the background";
  EXPECT_EQ(ask(*a, key.sign("k1", claims(R"(,"n":3)"))).status, RY_OK);
  EXPECT_EQ(ask(*a, hs256(claims())).status, RY_UNAUTHENTICATED)
      << "the public key must not be accepted as an HMAC secret";
}

TEST_F(auth_test, concurrent_waiters_share_one_fetch) {
  const test::rsa_key key;
  settings_.main.jwks_url = "https://id/jwks";
  provider_.body = key.jwks("k1");
  provider_.hold = true;
  const auto a = make();
  a->warm_up();
  std::atomic<int> good{0};
  std::promise<void> all;
  for (int i = 0; i < 20; ++i) {
    auto v = a->authenticate(key.sign("k1", claims(",\"n\":" + std::to_string(i))),
                             &loops_.at(static_cast<std::size_t>(i % 2)), [&](verdict v) {
                               if (v.status == RY_OK && ++good == 20) all.set_value();
                             });
    EXPECT_FALSE(v);
  }
  EXPECT_EQ(provider_.fetches, 1);
  provider_.answer_all();
  EXPECT_EQ(all.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(auth_test, key_set_from_file) {
  const test::rsa_key key, next;
  settings_.main.jwks_file = dir_ / "jwks.json";
  EXPECT_THROW(make(), std::runtime_error);
  std::ofstream(settings_.main.jwks_file) << key.jwks("k1");
  const auto a = make();
  EXPECT_EQ(ask(*a, key.sign("k1", claims())).status, RY_OK);
  std::ofstream(settings_.main.jwks_file) << next.jwks("k2");
  now_ += settings_.jwks_min_interval_us;
  EXPECT_EQ(ask(*a, next.sign("k2", claims())).status, RY_OK);
  settings_.main.jwks_url = "https://id/jwks";
  EXPECT_THROW(make(), std::runtime_error);
}

TEST_F(auth_test, query_tokens_are_valid_for_exactly_one_path) {
  const auto a = make();
  principal who;
  who.subject = "u1";
  who.role = role::super_admin;
  const auto view = who.view();
  const auto token = a->mint_query_token(view, "/agent-run/1/stream", 60s).token;
  const auto v = a->authenticate_query(token, "/agent-run/1/stream");
  ASSERT_EQ(v.status, RY_OK) << v.why;
  EXPECT_EQ(v.who->subject, "u1");
  EXPECT_EQ(v.who->role, role::super_admin);
  EXPECT_EQ(v.who->auth_kind, "query_token");

  EXPECT_EQ(a->authenticate_query(token, "/agent-run/2/stream").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(a->authenticate_query(token, "/agent-run/1/stream/").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(a->authenticate_query(token, "").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, token).status, RY_UNAUTHENTICATED) << "a query token is not accepted as a bearer token";
  const auto bearer = a->mint_token({"u1", "", role::user, 60s}).token;
  EXPECT_EQ(a->authenticate_query(bearer, "/agent-run/1/stream").status, RY_UNAUTHENTICATED);
  now_ += 60 * second;
  EXPECT_EQ(a->authenticate_query(token, "/agent-run/1/stream").status, RY_UNAUTHENTICATED);

  const auto long_one = a->mint_query_token(view, "/p", 24h * 365).token;
  now_ += (8 * 24 * 3600 - 1) * second;
  EXPECT_EQ(a->authenticate_query(long_one, "/p").status, RY_OK);
  now_ += second;
  EXPECT_EQ(a->authenticate_query(long_one, "/p").status, RY_UNAUTHENTICATED) << "capped at eight days";
}

TEST_F(auth_test, query_tokens_are_revoked_with_their_session) {
  const auto a = make();
  principal who;
  who.subject = "u1";
  who.claims_json = R"({"sub":"u1","sid":"one"})";
  const auto token = a->mint_query_token(who.view(), "/p", 600s).token;
  who.claims_json = R"({"sub":"u1","sid":"two"})";
  const auto other = a->mint_query_token(who.view(), "/p", 600s).token;
  const auto opened = a->authenticate_query(token, "/p").who;
  ASSERT_TRUE(opened);
  EXPECT_FALSE(a->is_revoked(*opened));
  const auto before = a->revocation_count();
  a->revoke_session("u1", "one", now_ + 600 * second);
  EXPECT_GT(a->revocation_count(), before);
  a->revoke_session("u1", "one", now_ + 600 * second);
  EXPECT_EQ(a->revocation_count(), before + 1) << "repeating it has no effect";
  EXPECT_TRUE(a->is_revoked(*opened)) << "the caller of an open stream";
  EXPECT_EQ(a->authenticate_query(token, "/p").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(a->authenticate_query(other, "/p").status, RY_OK);
}

TEST_F(auth_test, query_token_paths_are_compared_after_normalisation) {
  const auto a = make();
  principal who;
  who.subject = "u1";
  const std::string id = "0192f0c1-2d3e-7f00-8a1b-0123456789ab";
  const auto token = a->mint_query_token(who.view(), "/agent-run/" + id + "/stream", 60s).token;
  for (const std::string path : {"/agent-run/0192F0C1-2D3E-7F00-8A1B-0123456789AB/stream",
                                 "/agent-run/%30192f0c1-2d3e-7f00-8a1b-0123456789%41b/stream",
                                 "/agent-run/0192f0c1%2d2d3e-7f00-8a1b-0123456789ab/%73tream"}) {
    EXPECT_EQ(a->authenticate_query(token, path).status, RY_OK) << path;
  }
  for (const std::string path : {"/agent-run/0192f0c1-2d3e-7f00-8a1b-0123456789ac/stream",
                                 "/AGENT-RUN/0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream",
                                 "/agent-run%2f0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream",
                                 "/agent-run/0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream%",
                                 "/agent-run/0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream%2",
                                 "/agent-run/0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream%zz",
                                 "//agent-run/0192f0c1-2d3e-7f00-8a1b-0123456789ab/stream"}) {
    EXPECT_EQ(a->authenticate_query(token, path).status, RY_UNAUTHENTICATED) << path;
  }
}

TEST_F(auth_test, mint_validates_its_claims) {
  const auto a = make();
  for (const char* bad : {"", "[]", "{}", R"({"sub":""})", R"({"sub":1})", "{\"sub\":\"\xff\"}"}) {
    ASSERT_TRUE(a->mint(bad, 60s).error) << bad;
  }
  EXPECT_TRUE(a->mint(R"({"sub":"u"})", 0ms).error);
  EXPECT_TRUE(a->mint(R"({"sub":"u"})", -1ms).error);
  EXPECT_TRUE(a->mint(R"({"sub":"u"})", std::chrono::milliseconds::max()).error);
  EXPECT_TRUE(a->mint(R"({"sub":"u","x":")" + std::string(33000, 'x') + "\"}", 60s).error);
  const auto v = ask(*a, a->mint(R"({"sub":"u","iss":"evil","exp":1,"x":7})", 60s).token);
  ASSERT_EQ(v.status, RY_OK);
  EXPECT_EQ(v.who->issuer, own_issuer);
  EXPECT_EQ(json::parse(v.who->claims_json).at("x").as_int64(), 7);
}

namespace {

// Accepts <name>:ok, rejects <name>:bad, fails at <name>:throw, and returns RY_OK without a principal for <name>:empty.
struct fake_driver {
  std::string name;
  std::atomic<int> asked{0};

  static ry_status authenticate(void* self, ry_str bearer, ry_exec* exec, ry_principal_fn fn, void* ctx) noexcept {
    auto& d = *static_cast<fake_driver*>(self);
    ++d.asked;
    EXPECT_TRUE(exec->is_current());
    const auto text = ry::core::str(bearer);
    if (text == d.name + ":throw") return RY_INTERNAL;
    exec->post([&d, text, fn, ctx] {
      if (text == d.name + ":ok") {
        principal p;
        p.subject = "from-" + d.name;
        p.auth_kind = "api_key";
        const auto v = p.view();
        fn(ctx, RY_OK, &v);
      } else if (text == d.name + ":bad") {
        fn(ctx, RY_UNAUTHENTICATED, nullptr);
      } else if (text == d.name + ":empty") {
        fn(ctx, RY_OK, nullptr);
      } else {
        fn(ctx, RY_NOT_FOUND, nullptr);
      }
    });
    return RY_OK;
  }
  static constexpr ry_authenticator_v1 table{sizeof(ry_authenticator_v1), 0, authenticate};
};

}  // namespace

TEST_F(auth_test, other_tokens_are_offered_to_each_driver_in_turn) {
  ry::module::runtime rt;
  ry_host host(rt, "accounts", 1);
  fake_driver a_driver{"a"}, b_driver{"b"};
  const auto a = make();
  a->add_driver({"b", &host, &fake_driver::table, &b_driver});
  a->add_driver({"a", &host, &fake_driver::table, &a_driver});
  EXPECT_EQ(host.outstanding, 2);

  auto v = ask(*a, "b:ok");
  ASSERT_EQ(v.status, RY_OK);
  EXPECT_EQ(v.who->subject, "from-b");
  EXPECT_EQ(a_driver.asked, 1);
  EXPECT_EQ(ask(*a, "b:ok").who, v.who);
  EXPECT_FALSE(waited_) << "served from the cache";
  EXPECT_EQ(ask(*a, "a:bad").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(ask(*a, "a:throw").status, RY_UNAVAILABLE);
  EXPECT_EQ(ask(*a, "a:empty").status, RY_UNAVAILABLE);
  EXPECT_EQ(ask(*a, "nobody:ok").status, RY_UNAUTHENTICATED);

  a->forget("from-b");
  EXPECT_FALSE(a->cached("b:ok"));
  EXPECT_EQ(ask(*a, "b:ok").status, RY_OK);
  now_ += settings_.driver_verdict_ttl_us;
  EXPECT_FALSE(a->cached("b:ok"));

  std::promise<void> removed;
  a->remove_driver("b", [&] { removed.set_value(); });
  EXPECT_EQ(removed.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(ask(*a, "b:ok").status, RY_UNAUTHENTICATED);
  EXPECT_EQ(host.outstanding, 1);
  bool unknown_gone = false;
  a->remove_driver("b", [&] { unknown_gone = true; });
  EXPECT_TRUE(unknown_gone);
  a->remove_driver("a", {});
}

TEST_F(auth_test, abi_tables_reach_the_authenticator_and_the_secret_box) {
  const auto a = make();
  const secret_box box({}, dir_);
  ry::module::runtime rt;
  ry_host host(rt, "m", 1);
  std::string got;
  const auto take = [](void* ctx, ry_bytes b) noexcept {
    *static_cast<std::string*>(ctx) = std::string(ry::core::sv(b));
  };
  const ry_auth_v1& auth = auth_v1();
  const ry_secrets_v1& secrets = secrets_v1();
  EXPECT_EQ(auth.mint(&host, ry::core::view("{}"), 1000, take, &got), RY_FAILED_PRECONDITION);
  EXPECT_EQ(secrets.seal(&host, ry::core::view("c"), ry::core::bytes("x"), take, &got), RY_UNAVAILABLE);
  rt.auth = a.get();
  rt.secrets = const_cast<secret_box*>(&box);
  EXPECT_EQ(auth.mint(&host, ry::core::view("{}"), 1000, take, &got), RY_INVALID_ARGUMENT);
  ASSERT_EQ(auth.mint(&host, ry::core::view(R"({"sub":"u"})"), 1000, take, &got), RY_OK);
  EXPECT_EQ(ask(*a, got).status, RY_OK);
  auth.forget(&host, ry::core::view("u"));
  EXPECT_FALSE(a->cached(got));
  EXPECT_EQ(auth.mint_query_token(&host, nullptr, ry::core::view("/p"), 1000, take, &got), RY_INVALID_ARGUMENT);

  ASSERT_EQ(secrets.seal(&host, ry::core::view("c"), ry::core::bytes("x"), take, &got), RY_OK);
  const auto sealed = got;
  EXPECT_EQ(secrets.open(&host, ry::core::view("d"), ry::core::bytes(sealed), take, &got), RY_DATA_LOSS);
  ASSERT_EQ(secrets.open(&host, ry::core::view("c"), ry::core::bytes(sealed), take, &got), RY_OK);
  EXPECT_EQ(got, "x");
}
