// The workflows, and the notifications that they make of domain events of other modules. Pure.
#pragma once

#include <ry/ext/notify_orchestrator.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/workflow_id.hpp"
#include "person.hpp"

namespace notifications {

inline constexpr std::uint32_t all_channels = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

// The workflows of the service, in the order of the contract.
const std::vector<std::string_view>& known_workflows();
// Whether it is a transactional workflow; all other workflows are bulk mail.
bool is_transactional(std::string_view workflow) noexcept;
// The channels that a workflow requests; all channels for an operator's own workflow.
std::uint32_t channels_of(std::string_view workflow) noexcept;

// The event that a notification reports to one account.
struct notification_event {
  std::string workflow;
  boost::json::object payload;
  boost::json::object details;  // of a task, for its e-mail only: duration_ms, charged_micro, result
  std::optional<std::string> broadcast;  // the id of its broadcast
  std::string thread_id;  // of a task; otherwise empty
  bool viewed = false;  // a client was reading the task's stream when it ended
  std::string refused;  // why it cannot be sent; otherwise empty
};

// The targets of links to tasks.
struct links {
  std::string app_url;  // empty: unknown
  std::string task_url;  // pattern
};

// nullopt: the event is irrelevant or malformed.
std::optional<notification_event> notification_event_of(std::string_view kind, std::string_view payload_json,
                                                        const person& who, const links& to);

// A workflow with the payload that a template produces for a recipient.
notification_event notification_event_from_template(std::string workflow, const boost::json::object& pattern,
                                                    const person& who);

// Whether the database can store it: no text contains U+0000, no number is out of range.
bool can_be_kept(const boost::json::value& v) noexcept;

// Replaces {{email}}, {{name}}, {{first_name}}, {{phone}} and {{avatar}} in every text of an admin's template, in a
// single pass: inserted text is not expanded again.
boost::json::object fill_template(const boost::json::object& pattern, const person& who);

}  // namespace notifications
