// Converts the events of a run to the updates of an A2A stream. Pure.
//
// The last answer of the run is the artifact `answer`. Its text is sent while the model generates it. An update with
// `append` false replaces the artifact: at the start of an answer after a tool call, and when an attempt was aborted.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task_state.hpp"

namespace a2a {

class run_updates {
 public:
  // `metadata`: of the request that started the task.
  explicit run_updates(task_ids ids, std::string_view state = task_state::working, boost::json::object metadata = {})
      : ids_(std::move(ids)), state_(state), metadata_(std::move(metadata)) {}

  // Applies an event, which was received at `time`. Consecutive chunks become one update.
  void add(std::string_view event_json, std::string_view time);
  // The StreamResponse objects since the last call.
  std::vector<boost::json::object> take();
  // Discards the updates since the last call of take(), and returns the current task instead. `time`: now.
  boost::json::object take_task(std::string_view time);

  // All calls that the server can make have ended, and the run waits for decisions or for results of the client. A decision
  // may have been made since.
  bool waits() const { return states_.waiting() || waits_for_client(); }
  bool waits_for_client() const { return states_.waits_for_client(); }
  // The task waits for `requests`, see request_message().
  void require_input(const boost::json::array& requests, std::string_view time);

  bool ended() const { return ended_; }
  std::string_view state() const { return state_; }

 private:
  void add_chunk(std::string_view text);
  void begin_answer(const boost::json::object& event);
  void end_answer(std::string_view finish);
  void drop_attempt(std::int64_t step);
  void end(const boost::json::object& event);
  void set_state(std::string_view state);
  void add_tool_update(const boost::json::object& event, std::string_view tool_state);
  void flush_chunk();
  void push_artifact(std::string_view text, bool append, bool last);
  void push_status(boost::json::object status, boost::json::object metadata);

  task_ids ids_;
  std::string_view state_;
  boost::json::object metadata_;
  boost::json::object end_status_, end_metadata_;
  boost::json::object request_;  // the message of the status INPUT_REQUIRED
  tool_calls::call_states states_;
  std::string time_;
  std::string artifact_;  // the text that the client has
  std::string chunk_;  // not sent yet
  // The latest attempt at an answer: its step, and the state before it, to which turn_aborted returns.
  std::int64_t step_ = 0;
  std::size_t kept_ = 0;  // length of the text
  bool continued_ = false;
  bool replaces_ = true;  // the next chunk replaces the artifact
  bool continues_ = false;  // the next answer continues the text
  bool sent_ = false;  // the client has an artifact
  bool closed_ = false;  // the artifact's last chunk was sent
  bool ended_ = false;
  std::vector<boost::json::object> out_;
};

}  // namespace a2a
