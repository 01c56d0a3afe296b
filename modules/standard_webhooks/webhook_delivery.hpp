// Hands one message over to a receiver of webhooks, signed after Standard Webhooks.
#pragma once

#include <cstdint>
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

// One attempt under the address guard, without following redirects: done when it was answered 2xx;
// dead when the answer is 410 (the receiver wants no more of it); retry otherwise, when the
// receiver says. The id stays the same over all attempts: by it the receiver knows what it has
// seen. `to` outlives the call.
ry::task<ry::job_outcome> deliver(const ry::context& ctx, const endpoint& to, std::string id,
                                  std::string body);

}  // namespace standard_webhooks
