#include "api/start_form.hpp"

#include <gtest/gtest.h>
#include <ry/cpp/utf8.hpp>

#include "text.hpp"

using namespace runs;

namespace {

constexpr const char* id_a = "0192F0C1-2d3e-7f00-8a1b-0123456789ab";
constexpr const char* id_b = "0192f0c1-2d3e-7f00-8a1b-0123456789ac";

std::string error_detail(const std::vector<form_field>& fields) {
  const auto out = parse_start(fields);
  const auto* r = std::get_if<form_refusal>(&out);
  return r != nullptr ? r->detail : "";
}

start_request accepted(const std::vector<form_field>& fields) {
  auto out = parse_start(fields);
  EXPECT_TRUE(std::holds_alternative<start_request>(out));
  return std::get<start_request>(out);
}

TEST(parse_start_test, errors_match_the_api_contract) {
  EXPECT_EQ(error_detail({}), "prompt required when creating new thread");
  for (const char* blank : {" \n ", "\xC2\xA0", "\xE2\x80\x8B", "\xE3\x80\x80\t", "\xEF\xBB\xBF"})
    EXPECT_EQ(error_detail({{"prompt", blank}}), "prompt required when creating new thread") << blank;
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"optimistic", "true"}}),
            "thread_id and project_id required for optimistic mode");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"optimistic", "true"}, {"thread_id", id_a}}),
            "thread_id and project_id required for optimistic mode");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"thread_id", "7"}}), "Invalid UUID format");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"agent_id", "me"}}), "Invalid UUID format");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"optimistic", "true"}, {"thread_id", id_a}, {"project_id", "no"}}),
            "Invalid UUID format");
}

TEST(parse_start_test, duplicate_fields_and_files_without_filename_are_rejected) {
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"prompt", "y"}}), "prompt is given more than once");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"mode", ""}, {"mode", "code"}}), "mode is given more than once");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"mode", "slides"}}), "mode must be agent, chat or code");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"files", "text"}}), "files must be file parts, each with a filename");
  accepted({{"prompt", "x"}, {"files", ""}, {"unknown", "1"}, {"unknown", "2"}});
}

TEST(parse_start_test, questions_are_switched_on_or_off_for_the_run_or_left_to_the_settings) {
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"questions", "maybe"}}), "questions must be true or false");
  EXPECT_EQ(accepted({{"prompt", "x"}, {"questions", ""}}).options.questions, std::nullopt);
  for (const bool on : {true, false}) {
    const start_request r = accepted({{"prompt", "x"}, {"questions", on ? "TRUE" : "0"}});
    EXPECT_EQ(r.options.questions, on);
    EXPECT_EQ(read_options(stored_parameters(r.parameters, r.options)).questions, on);
  }
}

TEST(parse_start_test, reads_the_documented_members) {
  const start_request r = accepted({{"prompt", " do it "},
                                    {"optimistic", "TRUE"},
                                    {"thread_id", id_a},
                                    {"project_id", id_b},
                                    {"model_name", "runyard/power"},
                                    {"mode", "code"},
                                    {"memory_enabled", "false"},
                                    {"unknown_field", "is left alone"}});
  EXPECT_EQ(r.prompt, " do it ");
  EXPECT_TRUE(r.optimistic);
  EXPECT_EQ(r.thread_id, "0192f0c1-2d3e-7f00-8a1b-0123456789ab");
  EXPECT_EQ(r.memory_enabled, false);
  EXPECT_EQ(r.mode, run_mode::code);
  EXPECT_FALSE(r.agent_id);
  EXPECT_TRUE(accepted({{"thread_id", id_a}}).prompt.empty()) << "an empty prompt continues the thread";
  EXPECT_FALSE(accepted({{"prompt", "x"}, {"thread_id", ""}}).thread_id) << "an empty field counts as omitted";
  EXPECT_FALSE(accepted({{"prompt", "x"}, {"model_name", "\xE2\x80\x8B \xC2\xA0"}}).model_name)
      << "a blank field counts as omitted";
}

