// The module's SQL beside the real job queue, accounts and outbox.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "../../tests/support/schema.hpp"
#include "code.hpp"
#include "migrations.hpp"

namespace fs = std::filesystem;

namespace {

class referrals_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (IsSkipped()) return;
    const fs::path source = RY_SOURCE_DIR;
    sql("set search_path = core");
    sql(text_of(source / "core/jobs/migrations/0001_jobs.sql"));
    for (const char* module : {"accounts", "mail"}) {
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(source / "modules" / module / "migrations")) {
        files.push_back(entry.path());
      }
      std::sort(files.begin(), files.end());
      sql("create schema " + std::string(module));
      sql("set search_path = " + std::string(module) + ", core");
      for (const auto& file : files) sql(text_of(file));
    }
    sql("reset search_path");
    migrate("referrals", ry_migrations::all);
    ann_ = account("ann@example.test");
    code_ = code_of(ann_);
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  enum class verified { no, yes };
  // A quoted id.
  std::string account(const std::string& email, verified v = verified::yes) {
    const auto id = "'" + sql("select gen_random_uuid()") + "'";
    sql("select accounts.provision(" + id + ", " + id + ", '" + email + "', '', " +
        (v == verified::yes ? "true" : "false") + ", '', 'free', 0)");
    return id;
  }
  static std::string candidates() { return "array['" + referrals::make_code() + "','" + referrals::make_code() + "']"; }
  std::string code_of(const std::string& who) {
    return sql("select referrals.ensure_code(" + who + ", " + candidates() + ")");
  }
  std::string attach(const std::string& who, const std::string& code, const std::string& ip = "null") {
    return sql("select referrals.attach(" + who + ", '" + code + "', " + ip + ")");
  }
  std::string friend_of(const std::string& code, verified v = verified::yes) {
    const auto who = account("friend" + std::to_string(++friends_) + "@example.test", v);
    last_ = attach(who, code);
    return who;
  }
  std::string balance(const std::string& who) {
    return sql("select balance_micro / 1000000 from accounts.account where id = " + who);
  }
  std::string stat(const std::string& who, const std::string& name) {
    return sql("select referrals.stats(" + who + ")::json->>'" + name + "'");
  }
  std::string reason(const std::string& who) {
    return sql("select referrals.history(" + ann_ + ", 100, 0)::jsonb @? ('$[*] ? (@.referred_account_id == \"' || " +
               who + " || '\").reason')::jsonpath") == "t"
               ? sql("select coalesce(h->>'reason', '') from jsonb_array_elements(referrals.history(" + ann_ +
                     ", 100, 0)::jsonb) h where h->>'referred_account_id' = " + who)
               : "?";
  }
  std::string qualify(const std::string& who) { return sql("select referrals.qualify(array[" + who + "::uuid])"); }
  std::string settle_all() {
    return sql("select count(*) from referrals.settle((select array_agg(id) from referrals.referral))");
  }
  std::string review(const std::string& who, const std::string& act) {
    return state_of(
        "select referrals.review('admin', (select id from referrals.referral where "
        "referred_account_id = " +
        who + "), '" + act + "', 'why')");
  }
  void no_violation() {
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

  std::string ann_, code_, last_;
  int friends_ = 0;
};

TEST_F(referrals_sql, many_friends_of_one_private_domain_are_a_signal) {
  sql("update referrals.setting set flag_score = 2");
  const auto signals = [&](const std::string& email) {
    const auto who = account(email);
    last_ = attach(who, code_);
    return sql("select signals->>'same_domain' from referrals.referral where referred_account_id = " + who);
  };
  std::vector<std::string> own, large;
  for (int i = 1; i <= 6; ++i) {
    own.push_back(signals("m" + std::to_string(i) + "@h" + std::to_string(i) + ".private-domain.example"));
    if (i < 6) {
      EXPECT_EQ(last_, "successful") << i;
    }
  }
  EXPECT_EQ(own, (std::vector<std::string>{"", "", "", "1", "1", "2"}));
  EXPECT_EQ(last_, "flagged");
  for (int i = 1; i <= 5; ++i) large.push_back(signals("m" + std::to_string(i) + "@gmail.com"));
  EXPECT_EQ(large, std::vector<std::string>(5)) << "a provider of mailboxes is no private domain";
  EXPECT_EQ(sql("select count(distinct d) from unnest(array['a@x.co.uk', 'b@mail.x.co.uk', 'c+1@X.CO.UK']) e,"
                " referrals.domain_of(e) d"),
            "1");
  EXPECT_EQ(sql("select referrals.domain_of('a@x.co.uk') = referrals.domain_of('a@y.co.uk')"), "f");
  EXPECT_EQ(sql("select count(referrals.domain_of(e)) from unnest(array['', 'x', '@', 'a@b', 'a@yahoo.co.jp']) e"),
            "0");
}

