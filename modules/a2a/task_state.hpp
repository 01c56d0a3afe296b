// A run as an A2A task: states, messages and artifacts. Pure.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent_message.hpp"

namespace a2a {

namespace task_state {
inline constexpr std::string_view submitted = "TASK_STATE_SUBMITTED";
inline constexpr std::string_view working = "TASK_STATE_WORKING";
inline constexpr std::string_view input_required = "TASK_STATE_INPUT_REQUIRED";
inline constexpr std::string_view completed = "TASK_STATE_COMPLETED";
inline constexpr std::string_view failed = "TASK_STATE_FAILED";
inline constexpr std::string_view canceled = "TASK_STATE_CANCELED";
}  // namespace task_state

inline constexpr std::string_view answer_artifact_id = "answer";

// The state of a run with this status. `waiting`: it has a position in the queue. The only place that maps states.
std::string_view state_of(std::string_view status, bool waiting);
std::string_view state_of(const boost::json::object& run);
// What a run waits for: its member waiting_for; empty: it does not wait, or has ended.
boost::json::array requests_of(const boost::json::object& run);
bool is_terminal(std::string_view state);
// The state is one of those that the protocol defines.
bool is_known_state(std::string_view state);

// `error` becomes the status message; empty: none.
boost::json::object status_object(const task_ids& ids, std::string_view state, std::string_view error,
                                  std::string_view timestamp);
boost::json::object status_of(const boost::json::object& run, const task_ids& ids);
// The artifact with the answer. An artifact has at least one part, so an empty answer is one empty text.
boost::json::object answer_artifact(std::string_view text);
// The metadata of the request that started the run.
boost::json::object metadata_of(const boost::json::object& run);
// Reason, error code and consumption of a run that has ended; empty if there are none.
boost::json::object end_metadata(const boost::json::object& run_or_event);

// The task of a run: the object of GET /agent-run/{id}. Without history and artifacts.
boost::json::object task_of(const boost::json::object& run, const task_ids& ids);

// Collects the messages of one run from the pages of its thread, which come newest first.
class run_messages {
 public:
  // max_history: the number of messages to collect.
  run_messages(const task_ids& ids, std::size_t max_history) : ids_(ids), max_history_(max_history) {}

  // Returns false when the page ends with a message of an earlier run: older pages have no messages of this run.
  bool add_page(const boost::json::array& newest_first);

  // The history, oldest first.
  boost::json::array history() const;
  // The last answer of the run; nullopt if it has none.
  std::optional<std::string> answer() const;
  bool has_enough() const { return answer_ended_ && history_.size() >= max_history_; }

 private:
  void add(const boost::json::object& message);
  void add_answer(const boost::json::object& message, std::string_view text);

  const task_ids& ids_;
  std::size_t max_history_;
  boost::json::array history_;  // newest first
  std::optional<std::string> answer_;
  bool answer_ended_ = false;
  bool found_ = false;
};

}  // namespace a2a
