#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "api/request_bodies.hpp"
#include "settings.hpp"
#include "types/outcome.hpp"
#include "workflows/sentences.hpp"
#include "workflows/templates.hpp"
#include "workflows/workflow.hpp"

using namespace notifications;
namespace json = boost::json;

namespace {

person recipient(std::string name, std::string email = "") {
  person p;
  p.name = std::move(name);
  p.email = std::move(email);
  return p;
}
const links task_links{"https://app.test", "{app_url}/#/threads/{thread_id}"};

TEST(notifications_name, is_the_first_word_of_the_name_or_address_or_user) {
  EXPECT_EQ(recipient("Ann Maria Lee").first_name(), "Ann");
  EXPECT_EQ(recipient("  J\xc3\xbcrgen\tM").first_name(), "J\xc3\xbcrgen");
  EXPECT_EQ(recipient("", "bob.k@x.test").first_name(), "bob.k");
  EXPECT_EQ(recipient("   ", "bob@x.test").first_name(), "bob");
  EXPECT_EQ(recipient("").first_name(), "User");
  EXPECT_EQ(recipient("", "@x.test").first_name(), "User");
  EXPECT_EQ(recipient("O\xe2\x80\x99"
                      "Brien-Smith, Pat")
                .first_name(),
            "O\xe2\x80\x99"
            "Brien-Smith");
  EXPECT_EQ(recipient("Ann\xc2\xa0Lee").first_name(), "Ann") << "a no-break space";
  EXPECT_EQ(recipient("\xe2\x80\x8b\xe2\x80\xae"
                      "Ann")
                .first_name(),
            "Ann")
      << "invisible characters and direction overrides";
  EXPECT_EQ(recipient("\"Ann\" Lee").first_name(), "Ann");
  EXPECT_EQ(recipient("J.R. Ewing").first_name(), "J.R.");
  for (const char* link : {"https://evil.example/phish Bob", "evil.example Bob", "www.evil Bob", "a@b.c Bob"})
    EXPECT_EQ(recipient(link).first_name(), "Bob") << link;
  EXPECT_EQ(recipient("https://evil.example", "ann.lee@x.test").first_name(), "ann.lee");
  EXPECT_EQ(recipient(std::string(100, 'a') + " Bob").first_name(), "Bob");
}

TEST(notifications_events, are_converted_to_the_payloads_of_the_contract) {
  const std::string run =
      R"({"thread_id":"0190b1e4-0000-7000-8000-000000000001","title":"Poem","error":"it broke","reason":"llm_error",
          "viewed":true,"charged_micro":7})";
  const auto done = notification_event_of("run.completed", run, recipient("Ann Lee"), task_links);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->workflow, "task-completed");
  EXPECT_EQ(
      json::serialize(done->payload),
      R"({"first_name":"Ann","task_name":"Poem","task_url":"https://app.test/#/threads/0190b1e4-0000-7000-8000-000000000001"})");
  EXPECT_EQ(json::serialize(done->details), R"({"charged_micro":7})") << "for the e-mail only, not part of the payload";
  EXPECT_TRUE(done->viewed);
  EXPECT_EQ(done->thread_id, "0190b1e4-0000-7000-8000-000000000001");
  const auto failed = notification_event_of("run.failed", run, recipient(""), task_links);
  EXPECT_EQ(failed->payload.at("failure_reason").as_string(), "it broke");
  EXPECT_EQ(failed->payload.at("first_name").as_string(), "User");
  EXPECT_EQ(failed->payload.size(), 4u);
  const auto paid = notification_event_of(
      "payment.succeeded", R"({"account_id":"a","amount":12.5,"currency":"EUR","plan_name":"pro","card":"4111"})",
      recipient("x"), task_links);
  EXPECT_EQ(json::serialize(paid->payload), R"({"account_id":"a","amount":1.25E1,"currency":"EUR","plan_name":"pro"})");
  const auto unpaid = notification_event_of(
      "payment.failed", R"({"account_id":"a","amount":"9.99","currency":"EUR","reason":"declined"})", recipient("x"),
      task_links);
  EXPECT_EQ(json::serialize(unpaid->payload),
            R"({"account_id":"a","amount":"9.99","currency":"EUR","reason":"declined"})");
  const auto low =
      notification_event_of("credits.low", R"({"account_id":"a","balance_micro":99999999,"threshold_percent":20})",
                            recipient("x"), task_links);
  EXPECT_EQ(json::serialize(low->payload), R"({"account_id":"a","remaining_credits":99,"threshold_percentage":20})");
  const auto out_of_range =
      notification_event_of("payment.succeeded", R"({"amount":1e400,"currency":"EUR"})", recipient("x"), task_links);
  EXPECT_TRUE(out_of_range->payload.at("amount").is_null())
      << "it could not be stored, and the event would be retried forever";
  const auto below =
      notification_event_of("credits.low", R"({"account_id":"a","balance_micro":-5})", recipient("x"), task_links);
  EXPECT_EQ(below->payload.at("remaining_credits").as_int64(), 0);
  EXPECT_TRUE(notification_event_of("account.created", "{}", recipient("x", "a@b"), task_links)->refused.empty());
  EXPECT_EQ(notification_event_of("account.created", "{}", recipient("x"), task_links)->refused,
            "The account has no email");
  EXPECT_FALSE(notification_event_of("account.tier", "{}", recipient("x"), task_links));
  EXPECT_FALSE(notification_event_of("run.completed", "[]", recipient("x"), task_links));
  EXPECT_FALSE(notification_event_of("run.completed", "{", recipient("x"), task_links));
  const auto without_app_url = notification_event_of("run.completed", run, recipient("x"), {"", task_links.task_url});
  EXPECT_EQ(without_app_url->payload.at("task_url").as_string(), "");
}

