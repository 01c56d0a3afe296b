// Approvals of tool calls as elicitation: the form that asks a client's user, and the answers. Pure.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <ry/cpp/types.hpp>
#include <string>

#include "revision.hpp"

namespace mcp_server {

// The session id of a client before 2026-07-28. The server stores no sessions, so the id contains whether the client's
// user can be asked: its UUID has the version 8 then, and otherwise 7.
ry::uuid session_id(ry::uuid random, bool elicitation);
bool session_has_elicitation(const ry::uuid& session);

// Longer arguments are truncated in a form.
inline constexpr std::size_t max_form_arguments = 4000;

// `approval`: as in GET /approvals or `waiting_for`. False: a question of the agent or of a tool, for which the form of an
// approval would hide what is asked. The user answers it with POST /approvals/{id}.
bool is_call_approval(const json::object& approval);
// `approval`: as in GET /approvals. A request elicitation/create: method and params.
json::object approval_form(const json::object& approval, revision rev);
// A request that the server sends; its id contains the run and the approval.
struct form_reference {
  std::string run_id;
  ry::uuid approval;
};
std::string form_id(std::string_view run_id, std::string_view approval_id);
std::optional<form_reference> read_form_id(const json::value& id);
// The same for a call outside of runs; the id of the form contains the random id of the call.
std::string call_form_id(const ry::uuid& call);
std::optional<ry::uuid> read_call_form_id(const json::value& id);
// The requests by id of their approval, as in the result input_required.
json::object input_requests(const json::array& approvals, revision rev);

// Throws rpc_error if the answer is malformed. Returns the body of POST /approvals/{id}; nullopt: the user has not decided.
std::optional<std::string> decision_of(const json::object& elicit_result);

}  // namespace mcp_server
