#include "start/model_names.hpp"

#include <algorithm>
#include <numeric>
#include <ry/cpp/text.hpp>
#include <vector>

#include "text.hpp"

namespace runs {

namespace {

constexpr std::size_t longest = 128;  // bounds the cost of a hostile name

// The Damerau-Levenshtein distance: insertions, deletions, replacements and transpositions.
std::size_t typing_errors(std::string_view a, std::string_view b) {
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
      : name_(ry::lower_ascii(name)), fewest_(std::max<std::size_t>(1, name.size() / 4) + 1) {}

  void offer(std::string_view resembling, std::string_view meant) {
    if (resembling.size() > longest || name_.size() > longest) return;
    const std::size_t errors = typing_errors(name_, ry::lower_ascii(resembling));
    if (errors >= fewest_ || errors >= resembling.size()) return;
    fewest_ = errors;
    best_ = meant;
  }
  std::string best() && { return std::move(best_); }

 private:
  const std::string name_;
  std::size_t fewest_;
  std::string best_;
};

}  // namespace

std::string nearest_model(const settings& s, std::string_view name) {
  // The target of an alias cannot be another alias, but the alias may have been meant.
  search known(name);
  for (const auto& [alias, full] : s.models) {
    const auto target = s.target(alias);
    if (!target) continue;
    if (alias == name) return full;
    known.offer(alias, alias);
    known.offer(full, full);
    known.offer(target->model, full);  // the provider was left out
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
  const std::string meant = nearest_model(s, name);
  return meant.empty() || meant == name ? "" : "; did you mean \"" + meant + "\"?";
}

}  // namespace runs
