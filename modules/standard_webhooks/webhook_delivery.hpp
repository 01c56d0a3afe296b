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
  std::string name;  // name in the configuration ("runs.webhooks.billing"), also the key of its
      // connections
  std::string url;
  std::vector<std::string> keys;  // decoded; during a rotation, the message is signed with each
};

// Tracks which receivers respond, as far as this process knows. A receiver that does not respond gets one message at a
// time until it does, so that it cannot occupy all delivery workers. Any thread.
class receivers {
 public:
  struct entry {
    std::optional<std::uint64_t> later_ms;  // try again after this time: another message is being tried
    bool trial = false;  // an attempt at a receiver that does not respond
  };
  // If later_ms is not set, the caller makes an attempt and then calls over().
  entry enter(const std::string& name);
  // answered: nullopt if the attempt was cancelled, which says nothing about the receiver.
  void over(const std::string& name, const entry& e, std::optional<bool> answered);

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
// message is being tried; release if the attempt was cancelled; else retry, after the receiver's Retry-After. The id is
// the same for all attempts, so the receiver can recognise duplicates. `known` and `to` must outlive the call.
ry::task<ry::job_outcome> deliver(const ry::context& ctx, receivers& known, const endpoint& to, std::string id,
                                  std::string body);

}  // namespace standard_webhooks
