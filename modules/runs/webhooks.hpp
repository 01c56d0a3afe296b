// Tells the configured addresses how runs ended. The end of a run adds one job per address in its own
// transaction; each job is tried until the receiver answers 2xx, with growing pauses or those that
// the receiver asks for. Signed after "Standard Webhooks" (v1, HMAC-SHA256).
#pragma once
#include <cstdint>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

namespace runs {

struct parts;

// The value of webhook-signature. `key` as it was decoded from the secret.
std::string webhook_signature(std::string_view key, std::string_view id, std::int64_t timestamp,
                              std::string_view body);

// How long a receiver asks to be left alone: seconds, or a date as in RFC 9110. nullopt: it does not say.
// At most a day.
std::optional<std::uint64_t> retry_after_ms(std::string_view value, std::int64_t now_unix_s);

class webhooks {
 public:
  explicit webhooks(parts& p) : parts_(p) {}
  // The job `runs.webhook {endpoint, id, body}`.
  ry::task<ry::job_outcome> deliver(ry::job job);

 private:
  parts& parts_;
};

}  // namespace runs
