#include "core/module/latch.hpp"

namespace ry::module {

ry_done latch::done() noexcept {
  return {[](void* ctx, ry_status, const ry_error_view*) noexcept { static_cast<latch*>(ctx)->open(); }, this};
}

void latch::open() noexcept {
  std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

bool latch::is_open() const noexcept {
  std::lock_guard lock(mutex_);
  return open_;
}

bool latch::wait_until(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return open_; });
}

}  // namespace ry::module
