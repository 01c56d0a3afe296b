#include <gtest/gtest.h>

#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include <functional>
#include <set>
#include <thread>

#include "../../tests/support/schema.hpp"
#include "migrations.hpp"
#include "repository.hpp"

namespace {

const std::string ann = "11111111-1111-4111-8111-111111111111";
const std::string bob = "22222222-2222-4222-8222-222222222222";

class accounts_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (!IsSkipped()) migrate("accounts", ry_migrations::all);
  }
  static std::string provision_sql(const std::string& subject, const std::string& id, const std::string& email = "",
                                   bool verified = false, const std::string& grant = "0") {
    return "select id from accounts.provision('" + subject + "', " + (id.empty() ? "null" : "'" + id + "'") + ", '" +
           email + "', 'Name', " + (verified ? "true" : "false") + ", 'CODE', 'free', " + grant + ")";
  }
  std::string provision(const std::string& subject, const std::string& id, const std::string& grant = "0") {
    return sql(provision_sql(subject, id, "", false, grant));
  }
  static std::string add_sql(const std::string& account, const std::string& delta, const std::string& kind,
                             const std::string& ref) {
    return "select accounts.ledger_add('" + account + "', " + delta + ", '" + kind + "', '" + ref + "')";
  }
  std::string add(const std::string& account, const std::string& delta, const std::string& kind,
                  const std::string& ref) {
    return sql(add_sql(account, delta, kind, ref));
  }
  static std::string move_sql(const std::string& account, const std::string& action, const std::string& delta,
                              const std::string& ref) {
    return "select balance_micro || ' ' || replayed from accounts.admin_move('adm', '" + account + "', '" + action +
           "', " + delta + ", '" + ref + "', '{}')";
  }
  std::string move(const std::string& account, const std::string& action, const std::string& delta,
                   const std::string& ref) {
    return sql(move_sql(account, action, delta, ref));
  }
  std::string events(const std::string& kind) {
    return sql("select count(*) from core.event where kind = '" + kind + "'");
  }
  // Runs the statements concurrently, each on its own connection. Retries after a deadlock.
  void run_concurrently(std::size_t n, const std::function<std::string(std::size_t)>& text) {
    std::vector<std::thread> threads;
    std::atomic<std::size_t> ready{0};
    for (std::size_t i = 0; i < n; ++i) {
      threads.emplace_back([&, i] {
        const auto db = connect();
        ++ready;
        while (ready < n) std::this_thread::yield();
        for (;;) {
          try {
            db(text(i));
            return;
          } catch (const testing_sql::sql_error& e) {
            if (e.state != "40P01") {
              ADD_FAILURE() << e.what();
              return;
            }
          }
        }
      });
    }
    for (auto& t : threads) t.join();
  }
};

}  // namespace

TEST_F(accounts_sql, provision_creates_an_account_once_with_its_grant) {
  EXPECT_EQ(sql(provision_sql(ann, ann, "ann@example.org", true, "500000000")), ann);
  EXPECT_EQ(sql(provision_sql(ann, ann, "ann@example.org", true, "500000000")), ann);
  EXPECT_EQ(sql("select balance_micro from accounts.lock_account('" + ann + "')"), "500000000");
  EXPECT_EQ(sql("select tier from accounts.lock_account('" + ann + "')"), "free");
  EXPECT_EQ(sql("select payload from core.event where kind = 'account.created'"),
            R"({"name": "Name", "email": "ann@example.org", "account_id": ")" + ann + R"(", "referral_code": "CODE"})");
  EXPECT_EQ(events("account.created"), "1");
  EXPECT_EQ(events("account.verified"), "1");
  EXPECT_EQ(sql("select count(*) from accounts.ledger"), "1");
  EXPECT_EQ(sql("select count(*) from accounts.lock_account('" + bob + "')"), "0");
}

