// The state with which a call continues after a question to the person. `runs` stores it as opaque text; it is encrypted, because servers
// may keep data of the user in it.
#pragma once

#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "elicitation.hpp"
#include "task_store.hpp"

namespace mcp {

// The result_json of a call that has returned with questions. Throws ry::error if the state is too large.
std::string input_required_json(const ry::context& ctx, const call_id& id, const suspended_call& call);
// Whether a result_json is one of input_required_json().
bool is_input_required(std::string_view result_json);
// The params with which the call continues, from its input_json; nullopt: as continuation(). Throws ry::error if the state cannot be read.
std::optional<json::object> continued_params(const ry::context& ctx, const call_id& id, std::string_view input_json);

}  // namespace mcp
