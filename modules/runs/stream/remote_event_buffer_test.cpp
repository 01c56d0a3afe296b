#include "stream/remote_event_buffer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "stream/event_text.hpp"

using runs::remote_event_buffer;

namespace {

std::string events(std::uint64_t from, std::uint64_t to) {
  std::string out;
  for (std::uint64_t i = from; i <= to; ++i)
    runs::event_text(out, i, "llm_response_chunk").text("content", "x" + std::to_string(i));
  return out;
}

TEST(remote_event_buffer, texts_without_a_gap_are_joined) {
  remote_event_buffer buffer;
  EXPECT_TRUE(buffer.add(events(5, 7), 7));
  EXPECT_TRUE(buffer.add(events(8, 8), 8));
  const auto text = buffer.take(5);
  EXPECT_EQ(text.wire, events(5, 8));
  EXPECT_EQ(text.last, 8u);
  EXPECT_TRUE(buffer.take(9).wire.empty());
}

TEST(remote_event_buffer, a_reader_gets_each_missing_event_once) {
  remote_event_buffer buffer;
  buffer.add(events(5, 7), 7);
  buffer.add(events(5, 7), 7);
  buffer.add(events(6, 9), 9);
  EXPECT_EQ(buffer.take(7).wire, events(7, 9));
  buffer.add(events(10, 11), 11);
  EXPECT_TRUE(buffer.take(12).wire.empty()) << "the reader got these events from the log";
  EXPECT_TRUE(buffer.take(10).wire.empty());
}

TEST(remote_event_buffer, after_a_gap_the_reader_has_to_read_the_log) {
  remote_event_buffer buffer;
  buffer.add(events(5, 7), 7);
  buffer.add(events(9, 10), 10);
  EXPECT_TRUE(buffer.take(8).wire.empty());
  EXPECT_EQ(buffer.take(9).wire, events(9, 10)) << "the newer events are kept until the log has been read";
}

TEST(remote_event_buffer, is_bounded) {
  remote_event_buffer buffer;
  std::uint64_t n = 1;
  std::size_t total = 0;
  while (total < 4 * remote_event_buffer::max_bytes) {
    const std::string piece = events(n, n + 99);
    total += piece.size();
    ASSERT_TRUE(buffer.add(piece, n + 99));
    n += 100;
  }
  const auto text = buffer.take(n - 1);
  EXPECT_EQ(text.last, n - 1);
  std::string big;
  runs::event_text(big, n, "tool_result").text("content", std::string(2 * remote_event_buffer::max_bytes, 'x'));
  EXPECT_TRUE(buffer.add(big, n));
  EXPECT_TRUE(buffer.take(n).wire.empty()) << "an event larger than the buffer is only in the log";
  EXPECT_TRUE(buffer.add(events(n + 1, n + 1), n + 1));
  EXPECT_EQ(buffer.take(n + 1).last, n + 1);
}

TEST(remote_event_buffer, the_end_of_the_run_is_delivered) {
  remote_event_buffer buffer;
  std::string end = events(3, 3);
  runs::event_text(end, 4, "status").text("status", "completed");
  buffer.add(end, 4);
  EXPECT_TRUE(buffer.take(3).ends_run);
  std::string running;
  runs::event_text(running, 5, "status").text("status", "running");
  buffer.add(running, 5);
  EXPECT_FALSE(buffer.take(5).ends_run);
}

TEST(remote_event_buffer, text_that_is_malformed_or_has_gaps_is_rejected) {
  remote_event_buffer buffer;
  const std::string good = events(5, 7);
  EXPECT_FALSE(buffer.add("", 7));
  EXPECT_FALSE(buffer.add("hello", 7));
  EXPECT_FALSE(buffer.add(good, 6));
  EXPECT_FALSE(buffer.add(good, 8));
  EXPECT_FALSE(buffer.add(events(5, 5) + events(7, 7), 7));
  EXPECT_FALSE(buffer.add(good + "x", 7));
  EXPECT_FALSE(buffer.add("id: 0\ndata: {}\n\n", 0));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(buffer.add(std::string_view(good).substr(0, n), 7)) << n;
  EXPECT_TRUE(buffer.take(5).wire.empty());
}

// Some published texts are lost, others repeat earlier events; the reader sometimes reads ahead in the log.
TEST(remote_event_buffer, a_reader_that_uses_the_log_for_gaps_gets_each_event_once_in_order) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    remote_event_buffer buffer;
    std::uint64_t produced = 0, next = 1;
    while (next <= 200) {
      const std::uint64_t n = std::min<std::uint64_t>(200, produced + random() % 4);
      if (n > produced && random() % 5 != 0) {
        const std::uint64_t from = produced + 1 - random() % std::min<std::uint64_t>(produced + 1, 3);
        ASSERT_TRUE(buffer.add(events(from, n), n));
      }
      produced = std::max(produced, n);
      if (random() % 3 == 0 && produced >= next)
        next = produced + 1 - random() % (produced - next + 1);  // read from the log
      const auto text = buffer.take(next);
      if (text.last == 0) continue;
      ASSERT_EQ(text.wire, events(next, text.last));
      next = text.last + 1;
    }
  }
}

}  // namespace