TEST_F(accounts_sql, equivalent_addresses_have_the_same_mailbox) {
  const std::vector<std::vector<std::string>> equivalents = {
      {"ann.bee@gmail.com", "AnnBee@gmail.com", "a.n.n.b.e.e+x@GoogleMail.com", " annbee@gmail.com. ",
       "\"ann.bee\"@gmail.com", "annbee\uff0btag@gmail.com", "annbee@\uff47mail.com"},
      {"ann@x.org", "ann+1@x.org", "ANN+a+b@X.ORG", "ann+@x.org"},
      {"bee@yahoo.com", "bee-1@yahoo.com"},
      {"an.n@proton.me", "ann@pm.me", "a-n_n+x@protonmail.com"},
      {"ann@icloud.com", "ann+x@me.com", "ann@mac.com"},
      {"ann@fastmail.com", "any@ann.fastmail.com", "ann+1@fastmail.com"},
      {"a-b@yandex.ru", "a.b@ya.ru", "a.b+x@yandex.com"}};
  std::set<std::string> all;
  for (const auto& each : equivalents) {
    std::set<std::string> mailboxes;
    for (const auto& address : each) mailboxes.insert(sql("select accounts.mailbox('" + address + "')"));
    EXPECT_EQ(mailboxes.size(), 1u) << each.front();
    all.insert(mailboxes.begin(), mailboxes.end());
  }
  EXPECT_EQ(all.size(), equivalents.size());
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"a.b@x.org", "ab@x.org"}, {"a-b@x.org", "a@x.org"}, {"+a@x.org", "+b@x.org"}, {"a@x.org", "a@y.org"}}) {
    EXPECT_NE(sql("select accounts.mailbox('" + a + "')"), sql("select accounts.mailbox('" + b + "')")) << a;
  }
  for (const std::string odd : {"", "@", "a@", "@b", "no address", "a@b@c"})
    sql("select accounts.mailbox('" + odd + "')");
}

TEST_F(accounts_sql, a_mailbox_gets_its_starting_credits_once) {
  const auto with = [](const std::string& n, const std::string& email) {
    return provision_sql("s" + n, "", email, true, "500");
  };
  sql(with("1", "ann.bee@gmail.com"));
  sql(with("2", "annbee+2@googlemail.com"));
  sql(with("3", "bob@x.org"));
  sql(with("4", ""));
  sql(with("5", ""));
  EXPECT_EQ(sql("select string_agg(subject || ':' || balance_micro, ' ' order by subject) from accounts.account"),
            "s1:500 s2:0 s3:500 s4:500 s5:500");
  run_concurrently(8,
                   [&](std::size_t i) { return with("p" + std::to_string(i), "eve+" + std::to_string(i) + "@x.org"); });
  EXPECT_EQ(sql("select count(*) || ' ' || sum(balance_micro) from accounts.account where subject like 'sp%'"),
            "8 500");
  sql("delete from accounts.granted_mailbox");
  sql(provision_sql("z", "", "eve@x.org", true, "0"));
  EXPECT_EQ(sql("select count(*) from accounts.granted_mailbox"), "0")
      << "an account without a grant does not use up the mailbox";
}

TEST_F(accounts_sql, a_subject_that_is_not_a_uuid_has_a_stable_account) {
  const auto id = provision("auth0|1", "");
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(id[14], '7');
  EXPECT_EQ(provision("auth0|1", ""), id);
  EXPECT_NE(provision("auth0|2", ""), id);
  EXPECT_EQ(state_of(provision_sql(id, id)), "RY403") << "an id alone does not give access to an account";
}

TEST_F(accounts_sql, provision_updates_but_never_erases_data) {
  sql(provision_sql(ann, ann, "old@example.org"));
  sql(provision_sql(ann, ann, ""));
  EXPECT_EQ(sql("select email from accounts.account"), "old@example.org");
  EXPECT_EQ(events("account.verified"), "0");
  sql(provision_sql(ann, ann, "new@example.org", true));
  sql(provision_sql(ann, ann, "new@example.org", false));
  sql(provision_sql(ann, ann, "new@example.org", true));
  EXPECT_EQ(sql("select email || (verified_at is not null)::text from accounts.account"), "new@example.orgtrue");
  EXPECT_EQ(events("account.verified"), "1");
}

