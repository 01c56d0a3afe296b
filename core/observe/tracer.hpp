// Starts or continues traces, and queues ended spans for export. The queue is bounded, and adding to it never
// blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/observe/span.hpp"
#include "core/observe/trace.hpp"

namespace ry::observe {

enum class recording { off, on };

struct trace_settings {
  recording record = recording::off;  // off: propagates the client's context, records nothing
  double ratio = 1;  // share of the traces started here that are sampled
  std::size_t max_queue = 4096;  // spans
  std::size_t batch = 512;  // the exporter wakes when this many spans wait
  enum class callers { all, trusted_proxies, none } accept = callers::all;  // callers whose traceparent is accepted
  enum class receivers { all, operators, none } propagate = receivers::all;  // receivers of our traceparent
};

std::int64_t unix_ns() noexcept;

// Threads: all members [any], except on_batch(), which must be called before the first span ends.
class tracer {
 public:
  struct counts {
    std::uint64_t recorded = 0, exported = 0, failed = 0;  // failed: export abandoned, or rejected by the collector
    std::uint64_t dropped = 0;  // the queue was full
    std::uint64_t failed_requests = 0;  // failed export requests, whether retried or not
    std::size_t waiting = 0;
  };

  explicit tracer(trace_settings settings);
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  // Creates the node of a request or a job. With a parent it continues that trace and follows its sampling flag;
  // without one it starts a trace. Empty if there is nothing to propagate and nothing to record. `state` is used
  // only with a parent and must be a valid tracestate.
  trace_ref begin(const std::optional<trace_parent>& parent, std::string_view state);

  const trace_settings& settings() const noexcept { return settings_; }
  span_id_bytes new_span_id() noexcept;

  // Blocks only while it moves a span into the queue.
  void record(span&& s) noexcept;
  // `wake` runs on the thread that ends the span that completes a batch, once until the next take(). It must only
  // post.
  void on_batch(std::function<void()> wake) { wake_ = std::move(wake); }
  std::vector<span> take(std::size_t most);
  void note_exported(std::size_t n);
  void note_failed(std::size_t n);
  void note_failed_request();
  counts stats() const;

 private:
  bool sampled(const trace_id_bytes& id) const noexcept;

  const trace_settings settings_;
  const std::uint64_t threshold_;  // compared with the last 63 bits of a trace id
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::vector<span> waiting_;
  bool woken_ = false;
  counts counts_;
};

}  // namespace ry::observe
