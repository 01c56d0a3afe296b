// Optional transformations of a stream: merges chunks, or sums up everything so far in one event. Both work on events
// in wire form and keep texts in their JSON form, so nothing is unescaped. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stream/event_text.hpp"

namespace runs {

// A chunk of an answer, of its reasoning or of a tool's output.
struct chunk_view {
  std::string_view type;
  std::string_view other;  // members between sequence and content, with the trailing comma
  std::string_view content;  // JSON text without its quotes
};
// nullopt: the payload is another event, or has an unknown form.
std::optional<chunk_view> as_chunk(std::string_view payload);

// Merges consecutive chunks into one event with the number of the last, so that resuming by number is exact;
// `from_sequence` is the number of the first. All other events pass unchanged, after the pending chunk.
class chunk_merger {
 public:
  void add(std::string_view wire, std::string& out);
  // Writes the pending chunk.
  void flush(std::string& out);
  bool pending() const { return count_ != 0; }

 private:
  std::string type_, other_, content_, single_;
  std::uint64_t first_ = 0, last_ = 0;
  std::uint64_t count_ = 0;
};

// Sums up a range of events as one `snapshot` event: the text as an up-to-date client would show it, without aborted
// attempts; the tool calls with their results; and, separately, the open turn, because a later turn_aborted or attempt
// voids exactly that. `aborted` names the part of an earlier turn that the client holds from before `from` and must
// drop.
class snapshot {
 public:
  explicit snapshot(std::uint64_t from) : from_(from) {}
  // False: the event was not added, because it is the terminal one.
  bool add(const event_view& event);
  bool empty() const { return last_ == 0; }
  std::uint64_t last() const { return last_; }
  void write(std::string& out) const;

 private:
  struct turn {
    turn() {}  // an aggregate would be incomplete inside this class for clang 14
    std::string step = "null", attempt = "null";  // null: the turn began before `from`
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
  std::string last_step_;  // the last step that began at or after `from`
  std::vector<std::string> aborted_, message_ids_, events_;
  std::vector<call> calls_;
};

}  // namespace runs
