#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "settings/model_choice.hpp"
#include "settings/settings_schema.hpp"
#include "settings/settings_test.hpp"

using namespace runs;

namespace {

struct tier {
  explicit tier(std::vector<std::string> allowed, bool all = false) : names(std::move(allowed)) {
    for (const std::string& name : names) texts.push_back({name.data(), name.size()});
    view.all_models = all ? 1 : 0;
    view.models = texts.data();
    view.n_models = texts.size();
  }
  std::vector<std::string> names;
  std::vector<ry_str> texts;
  ry_tier_view view{};
};

TEST(settings_test, the_schema_is_a_json_object) {
  EXPECT_TRUE(boost::json::parse(settings_schema).is_object());
}

TEST(settings_test, without_configuration_all_models_are_offline) {
  const settings s = settings_of("{}");
  const auto target = s.target("runyard/power");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->provider, "offline");
  EXPECT_EQ(s.timeout_seconds, 3000);
  EXPECT_EQ(s.default_model, "runyard/basic");
}

TEST(settings_test, names_resolve_to_providers) {
  const settings s = settings_of(
      R"({"providers":{"or":{"kind":"openai","api_key":"k","options":{"extra":1}}},
          "models":{"runyard/basic":"or/meta/llama-3"}})");
  const auto basic = s.target("runyard/basic");
  ASSERT_TRUE(basic);
  EXPECT_EQ(basic->provider, "or");
  EXPECT_EQ(basic->model, "meta/llama-3");
  EXPECT_EQ(s.target("or/gpt-4o")->model, "gpt-4o");
  EXPECT_FALSE(s.target("other/gpt"));
  EXPECT_FALSE(s.target("nothing"));
  EXPECT_FALSE(s.target("or/"));
  const auto config = boost::json::parse(s.providers.front().config_json).as_object();
  EXPECT_EQ(config.at("extra").as_int64(), 1) << "the driver receives the options together with the common keys";
}

TEST(settings_test, all_faults_are_reported_with_their_keys) {
  EXPECT_EQ(faults_of(R"({"models":{"runyard/basic":"openai/x"}})"),
            "models.\"runyard/basic\" is \"openai/x\": it must be \"<provider>/<model>\" with a provider of "
            "runs.providers");
  EXPECT_EQ(faults_of(R"({"providers":{"x":{}}})"), "providers.x.kind is missing");
  EXPECT_EQ(
      faults_of(
          R"({"default_model":"a/b","prices":{"offline/x":{"input":-1},"offline/y":{"output":"1"}},"timeout_seconds":"soon",
                          "webhooks":{"w":{"url":"x","secret":"y"}}})"),
      "default_model \"a/b\" is not a known model\n"
      "prices.\"offline/x\" is out of range\n"
      "prices.\"offline/y\".output must be an integer\n"
      "timeout_seconds must be an integer\n"
      "webhooks.w.url must begin with https:// or http://\n"
      "webhooks.w.secret must be \"whsec_\" and 24 to 64 bytes in Base64");
  EXPECT_THAT(faults_of(R"({"providers":{"a/b":{"kind":"offline"}}})"), testing::StartsWith("providers.\"a/b\" must"));
}

TEST(settings_test, tables_by_model_reject_unknown_models) {
  const std::string unknown_model =
      " is not a known model: neither an alias in runs.models nor \"<provider>/<model>\" with a provider of "
      "runs.providers";
  const struct {
    const char *table, *value;
  } tables[] = {
      {"prices", "{}"}, {"context_tokens", "4096"}, {"vision", "true"}, {"fallbacks", "[]"}, {"model_options", "{}"}};
  for (const auto& t : tables) {
    const auto with = [&](const std::string& name) {
      return "{\"models\":{\"fast\":\"offline/basic\"},\"" + std::string(t.table) + "\":{\"" + name + "\":" + t.value +
             "}}";
    };
    for (const char* known : {"fast", "runyard/basic", "runyard/power", "offline/anything"})
      EXPECT_EQ(faults_of(with(known)), "") << t.table << " " << known;
    EXPECT_EQ(faults_of(with("fsat")), std::string(t.table) + ".fsat" + unknown_model + "; did you mean \"fast\"?");
    EXPECT_EQ(faults_of(with("openai/gpt")), std::string(t.table) + ".\"openai/gpt\"" + unknown_model);
  }
  EXPECT_EQ(faults_of(R"({"downgrades":{"runyard/power":"openai/x"}})"),
            "downgrades.\"runyard/power\" \"openai/x\" is not a known model");
}

