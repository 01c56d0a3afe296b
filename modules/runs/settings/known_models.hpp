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

// `model` is the provider's name of the model, in any case, optionally with a vendor prefix ("openai/gpt-4o"), a region
// or a tag ("llama3.3:70b"). nullopt: unknown family.
std::optional<model_abilities> known_model(std::string_view model);

}  // namespace runs
