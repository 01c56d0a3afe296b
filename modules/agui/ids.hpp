// Ids that are computed, so that no table maps the ids of clients to those of runs/1. Pure.
//
// A message of a run is named by the run and the number of the model answer: every reader of the run, and a snapshot of
// the stored thread, gives it the same id. Ids of tool calls get the same prefix, because AG-UI requires that they are
// unique in a thread and some models repeat theirs.
#pragma once
#include <cstdint>
#include <optional>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>

namespace agui {

// A UUID (version 5) for a name that a client chose; `kind` separates names of different use.
ry::uuid derived_uuid(const ry::uuid& account, std::string_view kind, std::string_view name);

std::string message_id(std::string_view run, std::int64_t step);
std::string reasoning_id(std::string_view run, std::int64_t step, std::int64_t attempt);
std::string tool_call_id(std::string_view run, std::int64_t step, std::string_view call);
std::string tool_message_id(std::string_view tool_call_id);

// The run of an id that a function above returned; nullopt for other ids.
std::optional<std::string> run_of_id(std::string_view id);
// The id of the call in runs/1; an id that no function above returned is unchanged.
std::string stored_call_id(std::string_view tool_call_id);

}  // namespace agui
