// What to do after an attempt at a model answer has failed. Pure.
#pragma once
#include <cstdint>

namespace runs {

struct failed_attempt {
  std::int32_t status = 0;           // RY_* of on_end
  std::uint32_t retry_after_s = 0;   // as the provider said; 0: nothing
  std::int64_t tries = 1;            // of this model, this one included
  std::int64_t max_tries = 1;
  bool has_fallback = false;         // another model may answer instead
  std::int64_t remaining_ms = 0;     // of the run's time
  std::uint32_t random = 0;          // any number
};

struct next_try {
  enum class what { same_model, next_model, give_up } how = what::give_up;
  std::uint64_t wait_ms = 0;
};

// Worth another attempt with the same model? What is not the protocol is so once: a garbled answer may have
// been an accident on its way, a page in the place of an answer will stay one.
bool is_retryable(std::int32_t status);

// Waits as long as the provider says, else 0.5 s doubled with each try up to 16 s, of which up to the half
// is left to chance. Nobody waits beyond the run's time, nor longer than two minutes (five seconds when
// another model could answer).
next_try after_failure(const failed_attempt& f);

}  // namespace runs