TEST_F(accounts_sql, verification_applies_to_an_address) {
  sql(provision_sql(ann, ann, "old@example.org", true));
  const auto verified = [&] { return sql("select verified_at is not null from accounts.account"); };
  sql(provision_sql(ann, ann, "OLD@example.org", false));
  EXPECT_EQ(verified(), "t") << "the same address";
  sql(provision_sql(ann, ann, "new@example.org", false));
  EXPECT_EQ(verified(), "f");
  sql(provision_sql(ann, ann, "new@example.org", true));
  EXPECT_EQ(verified() + events("account.verified"), "t2");
  sql(provision_sql(ann, ann, "newer@example.org", true));
  EXPECT_EQ(verified() + events("account.verified"), "t2");
}

TEST_F(accounts_sql, nothing_is_added_to_a_closed_account) {
  const std::string session = "select accounts.open_session('" + ann + "', accounts.new_id(), '\\x00', '', 1)";
  const std::string key =
      "select accounts.add_key('adm', '" + ann + "', '0123456789abcdef', 'name', sha256('x'), 1, 10)";
  const std::string login = "insert into accounts.login (account_id, email, email_key, password_hash) values ('" + ann +
                            "', 'a@x.org', 'a@x.org', '')";
  provision(ann, ann, "500");
  sql(session);
  sql(key);
  EXPECT_EQ(sql("select accounts.close_account('adm', '" + ann + "', '{}')"), "t");
  EXPECT_EQ(state_of(session), "RY401");
  EXPECT_EQ(state_of("select accounts.add_key('adm', '" + ann + "', '0123456789abcdee', 'name', sha256('x'), 1, 10)"),
            "RY401");
  EXPECT_EQ(state_of(login), "RY401");
  EXPECT_EQ(state_of(provision_sql("closed:" + ann, "")), "RY401");
  EXPECT_EQ(sql("select count(*) from accounts.lock_account('" + ann + "')"), "0") << "no run can start";
  EXPECT_EQ(sql("select tiers[1] is null from accounts.try_lock_accounts(array['" + ann + "'::uuid])"), "t");
}

TEST_F(accounts_sql, an_unverified_address_does_not_own_its_mailbox) {
  const auto owns = [this](const std::string& subject) {
    return sql("select accounts.owns_mailbox(a.id) from accounts.account a where a.subject = '" + subject + "'");
  };
  sql(provision_sql("squatter", "", "vic.tim@gmail.com"));
  EXPECT_EQ(owns("squatter"), "t") << "no other account has the address";
  sql(provision_sql("second", "", "victim+2@gmail.com"));
  EXPECT_EQ(owns("second"), "f");
  sql(provision_sql("victim", "", "victim@gmail.com", true));
  EXPECT_EQ(owns("victim"), "t");
  EXPECT_EQ(owns("squatter"), "f");
  sql(provision_sql("second", "", "victim+2@gmail.com", true));
  EXPECT_EQ(owns("second"), "f") << "the first verified account keeps it";
}

TEST_F(accounts_sql, concurrent_first_requests_create_one_account) {
  run_concurrently(8, [](std::size_t) { return provision_sql(ann, ann, "a@b", true, "500"); });
  run_concurrently(8, [](std::size_t) { return provision_sql("auth0|1", "", "a@b", true, "500"); });
  EXPECT_EQ(sql("select count(*) from accounts.account"), "2");
  // The starting credits are granted once per mailbox.
  EXPECT_EQ(sql("select count(*) from accounts.ledger"), "1");
  EXPECT_EQ(sql("select sum(balance_micro) from accounts.account"), "500");
  EXPECT_EQ(events("account.created"), "2");
  EXPECT_EQ(events("account.verified"), "2");
}

TEST_F(accounts_sql, concurrent_verifications_are_published_once) {
  provision(ann, ann);
  run_concurrently(8, [](std::size_t) { return provision_sql(ann, ann, "", true); });
  EXPECT_EQ(events("account.verified"), "1");
}