TEST(notifications_events, an_approval_has_its_arguments_only_in_the_details) {
  const auto out = notification_event_of("approval.requested", R"({
      "approval_id":"0190b1e4-0000-7000-8000-00000000000a","account_id":"a","run_id":"r","thread_id":"0190b1e4-0000-7000-8000-000000000001",
      "agent_name":"Ann's agent","tool":"shell","arguments":"{\"command\":\"ls\\nx: 1\",\"n\":1e999}","title":"Poem",
      "expires_at":"2026-11-29T10:00:00.000Z","on_timeout":"stop"})",
                                         recipient("Ann"), task_links);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->workflow, "approval-requested");
  EXPECT_EQ(out->approval, "0190b1e4-0000-7000-8000-00000000000a");
  EXPECT_FALSE(out->viewed) << "an open stream does not mean that a person looks";
  EXPECT_EQ(json::serialize(out->details),
            R"({"arguments":"command: ls\n  x: 1\nn: 1e999","on_timeout":"stop","decidable":true})");
  EXPECT_FALSE(out->payload.contains("arguments"));
  auto payload = out->payload;
  payload[std::string(details_member)] = out->details;
  payload["decision_url"] = "https://x.test/approval-decision?link=a";
  const auto texts = templates::load("").write("approval-requested", payload, recipient("Ann"), "https://app.test");
  EXPECT_EQ(texts.title, "Approval needed: shell");
  EXPECT_EQ(texts.body, "Ann's agent waits for your decision. command: ls   x: 1 n: 1e999");
  EXPECT_NE(texts.mail.find("Approve or deny the call: https://x.test/approval-decision?link=a\n"), texts.mail.npos);
  EXPECT_NE(texts.mail.find("Without a decision by 2026-11-29 10:00 UTC, the run is stopped."), texts.mail.npos);
  EXPECT_NE(texts.html.find(">command: ls\n  x: 1\nn: 1e999</pre>"), texts.html.npos);
  payload.erase("decision_url");
  payload.erase(std::string(details_member));
  const auto reduced = templates::load("").write("approval-requested", payload, recipient("Ann"), "https://app.test");
  EXPECT_EQ(reduced.mail.find("Approve or deny"), reduced.mail.npos);
  EXPECT_EQ(reduced.html.find("arguments of the call"), reduced.html.npos);
  EXPECT_FALSE(notification_event_of("approval.requested", R"({"approval_id":"x"})", recipient("Ann"), task_links));
}

