// Creates and verifies webhook signatures of Standard Webhooks and Svix: HMAC-SHA256 over "<id>.<timestamp>.<body>". No
// state. Thread: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace standard_webhooks {

inline constexpr std::int64_t window_s = 300;

// The key in "whsec_<base64>", 24 to 64 bytes, optionally prefixed by "v1,", as Supabase writes secrets. nullopt if it
// is invalid.
std::optional<std::string> read_secret(std::string_view text);

// The value of the header webhook-signature: "v1,<base64>".
std::string signature(std::string_view key, std::string_view id, std::int64_t timestamp_unix_s, std::string_view body);

// Returns a header of the request by name; empty if it is missing.
using header_fn = std::function<std::string_view(std::string_view name)>;

// Returns the message's id if one of the "v1" signatures matches one of the keys for exactly these bytes and the
// timestamp is within the window around `now_unix_s`; nullopt: reject the message. Reads the headers webhook-id,
// webhook-timestamp and webhook-signature, or the same with svix-. Compares in constant time. Callers must remember
// message ids, because a message can be replayed within the window.
std::optional<std::string> verified(const std::vector<std::string>& keys, const header_fn& header,
                                    std::string_view body, std::int64_t now_unix_s);

}  // namespace standard_webhooks
