// Rate limits of attempts. They are stored in the database, so they apply to all nodes together.
#pragma once

#include <ry/cpp/db.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace accounts {

// A rate limit; `key` names the limited subject.
struct bucket {
  std::string key;
  std::int64_t capacity;
  std::int64_t seconds;  // time after which an exhausted limit is fully available again
};

// Takes one token from each bucket, or none from any. Returns 0 on success, otherwise the seconds to wait.
ry::task<std::int64_t> take_tokens(const ry::context& ctx, std::vector<bucket> buckets);
// Like take_tokens(), but throws 429 with Retry-After if the caller must wait.
ry::task<void> throttle(const ry::context& ctx, std::vector<bucket> buckets);

}  // namespace accounts
