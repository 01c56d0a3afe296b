#include <curl/curl.h>
#include <gtest/gtest.h>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include "address.hpp"
#include "sealed_body.hpp"
#include "smtp.hpp"
#include "smtp_reply.hpp"

using namespace mail;

namespace {

TEST(mail_address, takes_what_is_safe_on_the_wire) {
  for (const char* good : {"a@b", "ann.b+tag@example.org", "o'neil@xn--bcher-kva.example", "x_y@a-b.co"}) {
    EXPECT_TRUE(is_address(good)) << good;
  }
  for (const char* bad :
       {"", "a", "@b", "a@", "a b@c", "a@b c", "<a@b>", "a@b>\r\nRCPT TO:<evil@c", "a\r@b", "a@b\n", "a@-b",
        "a@b-", "a@b..c", ".a@b", "a.@b", "a..b@c", "\"a b\"@c", "a@[127.0.0.1]", "a@b,c@d", "a@1.2.3.4", "a@127",
        "\xff@b", "a\xc2\xa0@b", "a\xe2\x80\xae@b", "a\xe3\x80\x80@b", "a@\xc3\xa9 b", "a@b\xc2\xa0"}) {
    EXPECT_FALSE(is_address(bad)) << bad;
  }
  EXPECT_FALSE(is_address(std::string_view("a\0@b", 4)));
  EXPECT_TRUE(is_address(std::string(64, 'a') + "@b"));
  EXPECT_FALSE(is_address(std::string(65, 'a') + "@b"));
  EXPECT_FALSE(is_address("a@" + std::string(64, 'b')));
  EXPECT_FALSE(is_address("a@" + std::string(50, 'b') + "." + std::string(50, 'c') + "." +
                          std::string(50, 'd') + "." + std::string(50, 'e') + "." + std::string(50, 'f')));
}

TEST(mail_address, international_ones_have_an_ascii_domain_on_the_wire) {
  EXPECT_EQ(on_the_wire("x@b\xc3\xbc" "cher.example"), "x@xn--bcher-kva.example");
  EXPECT_EQ(on_the_wire("x@B\xc3\x9c" "CHER.example"), "x@xn--bcher-kva.example");
  EXPECT_EQ(on_the_wire("Ann@Example.org"), "Ann@Example.org");
  EXPECT_EQ(on_the_wire("j\xc3\xbcrgen@b\xc3\xbc" "cher.example"), "j\xc3\xbcrgen@xn--bcher-kva.example");
  EXPECT_TRUE(needs_smtputf8("j\xc3\xbcrgen@example.org"));
  EXPECT_FALSE(needs_smtputf8("x@b\xc3\xbc" "cher.example"));
}

TEST(mail_header, stays_one_line_whatever_comes) {
  EXPECT_EQ(header_text("Ann invites you"), "Ann invites you");
  EXPECT_EQ(header_text("Ann\r\nBcc: evil@x"), "Ann  Bcc: evil@x");
  EXPECT_EQ(header_text("J\xc3\xbcrgen"), "=?UTF-8?B?SsO8cmdlbg==?=");
  EXPECT_EQ(header_text("\xff"), "?");
  EXPECT_EQ(header_text("=?UTF-8?B?QQ==?="), "=?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?=") << "taken literally";
  std::string many;
  for (int i = 0; i < 40; ++i) many += "\xe2\x82\xac";
  const auto folded = header_text(many);
  std::size_t begin = 0;
  for (;;) {
    const auto end = folded.find("\r\n ", begin);
    const auto line = folded.substr(begin, end - begin);
    EXPECT_LE(line.size(), 75u);
    EXPECT_EQ(line.rfind("=?UTF-8?B?", 0), 0u);
    if (end == folded.npos) break;
    begin = end + 3;
  }
  EXPECT_EQ(mailbox("", "a@b"), "a@b");
  EXPECT_EQ(mailbox("R \"Y\"", "a@b"), "\"R \\\"Y\\\"\" <a@b>");
  EXPECT_EQ(mailbox("\xc3\xa9", "a@b"), "=?UTF-8?B?w6k=?= <a@b>");
  EXPECT_EQ(header_date(0), "Thu, 1 Jan 1970 00:00:00 +0000");
  EXPECT_EQ(header_date(1'000'000'000), "Sun, 9 Sep 2001 01:46:40 +0000");
}

attempt reply(int curl, int code, phase at, const char* text = "") {
  attempt a;
  a.curl_code = curl;
  a.reply_code = code;
  a.at = at;
  a.reply = text;
  return a;
}

TEST(mail_verdict, follows_the_reply_and_where_it_came) {
  EXPECT_EQ(judge(reply(CURLE_OK, 250, phase::body)), verdict::sent);
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 451, phase::rcpt)), verdict::retry) << "greylisted";
  EXPECT_EQ(judge(reply(CURLE_WEIRD_SERVER_REPLY, 452, phase::body)), verdict::retry);
  EXPECT_EQ(judge(reply(CURLE_WEIRD_SERVER_REPLY, 421, phase::connect)), verdict::retry);
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 550, phase::rcpt, "550 5.1.1 no such user")), verdict::bounced);
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 550, phase::rcpt, "550 5.7.1 relaying denied")),
            verdict::refused);
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 552, phase::rcpt)), verdict::refused);
  EXPECT_EQ(judge(reply(CURLE_WEIRD_SERVER_REPLY, 550, phase::body, "550 5.1.1 User unknown")), verdict::bounced);
  for (const auto at : {phase::mail, phase::rcpt, phase::body}) {
    EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 550, at, "550 5.4.5 Daily user sending quota exceeded")), verdict::retry);
  }
  auto international = reply(CURLE_OK, 250, phase::hello);
  international.unsupported = "no SMTPUTF8";
  EXPECT_EQ(judge(international), verdict::refused);
  EXPECT_EQ(judge(reply(CURLE_WEIRD_SERVER_REPLY, 554, phase::body)), verdict::refused);
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 550, phase::mail)), verdict::relay_trouble) << "our sender";
  EXPECT_EQ(judge(reply(CURLE_WEIRD_SERVER_REPLY, 554, phase::connect)), verdict::relay_trouble);
  EXPECT_EQ(judge(reply(CURLE_LOGIN_DENIED, 535, phase::auth)), verdict::relay_trouble);
  EXPECT_EQ(judge(reply(CURLE_USE_SSL_FAILED, 250, phase::hello)), verdict::relay_trouble);
  EXPECT_EQ(judge(reply(CURLE_PEER_FAILED_VERIFICATION, 220, phase::starttls)),
            verdict::relay_trouble);
  for (const int code : {CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_OPERATION_TIMEDOUT}) {
    EXPECT_EQ(judge(reply(code, 0, phase::connect)), verdict::relay_trouble) << "all mail waits for the relay";
    EXPECT_TRUE(is_unreachable(reply(code, 0, phase::connect)));
  }
  EXPECT_FALSE(is_unreachable(reply(CURLE_LOGIN_DENIED, 535, phase::auth)));
  EXPECT_EQ(judge(reply(CURLE_SEND_ERROR, 354, phase::body)), verdict::retry) << "cut in DATA";
  EXPECT_EQ(judge(reply(CURLE_OPERATION_TIMEDOUT, 354, phase::body)), verdict::retry);
}

