// Records the spans of requests, jobs and calls. A span belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/observe/span.hpp"
#include "core/observe/trace.hpp"

namespace ry::observe {

// A span in progress. If nothing is recorded it is empty, and every member does nothing.
class open_span {
 public:
  open_span() = default;
  // A child of `parent`.
  open_span(const trace_ref& parent, span_kind kind, std::string_view name);
  // The node's own span, which covers its request or job.
  static open_span of(const trace_ref& node, span_kind kind);
  explicit operator bool() const noexcept { return under_way_ != nullptr; }
  // Must not be called on an empty span.
  const span& data() const noexcept { return under_way_->s; }
  void name(std::string text);
  void set(std::string_view key, std::string value);
  void set(std::string_view key, std::int64_t value);
  // Sets "error.type": an HTTP status or a reason code. Only the first call counts.
  void fail(std::string type);
  // Passes the span to the tracer. Only the first call counts.
  void end() noexcept;

 private:
  struct state {
    tracer* home;
    std::int64_t steady_ns;
    span s;
  };
  static std::unique_ptr<state> begin(const ry_trace& node, span_kind kind);
  std::unique_ptr<state> under_way_;
};

}  // namespace ry::observe
