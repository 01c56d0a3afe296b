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
// steer: the prompt joins the run; if the run cannot take it, as enqueue.
enum class busy_policy { reject, enqueue, interrupt, steer };

// A message that a start adds to its thread.
struct added_message {
  std::string role;  // user, assistant or tool
  std::string body;  // as in runs.messages
};
// The client's result of a call that the thread's last answer contains.
struct client_result {
  std::string tool_call_id, content;
  bool is_error = false;
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
  std::string metadata;  // a JSON object of strings; empty: none
  std::string webhook_url, webhook_secret;  // both or none
  std::vector<added_message> history;  // oldest first; only for a new thread
  std::vector<client_result> tool_results;  // only for an existing thread
  bool queue = false;  // queue the run instead of rejecting it if all slots are in use
  busy_policy on_busy = busy_policy::reject;

  // The bytes that the database keeps until the thread is deleted, apart from files.
  std::size_t stored_bytes() const {
    std::size_t out = prompt.size() + options.system.size() + options.instructions.size() +
                      options.client_tools.size() + metadata.size() + webhook_url.size() + options.output_schema.size();
    for (const added_message& m : history) out += m.body.size();
    for (const client_result& r : tool_results) out += r.content.size();
    return out;
  }
};

}  // namespace runs
