// Exports ended spans to a collector: OTLP over HTTP, JSON encoded, in batches, one request at a time. A batch that
// the collector cannot accept now is retried with backoff; meanwhile the tracer's queue fills up and drops spans.
//
// Lifetime: from start() to stop(), both on the main thread, while egress and loops exist.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/loop.hpp"
#include "core/http/client/client.hpp"
#include "core/observe/otlp.hpp"
#include "core/observe/tracer.hpp"

namespace ry::app {

struct exporter_settings {
  std::string url;  // the collector's traces endpoint, e.g. "http://127.0.0.1:4318/v1/traces"; empty: no export
  std::vector<std::pair<std::string, std::string>> headers;
  observe::otlp_resource resource;
  std::chrono::milliseconds interval{5'000}, timeout{10'000};
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
  int attempts = 6;  // per batch; then it is dropped
};

class span_exporter {
 public:
  span_exporter(observe::tracer& tracer, http::client& egress, exec::loop& loop, exporter_settings settings);
  ~span_exporter();
  span_exporter(const span_exporter&) = delete;
  span_exporter& operator=(const span_exporter&) = delete;

  void start();
  // Sends the waiting spans until the deadline and drops the rest. Blocks; must not be called from a loop.
  void stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::app
