#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sodium.h>
#include <time.h>

#include <boost/json/parse.hpp>
#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include "address.hpp"
#include "identity_message.hpp"
#include "login/emails.hpp"
#include "password.hpp"
#include "sessions.hpp"
#include "settings.hpp"

using namespace accounts;
using testing::HasSubstr;

namespace {

std::string key_of(std::string_view typed) {
  const auto a = parse_address(typed);
  return a ? a->key : std::string();
}

}  // namespace

TEST(address_test, equivalent_addresses_have_one_key) {
  EXPECT_EQ(key_of("Ann.Bee+x@Example.ORG"), "ann.bee+x@example.org");
  EXPECT_EQ(key_of("  ann@example.org\t"), "ann@example.org");
  EXPECT_EQ(parse_address("Ann@Example.ORG")->text, "Ann@example.org") << "the case before the @ is kept";
  const std::string idn = "ann@xn--bcher-kva.example";
  EXPECT_EQ(key_of("ann@b\xc3\xbc"
                   "cher.example"),
            idn);
  EXPECT_EQ(key_of("ann@B\xc3\x9c"
                   "CHER.example"),
            idn);
  EXPECT_EQ(key_of("ann@bu\xcc\x88"
                   "cher.example"),
            idn)
      << "u and a combining diaeresis";
  EXPECT_EQ(key_of("ann@XN--BCHER-KVA.example"), idn);
  EXPECT_EQ(key_of("ann@\xef\xbd\x85xample.org"), "ann@example.org") << "a full-width e";
  EXPECT_EQ(key_of("ann@e\xe2\x84\xaa.org"), "ann@ek.org") << "the Kelvin sign";
  EXPECT_EQ(key_of("o'neil_%x/y=z@a.co"), "o'neil_%x/y=z@a.co");
}