TEST_F(accounts_sql, ledger_add_moves_the_balance_once_per_ref) {
  provision(ann, ann);
  EXPECT_EQ(add(ann, "1000", "grant", "g1"), "1000");
  EXPECT_EQ(add(ann, "-300", "charge", "c1"), "700");
  EXPECT_EQ(add(ann, "-300", "charge", "c1"), "700");
  EXPECT_EQ(add(ann, "-999", "charge", "c1"), "700") << "a repeated call changes nothing";
  EXPECT_EQ(add(ann, "5", "adjust", "c1"), "705") << "another kind is a separate entry";
  EXPECT_EQ(add(ann, "-1000", "charge", "c2"), "-295") << "a charge may overdraw";
  EXPECT_EQ(sql("select string_agg(balance_micro::text, ',' order by id) from accounts.ledger"), "1000,700,705,-295");
  EXPECT_EQ(state_of(add_sql(bob, "1", "grant", "x")), "RY404");
  EXPECT_EQ(state_of(add_sql(ann, "1", "gift", "x")), "23514");
  EXPECT_EQ(state_of(add_sql(ann, "9223372036854775807", "grant", "x")), "");
  EXPECT_EQ(state_of(add_sql(ann, "9223372036854775807", "grant", "y")), "22003");
}

TEST_F(accounts_sql, concurrent_calls_with_one_ref_count_once) {
  provision(ann, ann, "1000");
  provision(bob, bob, "1000");
  run_concurrently(8, [](std::size_t) { return add_sql(ann, "-10", "charge", "same"); });
  EXPECT_EQ(sql("select balance_micro from accounts.account where id = '" + ann + "'"), "990");
  run_concurrently(8, [](std::size_t i) { return add_sql(i % 2 ? ann : bob, "-10", "charge", "across"); });
  EXPECT_EQ(sql("select sum(balance_micro) from accounts.account"), "1980");
  EXPECT_EQ(sql("select count(*) from accounts.ledger where kind = 'charge'"), "2");
}

TEST_F(accounts_sql, concurrent_charges_add_up_and_credits_low_is_published_once) {
  provision(ann, ann, "1000");  // the threshold is 20 % of the grant: 200
  run_concurrently(10, [](std::size_t i) {
    std::string all;
    for (int k = 0; k < 9; ++k) {
      all += add_sql(ann, "-10", "charge", std::to_string(i) + "/" + std::to_string(k)) + ";";
    }
    return all;
  });
  EXPECT_EQ(sql("select balance_micro from accounts.account"), "100");
  EXPECT_EQ(sql("select count(*) from accounts.ledger where kind = 'charge'"), "90");
  EXPECT_EQ(sql("select sum(delta_micro) from accounts.ledger"), "100");
  EXPECT_EQ(events("credits.low"), "1");
  EXPECT_EQ(sql("select payload from core.event where kind = 'credits.low'"),
            R"({"account_id": ")" + ann + R"(", "balance_micro": 190, "threshold_percent": 20})");
}

TEST_F(accounts_sql, credits_low_is_published_again_at_the_next_crossing) {
  provision(ann, ann, "1000");
  add(ann, "-900", "charge", "1");
  add(ann, "-1", "charge", "2");
  EXPECT_EQ(events("credits.low"), "1");
  add(ann, "500", "grant", "3");  // balance 599; the threshold is now 20 % of this grant: 100
  add(ann, "-499", "charge", "4");
  EXPECT_EQ(events("credits.low"), "1") << "100 is not below 100";
  add(ann, "-1", "charge", "5");
  EXPECT_EQ(events("credits.low"), "2");
  add(ann, "-1", "charge", "5");
  EXPECT_EQ(events("credits.low"), "2");
  sql("update accounts.setting set low_percent = 50");
  add(ann, "1000", "grant", "6");
  EXPECT_EQ(sql("select low_mark_micro from accounts.account"), "500");
}

TEST_F(accounts_sql, ledger_and_audit_are_append_only) {
  provision(ann, ann, "1000");
  sql("select accounts.audit_add('admin', 'tier', '" + ann + "', '{}')");
  EXPECT_EQ(state_of("select accounts.audit_add('admin', 'tier', '" + bob + "', '{}')"), "RY404");
  for (const std::string table : {"ledger", "audit"}) {
    EXPECT_EQ(state_of("update accounts." + table + " set account_id = account_id"), "23001");
    EXPECT_EQ(state_of("delete from accounts." + table), "23001");
    EXPECT_EQ(state_of("truncate accounts." + table), "23001");
    EXPECT_EQ(sql("select count(*) from accounts." + table), "1");
  }
}

