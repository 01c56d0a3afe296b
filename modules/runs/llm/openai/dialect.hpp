// Which dialect of the Chat Completions API or the Responses API a provider speaks. Pure.
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

// `name`: from the settings; "auto" decides by the host of the base URL. nullopt: unknown dialect.
std::optional<dialect> read_dialect(std::string_view name, std::string_view base_url);

// Whether the URL is a resource of Azure, also behind a gateway that keeps its paths or versions: the key is then sent
// as `api-key`.
bool is_azure(std::string_view base_url);

// Whether the model belongs to Mistral's family, which checks ids on every server.
bool is_mistral(std::string_view model);

// Whether the model is one of OpenAI's that never reason: they refuse reasoning_effort and encrypted reasoning. Other
// models: see reasoning_refusals.
bool is_without_reasoning(std::string_view model);
// Whether the model is one of OpenAI's that reason unless reasoning_effort is none: they refuse temperature, top_p and
// stop.
bool is_reasoning(std::string_view model);

// "https://h/openai/deployments/d?api-version=1": "https://h/openai?api-version=1" and "d". Azure's Responses API has
// no deployment paths: the deployment's name is the model. nullopt: `base_url` is not one of a deployment.
struct deployment_base {
  std::string base_url, deployment;
};
std::optional<deployment_base> split_deployment(std::string_view base_url);

// Whether the server is DeepSeek's: it reasons by default and requires its reasoning next to its calls.
bool is_deepseek(std::string_view base_url);

}  // namespace openai