TEST(address_test, malformed_addresses_are_rejected) {
  for (const std::string_view bad : {"",
                                     " ",
                                     "ann",
                                     "@example.org",
                                     "ann@",
                                     "a@b@c.org",
                                     ".ann@x.org",
                                     "ann.@x.org",
                                     "a..b@x.org",
                                     "a b@x.org",
                                     "ann@x..org",
                                     "ann@-x.org",
                                     "ann@x-.org",
                                     "ann@.org",
                                     "ann@x.org.",
                                     "ann@[127.0.0.1]",
                                     "ann@127.0.0.1",
                                     "\"a b\"@x.org",
                                     "ann@x.org\r\nRCPT TO:<evil@y>",
                                     "ann\r\n@x.org",
                                     "<ann@x.org>",
                                     "ann@x.org>",
                                     "ann@ex ample.org",
                                     "ann@x_y.org",
                                     "\xce\xb1nn@x.org",
                                     "ann\xff@x.org",
                                     "ann@\xff.org",
                                     "ann@x.org,bob@x.org"}) {
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
  EXPECT_FALSE(parse_address(std::string_view("ann@x\0.org", 10)));
  EXPECT_TRUE(parse_address(std::string(64, 'a') + "@x.org"));
  EXPECT_FALSE(parse_address(std::string(65, 'a') + "@x.org"));
  std::string labels;
  for (int i = 0; i < 70; ++i) labels += "abc.";
  EXPECT_FALSE(parse_address("ann@" + labels + "org")) << "a host name of more than 253 bytes";
  EXPECT_FALSE(parse_address(std::string(1'000'000, 'a') + "@x.org"));
}

TEST(password_test, weak_passwords_are_rejected_with_a_reason) {
  EXPECT_EQ(password_fault("correct horse", "a@b.org", 10), "");
  EXPECT_THAT(password_fault("short", "a@b.org", 10), HasSubstr("at least 10"));
  EXPECT_EQ(
      password_fault("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9\xc3\xa8\xc3\xa0\xc3\xa7\xc3\xb1\xc3\xb8", "a@b.org", 10),
      "")
      << "ten characters, twenty bytes";
  EXPECT_NE(password_fault("\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa9", "a@b.org", 10), "") << "five characters";
  EXPECT_NE(password_fault("aaaaaaaaaaaaa", "a@b.org", 10), "");
  EXPECT_NE(password_fault("abababababab", "a@b.org", 10), "");
  EXPECT_NE(password_fault("Annabel.Lee@x.org", "annabel.lee@x.org", 10), "");
  EXPECT_NE(password_fault("ANNABEL.LEE", "annabel.lee@x.org", 10), "");
  EXPECT_EQ(password_fault(std::string(1020, 'x') + "abcd", "a@b.org", 10), "");
  EXPECT_THAT(password_fault(std::string(1025, 'x'), "a@b.org", 10), HasSubstr("at most 1024"));
}

class hasher_test : public testing::Test {
 protected:
  ry::testing::fake_host host_;
  const hash_cost cheap_cost_{1, 8u << 20};
  password_hasher hasher_{host_.ctx(), cheap_cost_, 1, 2};
};

TEST_F(hasher_test, hashes_with_argon2id_and_matches_only_the_exact_password) {
  host_.await(hasher_.prepare());
  const auto one = host_.await(hasher_.hash("correct horse", "a"));
  const auto two = host_.await(hasher_.hash("correct horse", "a"));
  EXPECT_EQ(one.substr(0, 10), "$argon2id$");
  EXPECT_NE(one, two) << "each has its own salt";
  EXPECT_TRUE(host_.await(hasher_.verify(one, "correct horse", "a")));
  EXPECT_FALSE(host_.await(hasher_.verify(one, "correct horsf", "a")));
  EXPECT_FALSE(host_.await(hasher_.verify(one, "", "a")));
  EXPECT_TRUE(
      host_.await(hasher_.verify(host_.await(hasher_.hash(std::string("a\0b", 3), "a")), std::string("a\0b", 3), "a")));
  EXPECT_FALSE(host_.await(hasher_.verify(host_.await(hasher_.hash(std::string("a\0b", 3), "a")), "a", "a")));
  EXPECT_FALSE(host_.await(hasher_.verify("", "correct horse", "a"))) << "an unknown account";
  EXPECT_FALSE(host_.await(hasher_.verify("garbage", "correct horse", "a")));
}

TEST_F(hasher_test, an_unknown_address_takes_as_long_as_a_wrong_password) {
  host_.await(hasher_.prepare());
  const auto stored = host_.await(hasher_.hash("correct horse", "a"));
  const auto min_cpu_time = [&](const std::string& hash) {
    // CPU time of the thread, because the machine may be busy.
    const auto now = [] {
      timespec t{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
      return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
    };
    double min_ns = 1e18;
    for (int i = 0; i < 5; ++i) {
      const auto from = now();
      host_.await(hasher_.verify(hash, "wrong horse", "a"));
      min_ns = std::min(min_ns, now() - from);
    }
    return min_ns;
  };
  const double with_account = min_cpu_time(stored), without_account = min_cpu_time("");
  EXPECT_LT(with_account / without_account, 2.0);
  EXPECT_LT(without_account / with_account, 2.0);
}

TEST_F(hasher_test, detects_hashes_with_another_cost) {
  password_hasher costlier(host_.ctx(), {2, 8u << 20}, 1, 2);
  const auto stored = host_.await(hasher_.hash("correct horse", "a"));
  EXPECT_FALSE(hasher_.is_stale(stored));
  EXPECT_TRUE(costlier.is_stale(stored));
}

TEST_F(hasher_test, rejects_calls_beyond_the_queue_limit) {
  host_.await(hasher_.prepare());
  int done = 0, refused = 0;
  const auto one = [&](std::string client) -> ry::task<void> {
    try {
      co_await hasher_.hash("correct horse", std::move(client));
      ++done;
    } catch (const ry::error& e) {
      EXPECT_EQ(e.status(), RY_UNAVAILABLE);
      EXPECT_GT(e.retry_after_s(), 0u);
      ++refused;
    }
  };
  for (int i = 0; i < 5; ++i) host_.ctx().spawn(one(std::to_string(i)), host_.exec());
  host_.run();
  EXPECT_EQ(done, 3) << "one running, two waiting";
  EXPECT_EQ(refused, 2);
  host_.await(hasher_.hash("correct horse", "a"));
}

TEST(fair_queue_test, groups_take_turns) {
  fair_queue<int> q(8, 4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(q.push("many", i).queued);
  EXPECT_FALSE(q.push("many", 4).queued) << "the limit per group";
  EXPECT_TRUE(q.push("few", 10).queued);
  EXPECT_EQ(q.pop(), 0);
  EXPECT_EQ(q.pop(), 10) << "it does not wait for all entries of the other group";
  EXPECT_EQ(q.pop(), 1);
  EXPECT_TRUE(q.push("few", 11).queued);
  EXPECT_EQ(q.pop(), 2);
  EXPECT_EQ(q.pop(), 11);
  EXPECT_EQ(q.pop(), 3);
  EXPECT_EQ(q.pop(), std::nullopt);
  EXPECT_EQ(q.size(), 0u);
}

TEST(fair_queue_test, a_full_queue_displaces_an_entry_of_the_largest_group) {
  fair_queue<int> q(6, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(q.push("a", i).queued);
    EXPECT_TRUE(q.push("b", 10 + i).queued);
  }
  const auto late = q.push("c", 20);
  EXPECT_TRUE(late.queued);
  EXPECT_EQ(late.displaced, 2) << "the last entry of a largest group";
  EXPECT_EQ(q.size(), 6u);
  EXPECT_EQ(q.push("d", 30).displaced, 12);
  EXPECT_TRUE(q.push("e", 40).queued);
  EXPECT_TRUE(q.push("f", 50).queued);
  EXPECT_FALSE(q.push("g", 60).queued) << "all groups have one entry, so none is displaced";
}

TEST(address_test, mailbox_text_folds_case_and_domains) {
  EXPECT_EQ(mailbox_text("Ann.Bee+Tag@GoogleMail.COM."), "ann.bee+tag@googlemail.com");
  EXPECT_EQ(mailbox_text("\xC3\x84nne@EX\xC3\x84MPLE.de"), "\xC3\xA4nne@xn--exmple-cua.de");
  EXPECT_EQ(mailbox_text("x@\xEF\xBC\xA7mail.com"), "x@gmail.com") << "a full-width letter";
  EXPECT_EQ(mailbox_text("no address"), "no address");
  EXPECT_EQ(mailbox_text("\xff\xfe@x.org"), "\xff\xfe@x.org");
  EXPECT_EQ(mailbox_text(""), "");
}

TEST(emails_test, api_keys_are_listed_and_escaped) {
  const auto revoked =
      password_changed_email("https://x.org/auth", {{{"0123", "<b>ci", ""}, {"4567", "old", "2026-01-01"}}, false});
  EXPECT_THAT(revoked.text,
              HasSubstr("- \"<b>ci\" (ry_0123), never used\n- \"old\" (ry_4567), last used 2026-01-01\n"));
  EXPECT_THAT(revoked.text, HasSubstr("were revoked"));
  EXPECT_THAT(revoked.html, HasSubstr("<li>&quot;&lt;b&gt;ci&quot;"));
  EXPECT_THAT(password_changed_email("https://x.org/auth", {{{"0123", "ci", ""}}, true}).text, HasSubstr("still work"));
  EXPECT_THAT(password_changed_email("https://x.org/auth", {}).text, testing::Not(HasSubstr("API key")));
  EXPECT_THAT(new_key_email("", {"0123", "ci", ""}).html, testing::Not(HasSubstr("<a ")))
      << "no link if there is no page";
}

TEST(identity_message_test, reads_the_formats_of_all_providers) {
  const auto plain = read_identity_message(
      R"({"type":"user.created","data":{"id":"u1","email":"A@Example.org","email_verified":true,
          "user_metadata":{"full_name":"Ann Bee","referral_code":"abcd2345"}}})");
  ASSERT_TRUE(plain.who);
  EXPECT_EQ(plain.who->subject, "u1");
  EXPECT_FALSE(plain.who->id);
  EXPECT_EQ(plain.who->email, "A@example.org");
  EXPECT_TRUE(plain.who->verified);
  EXPECT_EQ(plain.who->name, "Ann Bee");
  EXPECT_EQ(plain.who->referral_code, "abcd2345");
  EXPECT_EQ(plain.who->network, "");

  const auto clerk = read_identity_message(
      R"({"type":"user.updated","data":{"id":"user_2","primary_email_address_id":"e2","first_name":"Bo","last_name":"Li",
          "email_addresses":[{"id":"e1","email_address":"old@x.org","verification":{"status":"verified"}},
                             {"id":"e2","email_address":"new@x.org","verification":{"status":"unverified"}}],
          "unsafe_metadata":{"referral_code":"ZZZZ"}},
          "event_attributes":{"http_request":{"client_ip":"203.0.113.7","user_agent":"x"}}})");
  ASSERT_TRUE(clerk.who);
  EXPECT_EQ(clerk.who->network, "203.0.113.0/24");
  EXPECT_EQ(clerk.who->email, "new@x.org");
  EXPECT_FALSE(clerk.who->verified);
  EXPECT_EQ(clerk.who->name, "Bo Li");
  EXPECT_EQ(clerk.who->referral_code, "ZZZZ");

  const auto row = read_identity_message(
      R"({"type":"INSERT","table":"users","record":{"id":"11111111-1111-4111-8111-111111111111","email":"c@x.org",
          "email_confirmed_at":"2026-01-01","raw_user_meta_data":{"name":"Cy"}}})");
  ASSERT_TRUE(row.who);
  EXPECT_TRUE(row.who->id);
  EXPECT_TRUE(row.who->verified);
  EXPECT_EQ(row.who->name, "Cy");
}