TEST_F(accounts_sql, old_audit_entries_are_deleted_in_batches) {
  const auto insert = [&](int days, int n) {
    sql("insert into accounts.audit (at, actor, action) select now() - interval '" + std::to_string(days) +
        " days' - interval '1 hour', 'a', 'd" + std::to_string(days) + "' from generate_series(1, " +
        std::to_string(n) + ")");
  };
  insert(364, 3);
  insert(365, 4);
  insert(400, 3);
  EXPECT_EQ(state_of("delete from accounts.audit where action = 'd364'"), "23001");
  EXPECT_EQ(sql("select accounts.tidy_audit(5)"), "5");
  EXPECT_EQ(sql("select count(*) from accounts.audit where action = 'd400'"), "0") << "the oldest are deleted first";
  EXPECT_EQ(sql("select accounts.tidy_audit(5)"), "2");
  EXPECT_EQ(sql("select accounts.tidy_audit(5)"), "0");
  EXPECT_EQ(sql("select string_agg(distinct action, ',') from accounts.audit"), "d364");
  sql("update accounts.setting set audit_days = 0");
  insert(5000, 1);
  EXPECT_EQ(sql("select accounts.tidy_audit(5)"), "0") << "0 days: kept forever";
  EXPECT_EQ(state_of("delete from accounts.audit"), "23001");
}

// Stream tokens live for eight days, so entries of closed accounts are kept for nine even if audit_days is shorter.
TEST_F(accounts_sql, audit_entries_of_closures_outlive_stream_tokens) {
  sql("update accounts.setting set audit_days = 1");
  for (const char* hours : {"36", "193", "217"}) {
    for (const char* action : {"account.delete", "tier"}) {
      sql("insert into accounts.audit (at, actor, action, detail) values (now() - interval '" + std::string(hours) +
          " hours', 'a', '" + action + "', jsonb_build_object('hours', " + hours + "))");
    }
  }
  EXPECT_EQ(state_of("delete from accounts.audit where action = 'account.delete'"), "23001");
  EXPECT_EQ(sql("select accounts.tidy_audit(10)"), "4");
  EXPECT_EQ(sql("select string_agg(action || ' ' || (detail->>'hours'), ',' order by at) from accounts.audit"),
            "account.delete 193,account.delete 36");
}

TEST_F(accounts_sql, a_repeated_revocation_of_a_key_writes_one_audit_entry) {
  provision(ann, ann);
  provision(bob, bob);
  const std::string id = "0123456789abcdef";
  sql("select accounts.add_key('a', '" + ann + "', '" + id + "', 'n', sha256('s'), null, 5)");
  const auto revoke = [&](const std::string& account, const std::string& key) {
    return sql("select accounts.revoke_key('a', '" + account + "', '" + key + "')");
  };
  EXPECT_EQ(revoke(bob, id) + revoke(ann, "0000000000000000"), "ff");
  EXPECT_EQ(revoke(ann, id) + revoke(ann, id) + revoke(ann, id), "ttt");
  EXPECT_EQ(sql("select count(*) from accounts.audit where action = 'api_key.revoke'"), "1");
}

TEST_F(accounts_sql, audit_events_of_other_modules_are_written_once_with_their_actor) {
  provision(ann, ann);
  sql("select accounts.audit_add('admin', 'tier', '" + ann + "', '{}')");
  const std::string act =
      "select accounts.audit_event(7, '2026-11-21 10:00Z', "
      "'{\"actor\":\"op\",\"action\":\"mail.lift\",\"detail\":{\"address\":\"a@b\"}}')";
  run_concurrently(4, [&](std::size_t) { return act; });
  EXPECT_EQ(sql("select string_agg(actor || ' ' || action || ' ' || (detail->>'address') || ' ' ||"
                "  (account_id is null), ',') from accounts.audit where event_id = 7"),
            "op mail.lift a@b true");
  EXPECT_EQ(state_of("select accounts.audit_event(8, now(), '{\"action\":\"x\"}')"), "23502") << "no actor";
}

