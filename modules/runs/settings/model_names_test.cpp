#include "settings/model_names.hpp"
#include "settings/settings_reader.hpp"

#include <gtest/gtest.h>

#include <ry/cpp/settings_check.hpp>

namespace {

runs::settings configured() {
  ry::settings_faults none;
  return runs::parse_settings(
      R"({"providers":{"openai":{"kind":"openai"},"or":{"kind":"openai"}},
          "models":{"runyard/basic":"openai/gpt-4o-mini","fast":"or/meta/llama-3"}})",
      none);
}

TEST(model_names, finds_the_nearest_name) {
  const auto s = configured();
  const struct {
    const char *name, *nearest;
  } rows[] = {
      {"runyard/basik", "runyard/basic"},
      {"Runyard/Basic", "runyard/basic"},
      {"fsat", "fast"},
      {"openai/gpt-4o-mni", "openai/gpt-4o-mini"},
      {"gpt-4o-mini", "openai/gpt-4o-mini"},
      {"opnai/gpt-4o-mini", "openai/gpt-4o-mini"},
      {"opnai/o3", "openai/o3"},
      {"ro/mistral", "or/mistral"},
      {"meta/llama-3", "or/meta/llama-3"},
      {"anthropic/claude-opus-4-5", ""},
      {"x", ""},
      {"", ""},
      {"/", ""},
  };
  for (const auto& r : rows) EXPECT_EQ(runs::nearest_model(s, r.name), r.nearest) << r.name;
  EXPECT_EQ(runs::nearest_model(s, std::string(100'000, 'a')), "");
  EXPECT_EQ(runs::did_you_mean(s, "fsat"), "; did you mean \"fast\"?");
  EXPECT_EQ(runs::did_you_mean(s, "nothing at all"), "");
}

TEST(model_names, the_nearest_name_of_an_alias_is_its_model) {
  EXPECT_EQ(runs::nearest_model(configured(), "fast"), "or/meta/llama-3");
}

}  // namespace
