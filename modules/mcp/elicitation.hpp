// Elicitation: results with which a server requests input before it continues (protocol revision 2026-07-28,
// `input_required`). No I/O.
#pragma once

#include <optional>

#include "rpc.hpp"

namespace mcp {

// How often a server may request input during one call.
inline constexpr int max_elicitation_rounds = 8;

// The params to add to the repeated request; nullopt if the result requests no input, or input that this client does
// not support. The client declares no input capabilities, so it cancels each elicitation and reports no roots.
std::optional<json::object> responses_to(const json::value& result);
// The response to a single input request, for example of a task; nullopt if this client does not support the request.
std::optional<json::object> response_to(const json::value& request);

}  // namespace mcp
