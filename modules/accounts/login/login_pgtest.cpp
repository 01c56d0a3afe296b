#include <gtest/gtest.h>
#include <ry/testing.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "../../../tests/support/schema.hpp"
#include "../throttle.hpp"
#include "migrations.hpp"
#include "repository.hpp"

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string bob = "22222222-2222-4222-8222-222222222222";
const std::string s1 = "aaaaaaaa-0000-4000-8000-000000000001";
const std::string s2 = "aaaaaaaa-0000-4000-8000-000000000002";

class login_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    sql("create table core.job (kind text, args jsonb);"
        "create function core.job_enqueue(p_kind text, p_args jsonb) returns table (id bigint, "
        "fence bigint)"
        "  language sql as $$ insert into core.job values (p_kind, p_args); select 1::bigint, "
        "1::bigint $$");
    migrate("accounts", ry_migrations::all);
  }
  void begin_sign_up(const std::string& id, const std::string& key, const std::string& token) {
    sql("select accounts.begin_sign_up('" + id + "', '" + key + "', '" + key + "', 'hash-" + token +
        "', sha256('proof'), 'Ann', 'CODE', '203.0.113.0/24', 24)");
    sql("update accounts.sign_up set token_hash = sha256('" + token + "') where id = '" + id + "'");
  }
  static std::string finish_sql(const std::string& token, const std::string& id) {
    return "select accounts.finish_sign_up(sha256('" + token + "'), '" + id + "', 'free', 5)";
  }
  void make_login(const std::string& id, const std::string& key) {
    sql("select accounts.make_login('" + id + "', '" + key + "', '" + key + "', 'h', 'N', '', '', true, 'free', 0)");
  }
  void open(const std::string& account, const std::string& id, const std::string& token) {
    sql("select accounts.open_session('" + account + "', '" + id + "', sha256('" + token + "'), 'agent', 30)");
  }
  std::string refresh(const std::string& token, const std::string& next) {
    return sql("select outcome from accounts.refresh(sha256('" + token + "'), sha256('" + next + "'), 20, 30)");
  }
  // Creates the function of the module mail that accounts calls. It waits for 0.1 s, so that concurrent calls overlap.
  void make_mail_schema() {
    sql("create schema mail");
    sql("create function mail.enqueue(category text, address text, subject text, body_text text,"
        "    body_html text default null, bulk boolean default false, key text default null,"
        "    ttl interval default '2 days') returns table(id uuid, outcome text)"
        "  language sql as $$ select null::uuid, 'queued' from pg_sleep(0.1) $$");
  }
  // Runs n statements concurrently and counts their results.
  std::map<std::string, int> run_concurrently(std::size_t n, const std::function<std::string(std::size_t)>& text) {
    std::vector<std::thread> threads;
    std::vector<std::string> answers(n);
    std::atomic<std::size_t> ready{0};
    for (std::size_t i = 0; i < n; ++i) {
      threads.emplace_back([&, i] {
        const auto db = connect();
        ++ready;
        while (ready < n) std::this_thread::yield();
        try {
          answers[i] = db(text(i));
        } catch (const testing_sql::sql_error& e) {
          answers[i] = e.state;
        }
      });
    }
    for (auto& t : threads) t.join();
    std::map<std::string, int> out;
    for (const auto& a : answers) ++out[a];
    return out;
  }
};

}  // namespace

TEST_F(login_sql, a_sign_up_creates_no_account_until_its_link_is_opened) {
  begin_sign_up(ann, "a@x.org", "t1");
  EXPECT_EQ(sql("select count(*) from accounts.account"), "0");
  EXPECT_EQ(sql("select count(*) from core.event"), "0");
  EXPECT_EQ(sql(finish_sql("other", ann)), "");
  EXPECT_EQ(sql(finish_sql("t1", ann)), ann);
  EXPECT_EQ(sql("select email || ' ' || (verified_at is not null) from accounts.account"), "a@x.org true");
  EXPECT_EQ(sql("select payload->>'referral_code' from core.event where kind = 'account.created'"), "CODE");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'account.verified'"), "1");
  EXPECT_EQ(sql("select password_hash from accounts.login"), "hash-t1");
  EXPECT_EQ(sql(finish_sql("t1", ann)), "") << "valid for one use";
}