TEST(notifications_template, is_filled_once_and_missing_values_are_empty) {
  auto p = recipient("{{email}} Lee", "ann@x.test");
  const auto pattern = json::parse(
      R"({"title":"Hi {{name}}, {{ first_name }}","list":["{{email}}",{"deep":"[{{phone}}{{avatar}}]"}],"n":7,"other":"{{who}} {{"})");
  EXPECT_EQ(
      json::serialize(fill_template(pattern.as_object(), p)),
      R"({"title":"Hi {{email}} Lee, {{email}}","list":["ann@x.test",{"deep":"[]"}],"n":7,"other":"{{who}} {{"})");
}

TEST(notifications_template, values_that_cannot_be_stored_are_detected) {
  for (const char* good : {R"({"a":"b","c":[1,2.5,{"d":null}]})", "{}", R"({"a":"\u0001"})"}) {
    EXPECT_TRUE(can_be_stored(json::parse(good))) << good;
  }
  for (const char* bad : {R"({"a":"\u0000"})", R"({"\u0000":1})", R"({"a":[{"b":"x\u0000"}]})", R"([1e400])"}) {
    EXPECT_FALSE(can_be_stored(json::parse(bad))) << bad;
  }
  EXPECT_EQ(notification_event_from_template("welcome-email", {}, recipient("x")).refused, "The account has no email");
  EXPECT_EQ(notification_event_from_template("welcome-email", {}, recipient("x", "a@b")).refused, "");
  EXPECT_EQ(notification_event_from_template("promotional", {}, recipient("x")).refused, "");
}

TEST(notifications_texts, amounts_have_currency_signs_and_separators) {
  const auto all = templates::load("");
  const std::string euro = "\xe2\x82\xac";
  for (const auto& [amount, text] :
       std::vector<std::pair<const char*, std::string>>{{"12.5", euro + "12.50"},
                                                        {"1e-2", euro + "0.01"},
                                                        {"20", euro + "20.00"},
                                                        {"\"9.90\"", euro + "9.90"},
                                                        {"1234567.89", euro + "1,234,567.89"}}) {
    const auto event = std::string(R"({"currency":"EUR","plan_name":"pro","amount":)") + amount + "}";
    const auto paid = notification_event_of("payment.succeeded", event, recipient("x"), task_links);
    // Serialized and parsed, as the database returns it.
    const auto payload = json::parse(json::serialize(paid->payload)).as_object();
    EXPECT_EQ(all.write("payment-succeeded", payload, recipient("x"), "").title, "Payment received: " + text) << amount;
  }
  EXPECT_EQ(price_text("19", "usd"), "$19.00");
  EXPECT_EQ(price_text("1500", "JPY"),
            "\xc2\xa5"
            "1,500");
  EXPECT_EQ(price_text("19.9", "XYZ"), "19.90 XYZ");
  EXPECT_EQ(price_text("-5", "EUR"), "-" + euro + "5.00");
  EXPECT_EQ(price_text("a lot", "EUR"), "a lot EUR");
  EXPECT_EQ(price_text("", ""), "");
}

TEST(notifications_texts, durations_and_excerpts_are_short) {
  EXPECT_EQ(duration_text(300), "1 s");
  EXPECT_EQ(duration_text(59'400), "59 s");
  EXPECT_EQ(duration_text(252'000), "4 min 12 s");
  EXPECT_EQ(duration_text(3'600'000), "1 h");
  EXPECT_EQ(duration_text(12'000'000), "3 h 20 min");
  EXPECT_EQ(first_lines(" \n one\ntwo \n"), "one\ntwo");
  EXPECT_EQ(first_lines("1\n2\n3\n4\n5\n6\n7\n8\n9"), "1\n2\n3\n4\n5\n6\n7\n8 \xe2\x80\xa6");
  EXPECT_EQ(first_lines(std::string(601, 'a')), std::string(600, 'a') + " \xe2\x80\xa6");
  EXPECT_EQ(first_lines("\n"), "");
}

TEST(notifications_texts, contain_the_excerpt_duration_and_cost_of_a_task) {
  const auto all = templates::load("");
  const json::object payload{
      {"task_name", "Poem"},
      {"task_url", "https://x.test/1"},
      {"$details", {{"duration_ms", 252000}, {"charged_micro", 3'200'000}, {"result", "Roses <are> red\nViolets"}}}};
  const auto texts = all.write("task-completed", payload, recipient("Ann"), "https://app.test");
  EXPECT_EQ(texts.title, "Your task \"Poem\" is done");
  EXPECT_NE(texts.mail.find(
                "Roses <are> red\nViolets\n\nTook 4 min 12 s, cost 3.20 credits.\n\nOpen the task: https://x.test/1\n"),
            texts.mail.npos)
      << texts.mail;
  EXPECT_NE(texts.html.find("<blockquote>Roses &lt;are&gt; red\nViolets</blockquote>"), texts.html.npos);
  const auto without_details = all.write("task-completed", {{"task_name", "Your task"}}, recipient("Ann"), "");
  EXPECT_EQ(without_details.title, "Your task is done");
  EXPECT_EQ(without_details.html.find("blockquote"), without_details.html.npos);
  EXPECT_EQ(without_details.html.find("href=\"\""), without_details.html.npos) << "no link without an address";
  EXPECT_EQ(without_details.html.find("Open the task"), without_details.html.npos);
  EXPECT_NE(without_details.html.find("Your task is done"), without_details.html.npos);
  EXPECT_EQ(without_details.mail.find("Open the task"), without_details.mail.npos);
  EXPECT_EQ(without_details.mail.find("\n\n\n"), without_details.mail.npos) << without_details.mail;
}

TEST(notifications_texts, all_workflows_have_built_in_templates) {
  const auto all = templates::load("");
  for (const auto id : known_workflows()) {
    const auto texts = all.write(id, {{"task_name", "T"}, {"title", "T"}}, recipient("Ann", "a@b"), "https://app.test");
    EXPECT_FALSE(texts.title.empty()) << id;
    EXPECT_FALSE(texts.mail.empty()) << id;
    EXPECT_FALSE(texts.html.empty()) << id;
    EXPECT_EQ(texts.mail.find("{{task"), texts.mail.npos) << id;
  }
  EXPECT_EQ(all.write("my-own", {{"title", "Hello"}, {"message", "M"}}, recipient("x"), "").title, "Hello");
}

TEST(notifications_texts, user_input_is_escaped_and_links_are_http_only) {
  const auto all = templates::load("");
  const json::object malicious{
      {"title", "A\r\nBcc: x\x01"}, {"message", "<script>&\"'"}, {"action_url", "javascript:alert(1)"}};
  const auto texts = all.write("promotional", malicious, recipient("x"), "");
  EXPECT_EQ(texts.title, "A  Bcc: x ");
  EXPECT_EQ(texts.url, "");
  EXPECT_NE(texts.html.find("&lt;script&gt;&amp;&quot;&#39;"), texts.html.npos);
  EXPECT_EQ(texts.html.find("javascript"), texts.html.npos);
  EXPECT_EQ(texts.html.find("href=\"\""), texts.html.npos);
  EXPECT_EQ(texts.mail.find("Learn more"), texts.mail.npos) << "a label without a link";
  EXPECT_EQ(texts.html.find("Learn more"), texts.html.npos);
  const json::object good{{"title", "T"}, {"message", "{{email}}"}, {"action_url", "https://x.test/?a=1&b=\"2"}};
  EXPECT_EQ(all.write("promotional", good, recipient("x"), "").url, "") << "a quote is not valid in a URL";
  const json::object fine{{"title", "T"}, {"message", "{{email}}"}, {"action_url", "https://x.test/?a=1&b=2"}};
  const auto f = all.write("promotional", fine, recipient("x", "e@x"), "");
  EXPECT_NE(f.html.find("href=\"https://x.test/?a=1&amp;b=2\""), f.html.npos);
  EXPECT_NE(f.mail.find("Learn more: https://x.test/?a=1&b=2"), f.mail.npos);
  EXPECT_EQ(f.body, "{{email}}") << "inserted text is not expanded again";
  EXPECT_NE(f.mail.find("{{unsubscribe_url}}"), f.mail.npos) << "the module mail fills it in";
}

TEST(notifications_texts, a_text_line_with_a_label_and_an_empty_url_is_omitted) {
  const auto all = templates::load("");
  const json::object plain{{"title", "T"}, {"message", "M"}},
      labelled{{"title", "T"}, {"message", "M"}, {"action_label", "Read on"}, {"action_url", ""}};
  for (const auto& payload : {plain, labelled}) {
    const auto texts = all.write("promotional", payload, recipient("x"), "");
    EXPECT_EQ(texts.mail.substr(0, texts.mail.find("--")), "T\n\nM\n\n");
    EXPECT_EQ(texts.html.find("Learn more"), texts.html.npos);
    EXPECT_NE(texts.mail.find("Unsubscribe: {{unsubscribe_url}}"), texts.mail.npos);
  }
  const json::object linked{{"title", "T"}, {"message", "M"}, {"action_url", "https://x.test/"}};
  EXPECT_NE(all.write("promotional", linked, recipient("x"), "").mail.find("\nLearn more: https://x.test/\n"),
            std::string::npos);
  const json::object failed{{"task_name", "T"}};
  EXPECT_EQ(all.write("task-failed", failed, recipient("x"), "").mail.find("Open the task"), std::string::npos);
}

TEST(notifications_texts, fields_in_link_attributes_must_be_http_urls) {
  const fields values{{"avatar", "javascript:alert(1)"},
                      {"link", "data:text/html,x"},
                      {"good", "https://x.test/a"},
                      {"app_url", "my-app://open"}};
  const std::pair<const char*, const char*> rows[] = {
      {"<img src=\"{{avatar}}\">", "<img src=\"\">"},
      {"<a href='{{link}}'>{{link}}</a>", "<a href=''>data:text/html,x</a>"},
      {"<a HREF = \"{{ link }}\">", "<a HREF = \"\">"},
      {"<a href={{link}}>", "<a href=>"},
      {"<a href=\"{{good}}\">", "<a href=\"https://x.test/a\">"},
      {"<a href=\"{{app_url}}/inbox\">", "<a href=\"my-app://open/inbox\">"},
      {"<a href=\"mailto:{{link}}\" title=\"{{link}}\">",
       "<a href=\"mailto:data:text/html,x\" title=\"data:text/html,x\">"}};
  for (const auto& [pattern, html] : rows) EXPECT_EQ(fill_html(pattern, values), html);
}

TEST(notifications_texts, a_digest_lists_all_its_notifications) {
  const auto all = templates::load("");
  const std::vector<json::object> two{{{"task_name", "A<"}, {"task_url", "https://x.test/1"}},
                                      {{"task_name", "B"}, {"task_url", "https://x.test/2"}}};
  const auto texts = all.write_digest("task-completed", two, recipient("Ann"), "https://app.test");
  EXPECT_EQ(texts.title, "2 tasks are done");
  EXPECT_NE(texts.mail.find("- A< https://x.test/1\n- B https://x.test/2\n"), texts.mail.npos);
  EXPECT_NE(
      texts.html.find("<li><a href=\"https://x.test/1\">A&lt;</a></li><li><a href=\"https://x.test/2\">B</a></li>"),
      texts.html.npos);
  const auto many = all.write_digest(
      "payment-succeeded", std::vector<json::object>(60, {{"amount", 1}, {"currency", "EUR"}}), recipient("Ann"), "");
  EXPECT_EQ(many.title, "60 notifications");
  EXPECT_NE(many.mail.find("and 10 more\n"), many.mail.npos);
  EXPECT_NE(many.html.find("<li>and 10 more</li></ul>"), many.html.npos);
}

TEST(notifications_texts, are_read_from_the_templates_directory) {
  const auto dir = std::filesystem::temp_directory_path() / ("ry-texts-" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  const auto write = [&](const char* name, const char* text) { std::ofstream(dir / name) << text; };
  write("task-completed.txt", "# ours\ntitle: Fertig: {{task_name}}\nmail:\nHallo {{first_name}}\n");
  write("notes.md", "anything");
  const auto all = templates::load(dir.string());
  EXPECT_EQ(all.write("task-completed", {{"task_name", "T"}}, recipient("Ann"), "").title, "Fertig: T");
  EXPECT_EQ(all.write("task-failed", {{"task_name", "T"}}, recipient("Ann"), "").title,
            "Your task \"T\" didn't finish");
  write("task-failed.txt", "title: x\nsubject: y\n");
  try {
    (void)templates::load(dir.string());
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_NE(e.message().find("task-failed.txt: line 2 "), e.message().npos) << e.message();
  }
  EXPECT_THROW((void)templates::load((dir / "nothing").string()), ry::error);
  EXPECT_THROW((void)parse_texts("body: x\n"), ry::error) << "no title";
  EXPECT_THROW((void)parse_texts("title: x\nmail:\na\nmail:\nb\n"), ry::error);
  std::filesystem::remove_all(dir);
}

ry::notify::result result_of(std::uint32_t channels, std::int32_t outcome, std::uint32_t after = 0,
                             std::string token = "") {
  ry::notify::result r(channels, outcome);
  r.retry_after_s = after;
  r.token = std::move(token);
  return r;
}
constexpr auto email = RY_NOTIFY_EMAIL;
constexpr auto push = RY_NOTIFY_PUSH;

TEST(notifications_verdict, depends_on_the_results_of_the_channels) {
  auto v = evaluate_results(email | push, {result_of(email | push, RY_NOTIFY_ACCEPTED)}, 1, tracking::yes, 0.5);
  EXPECT_EQ(v.pending, 0u);
  EXPECT_EQ(json::parse(v.results_json).as_array().size(), 2u);
  EXPECT_EQ(json::parse(v.results_json).at(0).at("follow_s").as_int64(), 30);
  EXPECT_FALSE(
      json::parse(evaluate_results(email, {result_of(email, RY_NOTIFY_ACCEPTED)}, 1, tracking::no, 0).results_json)
          .at(0)
          .as_object()
          .contains("follow_s"));

  v = evaluate_results(email | push, {result_of(email, RY_NOTIFY_ACCEPTED), result_of(push, RY_NOTIFY_RETRY, 77)}, 1,
                       tracking::yes, 0.5);
  EXPECT_EQ(v.pending, push) << "accepted channels are not sent again";
  EXPECT_EQ(v.wait_ms, 77'000u);
  EXPECT_FALSE(v.new_epoch);

  v = evaluate_results(email, {result_of(email, RY_NOTIFY_RETRY_NEW)}, 3, tracking::yes, 0.5);
  EXPECT_TRUE(v.new_epoch);
  EXPECT_EQ(v.wait_ms, 20'000u);
  EXPECT_TRUE(v.counts);

  v = evaluate_results(email, {result_of(email, RY_NOTIFY_REFUSED)}, 1, tracking::yes, 0.5);
  EXPECT_EQ(v.pending, 0u);

  v = evaluate_results(email | push, {result_of(email, RY_NOTIFY_SKIPPED)}, 1, tracking::yes, 0.5);
  EXPECT_EQ(v.pending, push) << "a channel without a result is retried";

  v = evaluate_results(email, {result_of(email, RY_NOTIFY_PAUSED, 300)}, 1, tracking::yes, 0.5);
  EXPECT_FALSE(v.counts);
  EXPECT_EQ(v.pause_ms, 300'000u);
  EXPECT_TRUE(v.new_epoch) << "a peer that stores answers by key must not repeat this one";

  v = evaluate_results(email | push, {result_of(email, RY_NOTIFY_THROTTLED, 600), result_of(push, RY_NOTIFY_ACCEPTED)},
                       1, tracking::yes, 0.5);
  EXPECT_TRUE(v.throttled);
  EXPECT_FALSE(v.counts);
  EXPECT_EQ(v.wait_ms, 600'000u);
  v = evaluate_results(email | push, {result_of(email, RY_NOTIFY_THROTTLED, 600), result_of(push, RY_NOTIFY_RETRY)}, 1,
                       tracking::yes, 0.5);
  EXPECT_FALSE(v.throttled) << "push is retried separately first";

  v = evaluate_results(push,
                       {result_of(push, RY_NOTIFY_ACCEPTED, 0, "a"), result_of(push, RY_NOTIFY_GONE, 0, "b"),
                        result_of(push, RY_NOTIFY_RETRY, 0, "c")},
                       1, tracking::yes, 0.5);
  EXPECT_EQ(v.pending, push);
  EXPECT_FALSE(v.unknown_subscriber);

  v = evaluate_results(email, {result_of(email, RY_NOTIFY_GONE)}, 1, tracking::yes, 0.5);
  EXPECT_TRUE(v.unknown_subscriber);
  EXPECT_TRUE(v.new_epoch);
  EXPECT_EQ(v.pending, email);
  v = evaluate_results(email, {result_of(email, RY_NOTIFY_GONE)}, 2, tracking::yes, 0.5);
  EXPECT_EQ(v.pending, 0u) << "retried only once";

  EXPECT_EQ(evaluate_results(email, {result_of(push, RY_NOTIFY_ACCEPTED)}, 1, tracking::yes, 0.5).pending, email)
      << "the reported channel was not requested";
}

TEST(notifications_verdict, names_the_reason_of_each_failed_channel) {
  const auto failed = [](std::uint32_t channels, std::int32_t outcome, std::string detail, std::string token = "") {
    auto r = result_of(channels, outcome, 0, std::move(token));
    r.detail = std::move(detail);
    return r;
  };
  auto v = evaluate_results(email, {failed(email, RY_NOTIFY_REFUSED, "The account's e-mail address is not valid")}, 1,
                            tracking::no, 0.5);
  EXPECT_EQ(v.failures, "email: The account's e-mail address is not valid");
  EXPECT_EQ(v.reason, "") << "no channel is pending";
  v = evaluate_results(email | push,
                       {failed(email, RY_NOTIFY_RETRY, "busy"), failed(push, RY_NOTIFY_GONE, "", "a"),
                        failed(push, RY_NOTIFY_GONE, "", "b"), failed(push, RY_NOTIFY_REFUSED, "too large", "c")},
                       1, tracking::no, 0.5);
  EXPECT_EQ(v.failures, "email: busy; push: gone; push: too large") << "the same reason is named once";
  EXPECT_EQ(v.reason, "busy");
  v = evaluate_results(email | push, {failed(email, RY_NOTIFY_SKIPPED, "x"), failed(push, RY_NOTIFY_ACCEPTED, "y")}, 1,
                       tracking::no, 0.5);
  EXPECT_EQ(v.failures, "");
  EXPECT_EQ(evaluate_results(push, {}, 1, tracking::no, 0.5).failures,
            "push: The orchestrator did not report on this channel");
}

TEST(notifications_verdict, failed_calls_are_retried_with_backoff_up_to_an_hour) {
  const auto wait = [](std::uint32_t attempt, double jitter) {
    return evaluate_failure(email, ry::error(RY_UNAVAILABLE), attempt, jitter).wait_ms;
  };
  EXPECT_EQ(wait(1, 0), 2'500u);
  EXPECT_EQ(wait(1, 1), 7'500u);
  EXPECT_EQ(wait(4, 0.5), 40'000u);
  EXPECT_EQ(wait(4'000'000'000u, 0.5), 3'600'000u);
  EXPECT_TRUE(evaluate_failure(email, ry::error(RY_UNAVAILABLE), 1, 0).counts);
  EXPECT_FALSE(evaluate_failure(email, ry::error(RY_CANCELLED), 1, 0).counts);
  EXPECT_EQ(evaluate_failure(email | push, ry::error(RY_UNAVAILABLE), 1, 0).pending, email | push);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ry::error& e) {
    return std::to_string(e.view().http_status) + " " + std::string(e.message());
  }
  return "";
}

TEST(notifications_requests, are_read_strictly_and_errors_name_the_field) {
  const auto s = read_settings_request(R"({"email_enabled":false,"push_enabled":null,"account_id":"x"})");
  EXPECT_EQ(s.email, false);
  EXPECT_FALSE(s.push);
  EXPECT_FALSE(s.in_app);
  EXPECT_EQ(error_of([] { read_settings_request(R"({"email_enabled":"no"})"); }),
            "422 email_enabled must be true or false");
  EXPECT_NE(error_of([] { read_settings_request("[1]"); }).find("JSON object"), std::string::npos);

  const auto p = read_preferences_request(
      R"({"time_zone":"Europe/Berlin","quiet_hours":{"from":"22:30","to":"07:00"},"workflows":{"task-completed":{"email":false,"digest_minutes":60},"x":null}})");
  EXPECT_TRUE(p.changes_quiet_hours);
  EXPECT_EQ(p.quiet_from, "22:30");
  EXPECT_EQ(p.workflows_json, R"({"task-completed":{"email":false,"digest_minutes":60},"x":null})");
  EXPECT_EQ(read_preferences_request(R"({"workflows":{"x":{"min_minutes":null}}})").workflows_json,
            R"({"x":{"min_minutes":null}})");
  EXPECT_FALSE(read_preferences_request(R"({"quiet_hours":null})").quiet_from);
  EXPECT_FALSE(read_preferences_request("{}").changes_quiet_hours);
  for (const auto& [body, field] : std::vector<std::pair<const char*, const char*>>{
           {R"({"quiet_hours":{"from":"24:00","to":"07:00"}})", "from"},
           {R"({"quiet_hours":{"from":"22:00"}})", "to"},
           {R"({"quiet_hours":7})", "quiet_hours"},
           {R"({"workflows":[]})", "workflows"},
           {R"({"workflows":{"A B":{}}})", "workflows.A B"},
           {R"({"workflows":{"x":7}})", "workflows.x"},
           {R"({"workflows":{"x":{"email":1}}})", "workflows.x.email"},
           {R"({"workflows":{"x":{"digest_minutes":-1}}})", "workflows.x.digest_minutes"},
           {R"({"workflows":{"x":{"sms":true}}})", "workflows.x.sms"},
           {R"({"workflows":{"x":{"min_minutes":1441}}})", "workflows.x.min_minutes"},
           {R"({"other":1})", "other"},
           {R"({"time_zone":7})", "time_zone"}}) {
    EXPECT_EQ(error_of([&] { read_preferences_request(body); }).rfind(std::string("422 ") + field + " ", 0), 0u)
        << body;
  }

  const auto d = read_device_request(R"({"device_token":"t","device_type":"mobile","provider":"expo"})");
  EXPECT_EQ(d.token + d.type + d.provider, "tmobileexpo");
  EXPECT_EQ(error_of([] { read_device_request(R"({"device_type":"mobile","provider":"expo"})"); }),
            "422 device_token is required");
  EXPECT_EQ(error_of([] {
              read_device_request(R"({"device_token":"","device_type":"m","provider":"e"})");
            }).rfind("422 device_token", 0),
            0u);
  EXPECT_EQ(error_of([] {
              read_device_request(R"({"device_token":"a\nb","device_type":"m","provider":"e"})");
            }).rfind("422 device_token", 0),
            0u);
}

TEST(notifications_workflow, ids_have_a_restricted_form) {
  EXPECT_TRUE(is_workflow_id("task-completed"));
  for (const char* bad : {"", "-x", "A", "a b", "a/b", "../x"}) EXPECT_FALSE(is_workflow_id(bad)) << bad;
  EXPECT_FALSE(is_workflow_id(std::string(65, 'a')));
  EXPECT_EQ(channels_of("welcome-email"), static_cast<std::uint32_t>(RY_NOTIFY_EMAIL));
  EXPECT_EQ(channels_of("promotional"), all_channels);
}

}  // namespace
