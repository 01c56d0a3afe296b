// Questions to the person about the calls of an answer: those of ask_user, and those of tools that request input during a call.
//
// Thread: the run's executor.
#pragma once
#include <map>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/tool_catalog.hpp"
#include "run/conversation.hpp"
#include "run/live_run.hpp"
#include "store/repository.hpp"

namespace runs {

struct gated_calls;
struct module_context;

// Append the events about an approval or a question.
void append_resolved(live_run& run, std::string_view id, std::string_view tool_call_id, std::string_view status,
                     std::string_view reason);
void append_question(live_run& run, const asked_question& q, std::string_view tool, std::string_view source);

// The questions of calls. Lifetime: one gate_calls().
class call_questions {
 public:
  // Reads the questions of the calls, and creates those of ask_user. False: the run has ended or belongs to another worker. Throws
  // ry::error if the database fails.
  ry::task<bool> load(module_context& p, std::shared_ptr<live_run> run, const tool_catalog& catalog,
                      const std::vector<tool_call>& calls);
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
