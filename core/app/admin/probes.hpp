// The host's own monitoring endpoints: /healthz, /readyz, /metrics.
#pragma once

#include <atomic>

#include "core/app/boot/host.hpp"
#include "core/app/boot/signals.hpp"
#include "core/db/xmin_horizon_monitor.hpp"

namespace ry::app {

// Lifetime: as long as the server whose routes call it. Threads: any.
class probes {
 public:
  // Not ready as soon as `stop` has received a stop request.
  probes(module_host& host, host_services& services, const signals& stop);

  void serving() noexcept { serving_ = true; }

  // Liveness: the process runs and its event loops respond.
  http::host_answer healthz() const;
  // Sets the xmin horizon monitor that /metrics reports; it must outlive the server's routes.
  void watch(const db::xmin_horizon_monitor* h) noexcept { xmin_monitor_ = h; }

  // 200, or 503 with every reason: {"status": "not_ready", "reasons": [{"component": ..., "message": ...}]}.
  http::host_answer readyz() const;
  // Metrics of the host and the modules in Prometheus text format.
  http::host_answer metrics() const;

 private:
  module_host& host_;
  host_services& services_;
  const signals& stop_;
  std::atomic<bool> serving_{false};
  std::atomic<const db::xmin_horizon_monitor*> xmin_monitor_{nullptr};
};

}  // namespace ry::app
