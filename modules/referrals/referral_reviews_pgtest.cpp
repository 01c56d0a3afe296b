// Qualification, signals against a sign-up, reviews, revocations and suspensions, as decided by the database.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "referrals_sql_test.hpp"

namespace {

using testing_referrals::referrals_sql;

TEST_F(referrals_sql, many_friends_of_one_private_domain_are_a_signal) {
  sql("update referrals.setting set flag_score = 2");
  const auto signals = [&](const std::string& email) {
    const auto id = account(email);
    last_outcome_ = attach(id, code_);
    return sql("select signals->>'same_domain' from referrals.referral where referred_account_id = " + id);
  };
  std::vector<std::string> private_domain, provider_domain;
  for (int i = 1; i <= 6; ++i) {
    private_domain.push_back(signals("m" + std::to_string(i) + "@h" + std::to_string(i) + ".private-domain.example"));
    if (i < 6) {
      EXPECT_EQ(last_outcome_, "successful") << i;
    }
  }
  EXPECT_EQ(private_domain, (std::vector<std::string>{"", "", "", "1", "1", "2"}));
  EXPECT_EQ(last_outcome_, "flagged");
  for (int i = 1; i <= 5; ++i) provider_domain.push_back(signals("m" + std::to_string(i) + "@gmail.com"));
  EXPECT_EQ(provider_domain, std::vector<std::string>(5)) << "the domain of an e-mail provider is not a private domain";
  EXPECT_EQ(sql("select count(distinct d) from unnest(array['a@x.co.uk', 'b@mail.x.co.uk', 'c+1@X.CO.UK']) e,"
                " referrals.domain_of(e) d"),
            "1");
  EXPECT_EQ(sql("select referrals.domain_of('a@x.co.uk') = referrals.domain_of('a@y.co.uk')"), "f");
  EXPECT_EQ(sql("select count(referrals.domain_of(e)) from unnest(array['', 'x', '@', 'a@b', 'a@yahoo.co.jp']) e"),
            "0");
}

TEST_F(referrals_sql, awards_refreshes_and_revocations_are_serialized) {
  const auto award = [](const std::string& id) { return "select referrals.award(array[" + id + "]::uuid[])"; };
  // Runs `first` in a transaction and, concurrently, `second`, which must wait for its commit.
  const auto run_second_after_first = [this](const std::string& first, const std::string& second) {
    const auto db = connect();
    db("begin");
    db(first);
    std::thread other([&] { connect()(second); });
    std::string waiting = "0";
    for (int i = 0; i < 1000 && waiting == "0"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      waiting =
          sql("select count(*) from pg_stat_activity where datname = current_database() and "
              "wait_event_type = 'Lock'");
    }
    EXPECT_EQ(waiting, "1") << second;
    db("commit");
    other.join();
  };
  const auto refresh = [this] { return "select referrals.refresh(" + ann_ + ", " + candidates() + ")"; };
  const auto revoke = [this](const std::string& id) {
    return "select referrals.review('admin', (select id from referrals.referral where referred_account_id = " + id +
           "), 'revoke', 'why')";
  };
  const auto bob = referred_account(code_, verified::no);
  run_second_after_first(award(bob), refresh());
  EXPECT_EQ(reason(bob) + balance(bob), "100") << "paid before the refresh";
  const auto cat = referred_account(code_of(ann_), verified::no);
  run_second_after_first(refresh(), award(cat));
  EXPECT_EQ(reason(cat) + balance(cat), "code_refreshed0");
  const auto dan = referred_account(code_of(ann_), verified::no);
  run_second_after_first(award(dan), revoke(dan));
  EXPECT_EQ(reason(dan) + balance(dan), "revoked0") << "paid and then revoked";
  const auto eve = referred_account(code_of(ann_), verified::no);
  run_second_after_first(revoke(eve), award(eve));
  EXPECT_EQ(reason(eve) + balance(eve), "revoked0");
  EXPECT_EQ(sql("select count(*) from accounts.ledger where account_id = " + eve), "0") << "never paid";
  EXPECT_EQ(balance(ann_), "100");
  expect_consistency();
}

TEST_F(referrals_sql, a_revocation_takes_back_both_rewards_but_still_counts_towards_the_cap) {
  sql("update referrals.setting set cap = 100");
  const auto bob = referred_account(code_);
  EXPECT_EQ(review(bob, "revoke"), "");
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "0 0");
  EXPECT_EQ(reason(bob), "revoked");
  EXPECT_EQ(stat(ann_, "remaining_earnable_credits") + stat(ann_, "successful_referrals") +
                stat(ann_, "total_credits_earned") + stat(ann_, "revoked_credits"),
            "000100");
  EXPECT_EQ(review(bob, "revoke"), "RY409");
  referred_account(code_);
  EXPECT_EQ(last_outcome_, "cap_reached");
  EXPECT_EQ(sql("select actor || ' ' || action || ' ' || (detail->>'reason') from accounts.audit"),
            "admin referral.revoke test reason");
  EXPECT_EQ(state_of("select referrals.review('admin', gen_random_uuid(), 'revoke', '')"), "RY404");
  expect_consistency();
}

