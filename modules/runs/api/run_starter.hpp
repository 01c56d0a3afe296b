// Starts a run: accepts or rejects it in one statement and one commit, stores its files, and begins the run on this node
// or queues it. Used by POST /agent/start and by the service runs/1.
#pragma once
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "api/caller.hpp"
#include "api/start_form.hpp"
#include "start/hourly_rate.hpp"
#include "store/repository.hpp"

namespace runs {

struct module_context;
class upload_parser;

class run_starter {
 public:
  explicit run_starter(module_context& p) : context_(p) {}

  struct order {
    caller requester;
    start_request form;
    std::vector<form_field> fields;  // as sent; for comparison with the first start of `key`
    std::vector<ry::form_part> files;
    std::optional<std::string> key;  // Idempotency-Key
    ry_exec* exec = nullptr;  // where the run begins if this node executes it
    // The caller's transaction, which the caller commits; nullptr: the start commits itself. Not together with files.
    ry::tx* in = nullptr;
  };
  struct started {
    start_result run;
    std::string queue_position;  // empty: the run does not wait
  };
  // Throws the error response of a refused start. The files' paths must be readable until the task has ended.
  ry::task<started> start(order o);
  // Throws the 503 if the node and the queue are full, unless the start is a replay. Called before files are read.
  ry::task<void> check_room(caller requester, std::optional<std::string> key);
  // Any node with a free permit may claim queued runs, including this one.
  void wake_queue();

 private:
  // The state of one start.
  struct work {
    order of;
    start_arguments args;
    std::optional<bool> is_replay;  // the response to this start is stored under its idempotency key; nullopt: unknown
  };
  // Throws a 422 if no message can be sent to the URL, and seals the secret.
  void prepare_webhook(start_arguments& a) const;
  ry::task<void> hash_form(work& w);
  // After `thread_not_found`: changes the outcome if only the project does not match.
  ry::task<void> refine_not_found(const start_arguments& a, start_result& run) const;
  // Throws the error that the node is full, unless the start is a replay, which needs no capacity.
  ry::task<void> reject_unless_replay(work& w);
  // Adds the prompt to the run in progress of the thread. nullopt: no run can take it.
  ry::task<std::optional<start_result>> join(work& w);
  ry::task<start_result> decide_start(work& w);
  ry::task<start_result> decide_start_with_files(work& w, upload_parser& uploads);
  // The transaction of a start with files, which read() has already read, or with history.
  ry::task<start_result> commit_start(work& w, upload_parser* uploads);
  // The part of a start's transaction that follows the decision.
  ry::task<void> complete_start(work& w, upload_parser* uploads, start_result& run, ry::tx& in);
  // Throws a 409 if a result has no call.
  ry::task<void> add_tool_results(const work& w, const start_result& run, ry::tx& in);
  ry::task<void> place_files(const work& w, upload_parser& uploads, const start_result& run);
  ry::task<start_result> request_start(work& w, ry::tx* in);
  ry::task<ry::result<start_result>> execute_start(const work& w, ry::tx* in);
  void begin_run(const work& w, const start_result& run);
  // Counts the start in the metrics.
  void count_start(const start_result& run) const;
  // Queues the job that stops the runs that this queued run interrupts; part of the start's transaction.
  ry::task<void> enqueue_interrupt(const work& w, const start_result& run, ry::tx& in);
  [[noreturn]] void throw_refusal(const work& w, const start_result& run) const;

  // Throws an error if the account has sent too many bytes of prompts, unless the start is a replay.
  ry::task<void> check_prompt_rate(work& w);
  ry::task<bool> is_replay(work& w);

  module_context& context_;
  // Bytes of prompts per account. Prompts stay in the database until their thread is deleted, and a run that is stopped
  // immediately costs nothing, so credits do not limit them.
  hourly_rate prompts_;
};

}  // namespace runs
