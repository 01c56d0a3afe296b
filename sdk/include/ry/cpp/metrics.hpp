// Counters, gauges and histograms: ry.metrics/1.
#pragma once

#include <ry/cpp/op.hpp>
#include <string>
#include <string_view>

namespace ry {

// A cheap, copyable metric handle. If registration failed, all operations are no-ops.
class metric {
 public:
  metric() = default;
  metric(const ry_metrics_v1* table, ry_metric* handle) noexcept : table_(table), handle_(handle) {}
  void add(double v = 1) const noexcept {
    if (handle_ != nullptr) table_->add(handle_, v);
  }
  void set(double v) const noexcept {
    if (handle_ != nullptr) table_->set(handle_, v);
  }
  void observe(double v) const noexcept {
    if (handle_ != nullptr) table_->observe(handle_, v);
  }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  const ry_metrics_v1* table_ = nullptr;
  ry_metric* handle_ = nullptr;
};

class metrics {
 public:
  explicit metrics(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_metrics_v1>()) {}
  metric counter(std::string_view name, std::string_view help, const headers& labels = {}) const {
    return get(RY_METRIC_COUNTER, name, help, labels, {});
  }
  metric gauge(std::string_view name, std::string_view help, const headers& labels = {}) const {
    return get(RY_METRIC_GAUGE, name, help, labels, {});
  }
  metric histogram(std::string_view name, std::string_view help, const headers& labels = {},
                   const std::vector<double>& bounds = {}) const {
    return get(RY_METRIC_HISTOGRAM, name, help, labels, bounds);
  }

 private:
  metric get(std::int32_t kind, std::string_view name, std::string_view help, const headers& labels,
             const std::vector<double>& bounds) const {
    const auto l = detail::c_headers(labels);
    return metric(table_, table_->get(ctx_->host(), kind, str(name), str(help), l.data(), l.size(),
                                      bounds.empty() ? nullptr : bounds.data(), bounds.size()));
  }
  const context* ctx_;
  const ry_metrics_v1* table_;
};
inline metrics context::metrics() const {
  return ry::metrics(*this);
}

}  // namespace ry
