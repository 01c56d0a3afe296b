// Stored messages of a thread as AG-UI messages, with the ids that event_mapper gives to the same messages. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace agui {

// The part of a thread that a snapshot contains.
struct thread_part {
  std::string run;  // empty: the complete thread
  // Answers of `run` from this number on, and everything that follows them, are not included.
  std::int64_t below_step = std::numeric_limits<std::int64_t>::max();
  bool only_added = false;  // only what `run` has added: its answers and their tool results
};

// `stored`: objects of the page of runs.messages, oldest first. Appends to `out`.
void append_thread(const std::vector<boost::json::object>& stored, const thread_part& part, boost::json::array& out);

}  // namespace agui