TEST_F(accounts_sql, lock_account_blocks_other_transactions) {
  provision(ann, ann, "1000");
  const auto other = connect();
  sql("begin");
  sql("select * from accounts.lock_account('" + ann + "')");
  other("set lock_timeout = '50ms'");
  EXPECT_THROW(other("select * from accounts.lock_account('" + ann + "')"), testing_sql::sql_error);
  EXPECT_THROW(other(add_sql(ann, "-1", "charge", "x")), testing_sql::sql_error);
  sql("commit");
  EXPECT_EQ(other("select balance_micro from accounts.lock_account('" + ann + "')"), "1000");
}

TEST_F(accounts_sql, credits_are_exact) {
  EXPECT_EQ(sql("select accounts.credits(1234567)"), "1.234567");
  EXPECT_EQ(sql("select accounts.credits(-5000000)"), "-5");
  EXPECT_EQ(sql("select accounts.credits(0)"), "0");
  EXPECT_EQ(sql("select accounts.credits(9223372036854775807)"), "9223372036854.775807");
}

TEST_F(accounts_sql, a_repeated_admin_action_returns_the_first_result) {
  provision(ann, ann, "1000");
  EXPECT_EQ(move(ann, "grant", "500", "r1"), "1500 false");
  EXPECT_EQ(move(ann, "grant", "70", "r2"), "1570 false");
  EXPECT_EQ(move(ann, "grant", "500", "r1"), "1500 true") << "the balance after the first request";
  EXPECT_EQ(state_of(move_sql(ann, "grant", "501", "r1")), "RY409");
  EXPECT_EQ(state_of(move_sql(bob, "grant", "1", "r9")), "RY404");
  EXPECT_EQ(sql("select balance_micro from accounts.account"), "1570");
  EXPECT_EQ(sql("select count(*) from accounts.audit"), "2") << "a repeated request is not audited";
}

TEST_F(accounts_sql, concurrent_repeats_of_an_admin_action_count_once) {
  provision(ann, ann, "1000");
  run_concurrently(8, [](std::size_t) { return move_sql(ann, "grant", "500", "same"); });
  EXPECT_EQ(sql("select balance_micro from accounts.account"), "1500");
  EXPECT_EQ(sql("select count(*) from accounts.audit"), "1");
}

TEST_F(accounts_sql, a_revoke_never_makes_a_balance_negative) {
  provision(ann, ann, "1000");
  EXPECT_EQ(state_of(move_sql(ann, "revoke", "-1001", "r1")), "RY409");
  EXPECT_EQ(move(ann, "revoke", "-400", "r1"), "600 false") << "a rejected request does not use up its ref";
  run_concurrently(8, [](std::size_t i) {
    return "do $$ begin perform * from accounts.admin_move('adm', '" + ann + "', 'revoke', -200, 'p" +
           std::to_string(i) + "', '{}'); exception when sqlstate 'RY409' then null; end $$";
  });
  EXPECT_EQ(sql("select balance_micro from accounts.account"), "0");
  EXPECT_EQ(sql("select count(*) from accounts.ledger where kind = 'revoke'"), "4");
  add(ann, "-5", "charge", "c");
  EXPECT_EQ(state_of(move_sql(ann, "revoke", "-1", "r2")), "RY409");
}

TEST_F(accounts_sql, unbalanced_finds_ledger_differences) {
  provision(ann, ann, "1000");
  provision(bob, bob);
  run_concurrently(4, [](std::size_t i) {
    const auto n = std::to_string(i);
    return add_sql(ann, "-10", "charge", n) + ";" + add_sql(bob, "7", "adjust", n) + ";" +
           add_sql(ann, "-10", "charge", "same") + ";" + move_sql(ann, "grant", "3", n);
  });
  EXPECT_EQ(sql("select count(*) from accounts.unbalanced()"), "0");
  sql("update accounts.account set balance_micro = balance_micro + 1 where id = '" + bob + "'");
  EXPECT_EQ(sql("select account_id || ' ' || ledger_micro from accounts.unbalanced()"), bob + " 28");
  // The sum is correct again, but an intermediate balance does not match.
  add(bob, "-1", "adjust", "after");
  sql("update accounts.account set balance_micro = balance_micro - 1 where id = '" + bob + "'");
  EXPECT_EQ(sql("select count(*) from accounts.unbalanced()"), "1");
}

