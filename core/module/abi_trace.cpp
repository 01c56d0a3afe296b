#include <ry/if/trace.h>

#include "core/module/abi.hpp"
#include "core/module/host.hpp"
#include "core/observe/trace.hpp"

namespace ry::module {

namespace {

ry_trace* current(const ry_host*) noexcept {
  const auto now = observe::current_trace();
  if (!now) return nullptr;
  intrusive_ptr_add_ref(now.get());
  return const_cast<ry_trace*>(now.get());
}

void enter(const ry_host*, const ry_trace* trace) noexcept {
  observe::enter_trace(observe::trace_ref(trace));
}

void release(ry_trace* trace) noexcept {
  if (trace) intrusive_ptr_release(static_cast<const ry_trace*>(trace));
}

}  // namespace

const ry_trace_v1& trace_v1() noexcept {
  static constexpr ry_trace_v1 table = {sizeof(ry_trace_v1), 0, current, enter, release};
  return table;
}

}  // namespace ry::module
