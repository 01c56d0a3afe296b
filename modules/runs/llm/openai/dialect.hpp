// Whose variety of the chat completions API a provider speaks. Pure.
#pragma once

#include <optional>
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

}  // namespace openai
