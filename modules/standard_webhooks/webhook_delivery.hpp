// Sends one message to a webhook receiver, signed according to Standard Webhooks.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace standard_webhooks {

// Parses a Retry-After header: seconds, or a date as in RFC 9110. nullopt if it is missing or invalid. At most a day.
std::optional<std::uint64_t> retry_after_ms(std::string_view value, std::int64_t now_unix_s);

struct endpoint {
  std::string name;  // name in the configuration ("runs.webhooks.billing"); also the key of its connection pool
  std::string url;
  std::vector<std::string> keys;  // decoded; during a rotation, the message is signed with each
  std::string account = {};  // id of the account that entered the URL; empty: the operator configured it
};

// Tracks, within this process, which receivers respond. A receiver that does not respond gets one message at a time
// until it does, so that it cannot occupy all delivery workers. Thread: any.
class receivers {
 public:
  struct entry {
    std::optional<std::uint64_t> snooze_ms;  // if set, make no attempt now: another message is the trial
    bool trial = false;  // this attempt tests whether a silent receiver responds again
  };
  // If snooze_ms is not set, the caller makes an attempt and then calls leave().
  entry enter(const std::string& name);
  // responded: nullopt if the attempt does not show whether the receiver responds, e.g. because it was cancelled.
  void leave(const std::string& name, const entry& e, std::optional<bool> responded);

 private:
  struct state {
    int failed_trials = 0;
    bool silent = false, trying = false;
  };
  std::mutex mutex_;
  std::map<std::string, state, std::less<>> states_;
};

// Makes one attempt, with the address guard and without following redirects. Outcome: done after a 2xx; dead after a
// 410 (the receiver wants no more messages); snooze, without an attempt, if the receiver does not respond and another
// message is being tried; release if the attempt was cancelled; otherwise retry, after the receiver's Retry-After. The
// id is the same for all attempts, so the receiver can recognise duplicates. `all` and `to` must outlive the call.
ry::task<ry::job_outcome> deliver(const ry::context& ctx, receivers& all, const endpoint& to, std::string id,
                                  std::string body);

}  // namespace standard_webhooks