TEST(identity_message_test, ignores_other_messages_and_rejects_malformed_ones) {
  EXPECT_FALSE(read_identity_message(R"({"type":"session.created","data":{"id":"s"}})").who);
  EXPECT_FALSE(read_identity_message(R"({"type":"user.deleted","data":{"id":"u"}})").who);
  EXPECT_THROW(read_identity_message(R"({"type":"user.deleted","data":{}})"), ry::error);
  EXPECT_FALSE(read_identity_message("{}").who);
  EXPECT_THROW(read_identity_message("[]"), ry::error);
  EXPECT_THROW(read_identity_message("{"), ry::error);
  for (const std::string data :
       {"{}", "7", R"({"id":7})", R"({"id":""})", R"({"id":"a\u0000b"})", R"({"id":"u","email":"no address"})"}) {
    EXPECT_THROW(read_identity_message(R"({"type":"user.created","data":)" + data + "}"), ry::error) << data;
  }
  const auto unverified = read_identity_message(R"({"type":"user.created","data":{"id":"u","email_verified":true}})");
  EXPECT_FALSE(unverified.who->verified) << "without an address, nothing is verified";
}

TEST(identity_message_test, reads_the_deleted_subject) {
  const auto deleted = [](const char* text) { return read_identity_message(text).deleted; };
  EXPECT_EQ(deleted(R"({"type":"user.deleted","data":{"id":"user_1","deleted":true}})"), "user_1");
  EXPECT_EQ(deleted(R"({"type":"DELETE","schema":"auth","table":"users","record":null,"old_record":{"id":"u"}})"), "u");
  EXPECT_EQ(deleted(R"({"type":"DELETE","schema":"public","table":"users","old_record":{"id":"u"}})"), "");
  EXPECT_EQ(deleted(R"({"type":"DELETE","schema":"auth","table":"sessions","old_record":{"id":"s"}})"), "");
  EXPECT_EQ(deleted(R"({"type":"DELETE","old_record":{"id":"s"}})"), "");
  EXPECT_EQ(deleted(R"({"type":"user.updated","data":{"id":"u"}})"), "");
}

