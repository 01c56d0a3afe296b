// The text form of a run's events. The payload is the JSON object of the data line; the wire form adds the id line.
// Deployed clients search for `"type": "status"`, so at the top level one space follows each ':' and ','. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

// Appends one event in wire form to `out`.
class event_text {
 public:
  event_text(std::string& out, std::uint64_t sequence, std::string_view type);
  event_text(const event_text&) = delete;
  event_text& operator=(const event_text&) = delete;
  ~event_text();  // completes the event

  event_text& text(std::string_view name, std::string_view value);
  event_text& integer(std::string_view name, std::int64_t value);
  event_text& boolean(std::string_view name, bool value);
  // `value`: valid JSON without line breaks.
  event_text& json(std::string_view name, std::string_view value);

 private:
  void key(std::string_view name);
  std::string& out_;
};

struct event_view {
  std::uint64_t sequence = 0;
  std::string_view payload;
  std::string_view wire;
};

// Removes the first event from a text in wire form. sequence 0: the text is empty or malformed.
event_view next_event(std::string_view& wire);

// The sequence number of the first event of a text in wire form; 0 if it is malformed.
std::uint64_t sequence_of(std::string_view wire);
// The text from event `sequence` on; the complete text if it begins later.
std::string_view text_from(std::string_view wire, std::uint64_t sequence);

inline constexpr std::string_view ping_event = "data: {\"type\": \"ping\"}\n\n";
inline constexpr std::string_view draining_event = "retry: 1000\ndata: {\"type\": \"server_draining\"}\n\n";

// True for the payload of a terminal status event.
bool is_terminal(std::string_view payload);

}  // namespace runs
