#include <curl/curl.h>
#include <gtest/gtest.h>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/settings_check.hpp>
#include <ry/testing.hpp>

#include "address.hpp"
#include "sealed_body.hpp"
#include "service.hpp"
#include "smtp.hpp"
#include "smtp_reply.hpp"

using namespace mail;

namespace {

TEST(mail_address, accepts_addresses_that_are_safe_in_smtp) {
  for (const char* valid : {"a@b", "ann.b+tag@example.org", "o'neil@xn--bcher-kva.example", "x_y@a-b.co"}) {
    EXPECT_TRUE(is_address(valid)) << valid;
  }
  for (const char* invalid : {"",
                              "a",
                              "@b",
                              "a@",
                              "a b@c",
                              "a@b c",
                              "<a@b>",
                              "a@b>\r\nRCPT TO:<evil@c",
                              "a\r@b",
                              "a@b\n",
                              "a@-b",
                              "a@b-",
                              "a@b..c",
                              ".a@b",
                              "a.@b",
                              "a..b@c",
                              "\"a b\"@c",
                              "a@[127.0.0.1]",
                              "a@b,c@d",
                              "a@1.2.3.4",
                              "a@127",
                              "\xff@b",
                              "a\xc2\xa0@b",
                              "a\xe2\x80\xae@b",
                              "a\xe3\x80\x80@b",
                              "a@\xc3\xa9 b",
                              "a@b\xc2\xa0"}) {
    EXPECT_FALSE(is_address(invalid)) << invalid;
  }
  EXPECT_FALSE(is_address(std::string_view("a\0@b", 4)));
  EXPECT_TRUE(is_address(std::string(64, 'a') + "@b"));
  EXPECT_FALSE(is_address(std::string(65, 'a') + "@b"));
  EXPECT_FALSE(is_address("a@" + std::string(64, 'b')));
  EXPECT_FALSE(is_address("a@" + std::string(50, 'b') + "." + std::string(50, 'c') + "." + std::string(50, 'd') + "." +
                          std::string(50, 'e') + "." + std::string(50, 'f')));
}

TEST(mail_address, international_domains_are_converted_to_ascii) {
  EXPECT_EQ(with_ascii_domain("x@b\xc3\xbc"
                              "cher.example"),
            "x@xn--bcher-kva.example");
  EXPECT_EQ(with_ascii_domain("x@B\xc3\x9c"
                              "CHER.example"),
            "x@xn--bcher-kva.example");
  EXPECT_EQ(with_ascii_domain("Ann@Example.org"), "Ann@Example.org");
  EXPECT_EQ(with_ascii_domain("j\xc3\xbcrgen@b\xc3\xbc"
                              "cher.example"),
            "j\xc3\xbcrgen@xn--bcher-kva.example");
  EXPECT_TRUE(needs_smtputf8("j\xc3\xbcrgen@example.org"));
  EXPECT_FALSE(
      needs_smtputf8("x@b\xc3\xbc"
                     "cher.example"));
}

TEST(mail_address, reserved_and_local_domains_are_not_internet_addresses) {
  for (const char* valid : {"a@example.org", "a@test.example.org", "a@local.io",
                            "a@b\xc3\xbc"
                            "cher.de",
                            "a@mytest.dev"}) {
    EXPECT_TRUE(is_internet_address(valid)) << valid;
  }
  for (const char* invalid :
       {"a@localhost", "a@b", "a@x.localhost", "a@x.invalid", "a@example.test", "a@x.example", "a@corp.LOCAL"}) {
    EXPECT_FALSE(is_internet_address(invalid)) << invalid;
  }
}

TEST(mail_service, rejects_addresses_without_internet_mail_except_in_local_mode) {
  for (const auto& [mode, expected] : std::vector<std::pair<std::string, ry_status>>{
           {"local", RY_OK}, {"staging", RY_FAILED_PRECONDITION}, {"production", RY_FAILED_PRECONDITION}}) {
    ry::testing::fake_host host;
    host.host_values["deployment.mode"] = mode;
    const repository repo(host.ctx());
    const settings s;
    service svc(host.ctx(), repo, s);
    const auto check = [&](std::string_view address) {
      return service::table()->check_address(&svc, ry::str(address));
    };
    EXPECT_EQ(check("a@example.test"), expected) << mode;
    EXPECT_EQ(check("a@localhost"), expected) << mode;
    EXPECT_EQ(check("a@example.org"), RY_OK) << mode;
    for (const char* invalid : {"a@192.0.2.1", "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]"})
      EXPECT_EQ(check(invalid), RY_INVALID_ARGUMENT) << invalid;
  }
}

TEST(mail_header, values_never_contain_line_breaks) {
  EXPECT_EQ(header_text("Ann invites you"), "Ann invites you");
  EXPECT_EQ(header_text("Ann\r\nBcc: evil@x"), "Ann  Bcc: evil@x");
  EXPECT_EQ(header_text("J\xc3\xbcrgen"), "=?UTF-8?B?SsO8cmdlbg==?=");
  EXPECT_EQ(header_text("\xff"), "?");
  EXPECT_EQ(header_text("=?UTF-8?B?QQ==?="), "=?UTF-8?B?PT9VVEYtOD9CP1FRPT0/PQ==?=")
      << "encoded, so that it is shown literally";
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

TEST(mail_verdict, depends_on_the_reply_and_the_phase) {
  EXPECT_EQ(classify_attempt(reply(CURLE_OK, 250, phase::body)), verdict::sent);
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 451, phase::rcpt)), verdict::retry) << "greylisted";
  EXPECT_EQ(classify_attempt(reply(CURLE_WEIRD_SERVER_REPLY, 452, phase::body)), verdict::retry);
  EXPECT_EQ(classify_attempt(reply(CURLE_WEIRD_SERVER_REPLY, 421, phase::connect)), verdict::retry);
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 550, phase::rcpt, "550 5.1.1 no such user")), verdict::bounced);
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 550, phase::rcpt, "550 5.7.1 relaying denied")), verdict::refused);
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 552, phase::rcpt)), verdict::refused);
  EXPECT_EQ(classify_attempt(reply(CURLE_WEIRD_SERVER_REPLY, 550, phase::body, "550 5.1.1 User unknown")),
            verdict::bounced);
  for (const auto at : {phase::mail, phase::rcpt, phase::body}) {
    EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 550, at, "550 5.4.5 Daily user sending quota exceeded")),
              verdict::retry);
  }
  auto international = reply(CURLE_OK, 250, phase::hello);
  international.unsupported = "no SMTPUTF8";
  EXPECT_EQ(classify_attempt(international), verdict::refused);
  EXPECT_EQ(classify_attempt(reply(CURLE_WEIRD_SERVER_REPLY, 554, phase::body)), verdict::refused);
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 550, phase::mail)), verdict::relay_error)
      << "our sender address is at fault";
  EXPECT_EQ(classify_attempt(reply(CURLE_WEIRD_SERVER_REPLY, 554, phase::connect)), verdict::relay_error);
  EXPECT_EQ(classify_attempt(reply(CURLE_LOGIN_DENIED, 535, phase::auth)), verdict::relay_error);
  EXPECT_EQ(classify_attempt(reply(CURLE_USE_SSL_FAILED, 250, phase::hello)), verdict::relay_error);
  EXPECT_EQ(classify_attempt(reply(CURLE_PEER_FAILED_VERIFICATION, 220, phase::starttls)), verdict::relay_error);
  for (const int code : {CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_OPERATION_TIMEDOUT}) {
    EXPECT_EQ(classify_attempt(reply(code, 0, phase::connect)), verdict::relay_error) << "all mail waits for the relay";
    EXPECT_TRUE(is_unreachable(reply(code, 0, phase::connect)));
  }
  EXPECT_FALSE(is_unreachable(reply(CURLE_LOGIN_DENIED, 535, phase::auth)));
  EXPECT_EQ(classify_attempt(reply(CURLE_SEND_ERROR, 354, phase::body)), verdict::retry) << "disconnected during DATA";
  EXPECT_EQ(classify_attempt(reply(CURLE_OPERATION_TIMEDOUT, 354, phase::body)), verdict::retry);
}

