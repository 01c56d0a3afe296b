// Distributed tracing (W3C Trace Context): what the work on a thread belongs to, and the spans that are
// made of it.
//
// A ry_trace is one node of a trace: what outgoing requests name as their parent, and the parent of the
// spans that are made while it is current. It is made for a request that came in and for a job that
// begins, is immutable but for its end, shared, and passed on by the host: whatever a module starts belongs
// to the node that is current on its thread, and the completion runs with that node again. Where nothing is
// traced the reference is empty, which costs a comparison.
//
// Threads: a reference and its node [any]; the current node is a thread's own.
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

// What a `traceparent` header says.
struct trace_parent {
  trace_id_bytes trace_id{};
  span_id_bytes span_id{};
  std::uint8_t flags = 0;
};
inline constexpr std::uint8_t trace_sampled = 1, trace_random = 2;  // the flags that are known

// nullopt: not exactly what the specification allows. Of later versions the known part is taken.
std::optional<trace_parent> parse_traceparent(std::string_view text) noexcept;
// A list of at most 32 vendors, 512 bytes in all, each of them once.
bool sound_tracestate(std::string_view text) noexcept;
std::string hex(const trace_id_bytes& id);
std::string hex(const span_id_bytes& id);

}  // namespace ry::observe

struct ry_trace : boost::intrusive_ref_counter<ry_trace, boost::thread_safe_counter> {
  ry::observe::tracer* home = nullptr;  // takes the spans; nullptr: none are made
  ry::observe::trace_id_bytes trace_id{};
  ry::observe::span_id_bytes span_id{};                  // parent of what is made under this node
  std::optional<ry::observe::span_id_bytes> parent_id;   // of the node's own span
  bool remote_parent = false;
  std::uint8_t flags = 0;
  std::string state;  // tracestate, may be empty
  // Work that goes on after its request or job ended belongs to it only for a while: chains that live
  // long would hold it for ever. Steady clock, ms; 0: not ended.
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
// Both headers as one text for a place at rest, "<traceparent>[ <tracestate>]", and back.
std::string kept_text(const trace_ref& t);
std::pair<std::optional<trace_parent>, std::string_view> parse_kept(std::string_view text) noexcept;

// What this thread works for; empty where it is over.
trace_ref current_trace() noexcept;
// The same, also when it is over: to put it back.
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

enum class span_kind { internal = 1, server = 2, client = 3, producer = 4, consumer = 5 };  // as in OTLP

struct span_attribute {
  std::string_view key;  // a literal
  std::variant<std::string, std::int64_t> value;
};

// A piece of work as it is told to a collector. Attributes hold names and figures, nothing that a client
// or a peer sent: no paths, queries, headers, parameters of SQL.
struct span {
  trace_id_bytes trace_id{};
  span_id_bytes span_id{};
  std::optional<span_id_bytes> parent_id;
  bool remote_parent = false;
  std::uint8_t flags = 0;
  std::string state;
  std::string name;
  span_kind kind = span_kind::internal;
  std::int64_t begun_ns = 0, ended_ns = 0;  // Unix time
  std::vector<span_attribute> attributes;
  bool failed = false;
};

// A span under way. Empty when nothing is recorded: then every member does nothing.
class open_span {
 public:
  open_span() = default;
  // A child of `parent`.
  open_span(const trace_ref& parent, span_kind kind, std::string_view name);
  // The node's own span, of a request or a job.
  static open_span of(const trace_ref& node, span_kind kind);
  explicit operator bool() const noexcept { return under_way_ != nullptr; }
  // Not when empty.
  const span& data() const noexcept { return under_way_->s; }
  void name(std::string text);
  void set(std::string_view key, std::string value);
  void set(std::string_view key, std::int64_t value);
  // "error.type": an HTTP status or a reason code. The first counts.
  void fail(std::string type);
  // Hands it to the tracer. Once.
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
