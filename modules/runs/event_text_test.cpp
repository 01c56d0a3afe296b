#include "event_text.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

std::string events(std::uint64_t from, std::uint64_t to, std::size_t content) {
  std::string wire;
  for (std::uint64_t n = from; n <= to; ++n) event_text(wire, n, "x").text("content", std::string(content, 'a'));
  return wire;
}

TEST(log_rows, are_of_bounded_size_and_nothing_is_lost_between_them) {
  for (const std::size_t content : {0, 1, 20, 100, 3860, 15460, 15470, 30940, 30950, 30960, 31000, 70000}) {
    for (const std::uint64_t first : {std::uint64_t{2}, std::uint64_t{98}, std::uint64_t{9999999998}}) {
      const std::string wire = events(first, first + 400, content);
      log_rows rows;
      rows.add(wire, first, first + 400);
      std::string all;
      std::uint64_t next = first;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows.firsts[i], static_cast<std::int64_t>(next));
        std::string_view rest = rows.wires[i];
        for (event_view e = next_event(rest); e.sequence != 0; e = next_event(rest)) EXPECT_EQ(e.sequence, next++);
        EXPECT_TRUE(rest.empty());
        EXPECT_EQ(rows.lasts[i], static_cast<std::int64_t>(next - 1));
        EXPECT_TRUE(rows.wires[i].size() <= log_rows::most_bytes || rows.firsts[i] == rows.lasts[i]);
        all += rows.wires[i];
      }
      EXPECT_EQ(all, wire);
      EXPECT_LE(rows.size(), wire.size() / (log_rows::most_bytes / 2) + 401 * (content > log_rows::most_bytes / 2 - 50));
    }
  }
}

TEST(log_rows, of_several_ranges_stay_apart) {
  log_rows rows;
  rows.add({}, 5, 4);
  EXPECT_TRUE(rows.empty());
  rows.add(events(5, 7, 1), 5, 7);
  rows.add(events(2, 2, 1), 2, 2);
  EXPECT_EQ(rows.firsts, (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(rows.lasts, (std::vector<std::int64_t>{7, 2}));
}

TEST(text_from, begins_with_the_event_that_is_asked_for) {
  const std::string wire = events(7, 12, 3);
  EXPECT_EQ(text_from(wire, 1), wire);
  EXPECT_EQ(text_from(wire, 7), wire);
  EXPECT_EQ(text_from(wire, 10), events(10, 12, 3));
  EXPECT_EQ(text_from(wire, 13), "");
  EXPECT_EQ(text_from("id: 1\ndata: torn", 2), "");
}

}  // namespace
