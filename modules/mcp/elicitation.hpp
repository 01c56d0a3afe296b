// Elicitation: requests of servers for input from the person. A server of revision 2026-07-28 returns them as the result of a call
// (`input_required`), which the client repeats with the answers. An older server sends them during the call, or returns the error
// -32042 if the person must first open a URL. No I/O.
#pragma once

#include <optional>
#include <string_view>

#include "rpc.hpp"

namespace mcp {

// How often a server may request input during one call without a question to the person.
inline constexpr int max_elicitation_rounds = 8;
inline constexpr std::size_t max_input_requests = 32;
inline constexpr std::int64_t url_required = -32042;

// The params to add to the repeated request; nullopt if the result requests no input, or input that this client does
// not support. Each elicitation is cancelled, and no roots are reported.
std::optional<json::object> responses_to(const json::value& result);
// The response to a single input request, for example of a task; nullopt if this client does not support the request.
std::optional<json::object> response_to(const json::value& request);

// The client capability, in the form of the newest revision, which older servers accept as well.
json::object elicitation_capability();

// A request that the person can answer, in the form of agent.tools/1 without its key; nullopt: it is none.
std::optional<json::object> question_of(std::string_view method, const json::value& params);
// The result of elicitation/create for an answer of agent.tools/1.
json::object elicit_result(const json::object& answer);

// Questions of a call that has returned, and what is needed to continue it.
struct suspended_call {
  json::array questions;  // requests of agent.tools/1
  json::object state;
};
// The questions in an input_required result; nullopt: it has none, or requests other input that this client does not support.
std::optional<suspended_call> questions_in(const json::value& result);
// The questions in the error -32042; nullopt: it is another error.
std::optional<suspended_call> questions_in_error(const json::value& error);
// The params to add to the repeated request; nullopt: the person has not agreed to open a URL, so the call is not repeated.
std::optional<json::object> continuation(const json::object& state, const json::array& answers);

}  // namespace mcp
