// Questions to the person about the calls of an answer: those of ask_user, and those of tools that request input during a call.
//
// Thread: the run's executor.
#pragma once
#include <map>
#include <memory>
#include <ry/ry.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/gated_calls.hpp"
#include "agent/tools/tool_catalog.hpp"
#include "run/conversation.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

struct module_context;

// Append the events about an approval or a question.
void append_resolved(live_run& run, std::string_view id, std::string_view tool_call_id, std::string_view status,
                     std::string_view reason, std::string_view changed_arguments = {});
void append_question(live_run& run, const asked_question& q, std::string_view tool, std::string_view source);

// Stores the input that a call requests, so that every worker can continue the call with the answers. False: the run has ended or
// belongs to another worker. Throws ry::error if the database fails.
ry::task<bool> suspend_call(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, tool_call call,
                            std::shared_ptr<const requested_input> input);

// An open call that requests input. Lifetime: the frame that awaits ask_during_call().
struct open_call {
  const tool_catalog::tool& tool;
  tool_call call;  // its round is that of the requests
  const bool& ended;
  ry::signal& changed;  // set when the call has ended
};
// Puts requests of an open call to the person, and returns the array "answers" of agent.tools/1. Requests that are not answered within
// question_hold_seconds, or before the call has ended, are cancelled. Never throws.
ry::task<std::string> ask_during_call(const ry::context& ctx, const settings& config, const repository& repo,
                                      event_log_writers& writers, std::shared_ptr<live_run> run, const open_call& open,
                                      std::shared_ptr<const requested_input> input);

// The questions of calls. Lifetime: one gate_calls().
class call_questions {
 public:
  // Reads the questions of the calls, and creates those of ask_user, except of the calls with the ids `denied`. False: the run has ended or belongs to another worker. Throws
  // ry::error if the database fails.
  ry::task<bool> load(module_context& p, std::shared_ptr<live_run> run, const tool_catalog& catalog,
                      const std::vector<tool_call>& calls, const std::set<std::string>& denied);
  bool empty() const { return by_call_.empty() && invalid_.empty(); }
  // Removes the calls that wait for an answer from out.allowed, and adds the answers to those that continue. `begins` gets the
  // ids of the answers that are passed on.
  void sort_calls(live_run& run, const tool_catalog& catalog, gated_calls& out, std::vector<std::string>& begins);

 private:
  ry::task<void> read(module_context& p, std::shared_ptr<live_run> run, const std::vector<tool_call>& calls);

  std::map<std::string, std::vector<asked_question>> by_call_;
  std::map<std::string, std::string> invalid_;  // calls of ask_user with invalid arguments: the message for the model
  std::int64_t limit_ = 0;
};

}  // namespace runs
