// Optional transformations of a stream: merging chunks, and one event that summarises all events so far. Both work on
// events in wire form and keep texts in JSON form, so nothing is unescaped. No I/O.
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
// nullopt: the payload is not a chunk, or has an unknown form.
std::optional<chunk_view> as_chunk(std::string_view payload);

// Merges consecutive chunks into one event with the number of the last chunk, so that clients can resume exactly;
// `from_sequence` is the number of the first one. Other events pass unchanged, after the pending chunk.
class chunk_merger {
 public:
  void add(std::string_view wire, std::string& out);
  // Writes the pending chunk.
  void flush(std::string& out);
  bool pending() const { return count_ != 0; }

 private:
  std::string type_, other_, content_, first_event_;
  std::uint64_t first_ = 0, last_ = 0;
  std::uint64_t count_ = 0;
};

// Summarises a range of events as one `snapshot` event: the text as a client shows it, without aborted attempts; the
// tool calls with their results; and, separately, the open turn, which a later turn_aborted or attempt may void.
// `aborted` lists attempts whose output the client may have received before `from` and must drop.
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
    turn() {}  // clang 14 would treat an aggregate as incomplete inside this class
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
