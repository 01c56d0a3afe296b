// Where traces begin, and where ended spans wait for their export: a queue that never grows over its
// bound and never makes anybody wait.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/observe/trace.hpp"

namespace ry::observe {

enum class recording { off, on };

struct trace_settings {
  recording record = recording::off;  // off: what clients send is passed on, nothing else is done
  double ratio = 1;                   // of traces that begin here
  std::size_t max_queue = 4096;       // spans
  std::size_t batch = 512;            // that many waiting spans wake the exporter
  enum class callers { all, trusted_proxies, none } accept = callers::all;  // whose traceparent counts
  enum class receivers { all, operators, none } propagate = receivers::all;  // who gets ours
};

std::int64_t unix_ns() noexcept;

// Threads: all members [any] but on_batch(), which is called before the first span ends.
class tracer {
 public:
  struct counts {
    std::uint64_t recorded = 0, exported = 0, failed = 0;  // failed: given up or refused by the collector
    std::uint64_t dropped = 0;                             // the queue was full
    std::uint64_t failed_requests = 0;                     // exports without success, tried again or not
    std::size_t waiting = 0;
  };

  explicit tracer(trace_settings settings);
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  // The node of a request or a job. With a parent it continues that trace and does what its sampling
  // flag says; without one it begins a trace. Empty: neither is there anything to pass on nor is
  // anything recorded. `state` counts only with a parent and must be sound.
  trace_ref begin(const std::optional<trace_parent>& parent, std::string_view state);

  const trace_settings& settings() const noexcept { return settings_; }
  span_id_bytes new_span_id() noexcept;

  // Never blocks for longer than it takes to move a span.
  void record(span&& s) noexcept;
  // `wake` runs on whatever thread ends the span that makes a batch, once until the next take(): it only
  // posts.
  void on_batch(std::function<void()> wake) { wake_ = std::move(wake); }
  std::vector<span> take(std::size_t most);
  void note_exported(std::size_t n);
  void note_failed(std::size_t n);
  void note_failed_request();
  counts stats() const;

 private:
  bool sampled(const trace_id_bytes& id) const noexcept;

  const trace_settings settings_;
  const std::uint64_t threshold_;  // of the last 63 bits of a trace id
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<span> waiting_;
  bool woken_ = false;
  counts counts_;
};

}  // namespace ry::observe