TEST_F(referrals_sql, a_flagged_referral_waits_for_its_review) {
  sql("update referrals.setting set flag_score = 2, velocity = 2");
  referred_account(code_);
  referred_account(code_);
  const auto third = referred_account(code_);
  EXPECT_EQ(last_outcome_, "flagged") << "exceeds the velocity";
  EXPECT_EQ(reason(third), "under_review");
  settle_all();
  EXPECT_EQ(balance(ann_), "200");
  EXPECT_EQ(review(third, "release"), "");
  EXPECT_EQ(balance(ann_), "300");
  EXPECT_EQ(review(third, "release"), "RY409");
  const auto fourth = referred_account(code_);
  EXPECT_EQ(review(fourth, "revoke"), "");
  EXPECT_EQ(reason(fourth), "revoked");
  EXPECT_EQ(review(fourth, "release"), "RY409");
  sql("update referrals.setting set velocity = 100");
  const auto fifth = referred_account(code_, verified::no);
  EXPECT_EQ(review(fifth, "flag"), "");
  qualify(fifth);
  settle_all();
  EXPECT_EQ(balance(ann_), "300");
  expect_consistency();
}

TEST_F(referrals_sql, signals_add_up_to_a_flag) {
  EXPECT_EQ(attach(account("a+b@example.test"), code_), "successful") << "a tag alone is not sufficient";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(attach(account("n" + std::to_string(i) + "@example.test"), code_, "'192.0.2.1'"), "successful");
  EXPECT_EQ(attach(account("n2@example.test"), code_, "'192.0.2.200'"), "successful")
      << "the network alone is not sufficient";
  EXPECT_EQ(attach(account("n+3@example.test"), code_, "'192.0.2.9'"), "flagged") << "network and tag together";
  EXPECT_EQ(sql("select signals from referrals.referral where review = 'flagged'"),
            "{\"same_network\": 2, \"tagged_address\": 1}");
  EXPECT_EQ(attach(account("m@example.test"), code_, "'no address'"), "successful");
  EXPECT_EQ(attach(account("k+4@example.test"), code_, "'192.0.2.0/24'"), "flagged")
      << "an address block, as accounts reports it";
  EXPECT_EQ(sql("select count(*) from referrals.referral where network like '%192%'"), "0");
}

TEST_F(referrals_sql, concurrent_sign_ups_are_signals_for_each_other) {
  EXPECT_EQ(attach(account("n0@example.test"), code_, "'192.0.2.1'"), "successful");
  const auto bob = account("n1@example.test"), cat = account("n+2@example.test");
  const auto db = connect();
  db("begin");
  db("select referrals.attach(" + bob + ", '" + code_ + "', '192.0.2.2')");
  std::string outcome;
  std::atomic<bool> done{false};
  std::thread other([&] {
    outcome = connect()("select referrals.attach(" + cat + ", '" + code_ + "', '192.0.2.3')");
    done = true;
  });
  for (int i = 0; i < 1000 && !done &&
                  sql("select count(*) from pg_stat_activity where datname = current_database() and "
                      "wait_event_type = 'Lock'") == "0";
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(done) << "must wait for the earlier sign-up";
  db("commit");
  other.join();
  EXPECT_EQ(outcome, "flagged");
  EXPECT_EQ(sql("select signals from referrals.referral where referred_account_id = " + cat),
            "{\"same_network\": 2, \"tagged_address\": 1}");
  expect_consistency();
}

TEST_F(referrals_sql, a_friend_from_the_referrers_own_network_is_a_signal) {
  sql("insert into referrals.origin select " + ann_ + ", referrals.network_of('2001:db8::/64')");
  EXPECT_EQ(attach(account("a@example.test"), code_, "'2001:db8::/64'"), "successful")
      << "the network alone is not sufficient";
  EXPECT_EQ(attach(account("b+ann@example.test"), code_, "'2001:db8::77'"), "successful");
  EXPECT_EQ(sql("select signals from referrals.referral order by referred_at desc limit 1"),
            "{\"tagged_address\": 1, \"network_of_referrer\": 1}");
  EXPECT_EQ(attach(account("c@example.test"), code_, "'2001:db8::/64'"), "flagged")
      << "the third sign-up from one network";
  EXPECT_EQ(attach(account("d@example.test"), code_, "'2001:db8:1::/64'"), "successful");
}

TEST_F(referrals_sql, another_address_of_the_referrer_does_not_count) {
  const auto gil = account("gil.smith@gmail.com");
  const auto code = code_of(gil);
  EXPECT_EQ(attach(account("GilSmith+2@googlemail.com"), code), "void");
  sql("update referrals.setting set disposable = '{trash.test}'");
  const auto disposable = account("x@Trash.test");
  EXPECT_EQ(attach(disposable, code_), "void");
  EXPECT_EQ(reason(disposable), "disposable_address");
  settle_all();
  EXPECT_EQ(balance(gil) + balance(ann_), "00");
  EXPECT_EQ(stat(gil, "total_referrals") + stat(gil, "successful_referrals"), "10");
}

TEST_F(referrals_sql, referrals_of_a_suspended_code_wait) {
  const auto bob = referred_account(code_, verified::no);
  sql("select referrals.suspend('admin', lower('" + code_ + "'), true, 'why')");
  const auto late = account("c@example.test");
  EXPECT_EQ(attach(late, code_), "pending");
  EXPECT_EQ(reason(late), "code_suspended");
  qualify(bob);
  settle_all();
  EXPECT_EQ(balance(ann_), "0");
  EXPECT_EQ(reason(bob), "code_suspended");
  EXPECT_EQ(state_of("select referrals.refresh(" + ann_ + ", " + candidates() + ")"), "RY403");
  sql("select referrals.suspend('admin', '" + code_ + "', false, 'why')");
  sql("select * from referrals.settle(referrals.due(10))");
  EXPECT_EQ(balance(ann_) + " " + balance(late), "200 100");
  EXPECT_EQ(state_of("select referrals.suspend('admin', 'ZZZZZZZZ', true, '')"), "RY404");
}

TEST_F(referrals_sql, a_referee_has_only_one_referrer) {
  const auto eve = account("eve@example.test");
  const auto other = code_of(eve);
  for (int round = 0; round < 5; ++round) {
    const auto bob = account("b" + std::to_string(round) + "@example.test");
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) {
      all.emplace_back(
          [&, i] { connect()("select referrals.attach(" + bob + ", '" + (i % 2 ? code_ : other) + "', null)"); });
    }
    for (auto& t : all) t.join();
    EXPECT_EQ(balance(bob), "100");
  }
  EXPECT_EQ(sql("select sum(balance_micro)::bigint / 1000000 from accounts.account"), "1000");
  expect_consistency();
}

