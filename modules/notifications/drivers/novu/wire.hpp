// Builds requests to Novu and interprets the responses, without I/O. Novu's responses have an envelope, {"data": ...},
// that its API description omits. Every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rate_limiter.hpp"

namespace notify_novu {

// Novu before 2.1 has subscribers only under /v1.
enum class subscribers_api { v2, v1 };

struct call {
  std::string method, path;  // path with the query
  std::string body;  // JSON, or empty
  std::string idempotency_key;  // or empty
  category counted_as = category::other;
  std::int64_t cost = 1;  // tokens of Novu's rate limit
};

struct response {
  std::uint32_t status = 0;
  std::string body;
  std::optional<std::uint32_t> retry_after_s;
};

// ---- requests ---------------------------------------------------------------------------------

// The channels of `n` that can be delivered: without e-mail if there is no address, without push if there is no device.
std::uint32_t deliverable_channels(const ry::notify::notification& n);
// Whether a channel of the workflow is turned off.
bool has_disabled_channel(const ry::notify::notification& n);
// Triggers one notification; the transaction id is its key. The idempotency key changes with the epoch, because Novu
// answers the same key with the same failure. If a channel of the workflow is turned off, the payload lists the others,
// for the conditions of Novu's steps.
call trigger_call(const ry::notify::notification& n);
// Triggers at most 100 notifications in one request.
call bulk_call(const std::vector<const ry::notify::notification*>& all);
call withdraw_call(std::string_view key);
call subscriber_call(const ry::notify::subscriber& who, subscribers_api api);
call forget_call(std::string_view account_id, subscribers_api api);
// Replaces all devices. integration: the identifier, or empty.
call tokens_call(std::string_view account_id, std::string_view provider, const std::vector<ry::notify::token>& all,
                 std::string_view integration);
call messages_call(std::string_view key);
call activity_call(std::string_view key);

// Throws ry::bad_request that names the providers of Novu, or the fault in the token.
void check_token(const ry::notify::token& t);

// ---- responses --------------------------------------------------------------------------------

ry::notify::result read_trigger(const response& a, std::uint32_t channels);
// One result for each item, in order. If the request fails as a whole, the items are to be sent one by one.
ry::notify::results read_bulk(const response& a, const std::vector<std::uint32_t>& channels);
bool read_withdrawn(const response& a);  // throws like check_response
// Throws ry::error with the matching status unless the response is 2xx. RY_NOT_FOUND: the subscriber does not exist.
void check_response(const response& a);
// Whether the route does not exist, as opposed to the object.
bool is_missing_route(const response& a);
// The state of a notification according to its messages; nullopt: there are none (yet).
std::optional<ry::notify::result> read_messages(const response& a, std::uint32_t channels);
// The state of a notification without messages, according to Novu's activity feed.
ry::notify::result read_activity(const response& a, std::uint32_t channels);
// Channels that were used although they were not requested.
std::uint32_t unrequested_channels(const response& messages, std::uint32_t channels);

// Parses a webhook's body, in the current form or the older flat one. Throws ry::bad_request if it is neither.
std::vector<ry::notify::report> read_webhook(std::string_view body);

// The error message in a response, truncated to one line.
std::string failure_text(const response& a);

}  // namespace notify_novu
