// Signatures of received webhooks as Standard Webhooks and Svix make them: HMAC-SHA256 over
// "<id>.<timestamp>.<body>". No state; every function is [any].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accounts {

inline constexpr std::int64_t webhook_window_s = 300;

// The key of "whsec_<base64>", 24 to 64 bytes. nullopt: it is none.
std::optional<std::string> read_webhook_secret(std::string_view text);

// A header of the request by its name; empty when it has none.
using header_fn = std::function<std::string_view(std::string_view name)>;

// The message's id, when one of the "v1" signatures was made with one of the keys over exactly
// these bytes and the timestamp is within the window around now. nullopt: refuse. Headers are
// webhook-id, webhook-timestamp and webhook-signature, or the same with svix-. Comparison in
// constant time.
std::optional<std::string> verified_webhook(const std::vector<std::string>& keys,
                                            const header_fn& header, std::string_view body,
                                            std::int64_t now_unix_s);

}  // namespace accounts
