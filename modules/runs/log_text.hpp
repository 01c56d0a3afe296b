// The text of the log's rows. Events stand in it as in the stream, but for the many that are nothing but a piece of an
// answer's text: those that follow each other are one line, `TYPE NUMBER ["text","text"]` and a blank line, NUMBER that of
// the first, which is a fifth of the bytes. The view runs.event shows each as it was sent. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

// A row holds events that follow each other. Compressed, as the database keeps them, a full one usually fits a page there
// and stays within its table; so the fewest rows are the cheapest. What compresses best are events as they are sent, and
// the texts alone are short when these are many: hence two bounds, neither of which holds for one event alone.
struct log_rows {
  static constexpr std::size_t most_bytes = 31'000;
  static constexpr std::size_t most_wire_bytes = 40 * 1024;  // of its events as they stand in the stream
  std::vector<std::int64_t> firsts, lasts;
  std::vector<std::string> texts;
  // Adds the events `from` to `to`, which are `wire` in the stream, in as few rows as may be.
  void add(std::string_view wire, std::uint64_t from, std::uint64_t to);
  std::size_t size() const { return firsts.size(); }
  bool empty() const { return firsts.empty(); }
};

// The events of rows that follow each other, as they stand in the stream, and how many they are: fewer than the rows say
// where one is damaged.
struct unfolded {
  std::string wire;
  std::uint64_t count = 0;
};
unfolded unfold(std::string_view rows);

}  // namespace runs
