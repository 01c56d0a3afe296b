// Encoding of the event log's rows. Events are stored in wire form, except text chunks: consecutive chunks of one type
// become one line, `TYPE NUMBER ["text","text"]`, followed by a blank line; NUMBER is the sequence number of the first.
// This takes a fifth of the bytes. The view runs.event returns each event as it was sent. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// A row contains consecutive events. A few large rows are the cheapest: a full row, which the database compresses,
// usually fits on one page and is not moved out of line. Events in wire form compress better than lines of merged
// chunks, hence two limits. Neither limit applies to a single event.
struct log_rows {
  static constexpr std::size_t max_bytes = 31'000;
  static constexpr std::size_t max_wire_bytes = 40 * 1024;  // of the row's events in wire form
  std::vector<std::int64_t> firsts, lasts;
  std::vector<std::string> texts;
  // Adds the events `from` to `to`, whose wire form is `wire`, in as few rows as possible.
  void add(std::string_view wire, std::uint64_t from, std::uint64_t to);
  std::size_t size() const { return firsts.size(); }
  bool empty() const { return firsts.empty(); }
};

// The events of consecutive rows in wire form, and their count. Malformed events are skipped and not counted.
struct unfolded {
  std::string wire;
  std::uint64_t count = 0;
};
unfolded unfold(std::string_view rows);

}  // namespace runs
