// POST /agent/start: reads the form, decides the start in one statement and one commit, and starts the run on this
// node.
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
  ry::task<ry::response> answer(ry::request request);

  // The state of one start request.
  struct work {
    caller who;
    start_arguments args;
    std::vector<ry::form_part> files;
    ry_exec* exec = nullptr;
    std::optional<bool> repeats;  // this start was answered before (idempotent repeat)
  };
  // For a start with `thread_not_found`: finds out whether the project is what is missing.
  ry::task<void> name_the_missing(const start_arguments& a, start_result& run) const;
  // Throws the refusal if there is no room, unless the start repeats an answered one, which needs no room.
  ry::task<void> without_room(work& w);
  ry::task<start_result> decide(work& w);
  ry::task<start_result> decide_with_files(work& w, upload_parser& intake);
  // The transaction of a start whose files read() has read.
  ry::task<start_result> keep_with_files(work& w, upload_parser& intake);
  ry::task<void> place_files(const work& w, upload_parser& intake, const start_result& run);
  ry::task<start_result> ask(work& w, ry::tx* in);
  ry::task<ry::result<start_result>> put(const work& w, ry::tx* in);
  void begin(const work& w, const start_result& run, ry_exec* exec);
  // Counts the start.
  void note(const start_result& run) const;
  void leave_to_queue();
  // Queues the job that ends the runs which this queued run is to interrupt; part of the start's transaction.
  ry::task<void> note_interrupt(const work& w, const start_result& run, ry::tx& in);
  [[noreturn]] void refuse(const work& w, const start_result& run) const;

  // Throws the refusal if the account has sent too many bytes of prompts, unless the start repeats an answered one.
  ry::task<void> check_prompt_rate(work& w);
  ry::task<bool> repeats(work& w);

  module_context& context_;
  prompt_rate prompts_;
};

}  // namespace runs