TEST(identity_message_test, recognises_verified_addresses) {
  const auto confirmed = [](const std::string& members) {
    return read_identity_message(R"({"type":"user.created","data":{"id":"u","email":"a@b.org",)" + members + "}}")
        .who->verified;
  };
  for (const char* accepted :
       {R"("email_verified":true)", R"("email_verified":"true")", R"("email_confirmed_at":"2026-01-02 03:04:05.1+00")"})
    EXPECT_TRUE(confirmed(accepted)) << accepted;
  for (const char* rejected :
       {R"("email_verified":"false")", R"("email_verified":"0")", R"("email_verified":0)", R"("email_verified":1)",
        R"("email_verified":{})", R"("email_verified":"yes")", R"("email_confirmed_at":"false")",
        R"("email_confirmed_at":{})", R"("email_confirmed_at":"0001-01-01T00:00:00Z")",
        R"("email_confirmed_at":1767322800)", R"("email_verified":false,"email_confirmed_at":"2026-01-02")",
        R"("user_metadata":{"email_verified":true})"})
    EXPECT_FALSE(confirmed(rejected)) << rejected;
}

TEST(identity_message_test, recognises_anonymous_users) {
  const auto anonymous = [](const std::string& value) {
    return read_identity_message(R"({"type":"user.created","data":{"id":"u","email":"a@b.org","is_anonymous":)" +
                                 value + "}}")
        .who->anonymous;
  };
  for (const char* rejected : {"false", R"("false")", R"("False")", "0", R"("0")"})
    EXPECT_EQ(anonymous(rejected), false) << rejected;
  for (const char* accepted : {"true", R"("true")", "1", R"("1")", "{}", R"("yes")"})
    EXPECT_EQ(anonymous(accepted), true) << accepted;
  EXPECT_EQ(anonymous("null"), std::nullopt);
}