TEST_F(accounts_sql, concurrently_created_keys_stay_within_the_limit) {
  provision(ann, ann);
  const auto add_key = [](std::size_t i) {
    const auto n = std::to_string(i);
    return "select accounts.add_key('a', '" + ann + "', '" + std::string(16 - n.size(), '0') + n +
           "', 'k', sha256('x'), null, 3)";
  };
  run_concurrently(8, add_key);
  EXPECT_EQ(sql("select count(*) from accounts.api_key"), "3");
  EXPECT_EQ(sql("select count(*) from accounts.audit"), "3");
  EXPECT_EQ(sql(add_key(9)), "");
  sql("update accounts.api_key set revoked_at = now()");
  EXPECT_NE(sql(add_key(9)), "") << "revoked keys do not count";
  EXPECT_EQ(state_of(add_key(9)), "23505");
}

TEST_F(accounts_sql, an_anonymous_account_gets_its_grant_when_it_becomes_permanent) {
  const auto provision_again = [&](const std::string& email, const std::string& anonymous) {
    sql("select 1 from accounts.provision('anon', null, '" + email + "', '', false, 'CODE', 'free', 5, '', '', '', '" +
        email + "', " + anonymous + ", null)");
    return sql("select balance_micro || ' ' || anonymous from accounts.account where subject = 'anon'");
  };
  EXPECT_EQ(provision_again("", "true"), "0 true");
  EXPECT_EQ(sql("select payload->'referral_code' is null from core.event where kind = 'account.created'"), "t");
  EXPECT_EQ(provision_again("", "null"), "0 true") << "an API key does not show whether its owner is anonymous";
  EXPECT_EQ(provision_again("x@example.org", "false"), "5 false");
  EXPECT_EQ(provision_again("x@example.org", "true"), "5 false");
  EXPECT_EQ(events("account.created"), "1");
}

TEST_F(accounts_sql, a_mailbox_belongs_to_its_first_account) {
  const auto owns = [&](const std::string& id) { return sql("select accounts.owns_mailbox('" + id + "')"); };
  sql(provision_sql(ann, ann, "a.nn@gmail.com"));
  sql(provision_sql(bob, bob, "ann+1@googlemail.com"));
  EXPECT_EQ(owns(ann), "t");
  EXPECT_EQ(owns(bob), "f");
  sql(provision_sql(bob, bob, "bob@example.org"));
  EXPECT_EQ(owns(bob), "t") << "another address";
  sql("select accounts.close_account('adm', '" + ann + "', '{}')");
  sql(provision_sql(bob, bob, "ann@gmail.com"));
  EXPECT_EQ(owns(bob), "f") << "even after the first account was closed";
  EXPECT_EQ(owns("00000000-0000-4000-8000-0000000000ff"), "t");
}

TEST_F(accounts_sql, closing_an_account_removes_personal_data_and_rejects_its_tokens) {
  const auto provision_again = [&](const std::string& issued) {
    return "select id from accounts.provision('" + ann + "', '" + ann +
           "', 'ann@example.org', 'Ann', true, '', 'free', 5, '', "
           "'+1', 'https://x/a.png', 'ann@example.org', false, " +
           issued + ")";
  };
  sql(provision_again("null"));
  sql("select accounts.add_key('a', '" + ann + "', '0123456789abcdef', 'my key', sha256('s'), null, 5)");
  EXPECT_EQ(sql("select accounts.close_account('adm', '" + ann + "', '{\"reason\": \"asked\"}')"), "t");
  EXPECT_EQ(sql("select accounts.close_account('adm', '" + ann + "', '{}')"), "f");
  EXPECT_EQ(
      sql("select subject || email || display_name || phone || avatar || role || (verified_at is null) from accounts.account"),
      "closed:" + ann + "0true");
  EXPECT_EQ(sql("select name || (revoked_at is not null) from accounts.api_key"), "true");
  EXPECT_EQ(events("account.deleted"), "1");
  EXPECT_EQ(sql("select actor || subject || (detail->>'reason') from accounts.audit where action = 'account.delete'"),
            "adm" + ann + "asked");
  EXPECT_EQ(sql("select count(*) from accounts.contact('" + ann + "')"), "0");
  EXPECT_EQ(sql("select count(*) from accounts.ids_after(null, 10)"), "0");
  EXPECT_EQ(sql("select accounts.find_by_email('ann@example.org') is null"), "t");
  EXPECT_EQ(state_of(provision_again("null")), "RY401");
  EXPECT_EQ(state_of(provision_again("now() - interval '1 hour'")), "RY401");
  EXPECT_EQ(state_of(provision_sql(ann, ann)), "RY401")
      << "the call of a node of the previous release, without the time of issue";
  EXPECT_NE(sql(provision_again("clock_timestamp() + interval '1 second'")), ann);
  EXPECT_EQ(sql("select balance_micro from accounts.account where subject = '" + ann + "'"), "0")
      << "starting credits are not granted again";
  EXPECT_EQ(sql("select count(*) from accounts.unbalanced()"), "0");
}

