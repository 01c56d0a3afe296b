// Keeps requests within Novu's rate limits, which Novu reports in its responses. There is one per process, because all
// requests use one API key.
// Every function is [any].
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace notify_novu {

// Novu limits these separately.
enum class category { trigger, other };

// The limits in one response: RateLimit-Remaining, RateLimit-Reset, and Retry-After of a 429.
struct rate_report {
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_s;
  std::optional<std::int64_t> retry_after_s;  // only with status 429
};

class rate_limiter {
 public:
  // Takes `cost` tokens for one request and returns 0. If there are not enough, takes nothing and returns the
  // microseconds after which to try again.
  std::int64_t acquire(category of, std::int64_t cost, std::int64_t now_us);
  // Call it when a request that took `cost` got a response.
  void on_response(category of, std::int64_t cost, const rate_report& r, std::int64_t now_us);
  // Call it when a request that took `cost` got no response.
  void on_no_response(category of, std::int64_t cost);

 private:
  struct window {
    std::optional<std::int64_t> remaining;  // unknown before the first response
    std::int64_t reset_us = 0;
    std::int64_t closed_until_us = 0;  // set by a 429
    std::int64_t in_flight = 0;  // tokens of requests without a response yet
  };
  window& of(category c) { return c == category::trigger ? triggers_ : others_; }

  std::mutex mutex_;
  window triggers_, others_;
};

}  // namespace notify_novu