TEST(mail_refusal, only_a_missing_mailbox_is_a_bounce) {
  for (const char* missing :
       {"550 5.1.1 <x@y>: Recipient address rejected: User unknown in virtual mailbox table", "550-5.1.1 The email account does not exist.",
        "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", "553 5.1.3 Invalid address",
        "551 5.1.6 User has moved", "550 5.2.1 The email account that you tried to reach is disabled", "550 5.1.2 Host unknown",
        "550 No such user here", "550 Unknown user", "553 sorry, no mailbox here by that name", "550 Unrouteable address"}) {
    EXPECT_EQ(classify(missing), refusal::recipient) << missing;
  }
  for (const char* later : {"550 5.4.5 Daily user sending quota exceeded.", "550 5.5.3 Too many recipients", "550 Daily sending quota exceeded",
                            "554 You have sent too many messages", "550 5.7.1 Hourly limit exceeded"}) {
    EXPECT_EQ(classify(later), refusal::quota) << later;
  }
  for (const char* other :
       {"550 relay not permitted", "550 5.7.1 Relaying denied", "550 Administrative prohibition", "550 5.1.8 Sender address rejected",
        "550 Sender verify failed", "550 5.1.1 Sender rejected", "550 5.1.7 Bad sender", "550 5.2.2 Mailbox full", "552 5.2.2 Over quota",
        "550 5.2.3 Message too long", "550 5.7.26 Unauthenticated e-mail: SPF and DKIM failed", "550 SPF check failed for unknown user domain",
        "550 Blocked by Spamhaus", "550 Requested action not taken: mailbox unavailable", "550 Rejected", "550", "",
        "452 4.2.2 no such user", "550 5.7.1 No such user", "550 5.1.1.1 x", "550 Message content rejected"}) {
    EXPECT_EQ(classify(other), refusal::other) << other;
  }
}

