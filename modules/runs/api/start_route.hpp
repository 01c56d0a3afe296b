// POST /agent/start: reads the form, decides about the start in one statement and one commit, and starts the run on
// this node.
#pragma once
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <vector>

#include "api/caller.hpp"
#include "start/prompt_rate.hpp"
#include "store/repository.hpp"

namespace runs {

struct module_context;
class upload_parser;

class start_route {
 public:
  explicit start_route(module_context& p) : context_(p) {}
  ry::task<void> serve(ry::request request);

 private:
  ry::task<ry::response> create_response(ry::request request);

  // The state of one start request.
  struct work {
    caller requester;
    start_arguments args;
    std::vector<ry::form_part> files;
    ry_exec* exec = nullptr;
    std::optional<bool> is_replay;  // the response to this start is stored under its idempotency key; nullopt: unknown
  };
  // After `thread_not_found`: changes the outcome if only the project does not match.
  ry::task<void> refine_not_found(const start_arguments& a, start_result& run) const;
  // Throws the error that the node is full, unless the start is a replay, which needs no capacity.
  ry::task<void> reject_unless_replay(work& w);
  ry::task<start_result> decide_start(work& w);
  ry::task<start_result> decide_start_with_files(work& w, upload_parser& uploads);
  // The transaction of a start whose files read() has already read.
  ry::task<start_result> commit_start_with_files(work& w, upload_parser& uploads);
  ry::task<void> place_files(const work& w, upload_parser& uploads, const start_result& run);
  ry::task<start_result> request_start(work& w, ry::tx* in);
  ry::task<ry::result<start_result>> execute_start(const work& w, ry::tx* in);
  void begin_run(const work& w, const start_result& run, ry_exec* exec);
  // Counts the start in the metrics.
  void count_start(const start_result& run) const;
  void wake_queue();
  // Queues the job that stops the runs that this queued run interrupts; part of the start's transaction.
  ry::task<void> enqueue_interrupt(const work& w, const start_result& run, ry::tx& in);
  [[noreturn]] void throw_refusal(const work& w, const start_result& run) const;

  // Throws an error if the account has sent too many bytes of prompts, unless the start is a replay.
  ry::task<void> check_prompt_rate(work& w);
  ry::task<bool> is_replay(work& w);

  module_context& context_;
  prompt_rate prompts_;
};

}  // namespace runs
