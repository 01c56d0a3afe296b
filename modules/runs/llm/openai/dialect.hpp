// Determines the dialect of the Chat Completions or Responses API that a provider requires. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace openai {

enum class dialect {
  compatible,  // an unknown server: the strictest of the common rules
  openai,
  mistral,
  gemini,
};

// `name` comes from the settings; "auto" selects by the host of the base URL. nullopt: unknown dialect.
std::optional<dialect> read_dialect(std::string_view name, std::string_view base_url);

// Whether the URL is an Azure resource, directly or behind a gateway that keeps Azure's paths or versions. The key is
// then sent as `api-key`.
bool is_azure(std::string_view base_url);

// Whether the model belongs to Mistral's family, which checks ids on every server.
bool is_mistral(std::string_view model);

// Whether the model is an OpenAI model that never reasons: it rejects reasoning_effort and encrypted reasoning. For
// other models see reasoning_refusals.
bool is_without_reasoning(std::string_view model);
// Whether the model is an OpenAI model that reasons unless reasoning_effort is none: it rejects temperature, top_p and
// stop.
bool is_reasoning(std::string_view model);

// Whether an OpenAI model accepts JSON Schemas of its answers.
bool has_structured_outputs(std::string_view model);

// Splits "https://h/openai/deployments/d?v=1" into "https://h/openai?v=1" and "d": Azure's Responses API has no
// deployment paths, and the deployment's name is the model. nullopt: `base_url` has no deployment path.
struct deployment_base {
  std::string base_url, deployment;
};
std::optional<deployment_base> split_deployment(std::string_view base_url);

// Whether the server is DeepSeek's: its models reason by default and require their reasoning with their calls.
bool is_deepseek(std::string_view base_url);

}  // namespace openai
