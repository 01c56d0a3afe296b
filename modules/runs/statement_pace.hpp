// When a queue of starts or borders begins its next statement. A statement costs much by itself and little more with each
// entry in it, so all that waits goes into the next one. A second begins beside it when there is a whole batch for it (two
// half ones took an eighth more of the processor) or when the first takes long: it may wait for the lock of one entry, and
// those that wait behind it have nothing to do with that.
//
// Thread: any, one at a time.
#pragma once
#include <ry/abi.h>

#include <cstddef>
#include <cstdint>

namespace runs {

class statement_pace {
 public:
  static constexpr std::int64_t slow_us = 50'000;

  explicit statement_pace(std::size_t whole_batch) : whole_batch_(whole_batch) {}

  // What the statement that begins now carries, as next_batch() takes it from those that wait; empty: none begins.
  // look_on: where somebody must look again after slow_us then, as nothing else may happen until that; else as it was.
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
  std::int64_t begun_us_ = 0;  // the latest
};

}  // namespace runs
