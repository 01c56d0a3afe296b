#include "model_check/model_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace {

using runs::check_state;
using testing::HasSubstr;

runs::model_report sample() {
  runs::model_report r;
  r.name = "runyard/basic";
  r.provider = "main";
  r.kind = "openai";
  r.model = "gpt";
  r.has_price = true;
  r.costs = {1'000'000, 2'000'000, 1'000'000, 1'000'000};
  r.checks = {{"text", check_state::ok, "answers", 120, 30, 1, {100, 10, 0, 0}},
              {"streaming", check_state::ok, "40 pieces", 200, 20, 1, {100, 80, 0, 0}},
              {"tool_call", check_state::ok, "", 200, 20, 2, {200, 20, 0, 0}},
              {"image", check_state::unsupported, "does not see\nit", 90, -1, 1, {}},
              {"wrong_key", check_state::skipped, "no key is configured", 0, -1, 0, {}}};
  r.recommended = {{"runs.vision.\"runyard/basic\"", "false", "the model does not see images"},
                   {"runs.prices.x", "", "none"}};
  return r;
}

TEST(model_report, reports_total_usage_and_cost) {
  const auto r = sample();
  EXPECT_EQ(r.usage().input, 400);
  EXPECT_EQ(r.usage().output, 110);
  const auto o = boost::json::parse(runs::report_json(r)).as_object();
  EXPECT_EQ(o.at("usage").at("input_tokens"), 400);
  EXPECT_EQ(o.at("cost").at("micro_credits"), 620);
  EXPECT_EQ(o.at("cost").at("credits"), 0.00062);
  EXPECT_TRUE(o.at("cost").at("priced").as_bool());
}

TEST(model_report, capabilities_are_true_false_or_null) {
  const auto o = boost::json::parse(runs::report_json(sample())).as_object();
  const auto& capabilities = o.at("capabilities").as_object();
  EXPECT_EQ(capabilities.at("text"), true);
  EXPECT_EQ(capabilities.at("tools"), true);
  EXPECT_EQ(capabilities.at("vision"), false);
  EXPECT_TRUE(capabilities.at("checks_keys").is_null());
  EXPECT_TRUE(capabilities.at("parallel_tools").is_null());
  EXPECT_EQ(capabilities.at("reports_usage"), true);
  EXPECT_EQ(o.at("checks").as_array().size(), 5u);
  EXPECT_TRUE(o.at("recommended").at(1).at("value").is_null());
  EXPECT_EQ(o.at("recommended").at(0).at("value"), "false");
}

TEST(model_report, basics_are_text_streaming_and_tool_calls) {
  EXPECT_TRUE(sample().basics_work());
  for (const char* name : {"text", "streaming", "tool_call"}) {
    auto r = sample();
    for (auto& c : r.checks)
      if (c.name == name) c.state = check_state::failed;
    EXPECT_FALSE(r.basics_work()) << name;
  }
  auto not_streaming = sample();
  not_streaming.checks[1].state = check_state::unsupported;
  EXPECT_TRUE(not_streaming.basics_work()) << "an answer without streaming is slow, but correct";
  not_streaming.checks[2].state = check_state::unsupported;
  EXPECT_FALSE(not_streaming.basics_work()) << "an agent needs tools";
  EXPECT_FALSE(runs::model_report().basics_work());
}

TEST(model_report, formats_the_text_report) {
  const auto r = sample();
  EXPECT_EQ(runs::heading_text(r), "runyard/basic = main/gpt (openai)\n\n");
  EXPECT_EQ(runs::check_text(r.checks[0]), "  text                 ok           120 ms    answers\n");
  const auto end = runs::summary_text(r);
  EXPECT_THAT(end, HasSubstr("tokens: 400 in, 110 out\n"));
  EXPECT_THAT(end, HasSubstr("cost: 0.00062 credits by the configured price\n"));
  EXPECT_THAT(end, HasSubstr("  runs.vision.\"runyard/basic\" = false\n    the model does not see images\n"));
  EXPECT_THAT(end, HasSubstr("  runs.prices.x\n"));
  EXPECT_TRUE(end.ends_with("\n\nthe basics work\n"));
}

}  // namespace
