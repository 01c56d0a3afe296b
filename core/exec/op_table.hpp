// Ids of running operations: 64 bits, never reused, so that a late cancel is a no-op.
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
  // `cancel` may be called from any thread, at most once, and never after finish() has returned.
  ry_op_id start(std::function<void()> cancel) {
    ry_op_id id = next_.fetch_add(1, std::memory_order_relaxed);
    auto& s = shard(id);
    std::lock_guard lock(s.mutex);
    s.ops.emplace(id, std::move(cancel));
    return id;
  }
  // The operation has completed or is about to: a later cancel() has no effect.
  void finish(ry_op_id id) {
    auto& s = shard(id);
    std::lock_guard lock(s.mutex);
    s.ops.erase(id);
  }
  // Runs the cancel function under the shard's lock: it must only post work or set a flag.
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