TEST_F(referrals_sql, both_sides_get_their_credits_once) {
  const auto bob = friend_of(code_);
  EXPECT_EQ(last_, "successful");
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
  no_violation();
}

TEST_F(referrals_sql, codes_have_no_case_and_are_nobody_elses) {
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
  const auto bob = friend_of(code_, verified::no);
  EXPECT_EQ(last_, "pending");
  EXPECT_EQ(reason(bob), "not_qualified");
  settle_all();
  EXPECT_EQ(balance(ann_), "0");
  EXPECT_EQ(qualify(bob), "1");
  settle_all();
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "100 100");
  EXPECT_EQ(reason(bob), "");
  EXPECT_EQ(qualify(bob), "0");
  no_violation();
}

TEST_F(referrals_sql, those_who_qualify_together_are_paid_together) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) all.push_back(friend_of(code_, verified::no));
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
  EXPECT_EQ(balance(ann_), "250") << "three of four, the last one in part";
  EXPECT_EQ(balance(all[1]) + balance(all[2]) + balance(all[3]), "100100100");
  EXPECT_EQ(reason(all[0]), "under_review");
  EXPECT_EQ(balance(held), "0");
  EXPECT_EQ(sql("select count(*) from referrals.referral where qualified_at is null"), "0")
      << "what waits has qualified, too";
  sql(award);
  EXPECT_EQ(balance(ann_), "250");
  sql("select referrals.suspend('admin', '" + other + "', false, 'why')");
  sql("select * from referrals.settle(referrals.due(10))");
  EXPECT_EQ(balance(held) + " " + balance(eve), "100 100");
  no_violation();
}

TEST_F(referrals_sql, a_hold_begins_with_the_qualification) {
  sql("update referrals.setting set hold = '1 hour'");
  const auto bob = friend_of(code_, verified::no);
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(reason(bob), "on_hold");
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(balance(bob), "0");
  sql("update referrals.referral set qualified_at = now() - interval '61 minutes'");
  sql("select referrals.award(array[" + bob + "]::uuid[])");
  EXPECT_EQ(balance(bob), "100");
}

