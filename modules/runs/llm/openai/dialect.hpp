// Whose variety of the chat completions API or of the Responses API a provider speaks. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace openai {

enum class dialect {
  compatible,  // an unknown server: the strictest rules of those that are common
  openai,
  mistral,
  gemini,
};

// `name` of the settings; "auto" looks at the host of the base URL. nullopt: there is no such dialect.
std::optional<dialect> read_dialect(std::string_view name, std::string_view base_url);

// A resource of Azure, also behind a gateway that keeps its paths or its versions: the key is sent as `api-key`.
bool is_azure(std::string_view base_url);

// Models of this family check ids wherever they run.
bool is_mistral(std::string_view model);

// Models of OpenAI that never reason: they refuse reasoning_effort and encrypted reasoning. Other models: see reasoning_refusals.
bool is_without_reasoning(std::string_view model);
// Models of OpenAI that reason unless reasoning_effort is none: they refuse temperature, top_p and stop.
bool is_reasoning(std::string_view model);

// "https://h/openai/deployments/d?api-version=1": "https://h/openai?api-version=1" and "d". The Responses API of Azure has
// no paths of deployments: their name is the model. nullopt: `base_url` is none of a deployment.
struct deployment_base {
  std::string base_url, deployment;
};
std::optional<deployment_base> split_deployment(std::string_view base_url);

// DeepSeek thinks unless it is told otherwise, and insists on its reasoning beside its calls.
bool is_deepseek(std::string_view base_url);

}  // namespace openai
