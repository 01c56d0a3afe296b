#include "dialect.hpp"

#include <gtest/gtest.h>

namespace {

using openai::dialect;

TEST(dialect, auto_selects_by_the_host) {
  const struct {
    const char* url;
    dialect expected;
    bool azure;
  } rows[] = {{"https://api.openai.com/v1", dialect::openai, false},
              {"https://eu.API.openai.com:443/v1", dialect::openai, false},
              {"https://notopenai.com/v1", dialect::compatible, false},
              {"https://api.openai.com.example.org/v1", dialect::compatible, false},
              {"https://r.openai.azure.com/openai/deployments/d1?api-version=2024-10-21", dialect::openai, true},
              {"https://r.openai.azure.com/openai/v1", dialect::openai, true},
              {"https://r.services.ai.azure.com/models", dialect::compatible, true},
              {"https://gateway.example/openai/deployments/d1", dialect::compatible, true},
              {"https://gateway.example/d1?x=1&api-version=2024-10-21", dialect::compatible, true},
              {"https://api.mistral.ai/v1", dialect::mistral, false},
              {"https://generativelanguage.googleapis.com/v1beta/openai", dialect::gemini, false},
              {"https://openrouter.ai/api/v1", dialect::compatible, false},
              {"http://127.0.0.1:8000/v1", dialect::compatible, false}};
  for (const auto& r : rows) {
    EXPECT_EQ(openai::read_dialect("auto", r.url), r.expected) << r.url;
    EXPECT_EQ(openai::is_azure(r.url), r.azure) << r.url;
  }
}

TEST(dialect, deepseek_is_recognised_by_the_host) {
  EXPECT_TRUE(openai::is_deepseek("https://api.deepseek.com"));
  EXPECT_TRUE(openai::is_deepseek("https://API.DeepSeek.com:443/v1"));
  EXPECT_FALSE(openai::is_deepseek("https://notdeepseek.com/v1"));
  EXPECT_FALSE(openai::is_deepseek("https://gateway.example/deepseek.com"));
}

TEST(dialect, can_be_configured) {
  EXPECT_EQ(openai::read_dialect("mistral", "https://api.openai.com/v1"), dialect::mistral);
  EXPECT_EQ(openai::read_dialect("gemini", ""), dialect::gemini);
  EXPECT_EQ(openai::read_dialect("openai", ""), dialect::openai);
  EXPECT_EQ(openai::read_dialect("compatible", "https://api.openai.com/v1"), dialect::compatible);
  EXPECT_EQ(openai::read_dialect("azure", ""), std::nullopt);
}

TEST(dialect, the_deployment_is_split_from_the_base_url) {
  const struct {
    const char *url, *base, *deployment;
  } rows[] = {
      {"https://r.openai.azure.com/openai/deployments/d1?api-version=2025-04-01-preview",
       "https://r.openai.azure.com/openai?api-version=2025-04-01-preview", "d1"},
      {"https://r.openai.azure.com/openai/deployments/d1/chat/completions?a=1&b=2",
       "https://r.openai.azure.com/openai?a=1&b=2", "d1"},
      {"https://gateway.example/eu/openai/deployments/gpt-5.2", "https://gateway.example/eu/openai", "gpt-5.2"}};
  for (const auto& r : rows) {
    const auto split = openai::split_deployment(r.url);
    ASSERT_TRUE(split) << r.url;
    EXPECT_EQ(split->base_url, r.base);
    EXPECT_EQ(split->deployment, r.deployment);
  }
  for (const char* url : {"https://r.openai.azure.com/openai/v1", "https://r.openai.azure.com/openai?api-version=1",
                          "https://h/openai/deployments/", "https://h/v1?next=/openai/deployments/d"})
    EXPECT_FALSE(openai::split_deployment(url)) << url;
}

TEST(dialect, models_with_and_without_reasoning_are_recognised_by_their_family) {
  for (const char* model : {"gpt-4o", "gpt-4.1-mini", "gpt-4-turbo", "gpt-3.5-turbo", "chatgpt-4o-latest",
                            "gpt-5-chat-latest", "openai/gpt-4o"})
    EXPECT_TRUE(openai::is_without_reasoning(model)) << model;
  for (const char* model :
       {"o3", "o4-mini", "gpt-5", "gpt-5.2", "gpt-5.3-codex", "openai/gpt-oss-120b", "grok-4", "my-deployment"})
    EXPECT_FALSE(openai::is_without_reasoning(model)) << model;
  for (const char* model : {"o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.2", "openai/gpt-5-mini"})
    EXPECT_TRUE(openai::is_reasoning(model)) << model;
  for (const char* model : {"gpt-4o", "gpt-5-chat-latest", "gpt-oss-120b", "my-deployment", ""})
    EXPECT_FALSE(openai::is_reasoning(model)) << model;
}

}  // namespace
