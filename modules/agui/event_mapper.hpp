// Events of a run (runs/1) as AG-UI events. Pure.
//
// The output is valid for every reader that starts at event 1 or at a cursor: messages, tool calls, reasoning and steps
// are closed before the run ends, and a MESSAGES_SNAPSHOT replaces the text of an aborted attempt.
#pragma once
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cursor.hpp"

namespace agui {

struct mapped_event {
  enum class kind { event, messages_snapshot };
  kind what = kind::event;
  boost::json::object event;  // of `event`
  std::int64_t below_step = 0;  // of `messages_snapshot`: as in thread_part
  cursor after;  // the position of a client that has received this event
};

class event_mapper {
 public:
  struct names {
    std::string thread, run;  // ids of the client, which its events repeat
    std::string stored_thread, stored_run;  // ids in runs/1
    bool outcomes = true;  // the client knows all outcomes of AG-UI 1.0, not only `interrupt`
  };
  event_mapper(names ids, const cursor& from);

  // For a client that does not resume: RUN_STARTED and, if its messages may differ from what precedes the run's first
  // answer, a MESSAGES_SNAPSHOT.
  enum class messages { known, restated };
  void begin(messages of_client, std::vector<mapped_event>& out);
  // Instead of begin(), for a client that has the events up to an interrupt with these approvals: what precedes the first
  // request of one of them is not sent again.
  void begin_after_interrupt(std::set<std::string> approvals);
  // Ids of tool messages that the client has.
  void skip_results(std::set<std::string, std::less<>> ids) { known_results_ = std::move(ids); }
  void on_event(std::uint64_t sequence, std::string_view text, std::vector<mapped_event>& out);
  bool ended() const { return turn_.ended; }

  // The run continues only after decisions about its pending approvals.
  bool waiting() const { return !silent_ && !turn_.ended && states_.waiting(); }
  // Ends the AG-UI run with an interrupt for each approval of `pending` that the run has requested, if there is one.
  void interrupt(const std::set<std::string>& pending, std::vector<mapped_event>& out);

 private:
  using object = boost::json::object;
  enum class turn_end { normal, aborted };

  void apply(std::string_view type, const object& e);
  void apply_silently(std::string_view type, const object& e);
  object started() const;
  void on_gap();
  void on_response_start(const object& e);
  void on_text(const object& e);
  void on_reasoning(const object& e);
  void on_tool_call(const object& e);
  void on_tool_result(const object& e);
  void on_approval_requested(const object& e);
  void on_approval_resolved(const object& e);
  void on_turn_aborted(const object& e);
  void on_end(const object& e);
  void custom(std::string_view name, object value);
  void close_reasoning(turn_end end);
  void close_text();
  void mark_reasoning_aborted();
  void abort_turn();
  void close_step();
  object finished(const object& e, bool stopped);
  void emit(object event);
  void emit_once(object event);
  void emit_snapshot(std::int64_t below_step);
  void push(mapped_event event);
  std::string step_message() const;
  std::string reasoning_message() const;

  names ids_;
  turn_state turn_;
  bool complete_;  // all events of the run were mapped by this object
  std::uint64_t to_skip_, emitted_ = 0, sequence_ = 0;
  std::vector<mapped_event>* out_ = nullptr;
  std::vector<std::string> client_calls_;  // without a result, in this stream
  std::set<std::string> models_;
  struct approval {
    std::string id;
    object interrupt;
  };
  std::vector<approval> approvals_;  // requested and not decided
  tool_calls::call_states states_;
  bool silent_ = false;
  std::set<std::string> resumed_;  // see begin_after_interrupt
  std::set<std::string, std::less<>> known_results_;
};

}  // namespace agui
