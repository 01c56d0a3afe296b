// Codes, awards, caps, refreshes and invitations, as decided by the database.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "referrals_sql_test.hpp"

namespace {

using testing_referrals::referrals_sql;

TEST_F(referrals_sql, both_sides_are_paid_once) {
  const auto bob = referred_account(code_);
  EXPECT_EQ(last_outcome_, "successful");
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "100 100");
  EXPECT_EQ(attach(bob, code_), "already_referred");
  settle_all();
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "100 100");
  EXPECT_EQ(stat(ann_, "total_referrals") + " " + stat(ann_, "successful_referrals") + " " +
                stat(ann_, "total_credits_earned") + " " + stat(ann_, "remaining_earnable_credits") + " " +
                stat(ann_, "max_earnable_credits") + " " + stat(ann_, "has_reached_limit"),
            "1 1 100 9900 10000 false");
  EXPECT_EQ(sql("select string_agg(kind, ' ' order by id) from core.event where kind like 'referral%'"),
            "referral.pending referral.successful");
  expect_consistency();
}

TEST_F(referrals_sql, codes_are_case_insensitive_and_unique) {
  std::string lower = code_;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const auto bob = account("bob@example.test");
  EXPECT_EQ(attach(bob, lower), "successful");
  EXPECT_EQ(attach(ann_, code_), "self");
  EXPECT_EQ(attach(account("x@example.test"), "ZZZZZZZZ"), "unknown_code");
  EXPECT_EQ(code_of(ann_), code_);
  // All candidates but the last are taken.
  EXPECT_EQ(sql("select referrals.ensure_code(" + bob + ", array['" + code_ + "','ABCD2345'])"), "ABCD2345");
  EXPECT_EQ(state_of("insert into referrals.code (account_id, code) values (gen_random_uuid(), 'abcd2345')"), "23514");
}

TEST_F(referrals_sql, pending_until_the_referee_qualifies) {
  const auto bob = referred_account(code_, verified::no);
  EXPECT_EQ(last_outcome_, "pending");
  EXPECT_EQ(reason(bob), "not_qualified");
  settle_all();
  EXPECT_EQ(balance(ann_), "0");
  EXPECT_EQ(qualify(bob), "1");
  settle_all();
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "100 100");
  EXPECT_EQ(reason(bob), "");
  EXPECT_EQ(qualify(bob), "0");
  expect_consistency();
}

TEST_F(referrals_sql, referrals_that_qualify_together_are_paid_together) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) all.push_back(referred_account(code_, verified::no));
  EXPECT_EQ(review(all[0], "flag"), "");
  const auto eve = account("eve@example.test");
  const auto held = account("held@example.test", verified::no);
  const auto other = code_of(eve);
  EXPECT_EQ(attach(held, other), "pending");
  sql("select referrals.suspend('admin', '" + other + "', true, 'why')");
  std::string list = held;
  for (const auto& a : all) list += "," + a;
  const std::string award = "select referrals.award(array[" + list + "," + ann_ + "]::uuid[])";
  sql(award);
  EXPECT_EQ(balance(ann_), "250") << "three of four are paid, the last one partially";
  EXPECT_EQ(balance(all[1]) + balance(all[2]) + balance(all[3]), "100100100");
  EXPECT_EQ(reason(all[0]), "under_review");
  EXPECT_EQ(balance(held), "0");
  EXPECT_EQ(sql("select count(*) from referrals.referral where qualified_at is null"), "0")
      << "waiting referrals are marked as qualified";
  sql(award);
  EXPECT_EQ(balance(ann_), "250");
  sql("select referrals.suspend('admin', '" + other + "', false, 'why')");
  sql("select * from referrals.settle(referrals.due(10))");
  EXPECT_EQ(balance(held) + " " + balance(eve), "100 100");
  expect_consistency();
}

TEST_F(referrals_sql, the_hold_starts_at_qualification) {
  sql("update referrals.setting set hold = '1 hour'");
  const auto bob = referred_account(code_, verified::no);
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(reason(bob), "on_hold");
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(balance(bob), "0");
  sql("update referrals.referral set qualified_at = now() - interval '61 minutes'");
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(balance(bob), "100");
}

