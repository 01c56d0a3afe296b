// What Novu is asked and what its answers mean; no I/O. Novu's answers stand in an envelope,
// {"data": ...}, that its API description leaves out. Every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pacer.hpp"

namespace notify_novu {

// Novu before 2.1 knows subscribers under /v1 only.
enum class subscribers_api { v2, v1 };

struct call {
  std::string method, path;  // path with the query
  std::string body;  // JSON; empty = none
  std::string idempotency_key;  // empty = none
  category counted_as = category::other;
  std::int64_t cost = 1;  // tokens of Novu's rate
};

struct answer {
  std::uint32_t status = 0;
  std::string body;
  std::optional<std::uint32_t> retry_after_s;
};

// ---- requests ---------------------------------------------------------------------------------

// The channels of `n` that can be carried at all; those without an address are left out.
std::uint32_t carried_channels(const ry::notify::notification& n);
// Somebody has turned off a channel that the workflow has.
bool is_part(const ry::notify::notification& n);
// One trigger. Its transaction id is the notification's key; the idempotency key changes with the
// epoch, because Novu repeats a failure that it answered under the same one. When a channel of the
// workflow is not wanted, the payload says which are, for the conditions of Novu's steps.
call trigger_call(const ry::notify::notification& n);
// Up to 100 in one request.
call bulk_call(const std::vector<const ry::notify::notification*>& all);
call withdraw_call(std::string_view key);
call subscriber_call(const ry::notify::subscriber& who, subscribers_api api);
call forget_call(std::string_view account_id, subscribers_api api);
// All devices instead of what was there. integration: the identifier, or empty.
call tokens_call(std::string_view account_id, std::string_view provider, const std::vector<ry::notify::token>& all,
                 std::string_view integration);
call messages_call(std::string_view key);
call activity_call(std::string_view key);

// Throws ry::bad_request naming the providers that Novu knows, or what is wrong with the token.
void check_token(const ry::notify::token& t);

// ---- answers ----------------------------------------------------------------------------------

ry::notify::result read_trigger(const answer& a, std::uint32_t channels);
// One result for each item, in their order. What fails as a whole is to be sent again one by one.
ry::notify::results read_bulk(const answer& a, const std::vector<std::uint32_t>& channels);
bool read_withdrawn(const answer& a);  // throws as check_answer does
// Throws ry::error with the status that fits when the answer is no success; RY_NOT_FOUND: Novu does
// not know the subscriber.
void check_answer(const answer& a);
// The route is not there, as opposed to what it leads to.
bool is_missing_route(const answer& a);
// What became of a notification by its messages; nullopt: there are none (yet).
std::optional<ry::notify::result> read_messages(const answer& a, std::uint32_t channels);
// The same by its activity, for one without messages.
ry::notify::result read_activity(const answer& a, std::uint32_t channels);
// Channels by which messages went out although they were not asked for.
std::uint32_t unasked_channels(const answer& messages, std::uint32_t channels);

// A webhook's body, of today's form or the flat older one. Throws ry::bad_request when it is
// neither.
std::vector<ry::notify::report> read_webhook(std::string_view body);

// The sentence about a failure that an answer holds; one line, shortened.
std::string failure_text(const answer& a);

}  // namespace notify_novu
