// The generic cell rate algorithm (GCRA) for many keys. For each key it keeps the time until which the rate is used
// up, which may lie ahead by at most the burst. It decides immediately; the caller supplies the time and the other
// nodes' spending.
//
// Threads: any. Memory: a key is removed once it is no longer ahead and its spending has been collected, or after a
// minute of idleness. When `max_keys` is reached, requests of new keys are allowed without being counted.
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
  std::int64_t burst = 1;  // requests that may arrive together
  bool on() const noexcept { return per_minute > 0; }
  std::int64_t interval_us() const noexcept { return 60'000'000 / per_minute; }
};

struct verdict {
  bool allowed = true;
  std::int64_t remaining = 0;  // requests that would be allowed now
  std::int64_t retry_after_us = 0;  // if refused
  std::int64_t full_after_us = 0;  // until the whole burst is available again
  bool counted = true;  // false: the table is full, so the key is not counted
};

struct spending {
  std::string key;
  std::int64_t us = 0;
  // The key's position before this spending, according to this node: 0, or minus the time since it was last ahead. The
  // database counts the spending from that moment, so that a node that could not report for long does not owe all of
  // it.
  std::int64_t from_us = 0;
};

class bucket_table {
 public:
  explicit bucket_table(std::size_t max_keys = 200'000) : max_per_shard_(max_keys / shards) {}

  // `now` is in microseconds of any clock, the same for all calls.
  verdict take(std::string_view key, const rate& r, std::int64_t now);
  // The spending allowed since the last call, by key. Removes expired keys.
  std::vector<spending> collect(std::int64_t now);
  // Sets the key to the cluster-wide position: `ahead_us` ahead (or behind), including everything that collect()
  // returned.
  void learn(std::string_view key, std::int64_t ahead_us, std::int64_t now);
  // Takes back collected spending that could not be reported; the next collect() returns it again.
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
