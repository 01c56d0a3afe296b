#include "stream/stop_state.hpp"

#include <algorithm>

namespace runs {
namespace {

int priority_of(std::int32_t reason) {
  switch (reason) {
    case 0:
      return 0;
    case RY_REASON_LEASE_LOST:
      return 4;
    case RY_REASON_USER:
      return 3;
    case RY_REASON_DEADLINE:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

void stop_state::interrupt(std::int32_t reason) {
  if (reason == RY_REASON_SHUTDOWN && shutdown_since_us_ == 0) shutdown_since_us_ = ctx_.mono_us();
  if (priority_of(reason) <= priority_of(reason_)) return;
  reason_ = reason;
  if (must_break()) abort_all();
}

void stop_state::set_urgent() {
  if (urgent_) return;
  urgent_ = true;
  if (must_break()) abort_all();
}

void stop_state::abort_all() {
  const std::vector<abortable*> all = active_;  // abort() may change the list
  for (abortable* a : all)
    if (std::find(active_.begin(), active_.end(), a) != active_.end()) a->abort();
  log_moved_.set();
}

stop_state::working::working(stop_state& stop, abortable& target) : stop_(stop), target_(target) {
  stop_.active_.push_back(&target_);
  if (stop_.must_break()) target_.abort();
}

stop_state::working::~working() {
  std::erase(stop_.active_, &target_);
}

}  // namespace runs