TEST(identity_message_test, reads_hooks_of_supabase) {
  const auto before = read_identity_message(
      R"({"metadata":{"uuid":"x","name":"before-user-created","ip_address":"203.0.113.9"},
          "user":{"id":"11111111-1111-4111-8111-111111111111","email":"a@b.org","is_anonymous":true,"user_metadata":{"referral_code":"ABCD"}}})");
  ASSERT_TRUE(before.who);
  EXPECT_EQ(before.type, "before-user-created");
  EXPECT_EQ(before.who->network, "203.0.113.0/24");
  EXPECT_EQ(before.who->anonymous, true);
  EXPECT_EQ(before.who->referral_code, "ABCD");
  const auto mail = read_identity_message(
      R"({"user":{"id":"u","email":"a@b.org","new_email":"c@d.org"},"email_data":{"token":"12","token_hash":"h&=","token_new":"34",
          "token_hash_new":"","redirect_to":"https://app/?a=b&c","email_action_type":"signup","site_url":"https://x.supabase.co/auth/v1/"}})");
  ASSERT_EQ(mail.mails.size(), 1u);
  EXPECT_EQ(mail.type, "send-email");
  EXPECT_EQ(mail.mails[0].to, "a@b.org");
  EXPECT_EQ(mail.mails[0].code, "12");
  EXPECT_EQ(
      mail.mails[0].link,
      "https://x.supabase.co/auth/v1/verify?token=h%26%3D&type=signup&redirect_to=https%3A%2F%2Fapp%2F%3Fa%3Db%26c");
  const auto script = read_identity_message(
      R"({"user":{"id":"u","email":"a@b.org"},"email_data":{"token":"12","token_hash":"h","email_action_type":"magiclink","site_url":"javascript:x"}})");
  EXPECT_EQ(script.mails.at(0).link, "") << "not an http URL";
  EXPECT_FALSE(read_identity_message(R"({"metadata":{"name":"custom-access-token"},"user":{"id":"u"}})").who);
}

TEST(login_settings_test, reads_senders_of_the_identity_webhook) {
  ry::settings_faults faults;
  const auto read = [&](const std::string& webhook) {
    return read_login_settings(boost::json::parse(R"({"identity_webhook":)" + webhook + "}").as_object(), "", "",
                               "local", faults)
        .webhook_senders;
  };
  const std::string key = R"("v1,whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")",
                    token = "\"" + std::string(32, 't') + "\"";
  EXPECT_TRUE(read("{}").empty());
  const auto all = read(R"({"secrets":[)" + key + R"(],"issuers":{"a":{"secrets":[)" + key + R"(]},"b":{"tokens":[)" +
                        token + R"(],"subject_prefix":""},"empty":{}}})");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].subject_prefix, "");
  EXPECT_EQ(all[0].keys.at(0), "01234567890123456789012345678901");
  EXPECT_EQ(all[1].subject_prefix, "a:");
  EXPECT_EQ(all[2].subject_prefix, "");
  EXPECT_EQ(all[2].tokens.size(), 1u);
  EXPECT_TRUE(faults.all().empty());
  read(R"({"tokens":["short"],"issuers":{"a":{"secrets":["x"]}}})");
  EXPECT_EQ(faults.all().size(), 2u);
}

