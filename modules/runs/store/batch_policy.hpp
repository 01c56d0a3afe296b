// Batching policy: when a queue of starts or checkpoints begins its next statement. A statement has a high fixed cost
// and a low cost per entry, so all waiting entries go into the next one. A second statement runs concurrently only for
// a full batch (two half batches took an eighth more CPU), or when the first is slow: it may wait for the lock of one
// entry, which must not delay the others.
//
// Thread: any, one at a time.
#pragma once
#include <ry/abi.h>

#include <cstddef>
#include <cstdint>

namespace runs {

class batch_policy {
 public:
  static constexpr std::int64_t slow_us = 50'000;

  explicit batch_policy(std::size_t whole_batch) : whole_batch_(whole_batch) {}

  // The batch of the statement that begins now, taken with next_batch(); empty: none begins. look_on: set to the
  // executor that must call again after slow_us if nothing else may trigger it earlier; otherwise unchanged.
  template <class Entries, class F>
  auto begin(const Entries& waiting, std::int64_t now_us, F next_batch, ry_exec*& look_on) {
    decltype(next_batch()) batch;
    if (may_begin(waiting.size(), now_us)) batch = next_batch();
    if (!batch.empty()) {
      ++under_way_;
      begun_us_ = now_us;
    } else if (!waiting.empty() && under_way_ < at_once) {
      look_on = waiting.front()->exec;
    }
    return batch;
  }
  void ended() { --under_way_; }

 private:
  bool may_begin(std::size_t waiting, std::int64_t now_us) const {
    if (under_way_ == 0) return waiting > 0;
    if (under_way_ >= at_once) return false;
    return waiting >= whole_batch_ || (waiting > 0 && now_us - begun_us_ >= slow_us);
  }

  static constexpr unsigned at_once = 2;
  const std::size_t whole_batch_;
  unsigned under_way_ = 0;
  std::int64_t begun_us_ = 0;  // of the latest statement
};

}  // namespace runs
