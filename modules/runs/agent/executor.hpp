// Executes a run: model answers, tool calls, a checkpoint after each step, and one terminal event. Handler of the job
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

  // The end of a run, as reported in the terminal event.
  struct ending {
    std::string status, reason, error, error_code;
    std::string output = {};  // JSON, of a run with an output schema
  };

 private:
  using run_ptr = std::shared_ptr<live_run>;

  ry::task<ry::job_outcome> work(ry::job job);
  // Claims the run from a worker that crashed or released it. nullptr: the run cannot be claimed, and `otherwise` is
  // set to the outcome of the job.
  ry::task<run_ptr> claim(ry::job job, ry::uuid id, std::optional<ry::job_outcome>& otherwise);
  // The state of a run between its phases.
  struct step_state {
    enum class action { next_step, ask_model, end, not_ours, release, parked } next = action::next_step;
    // open: the terminal checkpoint records the last answer.
    enum class last_answer { recorded, open } answer_status = last_answer::recorded;
    ending final_ending;  // for action::end
    turn answer;  // the model's last answer
    unfinished_parts so_far;  // of the answer that is being requested
    // Of a run with an output schema: the text of these parts, and whether the run has asked for a correction.
    std::string text_so_far;
    bool asked_for_repair = false;

    void end_run(ending e, last_answer a = last_answer::recorded) {
      next = action::end;
      answer_status = a;
      final_ending = std::move(e);
    }
    void interrupt(std::int32_t reason, last_answer a);
  };
  ry::task<ry::job_outcome> execute(run_ptr run, std::uint32_t crashes);
  // Runs steps until this worker has nothing more to do.
  ry::task<void> steps(run_ptr run, step_state& c);
  ry::task<void> prepare(run_ptr run, catalog_ptr& catalog, step_state& c);
  ry::task<void> apply_answer(run_ptr run, catalog_ptr catalog, step_state& c);
  // The end of the run if the answer ends it; nullopt: the run continues.
  std::optional<ending> end_by_answer(const live_run& run, const step_state& c) const;
  // Ends a run that has an output schema with its final answer, unless the answer does not match the schema, and the model
  // can be asked to correct it.
  ry::task<void> conclude_answer(run_ptr run, step_state& c, std::string answer, step_state::last_answer status);
  // Commits a part of an answer, which the model continues in the next step.
  ry::task<void> commit_part(run_ptr run, step_state& c);
  // nullopt: prompts have joined the run at its end, so it continues.
  ry::task<std::optional<ry::job_outcome>> finish_or_release(run_ptr run, step_state& c);
  // Adds prompts that have joined the run to its events, its messages and the record.
  static void add_prompts(live_run& run, std::vector<stored_message> prompts, step_record& record);

  // Executes the allowed calls of the last answer. Parks the run if only calls that wait for approvals are left.
  ry::task<void> make_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls, step_state& c);
  // Releases the run, which is then stored only in the database until its approvals are decided.
  ry::task<void> park(run_ptr run, step_state& c);
  // not_ours: the run no longer belongs to this worker.
  ry::task<stored> run_calls(run_ptr run, catalog_ptr catalog, std::vector<tool_call> calls);
  // The end of the run if the budget or the balance does not allow the next step.
  std::optional<ending> check_budget(const live_run& run, spending_step step) const;
  // The end of the run if the agent keeps repeating the same calls.
  std::optional<ending> check_tool_loop(const live_run& run, const std::vector<tool_call>& calls) const;

  // Logs an error that the run did not cause, and stores it for operators.
  void log_error(live_run& run, std::string_view message, const ry::error& error) const;
  // Logs a failed run with its ids and cause, and stores the causes.
  ry::task<void> log_run_failure(run_ptr run, const ending& e) const;
  ry::task<std::optional<ry::job_outcome>> finish(run_ptr run, step_state& c);
  // Continues a run whose end was not committed: `record` has the last answer and the end.
  ry::task<std::optional<ry::job_outcome>> continue_with_prompts(run_ptr run, std::shared_ptr<step_record> record,
                                                                 step_state& c);
  static void append_terminal(live_run& run, const ending& e, std::int64_t duration_ms);
  ry::task<ry::job_outcome> release(run_ptr run);
  // Removes the run from this worker without a checkpoint; `label` is the metric label.
  ry::job_outcome abandon(run_ptr run, const char* label);

  // Appends a model answer to the event buffer and to the record.
  void record_turn(live_run& run, turn& t, step_record& record);
  // Appends the result of a call to the event buffer and to the record.
  void record_result(live_run& run, const tool_call& call, const tool_outcome& result, step_record& record);
  void notify_writer(const run_ptr& run);

  module_context& context_;
  toolbox& tools_;
};

}  // namespace runs
