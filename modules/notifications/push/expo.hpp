// Builds requests to Expo's push service and interprets the responses, without I/O. Expo has no idempotency: a message
// whose response was lost may arrive twice. Every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace notify_push {

// Whether `token` has the form ExponentPushToken[...], ExpoPushToken[...] or a UUID.
bool is_expo_token(std::string_view token);

// The link of a notification about an approval with which its recipient decides; empty: none.
std::string decision_url_of(const ry::notify::notification& n);

// The body of POST /--/api/v2/push/send: one message for each of at most 100 devices.
std::string expo_messages(const ry::notify::notification& n, const std::vector<std::string>& tokens,
                          std::int64_t ttl_s);
// Returns one result per token, in the same order.
ry::notify::results read_expo_tickets(std::uint32_t status, std::string_view body,
                                      const std::vector<std::string>& tokens, std::uint32_t retry_after_s);
// Whether Expo refused the request because the devices belong to several projects. Each device then needs its own
// request.
bool is_mixed_projects(std::uint32_t status, std::string_view body);

// The body of POST /--/api/v2/push/getReceipts.
std::string expo_receipt_query(const std::vector<ry::notify::sent>& all);
// Returns one result per message, in the same order. Throws RY_UNAVAILABLE if the response has no receipts.
ry::notify::results read_expo_receipts(std::uint32_t status, std::string_view body,
                                       const std::vector<ry::notify::sent>& all);

}  // namespace notify_push