TEST_F(login_sql, the_event_of_a_sign_up_includes_its_network) {
  begin_sign_up(ann, "a@x.org", "t1");
  sql(finish_sql("t1", ann));
  EXPECT_EQ(sql("select payload->>'network' from core.event where kind = 'account.created'"), "203.0.113.0/24");
  make_login(bob, "b@x.org");
  EXPECT_EQ(sql("select payload ? 'network' from core.event where key = '" + bob + "' and kind = 'account.created'"),
            "f");
}

TEST_F(login_sql, concurrent_uses_of_one_link_create_one_account) {
  begin_sign_up(ann, "a@x.org", "t1");
  auto got = run_concurrently(8, [](std::size_t) { return finish_sql("t1", ann); });
  EXPECT_EQ(got[ann], 1);
  EXPECT_EQ(got[""], 7);
  EXPECT_EQ(sql("select count(*) from accounts.login"), "1");
}

TEST_F(login_sql, of_two_sign_ups_with_one_address_the_first_link_succeeds) {
  begin_sign_up(ann, "a@x.org", "t1");
  begin_sign_up(bob, "a@x.org", "t2");
  auto got = run_concurrently(8, [](std::size_t i) { return i % 2 ? finish_sql("t1", ann) : finish_sql("t2", bob); });
  EXPECT_EQ(got[ann] + got[bob], 1) << "the others find no valid link, or an account";
  EXPECT_EQ(sql("select count(*) from accounts.account"), "1");
  EXPECT_EQ(sql("select count(*) from accounts.sign_up"), "0");
  begin_sign_up(s1, "a@x.org", "t3");
  EXPECT_EQ(state_of(finish_sql("t3", s1)), "RY409");
}

TEST_F(login_sql, expired_links_and_a_fifth_sign_up_are_rejected) {
  begin_sign_up(ann, "a@x.org", "t1");
  sql("update accounts.sign_up set expires_at = now() - interval '1 second'");
  EXPECT_EQ(sql(finish_sql("t1", ann)), "");
  for (int i = 0; i < 6; ++i) {
    begin_sign_up("aaaaaaaa-0000-4000-8000-00000000001" + std::to_string(i), "b@x.org", "b" + std::to_string(i));
  }
  EXPECT_EQ(sql("select count(*) from accounts.sign_up where email_key = 'b@x.org'"), "4");
  EXPECT_EQ(sql("select count(*) from accounts.sign_up where token_hash in (sha256('b0'), sha256('b1'))"), "0");
  sql("select accounts.tidy_logins()");
  EXPECT_EQ(sql("select count(*) from accounts.sign_up where email_key = 'a@x.org'"), "0");
}

TEST_F(login_sql, a_refresh_token_is_valid_for_one_use) {
  make_login(ann, "a@x.org");
  open(ann, s1, "r1");
  open(ann, s2, "q1");
  EXPECT_EQ(refresh("r1", "r2"), "next");
  EXPECT_EQ(refresh("r1", "r2b"), "next") << "a lost response, or another tab";
  EXPECT_EQ(refresh("r2", "r3"), "next");
  sql("update accounts.refresh_token set used_at = used_at - interval '1 minute' where used_at is "
      "not null");
  EXPECT_EQ(refresh("r1", "r4"), "reused");
  EXPECT_EQ(refresh("r3", "r5"), "") << "the session of both the thief and the owner has ended";
  EXPECT_EQ(refresh("r2b", "r5"), "");
  EXPECT_EQ(refresh("q1", "q2"), "next") << "another session continues";
  EXPECT_EQ(refresh("unknown", "x"), "");
}

