// What a stream may ask to be done with its events: chunks merged, or everything so far as one event.
// Both work on events in wire form and keep texts in their JSON form, so nothing is unescaped. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event_text.hpp"

namespace runs {

// A piece of text of an answer, of its reasoning or of a tool's output.
struct chunk_view {
  std::string_view type;
  std::string_view other;    // members between sequence and content, with the comma at their end
  std::string_view content;  // JSON text without its quotes
};
// nullopt: the payload is another event, or has a form that this code does not know.
std::optional<chunk_view> as_chunk(std::string_view payload);

// Merges chunks that follow each other into one event with the last number, so that resuming by it is
// exact; `from_sequence` tells the first. Everything else passes as it is, after what was pending.
class chunk_merger {
 public:
  void add(std::string_view wire, std::string& out);
  // Ends the event that could still grow.
  void flush(std::string& out);
  bool pending() const { return count_ != 0; }

 private:
  std::string type_, other_, content_, single_;
  std::uint64_t first_ = 0, last_ = 0;
  std::uint64_t count_ = 0;
};

// Everything from one number to another as one `snapshot` event: the text as a client that kept up would
// show it, without what was given up, the tool calls with their results, and the turn that is still
// open apart, because a later turn_aborted or attempt takes exactly that back. What of an earlier turn
// the client holds from before `from` and must drop stands in `aborted`.
class snapshot {
 public:
  explicit snapshot(std::uint64_t from) : from_(from) {}
  // False: the event was not taken, because it is the terminal one.
  bool add(const event_view& event);
  bool empty() const { return last_ == 0; }
  std::uint64_t last() const { return last_; }
  void write(std::string& out) const;

 private:
  struct turn {
    std::string step = "null", attempt = "null";  // null: it began before `from`
    std::uint64_t from = 0;
    std::string content, reasoning;
  };
  struct call {
    std::string id, head, output, result;  // JSON texts
  };
  turn& open(std::uint64_t sequence);
  call& call_of(const std::string& id);
  void close_turn();

  std::uint64_t from_, last_ = 0;
  std::string status_ = "running";
  std::string content_, reasoning_;
  std::optional<turn> open_;
  std::string last_step_;  // that began at or after `from`
  std::vector<std::string> aborted_, message_ids_, events_;
  std::vector<call> calls_;
};

}  // namespace runs
