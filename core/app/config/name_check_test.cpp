#include "core/app/config/name_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "core/app/config/schema.hpp"
#include "core/app/config/sources.hpp"

namespace ry::app::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const auto plans = boost::json::parse(R"({"properties":{
  "tiers":{"type":"object","defines":{"kind":"shop.tier","predefined":["free"]},"additionalProperties":{"type":"object","properties":{
    "models":{"type":"array","items":{"type":"string"},"refers_to":{"kinds":["llm.model","llm.provider/"],"also":["*"]}}}}}}})");
const auto llm = boost::json::parse(R"({"properties":{
  "models":{"type":"object","defines":{"kind":"llm.model"},"additionalProperties":{"type":"string"}},
  "providers":{"type":"object","defines":{"kind":"llm.provider","predefined":["offline"]},"additionalProperties":{"type":"object","additionalProperties":true}},
  "share":{"type":"object","keys_refer_to":{"kinds":["shop.tier"]},"additionalProperties":{"type":"integer"}},
  "best":{"type":"string","refers_to":{"kinds":["llm.model"]}}}})");

std::vector<std::string> faults_of(std::string_view toml) {
  problems found;
  const node tree = parse_toml(toml, "f", {}, found);
  name_check names;
  std::vector<std::tuple<std::string, boost::json::value, const boost::json::value*>> all;
  for (const auto& [name, schema] : {std::pair{"plans", &plans}, std::pair{"llm", &llm}})
    if (const node* given = tree.find(name)) all.emplace_back(name, check(*given, *schema, {name}, found), schema);
  for (const auto& [name, value, schema] : all) names.collect(value, *schema);
  for (const auto& [name, value, schema] : all) names.find_faults(value, *schema, tree.find(name), {name}, found);
  std::vector<std::string> out;
  for (const auto& p : found) out.push_back(p.format());
  return out;
}

TEST(name_check, names_of_other_modules_are_found) {
  EXPECT_THAT(faults_of(R"([plans.tiers.team]
models = ["fast", "openai/gpt", "offline/x", "*"]
[plans.tiers.free]
[llm]
best = "fast"
share = {team = 1, free = 2}
models = {fast = "openai/gpt"}
providers = {openai = {kind = "openai"}}
)"),
              IsEmpty());
}

TEST(name_check, unknown_names_are_refused_with_the_nearest_one) {
  EXPECT_THAT(
      faults_of(R"([plans.tiers.team]
models = ["fast", "fsat", "opnai/gpt", "fast/"]
[llm]
best = "slow"
share = {taem = 1}
models = {fast = "openai/gpt"}
providers = {openai = {kind = "openai"}}
)"),
      testing::UnorderedElementsAre(
          "f:2:19: plans.tiers.team.models[1]: \"fsat\" is not a known model; did you mean \"fast\"?",
          "f:2:27: plans.tiers.team.models[2]: \"opnai/gpt\" is not a known model; did you mean \"openai/gpt\"?",
          "f:2:40: plans.tiers.team.models[3]: \"fast/\" is not a known model; did you mean \"fast\"?",
          "f:4:1: llm.best: \"slow\" is not a known model",
          "f:5:10: llm.share.taem: \"taem\" is not a known tier; did you mean \"team\"?"));
}

TEST(name_check, predefined_names_are_valid_without_their_table) {
  EXPECT_THAT(faults_of("[plans]\n[llm]\nshare = {free = 1, fre = 2}\n"),
              testing::ElementsAre("f:3:20: llm.share.fre: \"fre\" is not a known tier; did you mean \"free\"?"));
}

TEST(name_check, a_kind_that_nothing_defines_is_not_checked) {
  EXPECT_THAT(faults_of("[llm]\nshare = {anything = 1}\n"), IsEmpty());
  EXPECT_THAT(faults_of("[plans.tiers.team]\nmodels = [\"anything\"]\n"), IsEmpty());
}

TEST(name_check, schema_keywords_are_validated) {
  const auto fault = [](const char* schema) { return schema_fault(boost::json::parse(schema)); };
  EXPECT_EQ(fault(R"({"defines":{"kind":"a.b","predefined":["x"]}})"), "");
  EXPECT_NE(fault(R"({"defines":"a.b"})"), "");
  EXPECT_NE(fault(R"({"refers_to":{"kinds":"a.b"}})"), "");
  EXPECT_NE(fault(R"({"keys_refer_to":{"kinds":["a"],"also":[1]}})"), "");
}

}  // namespace
}  // namespace ry::app::config
