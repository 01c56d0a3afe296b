// Names of started operations: 64-bit ids that are never reused, so that a late cancel is a no-op.
#pragma once

#include <ry/abi.h>

#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ry::exec {

class op_table {
 public:
  // `cancel` may be called from any thread, at most once, never after finish() returned.
  ry_op_id start(std::function<void()> cancel) {
    ry_op_id id = next_.fetch_add(1, std::memory_order_relaxed);
    auto& s = shard(id);
    std::lock_guard lock(s.mutex);
    s.ops.emplace(id, std::move(cancel));
    return id;
  }
  // The operation has completed (or is about to be completed): a cancel has no effect from now on.
  void finish(ry_op_id id) {
    auto& s = shard(id);
    std::lock_guard lock(s.mutex);
    s.ops.erase(id);
  }
  // The cancel function runs under the shard's lock: it must only post or set a flag.
  void cancel(ry_op_id id) {
    auto& s = shard(id);
    std::lock_guard lock(s.mutex);
    auto it = s.ops.find(id);
    if (it == s.ops.end()) return;
    auto fn = std::move(it->second);
    s.ops.erase(it);
    if (fn) fn();
  }

 private:
  struct alignas(64) shard_t {
    std::mutex mutex;
    std::unordered_map<ry_op_id, std::function<void()>> ops;
  };
  shard_t& shard(ry_op_id id) { return shards_[id % shards_.size()]; }
  std::array<shard_t, 16> shards_;
  std::atomic<ry_op_id> next_{1};
};

}  // namespace ry::exec