TEST(mail_refusal, only_a_missing_mailbox_is_a_bounce) {
  // Replies of Postfix, Gmail, Exchange, Sendmail, Exim, qmail, Yahoo, iCloud, Barracuda, Comcast, Yandex, Mail.ru, QQ, Orange and Domino.
  for (
      const char* missing :
      {"550 5.1.1 <x@y>: Recipient address rejected: User unknown in virtual mailbox table",
       "550 5.1.1 <bob@corporate.example>: Recipient address rejected: User unknown in local recipient table",
       "550 5.1.1 <john.black@example.org>: Recipient address rejected: User unknown in relay recipient table",
       "550 5.1.1 <spam@fullerton.edu>: Recipient address rejected: User unknown in virtual alias table",
       "550 <bob@content.policy.example>: Recipient address rejected: User unknown in relay recipient table",
       "550-5.1.1 The email account that you tried to reach does not exist. Please try 5.1.1 double-checking the recipient's email address for typos or "
       "5.1.1 unnecessary spaces. For more information, go to 5.1.1 https://support.google.com/mail/?p=NoSuchUser a1-20020a05 - gsmtp",
       "550-5.2.1 The email account that you tried to reach is inactive. For more information, go to 5.2.1 https://support.google.com/mail/?p=DisabledUser - gsmtp",
       "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient bob@sender-policy.example not found by SMTP address lookup",
       "550 5.1.1 RESOLVER.ADR.RecipNotFound; not found",
       "550 5.1.1 <john.black@example.org>... User unknown",
       "550 5.1.2 <x@y>... Host unknown (Name server: spam.example.net.: host not found)",
       "553 5.3.0 <x@y>... Addressee unknown, relay=[192.0.2.1]",
       "550 5.2.1 <x@y>... Addressee unknown, relay=[192.0.2.1]",
       "550 Unrouteable address",
       "550 No such user here",
       "550 No Such User Here\"",
       "550 sorry, no mailbox here by that name (#5.1.1)",
       "511 sorry, no mailbox here by that name (#5.1.1 - chkuser)",
       "553 sorry, no mailbox here by that name (#5.7.1)",
       "554 delivery error: dd This user doesn't have a yahoo.com account (bob@yahoo.com) [0] - mta1.mail.spam.yahoo.com",
       "554 delivery error: dd Sorry your message to x@y cannot be delivered. This account has been disabled or discontinued [#102].",
       "552 1 Requested mail action aborted, mailbox not found",
       "550 5.1.1 <bob@icloud.com>: user does not exist",
       "550 5.1.1 <x@aol.com>: Recipient address rejected: aol.com",
       "550 cuda_nsu 5.1.1 <x@y> Recipient address rejected: User unknown",
       "550 5.1.1 <x@y> Account not available",
       "550 5.7.1 No such user!",
       "550 5.0.0 User unknown",
       "550 Message was not accepted -- invalid mailbox. Local mailbox bob@mail.ru is unavailable: user not found",
       "550 The recipient may contain a non-existent account, please check the recipient address.",
       "550 5.1.1 Adresse d au moins un destinataire invalide. Invalid recipient. OFR_416 [416]",
       "550 bob@y... No such user",
       "553 5.1.3 Invalid address",
       "551 5.1.6 User has moved",
       "551 not our customer",
       "550 User (x@y) unknown.",
       "550 Mailbox ( x@y ) not found or inactivated",
       "550 user bob@y is unknown",
       "550 Unknown user"}) {
    EXPECT_EQ(classify(missing), refusal::recipient) << missing;
  }
}

