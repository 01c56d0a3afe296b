// Rate limits of attempts, stored in the database for all nodes.
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
  std::int64_t seconds;  // time until it is empty again
};

// Takes one token from each bucket, or none. Returns the seconds to wait; 0: success.
ry::task<std::int64_t> take(const ry::context& ctx, std::vector<bucket> from);
// Throws 429 with Retry-After instead.
ry::task<void> throttle(const ry::context& ctx, std::vector<bucket> from);

}  // namespace accounts
