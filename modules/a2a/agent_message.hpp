// A message of the agent about a task. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace a2a {

// The ids that events and messages of a task repeat.
struct task_ids {
  std::string task, context;
};

boost::json::object text_part(std::string_view text);
// A message of the agent that consists of one text.
boost::json::object agent_message(const task_ids& ids, std::string_view message_id, std::string_view text);

}  // namespace a2a