// Concurrent batches share referrers and referees in random order, mixed with refreshes, reviews and ledger entries.
TEST_F(referrals_sql, concurrent_batches_never_deadlock) {
  sql("update referrals.setting set refreshes = 100000, flag_score = 0");
  std::vector<std::string> codes{code_}, owners{ann_};
  for (int i = 0; i < 3; ++i) {
    owners.push_back(account("owner" + std::to_string(i) + "@example.test"));
    codes.push_back(code_of(owners.back()));
  }
  std::vector<std::string> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(account("f" + std::to_string(i) + "@example.test", verified::no));
    attach(all.back(), codes[static_cast<std::size_t>(i) % codes.size()]);
  }
  std::atomic<int> deadlocks{0};
  std::vector<std::thread> threads;
  const auto worker = [&](unsigned seed) {
    const auto db = connect();
    std::mt19937 random(seed);
    for (int round = 0; round < 25; ++round) {
      auto shuffled = all;
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      std::string list;
      for (std::size_t i = 0; i < 12; ++i) list += (i ? "," : "") + shuffled[i];
      std::string text;
      switch (random() % 5) {
        case 0:
          text = "select referrals.refresh(" + owners[1 + random() % 3] + ", " + candidates() + ")";
          break;
        case 1:
          text = "select referrals.review('admin', (select id from referrals.referral where referred_account_id = " +
                 shuffled[0] + "), '" + (random() % 2 ? "flag" : "revoke") + "', '')";
          break;
        case 2:
          text = "select accounts.ledger_add(" + owners[random() % 4] + ", 1000000, 'grant', gen_random_uuid()::text)";
          break;
        default:
          text = "select referrals.award(array[" + list + "]::uuid[])";
      }
      try {
        db(text);
      } catch (const testing_sql::sql_error& e) {
        if (e.state == "40P01")
          ++deadlocks;
        else if (e.state != "RY409")
          ADD_FAILURE() << e.what();
      }
    }
  };
  for (unsigned i = 0; i < 6; ++i) threads.emplace_back(worker, i);
  for (auto& t : threads) t.join();
  EXPECT_EQ(deadlocks, 0);
  expect_consistency();
}

TEST_F(referrals_sql, a_referral_whose_event_was_lost_is_paid_later) {
  const auto bob = referred_account(code_, verified::no);
  sql("update accounts.account set verified_at = now() where id = " + bob);
  EXPECT_EQ(sql("select referrals.due(10)"), "") << "not due yet";
  sql("update referrals.referral set look_at = now() - interval '1 second'");
  for (int round = 0; round < 2; ++round) {
    sql("select * from referrals.settle(referrals.due(10))");
    sql("select referrals.postpone((select array_agg(id) from referrals.referral))");
  }
  EXPECT_EQ(balance(ann_), "100");
  EXPECT_EQ(sql("select referrals.due(10)"), "");
}

TEST_F(referrals_sql, open_referrals_are_checked_at_growing_intervals) {
  referred_account(code_, verified::no);
  sql("update referrals.referral set referred_at = now() - interval '3 hours', look_at = now()");
  sql("select referrals.postpone(referrals.due(10))");
  EXPECT_EQ(sql("select look_at > now() + interval '2 hours 59 minutes' from referrals.referral"), "t");
  sql("update referrals.referral set referred_at = now() - interval '3 days', look_at = now()");
  sql("select referrals.postpone(referrals.due(10))");
  EXPECT_EQ(sql("select look_at < now() + interval '25 hours' from referrals.referral"), "t");
}

TEST_F(referrals_sql, credits_are_paid_after_the_hold) {
  sql("update referrals.setting set hold = '1 hour'");
  const auto bob = referred_account(code_);
  EXPECT_EQ(last_outcome_, "pending");
  EXPECT_EQ(reason(bob), "on_hold");
  sql("update referrals.referral set qualified_at = now() - interval '61 minutes'");
  settle_all();
  EXPECT_EQ(balance(ann_), "100");
}

TEST_F(referrals_sql, qualifies_at_sign_up_or_after_the_first_run) {
  sql("update referrals.setting set qualify = 'signup'");
  referred_account(code_, verified::no);
  EXPECT_EQ(last_outcome_, "successful");
  sql("update referrals.setting set qualify = 'first_run'");
  referred_account(code_);
  EXPECT_EQ(last_outcome_, "pending");
  const auto early = account("early@example.test");
  sql("insert into referrals.first_run values (" + early + ")");
  EXPECT_EQ(attach(early, code_), "successful");
}

TEST_F(referrals_sql, near_the_cap_the_referrer_gets_the_remainder_and_then_neither_gets_credits) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 5; ++i) all.push_back(referred_account(code_));
  EXPECT_EQ(last_outcome_, "cap_reached");
  EXPECT_EQ(balance(ann_), "250");
  EXPECT_EQ(balance(all[2]), "100") << "the referee gets the full amount";
  EXPECT_EQ(balance(all[3]), "0");
  EXPECT_EQ(reason(all[3]), "cap_reached");
  EXPECT_EQ(stat(ann_, "has_reached_limit") + stat(ann_, "total_referrals") + stat(ann_, "successful_referrals"),
            "true53");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'referral.cap_reached'"), "2");
  EXPECT_EQ(state_of("update referrals.counter set earned = 251"), "23514");
  expect_consistency();
}