TEST(settings_test, model_options_apply_to_the_alias_or_its_model) {
  const settings s = settings_of(
      R"({"max_output_tokens":500,"models":{"fast":"offline/small"},
          "model_options":{"fast":{"temperature":0.2,"reasoning_effort":"low"},"offline/big":{"max_output_tokens":9,"top_p":1}}})");
  EXPECT_EQ(members_of(s.options_of("fast")), R"("temperature":0.2,"max_output_tokens":500,"reasoning_effort":"low")");
  EXPECT_EQ(members_of(s.options_of("offline/big")), R"("top_p":1,"max_output_tokens":9)");
  EXPECT_EQ(members_of(s.options_of("runyard/basic")), R"("max_output_tokens":500)");
  EXPECT_TRUE(settings_of("{}").options_of("runyard/basic").empty());
  EXPECT_EQ(s.max_continuations, 2);
  EXPECT_EQ(settings_of(R"({"max_continuations":0})").max_continuations, 0);
  EXPECT_EQ(
      faults_of(
          R"({"model_options":{"runyard/basic":{"temperature":3,"top_p":"high","tpo_p":1,"reasoning_effort":"max"}}})"),
      "model_options.\"runyard/basic\".temperature must be a number from 0 to 2\n"
      "model_options.\"runyard/basic\".top_p must be a number from 0 to 1\n"
      "model_options.\"runyard/basic\".tpo_p is not a model parameter\n"
      "model_options.\"runyard/basic\".reasoning_effort must be none, minimal, low, medium or high");
  EXPECT_EQ(faults_of(R"({"model_options":{"runyard/basic":7}})"), "model_options.\"runyard/basic\" must be a table");
}