// Batches that share referrers and referees in every order, with refreshes, reviews and billing between them.
TEST_F(referrals_sql, batches_at_once_never_wait_in_a_circle) {
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
      auto mine = all;
      std::shuffle(mine.begin(), mine.end(), random);
      std::string list;
      for (std::size_t i = 0; i < 12; ++i) list += (i ? "," : "") + mine[i];
      std::string text;
      switch (random() % 5) {
        case 0:
          text = "select referrals.refresh(" + owners[1 + random() % 3] + ", " + candidates() + ")";
          break;
        case 1:
          text = "select referrals.review('admin', (select id from referrals.referral where referred_account_id = " +
                 mine[0] + "), '" + (random() % 2 ? "flag" : "revoke") + "', '')";
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
  no_violation();
}

TEST_F(referrals_sql, a_lost_event_is_made_up_for) {
  const auto bob = friend_of(code_, verified::no);
  sql("update accounts.account set verified_at = now() where id = " + bob);
  EXPECT_EQ(sql("select referrals.due(10)"), "") << "not yet";
  sql("update referrals.referral set look_at = now() - interval '1 second'");
  for (int round = 0; round < 2; ++round) {
    sql("select * from referrals.settle(referrals.due(10))");
    sql("select referrals.postpone((select array_agg(id) from referrals.referral))");
  }
  EXPECT_EQ(balance(ann_), "100");
  EXPECT_EQ(sql("select referrals.due(10)"), "");
}

TEST_F(referrals_sql, what_is_not_due_is_left_alone_for_longer_and_longer) {
  friend_of(code_, verified::no);
  sql("update referrals.referral set referred_at = now() - interval '3 hours', look_at = now()");
  sql("select referrals.postpone(referrals.due(10))");
  EXPECT_EQ(sql("select look_at > now() + interval '2 hours 59 minutes' from referrals.referral"), "t");
  sql("update referrals.referral set referred_at = now() - interval '3 days', look_at = now()");
  sql("select referrals.postpone(referrals.due(10))");
  EXPECT_EQ(sql("select look_at < now() + interval '25 hours' from referrals.referral"), "t");
}

TEST_F(referrals_sql, credits_wait_for_the_hold) {
  sql("update referrals.setting set hold = '1 hour'");
  const auto bob = friend_of(code_);
  EXPECT_EQ(last_, "pending");
  EXPECT_EQ(reason(bob), "on_hold");
  sql("update referrals.referral set qualified_at = now() - interval '61 minutes'");
  settle_all();
  EXPECT_EQ(balance(ann_), "100");
}

TEST_F(referrals_sql, other_rules_of_qualification) {
  sql("update referrals.setting set qualify = 'signup'");
  friend_of(code_, verified::no);
  EXPECT_EQ(last_, "successful");
  sql("update referrals.setting set qualify = 'first_run'");
  friend_of(code_);
  EXPECT_EQ(last_, "pending");
  const auto early = account("early@example.test");
  sql("insert into referrals.first_run values (" + early + ")");
  EXPECT_EQ(attach(early, code_), "successful");
}

TEST_F(referrals_sql, near_the_cap_the_referrer_gets_the_rest_and_then_nobody_anything) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 5; ++i) all.push_back(friend_of(code_));
  EXPECT_EQ(last_, "cap_reached");
  EXPECT_EQ(balance(ann_), "250");
  EXPECT_EQ(balance(all[2]), "100") << "the referee's is whole";
  EXPECT_EQ(balance(all[3]), "0");
  EXPECT_EQ(reason(all[3]), "cap_reached");
  EXPECT_EQ(stat(ann_, "has_reached_limit") + stat(ann_, "total_referrals") + stat(ann_, "successful_referrals"),
            "true53");
  EXPECT_EQ(sql("select count(*) from core.event where kind = 'referral.cap_reached'"), "2");
  EXPECT_EQ(state_of("update referrals.counter set earned = 251"), "23514");
  no_violation();
}

TEST_F(referrals_sql, a_raised_cap_pays_what_waited_for_room_and_a_lowered_one_takes_nothing) {
  sql("select referrals.set_cap(100)");
  friend_of(code_);
  const auto second = friend_of(code_);
  EXPECT_EQ(reason(second), "cap_reached");
  sql("select referrals.set_cap(100)");
  EXPECT_EQ(sql("select referrals.due(10)"), "");
  sql("select referrals.set_cap(250)");
  settle_all();
  EXPECT_EQ(balance(ann_) + " " + stat(ann_, "remaining_earnable_credits"), "200 50");
  sql("select referrals.set_cap(50)");
  EXPECT_EQ(stat(ann_, "max_earnable_credits") + " " + stat(ann_, "has_reached_limit"), "200 true");
  no_violation();
}

TEST_F(referrals_sql, a_batch_shares_the_room_by_age) {
  sql("update referrals.setting set cap = 250");
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) all.push_back(friend_of(code_, verified::no));
  sql("update referrals.referral set qualified_at = now()");
  EXPECT_EQ(settle_all(), "4");
  EXPECT_EQ(sql("select string_agg(credits_awarded::text, ' ' order by referred_at) from referrals.referral"),
            "100 100 50 0");
  no_violation();
}