TEST_F(login_sql, a_session_keeps_its_ten_newest_unused_refresh_tokens) {
  make_login(ann, "a@x.org");
  open(ann, s1, "r1");
  open(ann, s2, "q1");
  auto got = run_concurrently(30, [](std::size_t i) {
    return "select outcome from accounts.refresh(sha256('r1'), sha256('n" + std::to_string(i) + "'), 20, 30)";
  });
  EXPECT_EQ(got["next"], 30);
  EXPECT_EQ(refresh("r1", "last"), "next");
  EXPECT_EQ(sql("select count(*) filter (where used_at is null) || ' ' || count(*) from accounts.refresh_token"
                " where session_id = '" +
                s1 + "'"),
            "10 11");
  EXPECT_EQ(refresh("last", "later"), "next") << "the newest token is kept";
  EXPECT_EQ(refresh("q1", "q2"), "next") << "tokens of another session remain valid";
}

TEST_F(login_sql, sessions_end_individually_together_and_by_expiry) {
  make_login(ann, "a@x.org");
  make_login(bob, "b@x.org");
  open(ann, s1, "r1");
  open(ann, s2, "r2");
  EXPECT_EQ(sql("select count(*) from accounts.end_sessions('" + bob + "', '" + s1 + "', null)"), "0")
      << "belongs to another account";
  EXPECT_EQ(sql("select accounts.end_sessions('" + ann + "', null, '" + s1 + "')"), s2);
  EXPECT_EQ(refresh("r2", "x"), "");
  EXPECT_EQ(refresh("r1", "r3"), "next");
  sql("update accounts.session set expires_at = now()");
  EXPECT_EQ(refresh("r3", "x"), "");
  for (int i = 10; i < 65; ++i)
    open(bob, "aaaaaaaa-0000-4000-8000-0000000000" + std::to_string(i), "m" + std::to_string(i));
  EXPECT_EQ(sql("select count(*) from accounts.session where ended_at is null and account_id = '" + bob + "'"), "50");
}

TEST_F(login_sql, a_new_password_ends_sessions_and_invalidates_other_links) {
  make_login(ann, "a@x.org");
  open(ann, s1, "r1");
  open(ann, s2, "r2");
  for (const std::string t : {"l1", "l2"}) {
    sql("insert into accounts.reset values (sha256('" + t + "'), '" + ann + "', now() + interval '1 hour')");
  }
  auto got = run_concurrently(
      6, [](std::size_t i) { return "select accounts.finish_reset(sha256('l1'), 'new" + std::to_string(i) + "')"; });
  EXPECT_EQ(got[ann], 1);
  EXPECT_EQ(sql("select accounts.finish_reset(sha256('l2'), 'again')"), "");
  EXPECT_EQ(sql("select left(password_hash, 3) from accounts.login"), "new");
  EXPECT_EQ(refresh("r1", "x"), "");
  EXPECT_EQ(sql("select count(*) from core.job where kind = 'accounts.letter'"), "1");
  open(ann, "aaaaaaaa-0000-4000-8000-000000000003", "r3");
  EXPECT_EQ(
      sql("select count(*) from accounts.set_password('" + ann + "', 'n', 'aaaaaaaa-0000-4000-8000-000000000003')"),
      "0");
  EXPECT_EQ(refresh("r3", "r4"), "next") << "the session that changed the password continues";
}

