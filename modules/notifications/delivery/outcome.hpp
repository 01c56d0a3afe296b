// Interprets an orchestrator's answer for a notification. Pure.
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <string>

namespace notifications {

struct verdict {
  std::string results_json;  // for notifications.end_attempt()
  std::uint32_t pending = 0;  // channels to be retried
  bool new_epoch = false;
  bool counts = true;  // false: the attempt did not happen
  bool throttled = false;  // only e-mail is left, and its recipient has reached the limit
  bool unknown_subscriber = false;  // the orchestrator needs the account's data first
  std::uint64_t wait_ms = 0;  // before the next attempt, if any is pending
  std::uint64_t pause_ms = 0;  // for all notifications; 0: none
  std::string why;  // a sentence about the pending channels
};

enum class follow { no, yes };

// asked: e-mail and push, if requested. jitter: from 0 to 1.
verdict judge(std::uint32_t asked, const ry::notify::results& said, std::uint32_t attempt, follow what, double jitter);
// The same if the orchestrator gave no answer.
verdict judge_failure(std::uint32_t asked, const ry::error& why, std::uint32_t attempt, double jitter);

// The states of the table `delivery`.
const char* state_name(std::int32_t outcome) noexcept;

}  // namespace notifications
