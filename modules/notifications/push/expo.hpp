// Expo's push service without I/O: what is asked and what its answers mean. Expo knows no
// idempotency: a message whose answer was lost may arrive twice. Every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace notify_push {

// ExponentPushToken[...], ExpoPushToken[...] or a UUID.
bool is_expo_token(std::string_view token);

// The messages for these devices, at most 100: the body of POST /--/api/v2/push/send.
std::string expo_messages(const ry::notify::notification& n, const std::vector<std::string>& tokens,
                          std::int64_t ttl_s);
// One result for each token, in their order.
ry::notify::results read_expo_tickets(std::uint32_t status, std::string_view body,
                                      const std::vector<std::string>& tokens, std::uint32_t retry_after_s);
// The devices belong to several projects: each has to be asked for by itself.
bool is_mixed_projects(std::uint32_t status, std::string_view body);

// The body of POST /--/api/v2/push/getReceipts.
std::string expo_receipt_query(const std::vector<ry::notify::sent>& all);
// One result for each, in their order. Throws RY_UNAVAILABLE when the answer is none.
ry::notify::results read_expo_receipts(std::uint32_t status, std::string_view body,
                                       const std::vector<ry::notify::sent>& all);

}  // namespace notify_push
