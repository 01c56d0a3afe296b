#include "outbox.hpp"

#include <gtest/gtest.h>

#include <thread>

using bus_nats::outbox;
using namespace std::chrono_literals;

namespace {

TEST(outbox, returns_messages_in_order) {
  outbox o(10, 100);
  EXPECT_EQ(o.put("a", 1, "x"), outbox::put_result::closed);
  o.open();
  o.put("a", 1, "x");
  o.put("b", 2, "y");
  const auto all = o.take(0ms);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].topic + all[1].topic, "ab");
  EXPECT_TRUE(o.take(0ms).empty());
}

TEST(outbox, is_bounded_in_messages_and_bytes) {
  outbox o(3, 10);
  o.open();
  EXPECT_EQ(o.put("a", 1, "1234567890"), outbox::put_result::accepted);
  EXPECT_EQ(o.put("a", 2, "1"), outbox::put_result::full);
  EXPECT_EQ(o.put("b", 2, ""), outbox::put_result::accepted);
  EXPECT_EQ(o.put("c", 2, ""), outbox::put_result::accepted);
  EXPECT_EQ(o.put("d", 2, ""), outbox::put_result::full);
  o.take(0ms);
  EXPECT_EQ(o.put("a", 2, "1234567890"), outbox::put_result::accepted);
}

TEST(outbox, a_wakeup_merges_with_an_earlier_one_unless_content_is_between) {
  outbox o(10, 100);
  o.open();
  o.put("a", 1, "");
  o.put("b", 1, "");
  o.put("a", 3, "");
  o.put("a", 2, "");
  o.put("a", 4, "x");
  o.put("a", 4, "");
  const auto all = o.take(0ms);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].cursor, 3u);
  EXPECT_EQ(all[2].bytes, "x");
  EXPECT_EQ(all[3].cursor, 4u);
}

TEST(outbox, a_merged_wakeup_without_a_cursor_has_cursor_0) {
  outbox o(10, 100);
  o.open();
  o.put("a", 3, "");
  o.put("a", 0, "");
  o.put("a", 5, "");
  const auto all = o.take(0ms);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].cursor, 0u);
}

TEST(outbox, close_returns_the_remaining_messages) {
  outbox o(10, 100);
  o.open();
  o.put("a", 1, "");
  EXPECT_EQ(o.close().size(), 1u);
  EXPECT_EQ(o.put("a", 2, ""), outbox::put_result::closed);
  EXPECT_TRUE(o.take(0ms).empty());
}

TEST(outbox, wakes_a_waiting_reader) {
  outbox o(10, 100);
  o.open();
  std::thread producer([&] {
    std::this_thread::sleep_for(20ms);
    o.put("a", 1, "x");
  });
  EXPECT_EQ(o.take(60s).size(), 1u);
  producer.join();
  std::thread waker([&] { o.wake(); });
  EXPECT_TRUE(o.take(60s).empty());
  waker.join();
}

}  // namespace