TEST(mail_refusal, limits_of_the_sender_and_temporary_conditions_are_retried) {
  // Replies of Gmail, Exchange Online, Amazon SES, SendGrid, Mailgun, Zoho, cPanel, Postfix with a policy server, and others.
  for (
      const char* later :
      {"550 5.4.5 Daily user sending limit exceeded. For more information, go to https://support.google.com/a/answer/166852 - gsmtp",
       "550 5.7.1 Daily SMTP relay limit exceeded for user. For more information, go to https://support.google.com/a/answer/6140680 - gsmtp",
       "550 5.7.1 Daily SMTP relay limit exceeded for customer.",
       "550-5.2.1 The user you are trying to contact is receiving mail too quickly. 5.2.1 Please resend your message at a later time.",
       "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.",
       "550-5.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address.",
       "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed to process message due to a permanent exception with message",
       "554 5.2.0 STOREDRV.Submission.Exception:OutboundSpamException; Failed to process message",
       "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
       "550 5.2.251 Sender throttled due to continuous mailbox full errors.",
       "550 5.2.122 The recipient has exceeded their limit for the number of messages",
       "550 5.7.705 Access denied, tenant has exceeded threshold",
       "550 5.1.8 Access denied, bad outbound sender AS(42004)",
       "554 Throttling failure: Maximum sending rate exceeded",
       "554 Throttling failure: Daily message quota exceeded",
       "554 Message rejected: Sending suspended for this account. For more information, please check the inbox of the email address",
       "554 Message rejected: Sending paused for this account.",
       "550 Maximum credits exceeded",
       "550 5.7.1 Recipient limit exceeded",
       "550 5.7.1 Maximum number of recipients per day exceeded",
       "550 5.5.3 Too many recipients",
       "550 5.4.6 Unusual sending activity detected. Please try after sometime",
       "550 Domain example.org has exceeded the max emails per hour (250/200 (125%)) allowed. Message discarded.",
       "550 Domain example.org has exceeded the max defers and failures per hour (5/5 (100%)) allowed. Message discarded.",
       "554 5.7.1 <x@y>: Recipient address rejected: Policy Rejection - Message quota exceeded",
       "550 Daily sending quota exceeded",
       "554 5.7.1 <x@y>: Recipient address rejected: You have exceeded your Outmail quota.",
       "550 Too many messages. Try again in 92 seconds.",
       "554 You have sent too many messages",
       "550 5.7.1 Hourly limit exceeded",
       "550 5.7.1 You have exceeded your daily send limit",
       "550 5.2.1 Mailbox temporarily disabled: x@y",
       "550 5.7.1 Service refused, please try later"}) {
    EXPECT_EQ(classify(later), refusal::later) << later;
  }
}

