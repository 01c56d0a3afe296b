// Ids of the API, which contain the ids of runs and threads. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>

namespace openai_api {

// A UUID as 32 hexadecimal digits.
std::string hex_of(const ry::uuid& id);

std::string response_id(const ry::uuid& run);
std::string conversation_id(const ry::uuid& thread);
std::string completion_id(const ry::uuid& run);
// The id of an output item: `prefix`, the run, and the number of the run's event that began the item.
std::string item_id(std::string_view prefix, const ry::uuid& run, std::uint64_t sequence);

// The id of the request for an approval, and that of the call after the approval.
std::string approval_request_id(const ry::uuid& run, const ry::uuid& approval);
std::string approved_call_id(std::string_view approval_request_id);

// The thread of a start with an Idempotency-Key whose thread is chosen before the start, and the project of that thread
// (both derived, because a repeated start must have the same fields).
ry::uuid thread_of_key(const ry::uuid& account, std::string_view key);
ry::uuid project_of_thread(const ry::uuid& thread);

// nullopt: not an id of this kind.
std::optional<ry::uuid> run_of_response(std::string_view id);
std::optional<ry::uuid> thread_of_conversation(std::string_view id);
std::optional<ry::uuid> run_of_item(std::string_view id);
std::optional<ry::uuid> approval_of_request(std::string_view id);

// The time in a UUIDv7, in milliseconds of Unix time; 0 for other versions.
std::int64_t created_ms(const ry::uuid& id);

}  // namespace openai_api