TEST_F(login_sql, a_new_password_revokes_api_keys_unless_they_are_kept) {
  make_login(ann, "a@x.org");
  make_login(bob, "b@x.org");
  open(ann, s1, "r1");
  const auto add_key = [](const std::string& who, const std::string& n, const std::string& session) {
    return "select accounts.add_key('a', '" + who + "', '000000000000000" + n + "', 'key " + n +
           "', sha256('x'), null, 50, " + session + ")";
  };
  const std::string session = "'" + s1 + "'";
  sql(add_key(ann, "1", session));
  sql(add_key(bob, "2", "null"));
  EXPECT_EQ(sql("select args->>'kind' || ' ' || (args->>'name') from core.job order by args->>'name' limit 1"),
            "key key 1");
  sql("delete from core.job");
  sql("select accounts.set_password('" + ann + "', 'n', '" + s1 + "', true)");
  EXPECT_EQ(sql("select count(*) from accounts.api_key where revoked_at is null"), "2");
  EXPECT_EQ(sql("select (args->>'keys_kept') || ' ' || (args->'keys'->0->>'name') from core.job"), "true key 1");
  sql("delete from core.job");
  sql("select accounts.set_password('" + ann + "', 'n', null, false)");
  EXPECT_EQ(sql("select id from accounts.api_key where revoked_at is null"), "0000000000000002")
      << "belongs to another account";
  EXPECT_EQ(sql("select (args->>'keys_kept') || ' ' || (args->'keys'->0->>'name') from core.job"), "false key 1");
  EXPECT_EQ(sql("select count(*) from accounts.audit where action = 'api_key.revoke'"), "1");
  EXPECT_EQ(state_of(add_key(ann, "3", session)), "RY401") << "created by a session that has ended in the meantime";

  sql("select accounts.end_all_sessions('" + bob + "', false)");
  EXPECT_EQ(sql("select count(*) from accounts.api_key where revoked_at is null"), "1");
  sql("select accounts.end_all_sessions('" + bob + "', true)");
  EXPECT_EQ(sql("select count(*) from accounts.api_key where revoked_at is null"), "0");
  sql("update accounts.api_key set revoked_at = now() - interval '31 days'");
  sql("select accounts.tidy_logins()");
  EXPECT_EQ(sql("select count(*) from accounts.api_key"), "0");
}

TEST_F(login_sql, keys_created_during_a_password_change_are_revoked) {
  make_login(ann, "a@x.org");
  open(ann, s1, "r1");
  run_concurrently(8, [&](std::size_t i) {
    if (i == 3) return "select accounts.set_password('" + ann + "', 'n', null, false)";
    return "select accounts.add_key('a', '" + ann + "', '000000000000000" + std::to_string(i) +
           "', 'k', sha256('x'), null, 50, '" + s1 + "')";
  });
  EXPECT_EQ(sql("select count(*) from accounts.api_key where revoked_at is null"), "0");
}

TEST_F(login_sql, sign_ups_of_other_networks_do_not_displace_a_sign_up) {
  const auto from = [&](int n, const std::string& network) {
    sql("select accounts.begin_sign_up('aaaaaaaa-0000-4000-8000-0000000001" + std::to_string(10 + n) +
        "', 'a@x.org', 'a@x.org', 'h', sha256('p'), '', '', '" + network + "', 24)");
  };
  from(0, "203.0.113.0/24");
  for (int n = 1; n < 40; ++n) from(n, "198.51." + std::to_string(n % 5) + ".0/24");
  EXPECT_EQ(sql("select count(*) from accounts.sign_up where network = '203.0.113.0/24'"), "1");
  EXPECT_EQ(sql("select count(*) from accounts.sign_up"), "21") << "four of each of the other networks";
}

TEST_F(login_sql, reset_links_per_address_are_limited_but_a_recent_one_always_exists) {
  make_login(ann, "a@x.org");
  const std::string may = "select accounts.may_mail_reset('" + ann + "', 30)";
  const auto mailed = [&](const std::string& token, const std::string& ago) {
    sql("insert into accounts.reset (token_hash, account_id, expires_at, created_at) values (sha256('" + token +
        "'), '" + ann + "', now() + interval '30 minutes', now() - interval '" + ago + "')");
  };
  EXPECT_EQ(sql(may), "t");
  for (const std::string t : {"1", "2", "3"}) mailed(t, "2 minutes");
  EXPECT_EQ(sql(may), "f");
  sql("update accounts.reset set created_at = now() - interval '11 minutes'");
  EXPECT_EQ(sql(may), "t") << "the newest link is old";
  mailed("4", "1 minute");
  EXPECT_EQ(sql(may), "f");
}

