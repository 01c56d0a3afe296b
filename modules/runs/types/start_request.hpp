// The request of a start, as read from its form.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "settings/model_parameters.hpp"
#include "types/budget.hpp"
#include "types/run_mode.hpp"
#include "types/run_options.hpp"

namespace runs {

// Behaviour of a start on a thread with an unfinished run.
enum class busy_policy { reject, enqueue, interrupt };

// An earlier message of a new thread.
struct history_message {
  std::string role;  // user or assistant
  std::string body;  // as in runs.messages
};

struct start_request {
  std::string prompt;  // empty: continue the thread; never only white space
  std::optional<std::string> thread_id, project_id, agent_id, model_name;
  std::optional<run_mode> mode;
  bool optimistic = false;
  std::optional<bool> memory_enabled;
  runs::budget budget;
  model_parameters parameters;
  run_options options;
  std::vector<history_message> history;  // oldest first; only for a new thread
  bool queue = false;  // queue the run instead of rejecting it if all slots are in use
  busy_policy on_busy = busy_policy::reject;

  // The bytes that the database keeps until the thread is deleted, apart from files.
  std::size_t stored_bytes() const {
    std::size_t out = prompt.size() + options.instructions.size();
    for (const history_message& m : history) out += m.body.size();
    return out;
  }
};

}  // namespace runs
