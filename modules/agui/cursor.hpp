// The ids of the SSE events. An id contains the position in the log of the run and the messages and steps that are
// open at that point. A client therefore resumes exactly, also if a crash lost events that were already delivered. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace agui {

// What the client has received of the current model answer.
struct turn_state {
  std::int64_t step = 0, attempt = 0;  // 0: no answer has begun
  bool answering = false;  // the answer has not ended
  bool step_open = false;
  bool span_open = false;  // REASONING_START without REASONING_END
  bool reasoning_open = false;  // REASONING_MESSAGE_START without its end
  bool text_open = false;
  bool has_reasoning = false;  // of this attempt
  bool has_text = false;  // of this attempt
  bool gap = false;  // events are missing since the last MESSAGES_SNAPSHOT or step
  bool ended = false;

  friend bool operator==(const turn_state&, const turn_state&) = default;
};

struct cursor {
  std::uint64_t sequence = 0;  // the last event of the run that is complete on the client
  std::uint64_t skip = 0;  // AG-UI events of the next event of the run that the client has received
  turn_state turn;

  friend bool operator==(const cursor&, const cursor&) = default;
};

std::string write_cursor(const cursor& at);
// nullopt: write_cursor() did not return this text.
std::optional<cursor> read_cursor(std::string_view text);

}  // namespace agui
