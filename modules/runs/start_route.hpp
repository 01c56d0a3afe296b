// POST /agent/start: reads the form, decides everything in one statement and one commit, and starts the
// run on this node.
#pragma once
#include "parts.hpp"

namespace runs {

class upload_intake;

class start_route {
 public:
  explicit start_route(parts& p) : parts_(p) {}
  ry::task<void> serve(ry::request request);

 private:
  ry::task<ry::response> answer(ry::request request);

  // What a start works on.
  struct work {
    caller who;
    start_arguments args;
    std::vector<ry::form_part> files;
    ry_exec* exec = nullptr;
    bool repeats = false;  // a start that was answered
  };
  // Of a start with `thread_not_found`: whether it is rather the project.
  ry::task<void> name_the_missing(const start_arguments& a, start_outcome& run) const;
  // There is no room. Throws that, unless the start only repeats one: its answer needs none.
  ry::task<void> without_room(work& w);
  ry::task<start_outcome> decide(work& w);
  ry::task<start_outcome> decide_with_files(work& w, upload_intake& intake);
  ry::task<void> place_files(const work& w, upload_intake& intake, const start_outcome& run);
  ry::task<start_outcome> ask(work& w, ry::tx* in);
  ry::task<ry::result<start_outcome>> put(const work& w, ry::tx* in);
  void begin(const work& w, const start_outcome& run, ry_exec* exec);
  // Counts it.
  void note(const start_outcome& run) const;
  void leave_to_queue();
  // Has the runs ended that a queued run is to interrupt, once the transaction is committed.
  ry::task<void> note_interrupt(const work& w, const start_outcome& run, ry::tx& in);
  [[noreturn]] void refuse(const work& w, const start_outcome& run) const;

  parts& parts_;
};

}  // namespace runs
