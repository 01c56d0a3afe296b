// Elicitation: results with which a server asks for input before it continues (2026-07-28, `input_required`). Without
// I/O.
#pragma once

#include <optional>

#include "rpc.hpp"

namespace mcp {

// How often a server may ask for input during one call.
inline constexpr int max_rounds = 8;

// The params to add to the next request; nullopt if the result asks for nothing, or for input that this client cannot
// give. The client declares no input capabilities, so it cancels each elicitation and reports no roots.
std::optional<json::object> answers_to(const json::value& result);
// The answer to a single request, for example from a task; nullopt if this client cannot answer it.
std::optional<json::object> answer_to(const json::value& request);

}  // namespace mcp
