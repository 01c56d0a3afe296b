#include "settings/model_names.hpp"

#include <algorithm>
#include <numeric>
#include <ry/cpp/text.hpp>
#include <vector>

#include "text.hpp"

namespace runs {

namespace {

constexpr std::size_t max_name_length = 128;  // bounds the cost of a hostile name

// The Damerau-Levenshtein distance: insertions, deletions, replacements and transpositions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> d((a.size() + 1) * width);
  std::iota(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(width), std::size_t{0});
  for (std::size_t at = width; at < d.size(); ++at) {
    const std::size_t i = at / width, j = at % width;
    if (j == 0) {
      d[at] = i;
      continue;
    }
    const std::size_t replaced = d[at - width - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
    d[at] = std::min({d[at - width] + 1, d[at - 1] + 1, replaced});
    const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
    if (swapped) d[at] = std::min(d[at], d[at - 2 * width - 2] + 1);
  }
  return d.back();
}

class search {
 public:
  explicit search(std::string_view name)
      : name_(ry::lower_ascii(name)), min_distance_(std::max<std::size_t>(1, name.size() / 4) + 1) {}

  void offer(std::string_view candidate, std::string_view suggestion) {
    if (candidate.size() > max_name_length || name_.size() > max_name_length) return;
    const std::size_t distance = edit_distance(name_, ry::lower_ascii(candidate));
    if (distance >= min_distance_ || distance >= candidate.size()) return;
    min_distance_ = distance;
    best_ = suggestion;
  }
  std::string best() && { return std::move(best_); }

 private:
  const std::string name_;
  std::size_t min_distance_;
  std::string best_;
};

}  // namespace

std::string nearest_model(const settings& s, std::string_view name) {
  // The target of an alias cannot be another alias: if the name is an alias, suggest its model.
  search known(name);
  for (const auto& [alias, full] : s.models) {
    const auto target = s.target(alias);
    if (!target) continue;
    if (alias == name) return full;
    known.offer(alias, alias);
    known.offer(full, full);
    known.offer(target->model, full);  // the provider was omitted
  }
  if (std::string best = std::move(known).best(); !best.empty()) return best;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash + 1 == name.size()) return {};
  const std::string_view model = name.substr(slash);
  search providers(name.substr(0, slash));
  for (const provider_settings& p : s.providers) providers.offer(p.name, p.name + std::string(model));
  return std::move(providers).best();
}

std::string did_you_mean(const settings& s, std::string_view name) {
  const std::string nearest = nearest_model(s, name);
  return nearest.empty() || nearest == name ? "" : "; did you mean \"" + nearest + "\"?";
}

}  // namespace runs
