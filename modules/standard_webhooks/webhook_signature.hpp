// Signatures of webhooks as Standard Webhooks and Svix make them: HMAC-SHA256 over
// "<id>.<timestamp>.<body>". No state; every function is [any].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace standard_webhooks {

inline constexpr std::int64_t window_s = 300;

// The key of "whsec_<base64>", 24 to 64 bytes. "v1," may stand before it, as Supabase writes secrets. nullopt: it is none.
std::optional<std::string> read_secret(std::string_view text);

// The value of webhook-signature: "v1,<base64>".
std::string signature(std::string_view key, std::string_view id, std::int64_t timestamp_unix_s,
                      std::string_view body);

// A header of the request by its name; empty when it has none.
using header_fn = std::function<std::string_view(std::string_view name)>;

// The message's id, when one of the "v1" signatures was made with one of the keys over exactly
// these bytes and the timestamp is within the window around now. nullopt: refuse. Headers are
// webhook-id, webhook-timestamp and webhook-signature, or the same with svix-. Comparison in
// constant time. Who takes messages remembers their ids: within the window a message can be
// repeated.
std::optional<std::string> verified(const std::vector<std::string>& keys, const header_fn& header,
                                    std::string_view body, std::int64_t now_unix_s);

}  // namespace standard_webhooks