TEST_F(referrals_sql, refresh_voids_what_is_pending_and_the_old_code_for_ever) {
  const auto paid = friend_of(code_);
  const auto waiting = friend_of(code_, verified::no);
  EXPECT_EQ(sql("select old_code from referrals.refresh(" + ann_ + ", " + candidates() + ")"), code_);
  EXPECT_EQ(reason(waiting), "code_refreshed");
  EXPECT_EQ(reason(paid), "");
  EXPECT_EQ(qualify(waiting), "0");
  settle_all();
  EXPECT_EQ(balance(ann_), "100");
  const auto late = account("late@example.test");
  EXPECT_EQ(attach(late, code_), "void");
  EXPECT_EQ(reason(late), "code_refreshed") << "the referrer sees who came with the old link";
  EXPECT_EQ(qualify(late), "0");
  settle_all();
  EXPECT_EQ(balance(ann_) + balance(late), "1000");
  EXPECT_EQ(state_of("insert into referrals.code (account_id, code) values (gen_random_uuid(), '" + code_ + "')"),
            "23505");
  sql("update referrals.setting set refreshes = 1");
  EXPECT_EQ(state_of("select referrals.refresh(" + ann_ + ", " + candidates() + ")"), "RY429");
  no_violation();
}

TEST_F(referrals_sql, many_refreshes_at_once_leave_one_code) {
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

TEST_F(referrals_sql, a_refresh_and_an_award_at_once_agree) {
  // The sign-up has the code's lock: the refresh waits, and finds nothing pending to void.
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
  // The refresh has it: the sign-up waits, and finds the code gone.
  const auto now = code_of(ann_);
  const auto cat = account("cat@example.test");
  db("begin");
  db("select referrals.refresh(" + ann_ + ", " + candidates() + ")");
  std::string outcome;
  std::thread late([&] { outcome = connect()("select referrals.attach(" + cat + ", '" + now + "', null)"); });
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
  no_violation();
}

TEST_F(referrals_sql, whoever_is_first_of_an_award_and_a_refresh_or_a_revocation_is_seen_by_the_other) {
  const auto award = [](const std::string& who) { return "select referrals.award(array[" + who + "]::uuid[])"; };
  // `first` in an open transaction, `second` waits for its end.
  const auto in_turn = [this](const std::string& first, const std::string& second) {
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
  const auto revoke = [this](const std::string& who) {
    return "select referrals.review('admin', (select id from referrals.referral where referred_account_id = " + who +
           "), 'revoke', 'why')";
  };
  const auto bob = friend_of(code_, verified::no);
  in_turn(award(bob), refresh());
  EXPECT_EQ(reason(bob) + balance(bob), "100") << "paid before the refresh";
  const auto cat = friend_of(code_of(ann_), verified::no);
  in_turn(refresh(), award(cat));
  EXPECT_EQ(reason(cat) + balance(cat), "code_refreshed0");
  const auto dan = friend_of(code_of(ann_), verified::no);
  in_turn(award(dan), revoke(dan));
  EXPECT_EQ(reason(dan) + balance(dan), "revoked0") << "paid and taken back";
  const auto eve = friend_of(code_of(ann_), verified::no);
  in_turn(revoke(eve), award(eve));
  EXPECT_EQ(reason(eve) + balance(eve), "revoked0");
  EXPECT_EQ(sql("select count(*) from accounts.ledger where account_id = " + eve), "0") << "never paid";
  EXPECT_EQ(balance(ann_), "100");
  no_violation();
}

TEST_F(referrals_sql, a_revocation_takes_back_what_both_got_and_frees_no_room) {
  sql("update referrals.setting set cap = 100");
  const auto bob = friend_of(code_);
  EXPECT_EQ(review(bob, "revoke"), "");
  EXPECT_EQ(balance(ann_) + " " + balance(bob), "0 0");
  EXPECT_EQ(reason(bob), "revoked");
  EXPECT_EQ(stat(ann_, "remaining_earnable_credits") + stat(ann_, "successful_referrals") +
                stat(ann_, "total_credits_earned") + stat(ann_, "revoked_credits"),
            "000100");
  EXPECT_EQ(review(bob, "revoke"), "RY409");
  friend_of(code_);
  EXPECT_EQ(last_, "cap_reached");
  EXPECT_EQ(sql("select actor || ' ' || action || ' ' || (detail->>'reason') from accounts.audit"),
            "admin referral.revoke why");
  EXPECT_EQ(state_of("select referrals.review('admin', gen_random_uuid(), 'revoke', '')"), "RY404");
  no_violation();
}

TEST_F(referrals_sql, what_does_not_add_up_is_found) {
  const auto bob = friend_of(code_);
  EXPECT_EQ(review(bob, "revoke"), "");
  friend_of(code_);
  EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0") << "also after a revocation";
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

TEST_F(referrals_sql, what_is_flagged_waits_for_its_review) {
  sql("update referrals.setting set flag_score = 2, velocity = 2");
  friend_of(code_);
  friend_of(code_);
  const auto third = friend_of(code_);
  EXPECT_EQ(last_, "flagged") << "too fast";
  EXPECT_EQ(reason(third), "under_review");
  settle_all();
  EXPECT_EQ(balance(ann_), "200");
  EXPECT_EQ(review(third, "release"), "");
  EXPECT_EQ(balance(ann_), "300");
  EXPECT_EQ(review(third, "release"), "RY409");
  const auto fourth = friend_of(code_);
  EXPECT_EQ(review(fourth, "revoke"), "");
  EXPECT_EQ(reason(fourth), "revoked");
  EXPECT_EQ(review(fourth, "release"), "RY409");
  sql("update referrals.setting set velocity = 100");
  const auto fifth = friend_of(code_, verified::no);
  EXPECT_EQ(review(fifth, "flag"), "");
  qualify(fifth);
  settle_all();
  EXPECT_EQ(balance(ann_), "300");
  no_violation();
}

TEST_F(referrals_sql, signals_weigh_and_do_not_block) {
  EXPECT_EQ(attach(account("a+b@example.test"), code_), "successful") << "a tag alone is no reason";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(attach(account("n" + std::to_string(i) + "@example.test"), code_, "'192.0.2.1'"), "successful");
  EXPECT_EQ(attach(account("n2@example.test"), code_, "'192.0.2.200'"), "successful") << "an office";
  EXPECT_EQ(attach(account("n+3@example.test"), code_, "'192.0.2.9'"), "flagged") << "both";
  EXPECT_EQ(sql("select signals from referrals.referral where review = 'flagged'"),
            "{\"same_network\": 2, \"tagged_address\": 1}");
  EXPECT_EQ(attach(account("m@example.test"), code_, "'no address'"), "successful");
  EXPECT_EQ(attach(account("k+4@example.test"), code_, "'192.0.2.0/24'"), "flagged") << "a block, as accounts tells it";
  EXPECT_EQ(sql("select count(*) from referrals.referral where network like '%192%'"), "0");
}

TEST_F(referrals_sql, sign_ups_at_once_are_signals_for_each_other) {
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
  EXPECT_FALSE(done) << "it waits for the sign-up before it";
  db("commit");
  other.join();
  EXPECT_EQ(outcome, "flagged");
  EXPECT_EQ(sql("select signals from referrals.referral where referred_account_id = " + cat),
            "{\"same_network\": 2, \"tagged_address\": 1}");
  no_violation();
}

TEST_F(referrals_sql, a_friend_from_the_referrers_own_network_is_a_signal) {
  sql("insert into referrals.origin select " + ann_ + ", referrals.network_of('2001:db8::/64')");
  EXPECT_EQ(attach(account("a@example.test"), code_, "'2001:db8::/64'"), "successful") << "a household";
  EXPECT_EQ(attach(account("b+ann@example.test"), code_, "'2001:db8::77'"), "successful");
  EXPECT_EQ(sql("select signals from referrals.referral order by referred_at desc limit 1"),
            "{\"tagged_address\": 1, \"network_of_referrer\": 1}");
  EXPECT_EQ(attach(account("c@example.test"), code_, "'2001:db8::/64'"), "flagged") << "the third one";
  EXPECT_EQ(attach(account("d@example.test"), code_, "'2001:db8:1::/64'"), "successful");
}

TEST_F(referrals_sql, ones_own_other_address_does_not_count) {
  const auto gil = account("gil.smith@gmail.com");
  const auto code = code_of(gil);
  EXPECT_EQ(attach(account("GilSmith+2@googlemail.com"), code), "void");
  sql("update referrals.setting set disposable = '{trash.test}'");
  const auto thrown = account("x@Trash.test");
  EXPECT_EQ(attach(thrown, code_), "void");
  EXPECT_EQ(reason(thrown), "disposable_address");
  settle_all();
  EXPECT_EQ(balance(gil) + balance(ann_), "00");
  EXPECT_EQ(stat(gil, "total_referrals") + stat(gil, "successful_referrals"), "10");
}

TEST_F(referrals_sql, a_suspended_code_holds_everything_up) {
  const auto bob = friend_of(code_, verified::no);
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

TEST_F(referrals_sql, two_referrers_claim_one_referee) {
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
  no_violation();
}

TEST_F(referrals_sql, a_mailbox_is_paid_for_once) {
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

TEST_F(referrals_sql, who_cannot_confirm_an_address_qualifies_at_the_sign_up) {
  for (const char* rule : {"email_verified", "first_run"}) {
    sql("update referrals.setting set qualify = '" + std::string(rule) + "'");
    const auto here = account("here." + std::string(rule) + "@example.test", verified::no);
    const auto there = account("there." + std::string(rule) + "@example.test", verified::no);
    sql("insert into accounts.login (account_id, email, email_key, password_hash) values (" + here + ", '" + rule +
        "', '" + rule + "', 'x')");
    sql("update accounts.setting set verifies = false");
    EXPECT_EQ(attach(here, code_), "successful") << rule;
    EXPECT_EQ(attach(there, code_), "pending") << "the provider of its identity can confirm it";
    sql("update accounts.setting set verifies = true");
    const auto later = account("later." + std::string(rule) + "@example.test", verified::no);
    sql("insert into accounts.login (account_id, email, email_key, password_hash) values (" + later + ", 'l', 'l" +
        rule + "', 'x')");
    EXPECT_EQ(attach(later, code_), "pending");
  }
}

TEST_F(referrals_sql, what_a_friend_sees_and_what_the_next_one_brings) {
  const auto seen = [&](const std::string& who, const std::string& name) {
    return sql("select referrals.received(" + who + ")::json->>'" + name + "'");
  };
  const auto offer = [&] { return sql("select referrer || ' ' || referee from referrals.offer(" + ann_ + ")"); };
  EXPECT_EQ(sql("select referrals.received(" + ann_ + ") is null"), "t");
  const auto bob = friend_of(code_, verified::no);
  EXPECT_EQ(seen(bob, "reason"), "not_qualified");
  EXPECT_EQ(seen(bob, "bonus_credits"), "100");
  EXPECT_EQ(offer(), "100 100");
  sql("select referrals.set_cap(150)");
  const auto cid = friend_of(code_);
  EXPECT_EQ(seen(cid, "credits"), "100");
  EXPECT_EQ(seen(cid, "reason"), "");
  EXPECT_EQ(offer(), "50 100") << "the rest below the limit";
  friend_of(code_);
  EXPECT_EQ(offer(), "0 0");
  EXPECT_EQ(seen(friend_of(code_), "reason"), "cap_reached");
  sql("select referrals.suspend('op', '" + code_ + "', true, '')");
  EXPECT_EQ(seen(bob, "reason"), "under_review") << "a suspended code concerns the referrer";
}

TEST_F(referrals_sql, a_deleted_account_leaves_nothing_that_earns) {
  const auto bob = friend_of(code_, verified::no);
  const auto cid = friend_of(code_);
  sql("insert into referrals.origin values (" + ann_ + ", 'x')");
  sql("select referrals.forget(" + ann_ + ")");
  EXPECT_EQ(sql("select void_reason from referrals.referral where referred_account_id = " + bob), "account_deleted");
  EXPECT_EQ(sql("select status from referrals.referral where referred_account_id = " + cid), "successful")
      << "what was paid stays";
  EXPECT_EQ(attach(account("new@example.test"), code_), "unknown_code");
  EXPECT_EQ(sql("select count(*) from referrals.origin"), "0");
  EXPECT_EQ(sql("select count(*) from referrals.unbalanced()"), "0");
  sql("select referrals.forget(" + cid + ")");
}

TEST_F(referrals_sql, invitations_keep_to_the_limits) {
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
      << "the day's limit now";
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
