#include "settings/model_choice.hpp"

#include <ry/ry.hpp>
#include <set>

namespace runs {

namespace {

bool may_use(const ry_tier_view& tier, std::string_view name) {
  if (tier.all_models != 0) return true;
  for (std::size_t i = 0; i < tier.n_models; ++i)
    if (std::string_view(tier.models[i].ptr, tier.models[i].len) == name) return true;
  return false;
}

}  // namespace

model_choice choose_model(const settings& s, const ry_tier_view& tier, std::string_view requested) {
  if (!s.target(requested)) return {};
  if (may_use(tier, requested)) return {std::string(requested)};
  if (const auto downgrade = s.downgrades.find(requested); downgrade != s.downgrades.end())
    if (s.target(downgrade->second) && may_use(tier, downgrade->second)) return {downgrade->second};
  return {};
}

std::vector<std::string> allowed_models(const settings& s, const ry_tier_view& tier) {
  std::set<std::string> out;
  for (const auto& [alias, target] : s.models)
    if (s.target(alias) && may_use(tier, alias)) out.insert(alias);
  // A tier may also name models without an alias.
  for (std::size_t i = 0; i < tier.n_models && tier.all_models == 0; ++i)
    if (s.target(ry::view(tier.models[i]))) out.insert(ry::text(tier.models[i]));
  return {out.begin(), out.end()};
}

model_choice default_model(const settings& s, const ry_tier_view& tier) {
  model_choice out = choose_model(s, tier, s.default_model);
  for (std::size_t i = 0; i < tier.n_models && !out.granted(); ++i)
    out = choose_model(s, tier, ry::view(tier.models[i]));
  return out;
}

}  // namespace runs
