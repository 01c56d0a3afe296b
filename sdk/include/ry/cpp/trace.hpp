// Separates the traces of chains that pass work to each other. Include it explicitly.
//
// The host keeps a chain, and all that it starts, in the trace in which it runs. The exception is a chain that another
// chain wakes (a signal after a batch was written): it resumes in the other's trace. Such a chain stores its own trace
// before it waits, and enters it again afterwards.
#pragma once

#include <ry/if/trace.h>

#include <cstddef>
#include <utility>

#include <ry/cpp/op.hpp>

namespace ry {

// Not in the table of every context, because few modules use it, and rarely.
template <>
inline const ry_trace_v1* context::try_interface<ry_trace_v1>() const noexcept {
  constexpr auto size = static_cast<std::uint32_t>(offsetof(ry_trace_v1, release) + sizeof(ry_trace_v1::release));
  return static_cast<const ry_trace_v1*>(get_(host_, str(RY_TRACE_1), size));
}

// A trace, or none (also on a host without tracing). Must not outlive its context. [any]
class trace {
 public:
  // The current trace of this thread.
  static trace current(const context& ctx) noexcept {
    trace out(ctx);
    if (out.table_ != nullptr) out.handle_ = out.table_->current(ctx.host());
    return out;
  }
  // No trace: the work belongs to several.
  static trace none(const context& ctx) noexcept { return trace(ctx); }

  trace(trace&& o) noexcept : ctx_(o.ctx_), table_(o.table_), handle_(std::exchange(o.handle_, nullptr)) {}
  trace& operator=(trace o) noexcept {
    std::swap(ctx_, o.ctx_);
    std::swap(table_, o.table_);
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~trace() {
    if (handle_ != nullptr) table_->release(handle_);
  }

  // Makes it current on this thread, until the next await or the end of the callback.
  void enter() const noexcept {
    if (table_ != nullptr) table_->enter(ctx_->host(), handle_);
  }

 private:
  explicit trace(const context& ctx) noexcept : ctx_(&ctx), table_(ctx.try_interface<ry_trace_v1>()) {}

  const context* ctx_;
  const ry_trace_v1* table_;
  ry_trace* handle_ = nullptr;
};

// Work that is started during the lifetime of this object belongs to another trace. Do not keep it across an await.
class trace_switch {
 public:
  trace_switch(const context& ctx, const trace& to) noexcept : before_(trace::current(ctx)) { to.enter(); }
  ~trace_switch() { before_.enter(); }
  trace_switch(const trace_switch&) = delete;
  trace_switch& operator=(const trace_switch&) = delete;

 private:
  trace before_;
};

}  // namespace ry