TEST(settings_test, durations_without_a_unit_are_seconds) {
  const auto timeout = [](const char* json) { return settings_of(json).timeout_seconds; };
  EXPECT_EQ(timeout(R"({"run_timeout":"3000s"})"), 3000);
  EXPECT_EQ(timeout(R"({"run_timeout":90})"), 90);
  EXPECT_EQ(timeout(R"({"run_timeout":"90"})"), 90);
  EXPECT_EQ(timeout(R"({"run_timeout":"2h"})"), 7200);
  EXPECT_EQ(timeout(R"({"run_timeout":"7d"})"), 604'800);
  EXPECT_EQ(timeout(R"({"run_timeout":"3000s","timeout_seconds":5})"), 5);
  EXPECT_EQ(settings_of("{}").event_retention_seconds, 30 * 86'400);
  EXPECT_EQ(settings_of(R"({"event_retention":"45m"})").event_retention_seconds, 2700);
  for (const char* bad : {R"({"run_timeout":"soon"})", R"({"run_timeout":"8d"})", R"({"run_timeout":0})",
                          R"({"run_timeout":"5w"})", R"({"run_timeout":"-5s"})", R"({"run_timeout":""})",
                          R"({"run_timeout":"1.5h"})", R"({"run_timeout":"999999999999d"})",
                          R"({"run_timeout":"99999999999999999999s"})", R"({"run_timeout":true})"}) {
    EXPECT_THAT(faults_of(bad), testing::StartsWith("run_timeout must be")) << bad;
  }
  EXPECT_NE(faults_of(R"({"providers":{"or":{"kind":"offline","options":{"kind":"openai"}}}})"), "");
  EXPECT_NE(faults_of(R"({"providers":{"or":{"kind":"openai","options":{"api_key":"k"}}}})"), "");
  EXPECT_NE(faults_of(R"({"event_retention":"59s"})"), "");
}

TEST(settings_test, prices_are_exact) {
  const price p{15'000'000, 60'000'000, 7'500'000};  // 15, 60 and 7.5 credits per million tokens
  EXPECT_EQ(charge_micro(p, {1'000'000, 0, 0}), 15'000'000);
  EXPECT_EQ(charge_micro(p, {1000, 500, 400}), 600 * 15 + 400 * 75 / 10 + 500 * 60);
  EXPECT_EQ(charge_micro(p, {0, 0, 0}), 0);
  EXPECT_EQ(charge_micro({1, 0, 0}, {499'999, 0, 0}), 0) << "half a micro-credit and more rounds up";
  EXPECT_EQ(charge_micro({1, 0, 0}, {500'000, 0, 0}), 1);
  EXPECT_EQ(charge_micro({1'000'000'000'000'000, 0, 0}, {INT64_MAX / 2, 0, 0}), 1'000'000'000'000'000);
  EXPECT_EQ(charge_micro(p, {10, 0, 100}), 75) << "cached tokens are part of the input";
  const price writes{10'000'000, 0, 1'000'000, 12'500'000};
  EXPECT_EQ(charge_micro(writes, {1000, 0, 300, 200}), 500 * 10 + 300 * 1 + 200 * 125 / 10);
  EXPECT_EQ(charge_micro(writes, {100, 0, 90, 50}), 90 * 1 + 10 * 125 / 10)
      << "cached and written tokens are part of the input";
  EXPECT_FALSE((price{0, 0, 0, 1}).free());
  const settings s =
      settings_of(R"({"prices":{"offline/basic":{"input":5,"output":7},"offline/x":{"input":5,"cache_write":6}}})");
  EXPECT_EQ(s.price_of("runyard/basic").cache_write, 5) << "default: the price of input";
  EXPECT_EQ(s.price_of("offline/x").cache_write, 6);
  EXPECT_EQ(s.price_of("runyard/basic").output, 7) << "by the model of the alias";
  EXPECT_EQ(s.price_of("runyard/basic").cached_input, 5) << "default: the price of input";
  EXPECT_EQ(s.price_of("unknown/x").input, 0);
}

TEST(settings_test, well_known_models_accept_images_unless_configured_otherwise) {
  const settings s = settings_of(
      R"({"models":{"runyard/basic":"offline/gpt-4o"},"vision":{"offline/gpt-4o-mini":false,"offline/own":true}})");
  EXPECT_TRUE(s.sees("offline/gpt-4o"));
  EXPECT_TRUE(s.sees("runyard/basic")) << "by the model of the alias";
  EXPECT_FALSE(s.sees("offline/gpt-4o-mini"));
  EXPECT_TRUE(s.sees("offline/own"));
  EXPECT_FALSE(s.sees("offline/other"));
}

TEST(settings_test, context_windows_and_fallbacks_apply_to_the_alias_or_its_model) {
  const settings s = settings_of(
      R"({"context_tokens":{"offline/basic":8000},"fallbacks":{"offline/basic":["offline/b","runyard/basic","offline/b"]}})");
  EXPECT_EQ(s.window_of("runyard/basic"), 8000);
  EXPECT_EQ(s.window_of("offline/other"), 128'000);
  EXPECT_EQ(s.window_of("offline/gpt-4.1-mini"), 1'047'576) << "the window of a well-known family";
  EXPECT_EQ(s.chain("runyard/basic"), (std::vector<std::string>{"runyard/basic", "offline/b"}));
  EXPECT_EQ(s.chain("offline/other"), std::vector<std::string>{"offline/other"});
  EXPECT_NE(faults_of(R"({"fallbacks":{"runyard/basic":["nowhere/x"]}})"), "");
  EXPECT_NE(faults_of(R"({"fallbacks":{"runyard/basic":"offline/x"}})"), "");
  EXPECT_NE(faults_of(R"({"context_tokens":{"runyard/basic":12}})"), "");
}

TEST(choose_model_test, tiers_restrict_and_downgrade_models) {
  const settings s = settings_of("{}");
  const tier free({"runyard/basic"}), pro({"runyard/basic", "runyard/power", "offline/extra"}), all({}, true);
  EXPECT_EQ(choose_model(s, free.view, "runyard/basic").model, "runyard/basic");
  EXPECT_EQ(choose_model(s, free.view, "runyard/power").model, "runyard/basic") << "downgraded";
  EXPECT_FALSE(choose_model(s, free.view, "offline/basic").granted());
  EXPECT_EQ(choose_model(s, pro.view, "runyard/power").model, "runyard/power");
  EXPECT_EQ(choose_model(s, pro.view, "offline/extra").model, "offline/extra");
  EXPECT_FALSE(choose_model(s, pro.view, "offline/other").granted());
  EXPECT_TRUE(choose_model(s, all.view, "offline/anything").granted());
  EXPECT_FALSE(choose_model(s, all.view, "nowhere/anything").granted()) << "no such provider";
}

}  // namespace
