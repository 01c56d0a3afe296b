// The workflows, and the conversion of domain events of other modules to notifications. Pure functions.
#pragma once

#include <ry/ext/notify_orchestrator.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workflows/person.hpp"
#include "workflows/workflow_id.hpp"

namespace notifications {

inline constexpr std::uint32_t all_channels = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

// The built-in workflows, in the order of the contract.
const std::vector<std::string_view>& known_workflows();
// Whether it is a transactional workflow; all other workflows are bulk mail.
bool is_transactional(std::string_view workflow) noexcept;
// The channels that a workflow requests; all channels for an operator's own workflow.
std::uint32_t channels_of(std::string_view workflow) noexcept;

// An event of which one account is notified.
struct notification_event {
  std::string workflow;
  boost::json::object payload;
  // Only for e-mails and push messages. About a task: duration_ms, charged_micro, result. About an approval: arguments,
  // on_timeout, decidable (true: the notification may contain a link that decides).
  boost::json::object details;
  std::optional<std::string> broadcast;  // id of the broadcast, if it is part of one
  std::string thread_id;  // thread of the task; otherwise empty
  std::optional<std::string> approval;  // id of the approval that the account is asked for
  bool viewed = false;  // a client was reading the task's stream when it ended
  std::string refused;  // why it cannot be sent; otherwise empty
};

// The targets of links to tasks.
struct links {
  std::string app_url;  // empty: unknown
  std::string task_url;  // pattern with {app_url}, {thread_id}, {project_id} and {run_id}
};

// Returns nullopt if the event is irrelevant or malformed.
std::optional<notification_event> notification_event_of(std::string_view kind, std::string_view payload_json,
                                                        const person& recipient, const links& to);

// A workflow with the payload that a template produces for a recipient.
notification_event notification_event_from_template(std::string workflow, const boost::json::object& pattern,
                                                    const person& recipient);

// Whether the database can store the value: no text contains U+0000, and no number is out of range.
bool can_be_stored(const boost::json::value& v) noexcept;

// Replaces {{email}}, {{name}}, {{first_name}}, {{phone}} and {{avatar}} in every text of an admin's template, in a
// single pass: inserted text is not expanded again.
boost::json::object fill_template(const boost::json::object& pattern, const person& recipient);

}  // namespace notifications
