// Distributed tracing (W3C Trace Context): the trace context that is current on a thread, and the spans recorded in
// it.
//
// A ry_trace is one node of a trace: outgoing requests name it as their parent, and it is the parent of spans
// created while it is current. The host creates one for each incoming request and each job that starts. It is shared
// and, except for its end, immutable. The host propagates it: an operation that a module starts belongs to the node
// current on its thread, and the completion runs with that node again. Without tracing the reference is empty, which
// costs one comparison.
//
// Threads: a reference and its node [any]; the current node is thread-local.
#pragma once

#include <array>
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ry::observe {

class tracer;

using trace_id_bytes = std::array<std::uint8_t, 16>;
using span_id_bytes = std::array<std::uint8_t, 8>;

// The parsed value of a `traceparent` header.
struct trace_parent {
  trace_id_bytes trace_id{};
  span_id_bytes span_id{};
  std::uint8_t flags = 0;
};
inline constexpr std::uint8_t trace_sampled = 1, trace_random = 2;  // the known flags

// Returns nullopt for text that the specification does not allow. Of later versions, only the known part is read.
std::optional<trace_parent> parse_traceparent(std::string_view text) noexcept;
// Whether `text` is a valid list of at most 32 vendors without duplicates, 512 bytes in total.
bool sound_tracestate(std::string_view text) noexcept;
std::string hex(const trace_id_bytes& id);
std::string hex(const span_id_bytes& id);

}  // namespace ry::observe

struct ry_trace : boost::intrusive_ref_counter<ry_trace, boost::thread_safe_counter> {
  ry::observe::tracer* home = nullptr;  // receives the spans; nullptr: no spans are recorded
  ry::observe::trace_id_bytes trace_id{};
  ry::observe::span_id_bytes span_id{};  // parent of spans created under this node
  std::optional<ry::observe::span_id_bytes> parent_id;  // of the node's own span
  bool remote_parent = false;
  std::uint8_t flags = 0;
  std::string state;  // tracestate, may be empty
  // Work that continues after its request or job ended belongs to the trace only for a while; otherwise long chains
  // of work would keep the trace forever. Steady clock, ms; 0: not ended.
  mutable std::atomic<std::int64_t> ended_ms{0};

  bool sampled() const noexcept { return (flags & ry::observe::trace_sampled) != 0; }
  void end() const noexcept;
  bool over() const noexcept;
};

namespace ry::observe {

using trace_ref = boost::intrusive_ptr<const ry_trace>;

// "00-<trace>-<span>-<flags>".
std::string traceparent_of(const trace_id_bytes& trace, const span_id_bytes& span, std::uint8_t flags);
inline std::string traceparent_of(const ry_trace& t) {
  return traceparent_of(t.trace_id, t.span_id, t.flags);
}
// Both headers as one text for storage, "<traceparent>[ <tracestate>]", and back.
std::string kept_text(const trace_ref& t);
std::pair<std::optional<trace_parent>, std::string_view> parse_kept(std::string_view text) noexcept;

// The trace that this thread works for. Empty if that trace has ended.
trace_ref current_trace() noexcept;
// Like current_trace(), but also returns a trace that has ended, so that callers can restore it.
const trace_ref& trace_of_thread() noexcept;
void enter_trace(trace_ref t) noexcept;

// Makes `t` current, until the end of the scope.
class trace_scope {
 public:
  explicit trace_scope(trace_ref t) noexcept : before_(trace_of_thread()) { enter_trace(std::move(t)); }
  ~trace_scope() { enter_trace(std::move(before_)); }
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;

 private:
  trace_ref before_;
};

}  // namespace ry::observe
