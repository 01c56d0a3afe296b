// A limit per hour for each account or client: a token bucket (GCRA) that takes one hour to refill.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runs {

// Thread: any.
class hourly_rate {
 public:
  // Seconds until `amount` is allowed; 0: now. An amount larger than the limit needs a full bucket.
  std::int64_t wait_seconds(const std::string& key, std::int64_t amount, std::int64_t limit, std::int64_t now_us);
  // Records a used amount.
  void add(const std::string& key, std::int64_t amount, std::int64_t limit, std::int64_t now_us);

 private:
  std::mutex mutex_;
  // The time at which the bucket of a key is full again.
  std::unordered_map<std::string, std::int64_t> full_at_us_;
  std::size_t sweep_at_ = 1024;  // number of keys at which full buckets are removed
};

}  // namespace runs
