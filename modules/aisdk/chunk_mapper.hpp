// Maps the events of runs to the UI message stream of the AI SDK, as server-sent events. Pure.
//
// A stream is one assistant message. It contains the events of one run, or of a chain of runs in which each run except
// the first continues with the outputs of the client's tools.
#pragma once
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ui_messages.hpp"

namespace aisdk {

class chunk_mapper {
 public:
  // The part `start`.
  void begin_message(std::string_view message_id, std::string_view run_id, std::string_view thread_id);
  // The events that follow belong to this run. last: its end is the end of the message.
  void begin_run(std::string_view run_id, bool last);
  // The client shows the message up to a wait for approvals and adds the parts of this stream to it: nothing is written
  // before the run has requested the shown approvals, except what the client lacks of this step.
  void skip_shown(shown_parts shown);
  // An output that the client sent for a call of one of the previous runs.
  void add_client_output(std::string_view call_id, std::string_view content, bool is_error);
  // The object of an event, as in ry_run_event. Unknown and malformed events are ignored.
  void add_event(std::string_view event_json);
  // The run continues only after decisions about these approvals; empty if it does not wait.
  std::set<std::string> pending_approvals() const;
  // Whether the last run has ended.
  bool finished() const { return finished_; }
  // The end of a stream whose run waits for approvals.
  void wait();
  // A transient part with a message for the user.
  void notify(std::string_view code, std::string_view message);
  // The end of a stream whose run has not ended: the client resumes.
  void interrupt(std::string_view message);
  // The marker that ends every stream.
  void end();

  // The server-sent events since the last call. Consecutive deltas become one.
  std::string take();

 private:
  using object = boost::json::object;
  enum class part { none, text, reasoning };
  struct call {
    bool client = false;
    std::int64_t step = 0;
    bool denied = false;
  };

  void write(const object& chunk);
  void write_call_part(object chunk, bool shown);
  void end_skip();
  void write_delta();
  void write_data(std::string_view type, object data);
  void add_text(part kind, std::string_view text);
  void close_part();
  void begin_step(const object& event);
  void reset_step();
  void finish_step();
  void add_call(const object& event);
  void add_result(const object& event);
  void add_approval(const object& event);
  void add_decision(const object& event);
  void add_status(const object& event);
  void fail_open_calls(std::string_view message);
  object metadata_of(const object& event) const;

  std::string wire_;
  std::string delta_;  // not yet written
  part open_ = part::none;
  std::string open_id_;
  std::string run_tag_;  // distinguishes the part ids of the runs of a chain
  std::string run_id_;
  std::uint64_t parts_ = 0;
  std::int64_t step_ = 0;  // number of the open step; 0: none
  bool step_has_parts_ = false;
  bool last_run_ = true;
  bool finished_ = false;
  std::map<std::string, call, std::less<>> open_calls_;
  tool_calls::call_states states_;
  std::map<std::string, bool, std::less<>> approvals_;  // requested ones -> whether decided
  bool skipping_ = false;
  shown_parts shown_;
  std::vector<object> held_;  // parts of the current step that the client does not show
};

}  // namespace aisdk
