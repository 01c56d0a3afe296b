// Batching policy: when a queue of starts or checkpoints begins its next statement. A statement has a high fixed cost
// and a low cost per entry, so all waiting entries go into the next one. A second statement runs concurrently only for
// a full batch (two half batches took an eighth more CPU), or if the first one is slow: it may wait for the lock of one
// entry, which must not delay the others.
//
// Thread: any; not thread-safe.
#pragma once
#include <ry/abi.h>

#include <cstddef>
#include <cstdint>

namespace runs {

class batch_policy {
 public:
  static constexpr std::int64_t slow_us = 50'000;

  explicit batch_policy(std::size_t full_batch) : full_batch_(full_batch) {}

  // The batch of the statement that begins now, from next_batch(); empty: no statement begins. Sets retry_on if an
  // executor must call again after slow_us because no other event may trigger a call earlier; otherwise unchanged.
  template <class Entries, class F>
  auto begin(const Entries& waiting, std::int64_t now_us, F next_batch, ry_exec*& retry_on) {
    decltype(next_batch()) batch;
    if (may_begin(waiting.size(), now_us)) batch = next_batch();
    if (!batch.empty()) {
      ++running_;
      begun_us_ = now_us;
    } else if (!waiting.empty() && running_ < max_running) {
      retry_on = waiting.front()->exec;
    }
    return batch;
  }
  void ended() { --running_; }

 private:
  bool may_begin(std::size_t waiting, std::int64_t now_us) const {
    if (running_ == 0) return waiting > 0;
    if (running_ >= max_running) return false;
    return waiting >= full_batch_ || (waiting > 0 && now_us - begun_us_ >= slow_us);
  }

  static constexpr unsigned max_running = 2;
  const std::size_t full_batch_;
  unsigned running_ = 0;
  std::int64_t begun_us_ = 0;  // of the latest statement
};

}  // namespace runs
