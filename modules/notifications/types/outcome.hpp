// Interprets the results that an orchestrator reports for a notification. Pure functions.
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <string>

namespace notifications {

struct attempt_verdict {
  std::string results_json;  // for notifications.end_attempt()
  std::uint32_t pending = 0;  // channels to be retried
  bool new_epoch = false;
  bool counts = true;  // false: not counted as an attempt
  bool throttled = false;  // only e-mail is left, and its recipient has reached the limit
  bool unknown_subscriber = false;  // the orchestrator needs the account's data first
  std::uint64_t wait_ms = 0;  // before the next attempt, if any is pending
  std::uint64_t pause_ms = 0;  // for all notifications; 0: none
  std::string reason;  // why channels are pending; a message for operators
  std::string failures;  // the reason of each channel that is pending or failed, "email: ...; push: ..."; for the log
};

enum class tracking { no, yes };

// requested: the bits of e-mail and push. track: whether accepted deliveries are polled later. jitter: from 0 to 1.
attempt_verdict evaluate_results(std::uint32_t requested, const ry::notify::results& results, std::uint32_t attempt,
                                 tracking track, double jitter);
// The verdict if the call of the orchestrator failed.
attempt_verdict evaluate_failure(std::uint32_t requested, const ry::error& reason, std::uint32_t attempt,
                                 double jitter);

// The name of the state in the table `delivery`.
const char* state_name(std::int32_t outcome) noexcept;

}  // namespace notifications
