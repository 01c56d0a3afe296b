// Messages to a task that waits for decisions about tool calls or for results of the client's tools, and the status that
// asks for them. Pure.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent_message.hpp"
#include "message_input.hpp"

namespace a2a {

// Of JSON from runs/1: arguments of calls have up to 32 levels, and events, runs and approvals contain them some levels
// deeper.
inline constexpr std::size_t max_event_depth = 64;

struct decision {
  std::string field;  // names the part in errors
  std::string approval_id;  // empty: the only one that is pending
  bool approve = false;
  std::string reason;
};

struct follow_up {
  std::vector<decision> decisions;
  boost::json::array results;  // tool_results, as in the body of POST /agent-run/{id}/tool-results
  // Whether the message contains an answer; otherwise the task asks again.
  bool has_answer() const { return !decisions.empty() || !results.empty(); }
};

// Throws protocol_error, which names the field.
follow_up read_follow_up(const send_params& message);

// What a task waits for: the approvals of GET /approvals with the member `type` "approval", and the entries of the run's
// `waiting_for` with the type "tool_result". Returns the message of the status INPUT_REQUIRED.
boost::json::object request_message(const task_ids& ids, const boost::json::array& requests);

}  // namespace a2a
