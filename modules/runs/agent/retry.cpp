#include "agent/retry.hpp"

#include <algorithm>

#include "ry/abi.h"

namespace runs {

bool is_retryable(std::int32_t status) {
  return status == RY_RESOURCE_EXHAUSTED || status == RY_UNAVAILABLE || status == RY_DEADLINE_EXCEEDED ||
         status == RY_DATA_LOSS;
}

next_try after_failure(const failed_attempt& f) {
  const next_try no_retry{f.has_fallback ? next_try::action_kind::next_model : next_try::action_kind::stop, 0};
  if (!is_retryable(f.status) || f.tries >= f.max_tries) return no_retry;
  if (f.status == RY_DATA_LOSS && f.tries >= 2) return no_retry;
  const double random_fraction = static_cast<double>(f.random) / 4294967296.0;
  double wait_ms;
  if (f.retry_after_s != 0) {
    wait_ms = f.retry_after_s * 1000.0;
    wait_ms += wait_ms / 10 * random_fraction;  // jitter, so that runs do not retry simultaneously
  } else {
    const auto shift = std::clamp<std::int64_t>(f.tries - 1, 0, 5);
    wait_ms = 500.0 * static_cast<double>(1 << shift) * (1 - random_fraction / 2);
  }
  const double max_delay_ms = f.has_fallback ? 5'000 : 120'000;
  if (f.retry_after_s != 0 && f.retry_after_s * 1000.0 > max_delay_ms) return no_retry;
  if (wait_ms >= static_cast<double>(f.remaining_ms)) return no_retry;
  return {next_try::action_kind::same_model, static_cast<std::uint64_t>(wait_ms)};
}

}  // namespace runs