TEST_F(login_sql, concurrent_requests_for_reset_links_count_each_other) {
  make_mail_schema();
  make_login(ann, "a@x.org");
  auto got = run_concurrently(8, [&](std::size_t i) {
    const auto n = std::to_string(i);
    return "select accounts.queue_reset('" + ann + "', 'a@x.org', 's', 'b', 'k" + n + "', sha256('" + n + "'), 30)";
  });
  EXPECT_EQ(got["queued"], 3);
  EXPECT_EQ(sql("select count(*) from accounts.reset"), "3");
}

TEST_F(login_sql, throttle_takes_from_all_buckets_or_from_none) {
  const std::string both = "select accounts.throttle_take('{net,both}', '{100,3}', '{3600,900}')";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sql(both), "0");
  EXPECT_GT(std::stoi(sql(both)), 200);
  EXPECT_EQ(sql("select round(level) from accounts.throttle where key = sha256('net')"), "3");
  sql("update accounts.throttle set at = at - interval '10 minutes'");
  EXPECT_EQ(sql(both), "0") << "the limit recovers with time";
  auto got =
      run_concurrently(10, [](std::size_t) { return "select accounts.throttle_take('{alone}', '{4}', '{3600}') > 0"; });
  EXPECT_LE(got["f"], 5);
  EXPECT_GE(got["f"], 4);
  EXPECT_EQ(sql("select count(*) from accounts.throttle where encode(key, 'escape') like '%net%'"), "0")
      << "keys are stored as hashes";
}

TEST_F(login_sql, a_webhook_message_is_handled_once) {
  const std::string text = "select accounts.identity_event('m1', 'u1', null, 'a@x.org', 'A', true, 'C', '', 'free', 0)";
  auto got = run_concurrently(6, [&](std::size_t) { return text; });
  EXPECT_EQ(got["t"], 1);
  EXPECT_EQ(got["f"], 5);
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'account.created'"), "1");
}

// Prepares each statement of the repository against the real schema.
TEST_F(login_sql, every_statement_of_the_repository_prepares) {
  make_mail_schema();
  ry::testing::fake_host host;
  host.db.on("", {});
  const accounts::login_repository repo(host.ctx());
  accounts::tier t;
  const auto id = *ry::uuid::parse(ann);
  const auto call = [&](auto task) {
    try {
      host.await(std::move(task));
    } catch (const ry::error&) {
      // The fake database returns no rows; the test needs only the statements.
    }
  };
  call(accounts::take_tokens(host.ctx(), {{"k", 1, 1}}));
  call(repo.begin_sign_up({}, "h", 1));
  call(repo.create_login({}, &t));
  call(repo.find_sign_up_by_token("h"));
  call(repo.find_sign_up(id));
  call(repo.delete_sign_up(id));
  call(repo.complete_sign_up("h", id, &t));
  call(repo.find_login(std::string("k")));
  call(repo.find_login(id));
  call(repo.mail_address(id));
  call(repo.rehash(id, "a", "b"));
  call(repo.owner_of(id));
  call(repo.open_session(id, id, "h", "a", 1));
  call(repo.refresh("h", "n", 1));
  call(repo.session_of("h"));
  call(repo.end_sessions(id, std::nullopt, id));
  call(repo.list_sessions(id, "s"));
  call(repo.recently_ended_sessions(1));
  call(repo.queue_reset("k"));
  call(repo.complete_reset("h", "p"));
  call(repo.set_password(id, "p", std::nullopt, false));
  call(repo.end_all_sessions(id, true));
  call(repo.has_reset("h"));
  call(repo.mail("to", {}, "k"));
  call(repo.mail_sign_up({}, {}, "h"));
  call(repo.mail_reset(id, "to", {}, "k", "h", 1));
  call(repo.apply_identity("m", {}, &t));
  call(repo.delete_expired());
  EXPECT_EQ(host.db.calls.size(), 28u);
  int n = 0;
  for (const auto& c : host.db.calls) {
    EXPECT_EQ(state_of("prepare s" + std::to_string(++n) + " as " + c.sql), "") << c.sql;
  }
}