TEST(parse_start_test, errors_name_the_invalid_field) {
  EXPECT_NE(error_detail({{"prompt", "x"}, {"optimistic", "maybe"}}).find("optimistic"), std::string::npos);
  EXPECT_NE(error_detail({{"prompt", "a\xFF"}}).find("prompt"), std::string::npos);
  EXPECT_NE(error_detail({{"prompt", std::string_view("a\0b", 3)}}).find("prompt"), std::string::npos);
  EXPECT_NE(error_detail({{"prompt", "x"}, {"queue", "maybe"}}).find("queue"), std::string::npos);
  EXPECT_NE(error_detail({{"prompt", "x"}, {"on_busy", "rollback"}}).find("on_busy"), std::string::npos);
  for (const char* bad : {"0", "-1", "five", "1.0000001", "0.0", "99999999999"})
    EXPECT_EQ(error_detail({{"prompt", "x"}, {"budget_credits", bad}}),
              "budget_credits must be a number of credits from 0.000001 to 1000000000 with at most six decimals")
        << bad;
  EXPECT_NE(error_detail({{"prompt", "x"}, {"budget_credits", "1"}, {"budget_policy", "harsh"}}).find("budget_policy"),
            std::string::npos);
  EXPECT_NE(error_detail({{"prompt", "x"}, {"budget_policy", "soft"}}).find("budget_credits"), std::string::npos);
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"queue", "false"}, {"on_busy", "reject"}}), "");
}

TEST(parse_start_test, a_prompt_that_joins_a_run_brings_no_rules_and_tools) {
  constexpr const char* thread = "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11";
  EXPECT_EQ(accepted({{"prompt", "x"}, {"on_busy", "Steer"}, {"thread_id", thread}}).on_busy, busy_policy::steer);
  EXPECT_EQ(accepted({{"prompt", "x"}, {"on_busy", "steer"}, {"model_name", "m"}}).on_busy, busy_policy::steer);
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"on_busy", "steer"}, {"tool_policy", R"([{"match":"a","action":"ask"}])"}}),
            "on_busy=steer does not allow tool_policy or client_tools");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"on_busy", "steer"}, {"client_tools", R"([{"name":"a"}])"}}),
            "on_busy=steer does not allow tool_policy or client_tools");
  EXPECT_EQ(error_detail({{"on_busy", "steer"}, {"thread_id", thread}}), "on_busy=steer requires prompt");
}

TEST(parse_start_test, a_budget_is_exact_and_hard_by_default) {
  EXPECT_EQ(accepted({{"prompt", "x"}, {"budget_credits", "0.25"}}).budget, (budget{250'000, budget_policy::hard}));
  EXPECT_EQ(accepted({{"prompt", "x"}, {"budget_credits", " 3 "}, {"budget_policy", "finish_turn"}}).budget,
            (budget{3'000'000, budget_policy::finish_turn}));
  EXPECT_FALSE(accepted({{"prompt", "x"}, {"budget_credits", ""}, {"budget_policy", ""}}).budget.set());
}

TEST(prompt_with_files_test, adds_one_line_per_file) {
  EXPECT_EQ(prompt_with_files("Look", {{"a.txt", 3}, {"b.pdf", 2048}}),
            "Look\n\n[Attached: a.txt (3 B) -> uploads/a.txt]\n[Attached: b.pdf (2.0 KB) -> uploads/b.pdf]");
  EXPECT_EQ(prompt_with_files("", {{"a.txt", 3}}), "[Attached: a.txt (3 B) -> uploads/a.txt]");
  EXPECT_EQ(prompt_with_files("Look", {}), "Look");
}

TEST(title_of_test, does_not_examine_a_long_prompt_completely) {
  EXPECT_EQ(title_of(std::string(9000, '\n') + "late"), "");
  std::string euros;
  while (euros.size() < 9000) euros += "\xE2\x82\xAC";
  EXPECT_TRUE(ry::is_utf8(title_of("x" + euros)));
}

TEST(title_of_test, is_the_first_line_truncated_to_complete_characters) {
  EXPECT_EQ(title_of("  One\nTwo"), "One");
  EXPECT_EQ(title_of("\xE2\x80\x8B\n \xE2\x80\xAEOne\x07\xC2\xA0\nTwo"), "One");
  EXPECT_EQ(title_of(std::string(200, 'x')), std::string(80, 'x') + "\xE2\x80\xA6");
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xE2\x82\xAC";
  EXPECT_TRUE(ry::is_utf8(title_of(euros)));
}

TEST(parse_start_test, model_parameters_are_validated_and_kept) {
  const start_request r = accepted({{"prompt", "x"},
                                    {"temperature", "0.5"},
                                    {"top_p", ""},
                                    {"max_output_tokens", " 100 "},
                                    {"reasoning_effort", "low"},
                                    {"tool_choice", "required"}});
  EXPECT_EQ(members_of(r.parameters),
            R"("temperature":0.5,"max_output_tokens":100,"reasoning_effort":"low","tool_choice":"required")");
  EXPECT_TRUE(accepted({{"prompt", "x"}}).parameters.empty());
  const std::pair<const char*, const char*> wrong[] = {{"temperature", "2.5"},
                                                       {"top_p", "x"},
                                                       {"max_output_tokens", "0"},
                                                       {"reasoning_effort", "a lot"},
                                                       {"tool_choice", "{}"}};
  for (const auto& [name, value] : wrong) {
    const auto out = parse_start({{"prompt", "x"}, {name, value}});
    const auto* refusal = std::get_if<form_refusal>(&out);
    ASSERT_NE(refusal, nullptr) << name;
    EXPECT_EQ(refusal->http_status, 422u) << name;
    EXPECT_TRUE(refusal->detail.starts_with(std::string(name) + " must be ")) << refusal->detail;
  }
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"top_p", "1"}, {"top_p", "1"}}), "top_p is given more than once");
}

