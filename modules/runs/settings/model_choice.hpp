// Chooses the model of a start: the requested one, or the one that the account's tier gets instead. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ry/svc/accounts.h"
#include "settings/settings.hpp"

namespace runs {

// The model of a start: the requested one or, if the tier may not use it, its replacement from `downgrades`, without
// notice to the client. Empty: refused (402).
struct model_choice {
  std::string model;
  bool granted() const { return !model.empty(); }
};
model_choice choose_model(const settings& s, const ry_tier_view& tier, std::string_view requested);
// The configured models that the tier may use without substitution, in alphabetical order.
std::vector<std::string> allowed_models(const settings& s, const ry_tier_view& tier);
// Without a requested model: the deployment's default, or the first of the tier's models that is available.
model_choice default_model(const settings& s, const ry_tier_view& tier);

}  // namespace runs