TEST_F(referrals_sql, raising_the_cap_pays_capped_referrals_and_lowering_it_takes_nothing_back) {
  sql("select referrals.set_cap(100)");
  referred_account(code_);
  const auto second = referred_account(code_);
  EXPECT_EQ(reason(second), "cap_reached");
  sql("select referrals.set_cap(100)");
  EXPECT_EQ(sql("select referrals.due(10)"), "");
  sql("select referrals.set_cap(250)");
  settle_all();
  EXPECT_EQ(balance(ann_) + " " + stat(ann_, "remaining_earnable_credits"), "200 50");
  sql("select referrals.set_cap(50)");
  EXPECT_EQ(stat(ann_, "max_earnable_credits") + " " + stat(ann_, "has_reached_limit"), "200 true");
  expect_consistency();
}

TEST_F(referrals_sql, a_batch_pays_the_oldest_referrals_first) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) all.push_back(referred_account(code_, verified::no));
  sql("update referrals.referral set qualified_at = now()");
  EXPECT_EQ(settle_all(), "4");
  EXPECT_EQ(sql("select string_agg(credits_awarded::text, ' ' order by referred_at) from referrals.referral"),
            "100 100 50 0");
  expect_consistency();
}

TEST_F(referrals_sql, refresh_voids_pending_referrals_and_the_old_code_permanently) {
  const auto paid = referred_account(code_);
  const auto waiting = referred_account(code_, verified::no);
  EXPECT_EQ(sql("select old_code from referrals.refresh(" + ann_ + ", " + candidates() + ")"), code_);
  EXPECT_EQ(reason(waiting), "code_refreshed");
  EXPECT_EQ(reason(paid), "");
  EXPECT_EQ(qualify(waiting), "0");
  settle_all();
  EXPECT_EQ(balance(ann_), "100");
  const auto late = account("late@example.test");
  EXPECT_EQ(attach(late, code_), "void");
  EXPECT_EQ(reason(late), "code_refreshed") << "the referrer sees sign-ups with the old link";
  EXPECT_EQ(qualify(late), "0");
  settle_all();
  EXPECT_EQ(balance(ann_) + balance(late), "1000");
  EXPECT_EQ(state_of("insert into referrals.code (account_id, code) values (gen_random_uuid(), '" + code_ + "')"),
            "23505");
  sql("update referrals.setting set refreshes = 1");
  EXPECT_EQ(state_of("select referrals.refresh(" + ann_ + ", " + candidates() + ")"), "RY429");
  expect_consistency();
}

TEST_F(referrals_sql, concurrent_refreshes_leave_one_active_code) {
  sql("update referrals.setting set refreshes = 100");
  std::vector<std::thread> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back([this] { connect()("select referrals.refresh(" + ann_ + ", " + candidates() + ")"); });
  }
  for (auto& t : all) t.join();
  EXPECT_EQ(
      sql("select count(*) filter (where is_active) || ' ' || count(*) from referrals.code where account_id = " + ann_),
      "1 7");
}

