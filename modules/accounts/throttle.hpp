// Limits on how often a caller may try something, kept in the database for all nodes.
#pragma once

#include <ry/cpp/db.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace accounts {

// A rate limit; `key` names the limited subject.
struct bucket {
  std::string key;
  std::int64_t room;
  std::int64_t seconds;  // until it is empty again
};

// Takes one from each bucket, or none. Returns the seconds to wait; 0: they were taken.
ry::task<std::int64_t> take(const ry::context& ctx, std::vector<bucket> from);
// Throws 429 with Retry-After instead.
ry::task<void> throttle(const ry::context& ctx, std::vector<bucket> from);

}  // namespace accounts