TEST(mail_refusal, policies_reputation_senders_and_full_mailboxes_are_not_bounces) {
  for (
      const char* other :
      {"550 relay not permitted",
       "550 5.7.1 Relaying denied",
       "550 5.7.1 <x@y>... Relaying denied",
       "554 5.7.1 <x@y>: Relay access denied",
       "550 Administrative prohibition",
       "550 5.1.8 Sender address rejected",
       "550 Sender verify failed",
       "550 5.1.1 Sender rejected",
       "550 5.1.7 Bad sender",
       "550-Verification failed for <noreply@ours.example> No Such User Here Sender verify failed",
       "550 5.1.0 <noreply@ours.example>: Sender address rejected: User unknown in virtual mailbox table",
       "550 5.1.1 <noreply@ours.example>: Sender address rejected: User unknown in local recipient table",
       "550 5.2.2 Mailbox full",
       "552 5.2.2 Over quota",
       "552 Requested mailbox exceeds quota.",
       "550 Mailbox quota exceeded",
       "550 User is over quota",
       "552-5.2.2 The recipient's inbox is out of storage space. 5.2.2 https://support.google.com/mail/?p=OverQuotaPerm - gsmtp",
       "552 5.2.2 This message is larger than the current system limit or the recipient's mailbox is full.",
       "550 5.2.3 Message too long",
       "552 5.3.4 Message size exceeds fixed limit",
       "554 5.4.6 Hop count exceeded - possible mail loop",
       "550 maximum line length exceeded",
       "550-5.7.26 Unauthenticated e-mail: SPF and DKIM failed",
       "550 SPF check failed for unknown user domain",
       "550 Blocked by Spamhaus",
       "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
       "550 5.1.1 <x@y>: Recipient address rejected: blocked using zen.spamhaus.org",
       "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
       "550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT012.eop-EUR01.prod.protection.outlook.com]",
       "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see http://postmaster.yahoo.com/550-bl23.html",
       "554 Message rejected: Email address is not verified. The following identities failed the check in region US-EAST-1: x@y",
       "550 5.1.1 Amazon SES has suppressed sending to this address because it has a recent history of bouncing as an invalid address",
       "550 5.5.0 Requested action not taken: mailbox unavailable",
       "550 Requested action not taken: mailbox unavailable",
       "550 Rejected",
       "550",
       "",
       "550 http://support.example.org/user-unknown",
       "550 Rejected by no-such-user.example.org",
       "550 <user unknown@y> rejected",
       "550 Your account has been disabled",
       "554 5.7.1 [P4] Message blocked due to spam content in the message.",
       "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
       "452 4.2.2 no such user",
       "550 5.1.1.1 x",
       "550 Message content rejected"}) {
    EXPECT_EQ(classify(other), refusal::other) << other;
  }
}

