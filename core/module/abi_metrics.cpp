#include <span>
#include <string>
#include <string_view>

#include "core/module/abi.hpp"
#include "core/module/host.hpp"
#include "core/observe/metrics.hpp"

namespace ry::module {

namespace {

// Shared by all modules and without a module prefix, so that one alert and one panel cover the limits of all modules.
constexpr std::string_view account_limits = "account_limits_reached_total";
constexpr const char* account_limits_help =
    "Requests of accounts that were refused, or entries that were removed, because of a limit of the account";

ry_metric* get(const ry_host* host, int32_t kind, ry_str name, ry_str help, const ry_header* labels, size_t n_labels,
               const double* bounds, size_t n_bounds) noexcept {
  if (!host->rt.metrics || kind < RY_METRIC_COUNTER || kind > RY_METRIC_HISTOGRAM || n_labels > 10 ||
      (n_labels && !labels) || n_bounds > 100)
    return nullptr;
  try {
    observe::metric_labels all;
    for (size_t i = 0; i < n_labels; ++i) all.emplace_back(core::str(labels[i].name), core::str(labels[i].value));
    const auto bound = bounds ? std::span(bounds, n_bounds) : std::span<const double>();
    const bool shared = kind == RY_METRIC_COUNTER && core::sv(name) == account_limits;
    return host->rt.metrics->get(static_cast<observe::metric_kind>(kind),
                                 (shared ? std::string("runyard_") : "runyard_" + host->name + "_") + core::str(name),
                                 shared ? std::string(account_limits_help) : core::str(help), std::move(all), bound);
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

const ry_metrics_v1& metrics_v1() noexcept {
  static constexpr ry_metrics_v1 table = {sizeof(ry_metrics_v1),
                                          0,
                                          get,
                                          [](ry_metric* m, double value) noexcept {
                                            if (m) m->add(value);
                                          },
                                          [](ry_metric* m, double value) noexcept {
                                            if (m) m->set(value);
                                          },
                                          [](ry_metric* m, double value) noexcept {
                                            if (m) m->observe(value);
                                          }};
  return table;
}

}  // namespace ry::module