TEST_F(referrals_sql, a_concurrent_refresh_and_sign_up_are_serialized) {
  // The sign-up holds the lock on the code: the refresh waits, and then finds no pending referral to void.
  const auto bob = account("bob@example.test");
  const auto db = connect();
  db("begin");
  EXPECT_EQ(db("select referrals.attach(" + bob + ", '" + code_ + "', null)"), "successful");
  std::thread other([this] { connect()("select referrals.refresh(" + ann_ + ", " + candidates() + ")"); });
  for (int i = 0; i < 200 && sql("select count(*) from pg_stat_activity where datname = current_database() and "
                                 "wait_event_type = 'Lock'") == "0";
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  db("commit");
  other.join();
  EXPECT_EQ(reason(bob), "");
  EXPECT_EQ(balance(ann_), "100");
  // The refresh holds the lock: the sign-up waits, and then finds the code replaced.
  const auto new_code = code_of(ann_);
  const auto cat = account("cat@example.test");
  db("begin");
  db("select referrals.refresh(" + ann_ + ", " + candidates() + ")");
  std::string outcome;
  std::thread late([&] { outcome = connect()("select referrals.attach(" + cat + ", '" + new_code + "', null)"); });
  for (int i = 0; i < 200 && sql("select count(*) from pg_stat_activity where datname = current_database() and "
                                 "wait_event_type = 'Lock'") == "0";
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  db("commit");
  late.join();
  EXPECT_EQ(outcome, "void");
  EXPECT_EQ(reason(cat), "code_refreshed");
  EXPECT_EQ(balance(ann_), "100");
  expect_consistency();
}

TEST_F(referrals_sql, unbalanced_finds_differences_from_the_ledger) {
  const auto bob = referred_account(code_);
  EXPECT_EQ(review(bob, "revoke"), "");
  referred_account(code_);
  EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0") << "even after a revocation";
  sql("update referrals.counter set earned = earned - 100, revoked = 0");
  EXPECT_EQ(sql("select earned || ' ' || awarded || ' ' || paid_micro from referrals.unbalanced()"),
            "100 200 200000000");
  sql("update referrals.counter set earned = earned + 100");
  EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0");
  sql("update referrals.referral set credits_awarded = 0 where referred_account_id = " + bob);
  EXPECT_EQ(sql("select awarded from referrals.unbalanced()"), "100");
  sql("delete from referrals.counter");
  EXPECT_EQ(sql("select earned from referrals.unbalanced()"), "0");
}

TEST_F(referrals_sql, received_shows_the_referee_view_and_offer_the_next_reward) {
  const auto received = [&](const std::string& id, const std::string& name) {
    return sql("select referrals.received(" + id + ")::json->>'" + name + "'");
  };
  const auto offer = [&] { return sql("select referrer || ' ' || referee from referrals.offer(" + ann_ + ")"); };
  EXPECT_EQ(sql("select referrals.received(" + ann_ + ") is null"), "t");
  const auto bob = referred_account(code_, verified::no);
  EXPECT_EQ(received(bob, "reason"), "not_qualified");
  EXPECT_EQ(received(bob, "bonus_credits"), "100");
  EXPECT_EQ(offer(), "100 100");
  sql("select referrals.set_cap(150)");
  const auto cid = referred_account(code_);
  EXPECT_EQ(received(cid, "credits"), "100");
  EXPECT_EQ(received(cid, "reason"), "");
  EXPECT_EQ(offer(), "50 100") << "the remainder below the limit";
  referred_account(code_);
  EXPECT_EQ(offer(), "0 0");
  EXPECT_EQ(received(referred_account(code_), "reason"), "cap_reached");
  sql("select referrals.suspend('op', '" + code_ + "', true, '')");
  EXPECT_EQ(received(bob, "reason"), "under_review") << "a suspension is not disclosed to the referee";
}

TEST_F(referrals_sql, invitations_respect_the_limits) {
  sql("update referrals.setting set invites_hour = 3, invites_day = 4");
  const auto invite = [this](const std::string& list) {
    return sql("select string_agg(outcome, ' ' order by n) from referrals.invite(" + ann_ + ", array[" + list +
               "], 's', 't', 'h') with ordinality x (address, outcome, mail_id, wait_s, n)");
  };
  EXPECT_EQ(invite("'a@x.test', 'ANN+1@example.test', 'A@x.test'"), "queued own invited");
  EXPECT_EQ(invite("'b@x.test', 'c@x.test', 'd@x.test'"), "queued queued limit");
  EXPECT_EQ(
      sql("select wait_s between 3590 and 3600 from referrals.invite(" + ann_ + ", array['d@x.test'], 's', 't', 'h')"),
      "t");
  sql("update referrals.invitation set at = at - interval '61 minutes'");
  EXPECT_EQ(invite("'d@x.test', 'e@x.test'"), "queued limit");
  EXPECT_EQ(
      sql("select wait_s > 23 * 3600 - 120 from referrals.invite(" + ann_ + ", array['e@x.test'], 's', 't', 'h')"), "t")
      << "the daily limit";
  sql("select referrals.uninvite((select array_agg(mail_id) from referrals.invitation where address = 'd@x.test'))");
  EXPECT_EQ(invite("'e@x.test'"), "queued");
  EXPECT_EQ(sql("select count(*) from mail.message where bulk and category = 'invitation'"), "5");
  sql("insert into mail.subscription (address, category, out_at, reason) values ('f@x.test', 'invitation', now(), "
      "'unsubscribed')");
  sql("update referrals.setting set invites_hour = 100, invites_day = 100");
  EXPECT_EQ(invite("'f@x.test', 'g@x.test'"), "suppressed queued");
  sql("update referrals.invitation set at = at - interval '8 days'");
  EXPECT_EQ(invite("'a@x.test'"), "queued") << "after a week";
}

}  // namespace
