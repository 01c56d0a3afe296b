// Decides whether a failed model request is retried. Pure.
#pragma once
#include <cstdint>

namespace runs {

struct failed_attempt {
  std::int32_t status = 0;  // RY_* of on_end
  std::uint32_t retry_after_s = 0;  // as the provider requested; 0: not given
  std::int64_t tries = 1;  // with this model, including this one
  std::int64_t max_tries = 1;
  bool has_fallback = false;  // another model can answer instead
  std::int64_t remaining_ms = 0;  // until the run's deadline
  std::uint32_t random = 0;  // any number
};

struct next_try {
  enum class action_kind { same_model, next_model, stop } action = action_kind::stop;
  std::uint64_t wait_ms = 0;
};

// Whether another attempt with the same model may help. Invalid responses are retried only if they may be transient: a
// garbled answer may be a transmission error, but a web page instead of an answer is permanent.
bool is_retryable(std::int32_t status);

// Waits as long as the provider requests, otherwise 0.5 s doubled with each try up to 16 s, of which up to half is
// random. Never waits beyond the run's time, or longer than two minutes (five seconds if there is a fallback model).
next_try after_failure(const failed_attempt& f);

}  // namespace runs
