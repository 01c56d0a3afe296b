// Capabilities of well-known model families, for models without configuration. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace runs {

struct model_abilities {
  std::int64_t context_tokens = 0;  // input and output together
  bool vision = false;  // accepts images
};

// `model`: the provider's name, in any case, also with a vendor prefix ("openai/gpt-4o" of a gateway), a tag or a
// region ("llama3.3:70b"). nullopt: unknown family.
std::optional<model_abilities> known_model(std::string_view model);

}  // namespace runs
