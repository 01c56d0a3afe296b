// The registry of the metrics that /metrics exposes. Callers look up a handle once and keep it. Updating a metric
// takes no lock that a scrape or another handle holds for long.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

// One time series: exactly one of the three pointers is set. Owned by its observe::metrics and lives as long.
struct ry_metric {
  prometheus::Counter* counter = nullptr;
  prometheus::Gauge* gauge = nullptr;
  prometheus::Histogram* histogram = nullptr;

  // Calls that do not fit the metric's kind, or with a value that is not finite, are ignored. [any]
  void add(double value = 1) noexcept;  // counter (negative: ignored) or gauge
  void set(double value) noexcept;  // gauge
  void observe(double value) noexcept;  // histogram
};

namespace ry::observe {

enum class metric_kind { counter = 1, gauge = 2, histogram = 3 };  // RY_METRIC_*

using metric_labels = std::vector<std::pair<std::string, std::string>>;

// Threads: all members [any].
class metrics {
 public:
  static constexpr std::size_t max_series_per_name = 1000;

  metrics();
  ~metrics();

  // The same name and labels return the same handle. Returns nullptr if the name or a label is not valid
  // ([a-zA-Z_][a-zA-Z0-9_]*, values up to 200 bytes of text), the name exists with another kind, the bounds do not
  // increase, or the name already has too many series. Empty bounds: 1 ms to 60 s.
  ry_metric* get(metric_kind kind, const std::string& name, const std::string& help, metric_labels labels = {},
                 std::span<const double> bounds = {});

  // Prometheus text exposition format 0.0.4.
  std::string render();

 private:
  struct family {
    metric_kind kind;
    std::map<metric_labels, std::unique_ptr<ry_metric>> series;
  };

  std::mutex mutex_;
  std::map<std::string, family, std::less<>> families_;
  std::unique_ptr<prometheus::Registry> registry_;
};

}  // namespace ry::observe
