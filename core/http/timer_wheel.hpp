// Hashed timer wheel with 250 ms ticks for the deadlines of many connections. Postponing a deadline is free: the entry
// keeps its slot, and the owner checks the new deadline when the old one fires.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace ry::http::serving {

using clock = std::chrono::steady_clock;

// A member of each object with deadlines. Not copyable: the wheel links it.
struct wheel_entry {
  wheel_entry() = default;
  wheel_entry(const wheel_entry&) = delete;
  wheel_entry& operator=(const wheel_entry&) = delete;
  wheel_entry* prev = nullptr;
  wheel_entry* next = nullptr;
  std::uint64_t tick = 0;  // valid while linked
  bool linked() const noexcept { return prev != nullptr; }
};

// Used only on one loop.
class timer_wheel {
 public:
  static constexpr std::chrono::milliseconds tick_length{250};

  explicit timer_wheel(clock::time_point start) : start_(start) {
    for (auto& s : slots_) s.prev = s.next = &s;
  }
  // Makes `e` due at `when` or up to one tick later. An entry that is already scheduled earlier keeps its time.
  void at_latest(wheel_entry& e, clock::time_point when) {
    const auto t = std::max(tick_of(when) + 1, done_ + 1);
    if (e.linked()) {
      if (e.tick <= t) return;
      unlink(e);
    }
    e.tick = t;
    auto& s = slots_[t % slots_.size()];
    e.prev = s.prev;
    e.next = &s;
    s.prev->next = &e;
    s.prev = &e;
  }
  void unlink(wheel_entry& e) noexcept {
    if (!e.linked()) return;
    e.prev->next = e.next;
    e.next->prev = e.prev;
    e.prev = e.next = nullptr;
  }
  // Calls due(entry) for every expired entry, after unlinking it; the callback may schedule it again.
  template <class F>
  void advance(clock::time_point now, F&& due) {
    const auto target = tick_of(now);
    while (done_ < target) {
      // After a long pause, one turn of the wheel reaches every entry.
      if (target - done_ > slots_.size()) done_ = target - slots_.size();
      ++done_;
      auto& s = slots_[done_ % slots_.size()];
      wheel_entry batch;
      if (s.next == &s) continue;
      batch.next = s.next;
      batch.prev = s.prev;
      batch.next->prev = &batch;
      batch.prev->next = &batch;
      s.prev = s.next = &s;
      while (batch.next != &batch) {
        wheel_entry& e = *batch.next;
        unlink(e);
        if (e.tick > done_ && e.tick > target) {
          at_latest_tick(e);
        } else {
          due(e);
        }
      }
      batch.prev = batch.next = nullptr;
    }
  }

 private:
  std::uint64_t tick_of(clock::time_point t) const noexcept {
    return t <= start_ ? 0 : static_cast<std::uint64_t>((t - start_) / tick_length);
  }
  void at_latest_tick(wheel_entry& e) {
    auto& s = slots_[e.tick % slots_.size()];
    e.prev = s.prev;
    e.next = &s;
    s.prev->next = &e;
    s.prev = &e;
  }

  clock::time_point start_;
  std::uint64_t done_ = 0;
  std::array<wheel_entry, 512> slots_;
};

}  // namespace ry::http::serving
