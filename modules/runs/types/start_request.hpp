// The request of a start, as read from its form.
#pragma once
#include <optional>
#include <string>

#include "settings/model_parameters.hpp"
#include "types/budget.hpp"
#include "types/run_mode.hpp"

namespace runs {

// Behaviour of a start on a thread with an unfinished run.
enum class busy_policy { reject, enqueue, interrupt };

struct start_request {
  std::string prompt;  // empty: continue the thread; never only white space
  std::optional<std::string> thread_id, project_id, agent_id, model_name;
  std::optional<run_mode> mode;
  bool optimistic = false;
  std::optional<bool> memory_enabled;
  runs::budget budget;
  model_parameters parameters;
  bool queue = false;  // queue the run instead of rejecting it if all slots are in use
  busy_policy on_busy = busy_policy::reject;
};

}  // namespace runs
