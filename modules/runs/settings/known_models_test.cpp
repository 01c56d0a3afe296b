#include "settings/known_models.hpp"

#include <gtest/gtest.h>

namespace {

using runs::known_model;

TEST(known_models, families_are_recognised_by_names_of_providers_and_gateways) {
  const struct {
    const char* model;
    std::int64_t context;
    bool vision;
  } cases[] = {{"gpt-4o-mini", 128'000, true},
               {"openai/gpt-4o", 128'000, true},
               {"gpt-4o-audio-preview", 128'000, false},
               {"gpt-4", 8'192, false},
               {"gpt-4-0613", 8'192, false},
               {"gpt-4.1-nano", 1'047'576, true},
               {"gpt-5.1", 400'000, true},
               {"gpt-5-chat-latest", 128'000, true},
               {"o3-mini", 200'000, false},
               {"o4-mini-2025-04-16", 200'000, true},
               {"claude-sonnet-4-5", 200'000, true},
               {"us.anthropic.claude-sonnet-4-20250514-v1:0", 200'000, true},
               {"anthropic/claude-opus-4.6", 200'000, true},
               {"google/gemini-2.5-pro", 1'000'000, true},
               {"models/gemini-3-pro-preview", 1'000'000, true},
               {"meta-llama/Meta-Llama-3.1-70B-Instruct", 128'000, false},
               {"llama3.3:70b", 128'000, false},
               {"llama3:8b", 8'192, false},
               {"Qwen/Qwen2.5-VL-7B-Instruct", 32'768, true},
               {"accounts/fireworks/models/deepseek-v3", 64'000, false},
               {"mistral-large-latest", 128'000, false},
               {"pixtral-12b-2409", 128'000, true}};
  for (const auto& c : cases) {
    const auto found = known_model(c.model);
    ASSERT_TRUE(found) << c.model;
    EXPECT_EQ(found->context_tokens, c.context) << c.model;
    EXPECT_EQ(found->vision, c.vision) << c.model;
  }
}

TEST(known_models, other_names_are_not_guessed) {
  for (const char* model : {"", "m", "my-model", "o10", "o1x", "gpt-42", "gpt", "stand-in", "notgpt-4o", "/"})
    EXPECT_FALSE(known_model(model)) << model;
}

}  // namespace
