// The generic cell rate algorithm for many keys: of each one the moment until which it has used up its rate,
// which may lie as far ahead as its burst allows. Decides at once; knows nothing of time or of other nodes,
// but what it is told.
//
// Thread: any. Memory: a key is forgotten when it is not ahead any more and told, or idle for a minute; beyond
// `max_keys` new ones are let through uncounted.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ry::limits {

struct rate {
  std::int64_t per_minute = 0;  // 0: no limit
  std::int64_t burst = 1;       // how many may come at once
  bool on() const noexcept { return per_minute > 0; }
  std::int64_t interval_us() const noexcept { return 60'000'000 / per_minute; }
};

struct verdict {
  bool allowed = true;
  std::int64_t remaining = 0;       // that would be let through now
  std::int64_t retry_after_us = 0;  // of a refusal
  std::int64_t full_after_us = 0;   // until the whole burst is there again
  bool counted = true;              // false: there is no place for another key
};

struct spending {
  std::string key;
  std::int64_t us = 0;
  // Where the key stood before it, by what this node knows: 0, or how long ago it was not ahead any more. What
  // is spent counts from there on, so that a node that could not tell for long does not owe for all that time.
  std::int64_t from_us = 0;
};

class bucket_table {
 public:
  explicit bucket_table(std::size_t max_keys = 200'000) : max_per_shard_(max_keys / shards) {}

  // now: of any clock, the same for all calls, in microseconds.
  verdict take(std::string_view key, const rate& r, std::int64_t now);
  // What was let through since the last call, by key; forgets keys.
  std::vector<spending> collect(std::int64_t now);
  // The nodes together have this key `ahead_us` ahead (or behind), with all that collect() has given out.
  void learn(std::string_view key, std::int64_t ahead_us, std::int64_t now);
  // What was collected could not be told: it is kept for the next time.
  void give_back(const std::vector<spending>& untold);
  std::size_t size() const;

 private:
  static constexpr std::size_t shards = 16;
  struct bucket {
    std::int64_t busy_until = 0, untold_us = 0;
  };
  struct hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, bucket, hash, std::equal_to<>> buckets;
  };
  shard& of(std::string_view key) { return all_[hash{}(key) % shards]; }

  const std::size_t max_per_shard_;
  std::array<shard, shards> all_;
};

}  // namespace ry::limits
