// Brings ended spans to a collector: OTLP over HTTP, JSON encoded, in batches, one request at a time. What the
// collector cannot take now is sent again, later and later; meanwhile the tracer's queue fills up and drops.
//
// Lifetime: begins with start(), ends with stop(), both on the main thread, while egress and loops live.
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
  std::string url;  // of the collector's traces, e.g. "http://127.0.0.1:4318/v1/traces"; empty: nothing is exported
  std::vector<std::pair<std::string, std::string>> headers;
  observe::otlp_resource resource;
  std::chrono::milliseconds interval{5'000}, timeout{10'000};
  std::chrono::milliseconds first_retry{1'000}, last_retry{30'000};
  int attempts = 6;  // of one batch; then it is given up
};

class span_exporter {
 public:
  span_exporter(observe::tracer& tracer, http::client& egress, exec::loop& loop, exporter_settings settings);
  ~span_exporter();
  span_exporter(const span_exporter&) = delete;
  span_exporter& operator=(const span_exporter&) = delete;

  void start();
  // Sends what waits, until the deadline; the rest is given up. Blocks; not from a loop.
  void stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::app
