// The workflows, and what a domain event of another module makes of them. Pure.
#pragma once

#include <ry/ext/notify_orchestrator.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "person.hpp"
#include "workflow_id.hpp"

namespace notifications {

inline constexpr std::uint32_t all_channels = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;

// The service's own workflows, in the contract's order.
const std::vector<std::string_view>& known_workflows();
// Whether it is a transactional workflow; all other workflows are bulk mail.
bool is_transactional(std::string_view workflow) noexcept;
// The channels that a workflow asks for; of one that an operator added: all.
std::uint32_t channels_of(std::string_view workflow) noexcept;

// The event that a notification reports to one account.
struct occasion {
  std::string workflow;
  boost::json::object payload;
  boost::json::object details;  // of a task, for its e-mail only: duration_ms, charged_micro, result
  std::optional<std::string> broadcast;  // the id of the one that it is a part of
  std::string thread_id;  // of a task; else empty
  bool viewed = false;  // somebody read the task's stream when it ended
  std::string refused;  // why it cannot be told; else empty
};

// Where links to tasks lead.
struct links {
  std::string app_url;  // empty: nobody knows
  std::string task_url;  // pattern
};

// nullopt: of no interest, or not understood.
std::optional<occasion> occasion_of(std::string_view kind, std::string_view payload_json, const person& who,
                                    const links& to);

// A workflow with the payload that a template makes for somebody.
occasion occasion_from_template(std::string workflow, const boost::json::object& pattern, const person& who);

// Whether the database can keep it: no text holds U+0000, no number is out of range.
bool can_be_kept(const boost::json::value& v) noexcept;

// Replaces {{email}}, {{name}}, {{first_name}}, {{phone}} and {{avatar}} in every text of an admin's
// template, in a single pass: what is put in is not looked at again.
boost::json::object fill_template(const boost::json::object& pattern, const person& who);

}  // namespace notifications
