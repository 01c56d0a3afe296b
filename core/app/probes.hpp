// The host's own monitoring endpoints: /healthz, /readyz, /metrics.
#pragma once

#include <atomic>

#include "core/app/rooms.hpp"
#include "core/app/signals.hpp"
#include "core/db/horizon.hpp"

namespace ry::app {

// Lifetime: as long as the server whose routes call it. Threads: any.
class probes {
 public:
  // Not ready as soon as `stop` has received a stop request.
  probes(workshop& w, rooms& r, const signals& stop);

  void serving() noexcept { serving_ = true; }

  // Liveness: the process runs and its event loops respond.
  http::host_answer healthz() const;
  // Sets the xmin horizon monitor that /metrics reports; it must outlive the server's routes.
  void watch(const db::horizon* h) noexcept { horizon_ = h; }

  // 200, or 503 with every reason: {"status": "not_ready", "reasons": [{"room": ..., "message": ...}]}.
  http::host_answer readyz() const;
  // Metrics of the host and the modules in Prometheus text format.
  http::host_answer metrics() const;

 private:
  workshop& workshop_;
  rooms& rooms_;
  const signals& stop_;
  std::atomic<bool> serving_{false};
  std::atomic<const db::horizon*> horizon_{nullptr};
};

}  // namespace ry::app
