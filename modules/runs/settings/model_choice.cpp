#include "settings/model_choice.hpp"

#include <ry/ry.hpp>

namespace runs {

model_choice choose_model(const settings& s, const ry_tier_view& tier, std::string_view requested) {
  const auto may_use = [&](std::string_view name) {
    if (tier.all_models != 0) return true;
    for (std::size_t i = 0; i < tier.n_models; ++i)
      if (std::string_view(tier.models[i].ptr, tier.models[i].len) == name) return true;
    return false;
  };
  if (!s.target(requested)) return {};
  if (may_use(requested)) return {std::string(requested)};
  if (const auto downgrade = s.downgrades.find(requested); downgrade != s.downgrades.end())
    if (s.target(downgrade->second) && may_use(downgrade->second)) return {downgrade->second};
  return {};
}

model_choice default_model(const settings& s, const ry_tier_view& tier) {
  model_choice out = choose_model(s, tier, s.default_model);
  for (std::size_t i = 0; i < tier.n_models && !out.granted(); ++i)
    out = choose_model(s, tier, ry::view(tier.models[i]));
  return out;
}

}  // namespace runs
