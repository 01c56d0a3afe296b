// What the well-known families of models can do, for models that the configuration says nothing about. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace runs {

struct model_abilities {
  std::int64_t context_tokens = 0;  // taken in and given out together
  bool vision = false;              // takes images
};

// `model`: as its provider calls it, in any case, also with the name of a vendor in front ("openai/gpt-4o" of a gateway) or a
// tag or a region ("llama3.3:70b"). nullopt: the family is not known.
std::optional<model_abilities> known_model(std::string_view model);

}  // namespace runs