TEST(login_settings_test, is_off_by_default_and_reports_unsafe_settings) {
  std::string reported;  // keys of the faults of the last read()
  const auto read = [&reported](const char* text, const char* url, const char* mode) {
    ry::settings_faults faults;
    auto out = read_login_settings(boost::json::parse(text).as_object(), url, "/p", mode, faults);
    reported.clear();
    for (const auto& f : faults.all()) reported += f.key + ";";
    return out;
  };
  EXPECT_FALSE(read("{}", "", "production").enabled);
  const auto on = read(R"({"local_login":true})", "https://x.org/", "production");
  EXPECT_TRUE(on.enabled);
  EXPECT_EQ(reported, "");
  EXPECT_EQ(on.app_url, "https://x.org/p");
  EXPECT_EQ(read(R"({"local_login":true,"login":{"app_url":"https://app.org"}})", "https://x.org", "local").app_url,
            "https://app.org");
  read(R"({"local_login":true})", "", "local");
  EXPECT_EQ(reported, "local_login;") << "no address for links";
  read(R"({"local_login":true})", "javascript:x", "local");
  EXPECT_EQ(reported, "local_login;");
  const char* none = R"({"local_login":true,"login":{"verify":"none"}})";
  EXPECT_EQ(read(none, "", "local").verify, verification::none);
  EXPECT_EQ(reported, "");
  for (const char* mode : {"staging", "production"}) {
    read(none, "https://x.org", mode);
    EXPECT_EQ(reported, "login.verify;") << mode;
  }
  read(R"({"local_login":true,"identity_webhook":{"secrets":["secret"]}})", "", "local");
  EXPECT_EQ(reported, "identity_webhook.secrets[0];local_login;") << "all faults are reported";
}

TEST(emails_test, links_are_in_the_text_and_the_html) {
  const std::string link = "https://x.org/auth#verify=a_b-c";
  for (const auto& l : {confirm_email(link, 24), already_registered_email(link), reset_email(link, 1),
                        password_changed_email(link, {}), sessions_ended_email(link, {}), new_key_email(link, {})}) {
    EXPECT_FALSE(l.subject.empty());
    EXPECT_THAT(l.text, HasSubstr("\n" + link + "\n"));
    EXPECT_THAT(l.html, HasSubstr("href=\"" + link + "\""));
  }
  EXPECT_THAT(confirm_email(link, 24).text, HasSubstr("24 hours"));
  EXPECT_THAT(reset_email(link, 1).text, HasSubstr("1 minute "));
  EXPECT_THAT(reset_email("https://x/?a=1&b=\"<", 1).html, HasSubstr("a=1&amp;b=&quot;&lt;\""));
}

TEST(sessions_test, refuses_ended_sessions_and_queries_only_the_necessary_period) {
  ry::testing::fake_host host;
  host.db.on("ended_at >", {{"subject", "session", "ended_us"}, {{"u", "s-1", "5"}}});
  host.db.on("account.delete",
             {{"id", "subject", "closed_us", "returned"}, {{"7", "u2", "5", "f"}, {"8", "u3", "6", "t"}}});
  host.db.on("account.delete",
             {{"id", "subject", "closed_us", "returned"}, {{"7", "u2", "5", "f"}, {"9", "u4", "7", "t"}}});
  const repository accounts(host.ctx());
  const login_repository repo(host.ctx());
  const login_settings cfg;
  ry::settings_faults faults;
  const config tiers = read_config("{}", faults);
  account_cache cache(host.ctx(), accounts, tiers);
  sessions all(host.ctx(), accounts, cache, repo, cfg);
  host.await(all.refuse_ended());
  EXPECT_EQ(host.revoked_sessions, (std::vector<std::string>{"s-1", "", ""}))
      << "also the tokens of closed accounts, even if the subject has an account again";
  EXPECT_EQ(host.db.calls.back().params.at(0), "691220")
      << "the longest lifetime of a token, including stream tokens, plus the clock margin";
  host.advance(5'000);
  host.await(all.refuse_ended());
  EXPECT_EQ(host.db.calls.back().params.at(0), "25");
  EXPECT_EQ(std::count(host.revoked_sessions.begin(), host.revoked_sessions.end(), ""), 3)
      << "each closure is applied once, so later tokens of the subject remain valid";
}

TEST(token_test, tokens_are_long_and_unique) {
  const auto a = make_token(), b = make_token();
  EXPECT_EQ(a.size(), 43u);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), a.npos);
}
