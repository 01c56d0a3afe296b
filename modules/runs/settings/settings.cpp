#include "settings/settings.hpp"

#include <algorithm>

#include "settings/known_models.hpp"

namespace runs {

std::int64_t charge_micro(const price& p, const token_usage& usage) {
  const std::int64_t cached = std::min(usage.cached, usage.input);
  const std::int64_t written = std::min(usage.cache_write, usage.input - cached);
  const __int128 sum = static_cast<__int128>(usage.input - cached - written) * p.input +
                       static_cast<__int128>(cached) * p.cached_input + static_cast<__int128>(written) * p.cache_write +
                       static_cast<__int128>(usage.output) * p.output;
  const __int128 micro = (sum + 500000) / 1000000;
  constexpr std::int64_t max_charge = 1'000'000'000'000'000;
  return micro > max_charge ? max_charge : micro < 0 ? 0 : static_cast<std::int64_t>(micro);
}

std::optional<model_target> settings::target(std::string_view name) const {
  std::string_view full = name;
  if (const auto alias = models.find(name); alias != models.end()) full = alias->second;
  const std::size_t slash = full.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == full.size()) return std::nullopt;
  const std::string_view provider = full.substr(0, slash);
  for (const provider_settings& p : providers)
    if (p.name == provider) return model_target{p.name, std::string(full.substr(slash + 1))};
  return std::nullopt;
}

namespace {

// The entry of the name itself, or of the model for which the name is an alias.
template <class Value>
const Value* find_by_model(const settings& s, const std::map<std::string, Value, std::less<>>& all,
                           std::string_view name) {
  if (const auto found = all.find(name); found != all.end()) return &found->second;
  if (const auto alias = s.models.find(name); alias != s.models.end())
    if (const auto found = all.find(alias->second); found != all.end()) return &found->second;
  return nullptr;
}

}  // namespace

price settings::price_of(std::string_view name) const {
  const price* configured = find_by_model(*this, prices, name);
  return configured != nullptr ? *configured : price();
}

std::int64_t settings::window_of(std::string_view name) const {
  const std::int64_t* configured = find_by_model(*this, context_tokens, name);
  if (configured != nullptr) return *configured;
  const auto model = target(name);
  const auto capabilities = model ? known_model(model->model) : std::nullopt;
  return capabilities ? capabilities->context_tokens : default_context_tokens;
}

bool settings::sees(std::string_view name) const {
  const bool* configured = find_by_model(*this, vision, name);
  if (configured != nullptr) return *configured;
  const auto model = target(name);
  const auto capabilities = model ? known_model(model->model) : std::nullopt;
  return capabilities && capabilities->vision;
}

std::size_t settings::max_tools_of(std::string_view name) const {
  const std::int64_t* configured = find_by_model(*this, max_tools, name);
  return configured != nullptr ? static_cast<std::size_t>(*configured) : 0;
}

model_parameters settings::options_of(std::string_view name) const {
  const model_parameters* configured = find_by_model(*this, model_options, name);
  model_parameters out = configured != nullptr ? *configured : model_parameters();
  if (!out.max_output_tokens && max_output_tokens > 0) out.max_output_tokens = max_output_tokens;
  return out;
}

std::vector<std::string> settings::chain(std::string_view name) const {
  std::vector<std::string> out = {std::string(name)};
  if (const auto* more = find_by_model(*this, fallbacks, name))
    for (const std::string& other : *more)
      if (std::find(out.begin(), out.end(), other) == out.end()) out.push_back(other);
  return out;
}

std::vector<std::string> settings::webhooks_for(std::string_view status) const {
  std::vector<std::string> out;
  for (const webhook_endpoint& e : webhooks)
    if (e.statuses.empty() || std::find(e.statuses.begin(), e.statuses.end(), status) != e.statuses.end())
      out.push_back(e.name);
  return out;
}

std::int64_t by_tier(const std::map<std::string, std::int64_t>& values, std::string_view tier) {
  const auto found = values.find(std::string(tier));
  return found != values.end() ? found->second : values.at("free");
}

}  // namespace runs