TEST_F(referrals_sql, a_mailbox_counts_only_once) {
  const auto first = account("farm@gmail.com"), second = account("f.arm+2@googlemail.com"),
             late = account("late@example.test", verified::no);
  EXPECT_EQ(attach(first, code_), "successful");
  EXPECT_EQ(attach(second, code_), "void");
  EXPECT_EQ(sql("select void_reason from referrals.referral where referred_account_id = " + second), "same_mailbox");
  EXPECT_EQ(attach(late, code_), "pending");
  // The address becomes one of the mailbox before it is confirmed.
  sql("select 1 from accounts.provision(" + late + ", " + late + ", 'farm+9@gmail.com', '', true, '', 'free', 0)");
  sql("select referrals.award(array[" + late + "]::uuid[])");
  EXPECT_EQ(sql("select void_reason from referrals.referral where referred_account_id = " + late), "same_mailbox");
  EXPECT_EQ(balance(ann_), "100");
}

TEST_F(referrals_sql, an_account_without_address_verification_qualifies_at_sign_up) {
  for (const char* rule : {"email_verified", "first_run"}) {
    sql("update referrals.setting set qualify = '" + std::string(rule) + "'");
    const auto local_login = account("here." + std::string(rule) + "@example.test", verified::no);
    const auto provider_login = account("there." + std::string(rule) + "@example.test", verified::no);
    sql("insert into accounts.login (account_id, email, email_key, password_hash) values (" + local_login + ", '" +
        rule + "', '" + rule + "', 'x')");
    sql("update accounts.setting set verifies = false");
    EXPECT_EQ(attach(local_login, code_), "successful") << rule;
    EXPECT_EQ(attach(provider_login, code_), "pending") << "its identity provider can confirm the address";
    sql("update accounts.setting set verifies = true");
    const auto later = account("later." + std::string(rule) + "@example.test", verified::no);
    sql("insert into accounts.login (account_id, email, email_key, password_hash) values (" + later + ", 'l', 'l" +
        rule + "', 'x')");
    EXPECT_EQ(attach(later, code_), "pending");
  }
}

TEST_F(referrals_sql, referrals_of_a_deleted_account_are_voided) {
  const auto bob = referred_account(code_, verified::no);
  const auto cid = referred_account(code_);
  sql("insert into referrals.origin values (" + ann_ + ", 'x')");
  sql("select referrals.forget(" + ann_ + ")");
  EXPECT_EQ(sql("select void_reason from referrals.referral where referred_account_id = " + bob), "account_deleted");
  EXPECT_EQ(sql("select status from referrals.referral where referred_account_id = " + cid), "successful")
      << "paid referrals are not voided";
  EXPECT_EQ(attach(account("new@example.test"), code_), "unknown_code");
  EXPECT_EQ(sql("select count(*) from referrals.origin"), "0");
  EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0");
  sql("select referrals.forget(" + cid + ")");
}

}  // namespace
