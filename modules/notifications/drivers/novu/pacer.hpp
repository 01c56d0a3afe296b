// Keeps within Novu's rate limits, as its answers report them. One per process, because all requests use one API key.
// Every function is [any].
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace notify_novu {

// Novu limits these separately.
enum class category { trigger, other };

// The limits in one answer: RateLimit-Remaining and RateLimit-Reset, and Retry-After of a 429.
struct rate_report {
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_s;
  std::optional<std::int64_t> refused_for_s;  // only with status 429
};

class pacer {
 public:
  // Takes `cost` tokens for one request and returns 0; or takes nothing and returns the microseconds after which to ask
  // again.
  std::int64_t take(category of, std::int64_t cost, std::int64_t now_us);
  // A request that took `cost` got an answer.
  void answered(category of, std::int64_t cost, const rate_report& r, std::int64_t now_us);
  // A request that took `cost` got no answer.
  void unanswered(category of, std::int64_t cost);

 private:
  struct window {
    std::optional<std::int64_t> remaining;  // unknown before the first answer
    std::int64_t reset_us = 0;
    std::int64_t closed_until_us = 0;  // by a 429
    std::int64_t in_flight = 0;  // tokens of requests without an answer yet
  };
  window& of(category c) { return c == category::trigger ? triggers_ : others_; }

  std::mutex mutex_;
  window triggers_, others_;
};

}  // namespace notify_novu
