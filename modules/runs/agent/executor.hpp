// Executes a run: model answers, tool calls, a checkpoint after each step, one terminal event. Handler of the job
// runs.execute.
//
// Thread: the run's executor. Decisions depend only on the persisted messages (decide()), so another worker continues
// from the last checkpoint; see "Durability" in README.md.
#pragma once
#include "agent/checkpoint.hpp"
#include "agent/model_turn.hpp"
#include "agent/tools/tools.hpp"

namespace runs {

struct module_context;

class executor {
 public:
  executor(module_context& p, toolbox& tools) : context_(p), tools_(tools) {}

  ry::task<ry::job_outcome> handle(ry::job job);

  // The end of a run as the terminal event reports it.
  struct ending {
    std::string status, reason, error, error_code;
  };

 private:
  using run_ptr = std::shared_ptr<live_run>;

  ry::task<ry::job_outcome> work(ry::job job);
  // Claims the run from a worker that vanished or released it. Empty: there is nothing to do; `otherwise` is the job's
  // outcome.
  ry::task<run_ptr> claim(ry::job job, ry::uuid id, std::optional<ry::job_outcome>& otherwise);
  // The state of a run between its phases.
  struct step_state {
    enum class to { go_on, ask, end, not_ours, release } next = to::go_on;
    enum class answer_is { past, part_of_the_end } last = answer_is::past;
    ending how;  // end
    turn answer;  // the model's last answer
    unfinished_parts so_far;  // of the answer that is being requested

    void ends(ending e, answer_is a = answer_is::past) {
      next = to::end;
      last = a;
      how = std::move(e);
    }
    void interrupted(std::int32_t why, answer_is a);
  };
  ry::task<ry::job_outcome> execute(run_ptr run, std::uint32_t crashes);
  // Runs steps until this worker has nothing more to do.
  ry::task<void> steps(run_ptr run, step_state& c);
  ry::task<void> prepare(run_ptr run, catalog_ptr& catalog, step_state& c);
  ry::task<void> apply_answer(run_ptr run, catalog_ptr catalog, step_state& c);
  // How the answer ends the run; nullopt: the run continues.
  std::optional<ending> end_by_answer(const step_state& c) const;
  // Commits a part of an answer; the model is asked to continue it.
  ry::task<void> keep_part(run_ptr run, step_state& c);
  ry::task<ry::job_outcome> conclude(run_ptr run, step_state& c);

  // not_ours: the run no longer belongs to this worker.
  ry::task<stored> run_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls);
  // How the run ends if the budget or balance does not allow the next step.
  std::optional<ending> check_budget(const live_run& run, spending_step step) const;
  // How the run ends if the agent repeats the same calls.
  std::optional<ending> check_tool_loop(const live_run& run, const std::vector<tool_call>& calls) const;

  // Logs an error that the run did not cause, and stores it for operators.
  void log_error(live_run& run, std::string_view what, const ry::error& why) const;
  // Logs a failed run with its ids and cause, and stores the causes.
  ry::task<void> note_failure(run_ptr run, const ending& how) const;
  ry::task<ry::job_outcome> finish(run_ptr run, step_state& c);
  static void append_terminal(live_run& run, const ending& how, std::int64_t duration_ms);
  ry::task<ry::job_outcome> release(run_ptr run);
  ry::job_outcome leave(run_ptr run, const char* why);

  // Appends a model answer to the event buffer and to the record.
  void record_turn(live_run& run, turn& t, step_record& record);
  // Does the same for the result of a call.
  void record_result(live_run& run, const tool_call& call, const tool_outcome& result, step_record& record);
  void touch(const run_ptr& run);

  module_context& context_;
  toolbox& tools_;
};

}  // namespace runs
