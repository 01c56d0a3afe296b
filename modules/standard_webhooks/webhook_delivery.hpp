// Hands one message over to a receiver of webhooks, signed after Standard Webhooks.
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

// How long a receiver asks to be left alone: seconds, or a date as in RFC 9110. nullopt: it does
// not say. At most a day.
std::optional<std::uint64_t> retry_after_ms(std::string_view value, std::int64_t now_unix_s);

struct endpoint {
  std::string name;  // as the configuration calls it ("runs.webhooks.billing"), also the key of its
                     // connections
  std::string url;
  std::vector<std::string> keys;  // decoded; while secrets change the message is signed with each
};

// Which receivers answer, as far as this process knows, so that one that is silent does not hold all the places in
// which messages for the others are handed over: it gets one message at a time until it answers. Any thread.
class receivers {
 public:
  struct entry {
    std::optional<std::uint64_t> later_ms;  // ask again then: another message is just being tried
    bool trial = false;                     // of a receiver that was silent
  };
  // over() follows when it may be tried now.
  entry enter(const std::string& name);
  // answered: nullopt when the attempt was called off, which says nothing of the receiver.
  void over(const std::string& name, const entry& e, std::optional<bool> answered);

 private:
  struct state {
    int failed_trials = 0;
    bool silent = false, trying = false;
  };
  std::mutex mutex_;
  std::map<std::string, state, std::less<>> states_;
};

// One attempt under the address guard, without following redirects: done when it was answered 2xx;
// dead when the answer is 410 (the receiver wants no more of it); retry otherwise, when the
// receiver says; snooze without an attempt when the receiver is silent and another message is tried; release when
// it was called off.
// The id stays the same over all attempts: by it the receiver knows what it has
// seen. `known` and `to` outlive the call.
ry::task<ry::job_outcome> deliver(const ry::context& ctx, receivers& known, const endpoint& to, std::string id,
                                  std::string body);

}  // namespace standard_webhooks
