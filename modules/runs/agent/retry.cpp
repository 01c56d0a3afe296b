#include "agent/retry.hpp"

#include <algorithm>

#include "ry/abi.h"

namespace runs {

bool is_retryable(std::int32_t status) {
  return status == RY_RESOURCE_EXHAUSTED || status == RY_UNAVAILABLE || status == RY_DEADLINE_EXCEEDED ||
         status == RY_DATA_LOSS;
}

next_try after_failure(const failed_attempt& f) {
  const next_try otherwise{f.has_fallback ? next_try::what::next_model : next_try::what::stop, 0};
  if (!is_retryable(f.status) || f.tries >= f.max_tries) return otherwise;
  if (f.status == RY_DATA_LOSS && f.tries >= 2) return otherwise;
  const double chance = static_cast<double>(f.random) / 4294967296.0;
  double wait;
  if (f.retry_after_s != 0) {
    wait = f.retry_after_s * 1000.0;
    wait += wait / 10 * chance;  // spreads the runs
  } else {
    const auto shift = std::clamp<std::int64_t>(f.tries - 1, 0, 5);
    wait = 500.0 * static_cast<double>(1 << shift) * (1 - chance / 2);
  }
  const double max_delay_ms = f.has_fallback ? 5'000 : 120'000;
  if (f.retry_after_s != 0 && f.retry_after_s * 1000.0 > max_delay_ms) return otherwise;
  if (wait >= static_cast<double>(f.remaining_ms)) return otherwise;
  return {next_try::what::same_model, static_cast<std::uint64_t>(wait)};
}

}  // namespace runs