std::string defaults_with(const std::string& members) {
  return R"({"host": "", "port": 0, "security": "starttls", "username": "", "password": "", "ca_file": "",
    "from": "", "from_name": "", "unsubscribe_mailto": "", "dkim_selectors": [], "connections": 4, "timeout_seconds": 60,
    "rate_per_minute": 0, "per_recipient_hour": 20, "account_per_recipient_hour": 60, "suppress_days": 90, "max_attempts": 30, "keep_days": 30)" +
         members + "}";
}

TEST(mail_settings, say_what_is_wrong) {
  const auto fault = [](const std::string& members) {
    ry::settings_faults faults;
    (void)read_settings(defaults_with(members), faults);
    std::string out;
    for (const auto& f : faults.all()) out += "mail." + f.key + " " + f.message + "\n";
    return out;
  };
  const auto read = [](const std::string& members) {
    ry::settings_faults faults;
    return read_settings(defaults_with(members), faults);
  };
  EXPECT_EQ(fault(""), "");
  EXPECT_EQ(read("").port, 587);
  EXPECT_EQ(read(R"(, "security": "tls")").port, 465);
  EXPECT_EQ(read(R"(, "rate_per_minute": 7)").gap_ms, 8572);
  EXPECT_NE(fault(R"(, "host": "mail.test")").find("mail.from"), std::string::npos);
  EXPECT_NE(fault(R"(, "host": "mail.test/x", "from": "a@b")").find("mail.host"), std::string::npos);
  EXPECT_NE(fault(R"(, "from": "A <a@b>")").find("mail.from"), std::string::npos);
  EXPECT_NE(fault(R"(, "security": "none", "username": "u")").find("clear text"), std::string::npos);
  EXPECT_EQ(fault(R"(, "host": "a/b", "from": "c", "unsubscribe_mailto": "d")"),
            "mail.host is not a host name\n"
            "mail.from is not a bare e-mail address\n"
            "mail.unsubscribe_mailto is not a bare e-mail address\n");
}

TEST(mail_sealed_body, opens_what_it_sealed_and_nothing_else) {
  ry::testing::fake_host host;
  const std::string html = "<a href=\"{{unsubscribe_url}}\">\xc3\xbc</a>";
  const auto sealed = seal_bodies(host.ctx(), "text", html);
  EXPECT_TRUE(sealed.starts_with("ry-sealed:u:")) << sealed;
  EXPECT_TRUE(is_sealed(sealed));
  const auto opened = open_bodies(host.ctx(), sealed);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->text, "text");
  EXPECT_EQ(opened->html, html);
  EXPECT_TRUE(seal_bodies(host.ctx(), "text", "").starts_with("ry-sealed:-:"));
  EXPECT_TRUE(seal_bodies(host.ctx(), "{{unsubscribe_url}}", "").starts_with("ry-sealed:u:"));
  EXPECT_EQ(open_bodies(host.ctx(), seal_bodies(host.ctx(), "", ""))->html, "");

  const auto alien = ry::base64_encode("sealed:mail.other:{}", ry::base64_alphabet::standard, true);
  const auto no_bodies = ry::base64_encode("sealed:mail.body:[]", ry::base64_alphabet::standard, true);
  EXPECT_FALSE(is_sealed("text of ry-sealed:"));
  for (const std::string& bad : {std::string("plain"), std::string("ry-sealed:"), std::string("ry-sealed:-"),
                                 std::string("ry-sealed:-:"), std::string("ry-sealed:-:\xc1"), "ry-sealed:-:" + alien,
                                 "ry-sealed:-:" + no_bodies, sealed.substr(0, sealed.size() - 4), sealed + "="}) {
    const auto refused = open_bodies(host.ctx(), bad);
    EXPECT_EQ(refused.status(), RY_DATA_LOSS) << bad;
  }
}

}  // namespace
