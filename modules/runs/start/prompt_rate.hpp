// Limits the bytes of prompts that an account stores per hour. Prompts stay in the database until their thread is
// deleted, and a run that is stopped immediately costs nothing, so credits do not limit them.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runs {

// A token bucket per account (GCRA) that takes one hour to refill. Thread: any.
class prompt_rate {
 public:
  // Seconds until a prompt of `bytes` is allowed; 0: now. A prompt larger than the limit needs a full bucket.
  std::int64_t wait_seconds(const std::string& account, std::int64_t bytes, std::int64_t limit, std::int64_t now_us);
  // Records a stored prompt.
  void add(const std::string& account, std::int64_t bytes, std::int64_t limit, std::int64_t now_us);

 private:
  std::mutex mutex_;
  // The time at which the bucket of an account is full again.
  std::unordered_map<std::string, std::int64_t> full_at_us_;
  std::size_t sweep_at_ = 1024;  // number of accounts at which full buckets are removed
};

}  // namespace runs