TEST(parse_start_test, metadata_and_the_output_schema_are_kept) {
  const start_request r = accepted({{"prompt", "x"},
                                    {"metadata", R"({"a": "b"})"},
                                    {"output_schema", R"({"type": "object", "properties": {"n": {"maximum": 0.3}}})"}});
  EXPECT_EQ(r.metadata, R"({"a":"b"})");
  EXPECT_EQ(r.options.output_schema, R"({"type":"object","properties":{"n":{"maximum":3E-1}}})");
  EXPECT_EQ(read_options(stored_parameters(r.parameters, r.options)), r.options);
  EXPECT_EQ(accepted({{"prompt", "x"}, {"metadata", "{}"}, {"output_schema", ""}}).metadata, "");
  EXPECT_EQ(error_detail({{"prompt", "x"}, {"output_schema", R"({"properties":{"a":{"if":{}}}})"}}),
            "output_schema: /properties/a/if is not a supported keyword");
  const auto out = parse_start({{"prompt", "x"}, {"metadata", "[]"}});
  const auto* refusal = std::get_if<form_refusal>(&out);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->http_status, 422u);
}

// The deepest schema, and options around it, are readable by the worker that claims the run.
TEST(parse_start_test, the_deepest_schema_survives_the_database) {
  std::string schema = "{}";
  for (int i = 0; i < 29; ++i) schema = R"({"properties":{"a":)" + schema + "}}";
  const start_request r = accepted({{"prompt", "x"}, {"output_schema", schema}, {"temperature", "0.5"}});
  const std::string stored = stored_parameters(r.parameters, r.options);
  EXPECT_EQ(read_options(stored), r.options);
  EXPECT_EQ(read_parameters(stored).temperature, 0.5);
}

TEST(parse_start_test, a_webhook_needs_a_plain_url_and_a_secret) {
  const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const start_request r =
      accepted({{"prompt", "x"}, {"webhook_url", "https://example.com/hook?a=b"}, {"webhook_secret", secret}});
  EXPECT_EQ(r.webhook_url, "https://example.com/hook?a=b");
  EXPECT_EQ(r.webhook_secret, secret);
  EXPECT_TRUE(r.options.has_webhook);
  const auto refused = [&](const std::string& url, const std::string& with) {
    const auto out = parse_start({{"prompt", "x"}, {"webhook_url", url}, {"webhook_secret", with}});
    const auto* refusal = std::get_if<form_refusal>(&out);
    return refusal == nullptr ? std::string() : std::to_string(refusal->http_status) + " " + refusal->detail;
  };
  EXPECT_EQ(refused("https://example.com/", ""), "422 webhook_url requires webhook_secret");
  EXPECT_EQ(refused("", secret), "422 webhook_secret requires webhook_url");
  EXPECT_EQ(refused("https://example.com/", "password"),
            "422 webhook_secret must be whsec_ and 24 to 64 bytes in Base64");
  for (const char* wrong : {"ftp://example.com/", "example.com", "https:example.com", "https"})
    EXPECT_EQ(refused(wrong, secret), "422 webhook_url must begin with https://") << wrong;
  EXPECT_EQ(refused("https:///x", secret), "422 webhook_url must have a host");
  EXPECT_EQ(refused("https://u:p@example.com/", secret),
            "422 webhook_url must not contain a user or a password: the messages are signed with webhook_secret");
  EXPECT_EQ(refused("https://example.com/#a", secret), "422 webhook_url must not have a fragment");
  EXPECT_EQ(refused("https://example.com/a b", secret),
            "422 webhook_url must consist of printable ASCII characters; escape others");
  EXPECT_EQ(refused("https://example.com/" + std::string(2000, 'x'), secret),
            "422 webhook_url must have at most 2000 bytes");
}

}  // namespace
