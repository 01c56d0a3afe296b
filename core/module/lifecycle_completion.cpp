#include "core/module/lifecycle_completion.hpp"

#include <utility>

#include "core/module/host.hpp"

namespace ry::module {

lifecycle_completion::lifecycle_completion(ry_host* module, const char* call) : call_(call), module_(module) {}

ry_done lifecycle_completion::done() noexcept {
  return {
      [](void* ctx, ry_status, const ry_error_view*) noexcept { static_cast<lifecycle_completion*>(ctx)->complete(); },
      this};
}

void lifecycle_completion::complete() noexcept {
  std::lock_guard lock(mutex_);
  if (!std::exchange(called_, true)) return completed_.open();
  report_violation(module_, "a completion that is called twice", call_, "the further call has no effect");
}

void lifecycle_completion::forget_module() noexcept {
  std::lock_guard lock(mutex_);
  module_ = nullptr;
}

}  // namespace ry::module