std::string defaults_with(const std::string& members) {
  return R"({"host": "", "port": 0, "security": "starttls", "username": "", "password": "", "ca_file": "",
    "from": "", "from_name": "", "reply_to": "", "bounce_address": "", "unsubscribe_mailto": "", "dkim_selectors": [], "connections": 4, "timeout_seconds": 60,
    "rate_per_minute": 0, "per_recipient_hour": 20, "account_per_recipient_hour": 60, "suppress_days": 90, "max_attempts": 30, "keep_days": 30)" +
         members + "}";
}

TEST(mail_settings, faults_name_their_setting) {
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
  EXPECT_EQ(fault(R"(, "reply_to": "A <a@b>", "bounce_address": "b")"),
            "mail.reply_to is not a bare e-mail address\n"
            "mail.bounce_address is not a bare e-mail address\n");
  EXPECT_EQ(fault(R"(, "reply_to": "j\u00fcrgen@example.org", "bounce_address": "j\u00fcrgen@example.org")"),
            "mail.reply_to must have only ASCII characters before the @\n"
            "mail.bounce_address must have only ASCII characters before the @\n");
  EXPECT_EQ(read(R"(, "reply_to": "help@b\u00fccher.example")").reply_to, "help@xn--bcher-kva.example");
  EXPECT_EQ(read(R"(, "from": "no-reply@example.org")").envelope_sender(), "no-reply@example.org");
  EXPECT_EQ(read(R"(, "from": "no-reply@example.org", "bounce_address": "b@example.org")").envelope_sender(),
            "b@example.org");
}

TEST(mail_sealed_body, opens_only_bodies_that_it_sealed) {
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

  const auto wrong_context = ry::base64_encode("sealed:mail.other:{}", ry::base64_alphabet::standard, true);
  const auto no_bodies = ry::base64_encode("sealed:mail.body:[]", ry::base64_alphabet::standard, true);
  EXPECT_FALSE(is_sealed("text of ry-sealed:"));
  for (const std::string& invalid :
       {std::string("plain"), std::string("ry-sealed:"), std::string("ry-sealed:-"), std::string("ry-sealed:-:"),
        std::string("ry-sealed:-:\xc1"), "ry-sealed:-:" + wrong_context, "ry-sealed:-:" + no_bodies,
        sealed.substr(0, sealed.size() - 4), sealed + "="}) {
    const auto refused = open_bodies(host.ctx(), invalid);
    EXPECT_EQ(refused.status(), RY_DATA_LOSS) << invalid;
  }
}

}  // namespace
