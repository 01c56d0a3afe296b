// Results that ask for something before the server goes on (2026-07-28, `input_required`). Without I/O.
#pragma once

#include <optional>

#include "rpc.hpp"

namespace mcp {

// How often a server may ask during one call.
inline constexpr int most_rounds = 8;

// What answers it, to be added to the params of the next try; nothing when the result asks for nothing, or
// for what nobody here can give. This client offers no input of any kind, so whoever asks nevertheless
// hears that a question was dismissed, and that there are no roots.
std::optional<json::object> answers_to(const json::value& result);
// The same of one request, such as a task asks; nothing: it cannot be answered here.
std::optional<json::object> answer_to(const json::value& request);

}  // namespace mcp