TEST_F(accounts_sql, an_event_is_published_once_per_key) {
  sql(provision_sql(ann, ann));
  const auto publish = [&](const std::string& kind, const std::string& key, const std::string& payload,
                           const std::string& account = ann) {
    return "select replayed from accounts.publish_event('adm', '" + kind + "', '" + key + "', '" + account + "', '" +
           payload + "')";
  };
  EXPECT_EQ(sql(publish("payment.failed", "k", R"({"a": 1, "b": 2})")), "f");
  EXPECT_EQ(sql(publish("payment.failed", "k", R"({"b": 2, "a": 1})")), "t");
  EXPECT_EQ(sql(publish("payment.succeeded", "k", R"({"a": 1})")), "f") << "keys are separate per kind";
  EXPECT_EQ(state_of(publish("payment.failed", "k", R"({"a": 2})")), "RY409");
  EXPECT_EQ(state_of(publish("payment.failed", "other", "{}", bob)), "RY404");
  run_concurrently(8, [&](std::size_t) { return publish("payment.failed", "many", "{}"); });
  EXPECT_EQ(events("payment.failed"), "2");
  EXPECT_EQ(sql("select count(*) from accounts.audit where action = 'event.publish'"), "3");
}

TEST_F(accounts_sql, roles_have_names) {
  EXPECT_EQ(sql("select accounts.role_name(0) || accounts.role_name(1) || accounts.role_name(2)"),
            "useradminsuper_admin");
}

// Prepares each statement of the repository against the real schema.
TEST_F(accounts_sql, every_statement_of_the_repository_prepares) {
  ry::testing::fake_host host;
  host.db.on("", {});
  const accounts::repository repo(host.ctx());
  ry::settings_faults faults;
  const auto cfg = accounts::read_config("{}", faults);
  const auto id = *ry::uuid::parse(ann);
  const auto call = [&](auto task) {
    try {
      host.await(std::move(task));
    } catch (const ry::error&) {
      // The fake database returns no rows; the test needs only the statements.
    }
  };
  call(repo.store_settings(20, 365, true));
  call(repo.provision(accounts::identity{}, cfg.default_tier));
  call(repo.find(id));
  call(repo.describe(id));
  call(repo.change("actor", id, "pro", 1));
  call(repo.move_balance(id, {}));
  call(repo.ledger(id, std::nullopt, 10));
  call(repo.audit({id, "actor", "grant"}, std::nullopt, 10));
  call(repo.add_key("actor", id, {}, 50, id));
  call(repo.list_keys(id));
  call(repo.revoke_key("actor", id, "x"));
  call(repo.key("x"));
  call(repo.record_key_use("x"));
  call(repo.recently_changed_subjects());
  call(repo.record_admin_action(1, 1, "{}"));
  call(repo.delete_old_audit_entries(10));
  call(repo.close("actor", id, "{}"));
  call(repo.recent_closures(10));
  call(repo.record_token_role(id, RY_ROLE_ADMIN));
  call(repo.highest_role(id));
  call(repo.publish("actor", {"payment.failed", "key", id, "{}"}));
  EXPECT_EQ(host.db.calls.size(), 27u);
  int n = 0;
  for (const auto& c : host.db.calls) {
    EXPECT_EQ(state_of("prepare s" + std::to_string(++n) + " as " + c.sql), "") << c.sql;
  }
}
