#include "core/observe/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cmath>

void ry_metric::add(double value) noexcept {
  if (!std::isfinite(value)) return;
  if (counter && value >= 0)
    counter->Increment(value);
  else if (gauge)
    gauge->Increment(value);
}

void ry_metric::set(double value) noexcept {
  if (gauge && std::isfinite(value)) gauge->Set(value);
}

void ry_metric::observe(double value) noexcept {
  if (histogram && std::isfinite(value)) histogram->Observe(value);
}

namespace ry::observe {

namespace {

constexpr double default_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

bool valid_name(std::string_view s) noexcept {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && s.size() <= 200 && letter(s[0]) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// Accepts plain text only, so that the encoding does not matter.
bool valid_text(std::string_view s, std::size_t most) noexcept {
  return s.size() <= most && std::all_of(s.begin(), s.end(), [](char c) {
           return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
         });
}

bool valid_labels(const metric_labels& labels, metric_kind kind) noexcept {
  if (labels.size() > 10) return false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& [name, value] = labels[i];
    if (!valid_name(name) || name.starts_with("__") || !valid_text(value, 200)) return false;
    if (kind == metric_kind::histogram && name == "le") return false;
    if (i > 0 && labels[i - 1].first == name) return false;  // sorted
  }
  return true;
}

bool valid_bounds(std::span<const double> bounds) noexcept {
  if (bounds.size() > 100) return false;
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (!std::isfinite(bounds[i]) || (i > 0 && bounds[i] <= bounds[i - 1])) return false;
  return true;
}

}  // namespace

metrics::metrics() : registry_(std::make_unique<prometheus::Registry>()) {}
metrics::~metrics() = default;

ry_metric* metrics::get(metric_kind kind, const std::string& name, const std::string& help, metric_labels labels,
                        std::span<const double> bounds) {
  std::sort(labels.begin(), labels.end());
  if (!valid_name(name) || !valid_labels(labels, kind) || !valid_text(help, 1000) || !valid_bounds(bounds))
    return nullptr;
  std::lock_guard lock(mutex_);
  family& f = families_.try_emplace(name, family{kind, {}}).first->second;
  if (f.kind != kind) return nullptr;
  if (const auto it = f.series.find(labels); it != f.series.end()) return it->second.get();
  if (f.series.size() >= max_series_per_name) return nullptr;

  const prometheus::Labels map(labels.begin(), labels.end());
  auto made = std::make_unique<ry_metric>();
  switch (kind) {
    case metric_kind::counter:
      made->counter = &prometheus::BuildCounter().Name(name).Help(help).Register(*registry_).Add(map);
      break;
    case metric_kind::gauge:
      made->gauge = &prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(map);
      break;
    case metric_kind::histogram: {
      if (bounds.empty()) bounds = default_bounds;
      made->histogram = &prometheus::BuildHistogram()
                             .Name(name)
                             .Help(help)
                             .Register(*registry_)
                             .Add(map, prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end()));
      break;
    }
  }
  return f.series.emplace(std::move(labels), std::move(made)).first->second.get();
}

std::string metrics::render() {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace ry::observe
