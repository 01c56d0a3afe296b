#include "stream/event_buffer.hpp"

#include <gtest/gtest.h>

#include <random>

using runs::event_buffer;
using runs::event_view;

namespace {

void chunk(event_buffer& feed, std::size_t size = 20) {
  feed.append("llm_response_chunk").text("content", std::string(size, 'x'));
}

std::vector<std::uint64_t> sequences(std::string_view wire) {
  std::vector<std::uint64_t> out;
  for (event_view e = runs::next_event(wire); e.sequence != 0; e = runs::next_event(wire)) out.push_back(e.sequence);
  return out;
}

TEST(event_buffer_test, numbers_continue_after_the_durable_events) {
  event_buffer feed(41, 100);
  chunk(feed);
  chunk(feed);
  EXPECT_EQ(feed.last(), 43u);
  EXPECT_EQ(sequences(feed.text_from(42).wire), (std::vector<std::uint64_t>{42, 43}));
  EXPECT_EQ(feed.text_from(44).from, 44u);
  EXPECT_TRUE(feed.text_from(44).empty());
  EXPECT_EQ(feed.text_from(41).from, 0u) << "older events are in the log only";
}

TEST(event_buffer_test, a_seeded_run_is_readable_from_its_first_event) {
  event_buffer feed(1, 64);
  feed.seed("id: 1\ndata: {\"type\": \"status\", \"sequence\": 1}\n\n");
  chunk(feed);
  EXPECT_EQ(sequences(feed.text_from(1).wire), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(sequences(feed.take().wire), (std::vector<std::uint64_t>{2})) << "the first is in the log";
}

TEST(event_buffer_test, held_events_that_were_refused_never_were) {
  event_buffer feed(0, 64);
  chunk(feed);
  chunk(feed);
  feed.hold();
  chunk(feed, 5000);
  EXPECT_EQ(sequences(feed.take().wire), (std::vector<std::uint64_t>{1, 2, 3}));
  feed.drop_held();
  EXPECT_FALSE(feed.in_flight());
  EXPECT_EQ(feed.last(), 2u);
  EXPECT_EQ(feed.durable(), 0u);
  EXPECT_EQ(sequences(feed.text_from(1).wire), (std::vector<std::uint64_t>{1, 2})) << "these were delivered";
  // Another event instead: it gets the number of the dropped one, and earlier events are written with it.
  feed.hold();
  chunk(feed);
  const event_buffer::range r = feed.take();
  EXPECT_EQ(sequences(r.wire), (std::vector<std::uint64_t>{1, 2, 3}));
  feed.release();
  feed.done(r.from, r.to);
  EXPECT_TRUE(feed.all_durable());
  // Nothing is held back: no effect.
  chunk(feed);
  feed.drop_held();
  EXPECT_EQ(feed.last(), 4u);
}

TEST(event_buffer_test, nothing_beyond_the_reservation_is_delivered) {
  event_buffer feed(0, 3);
  for (int i = 0; i < 5; ++i) chunk(feed);
  EXPECT_EQ(feed.deliverable(), 3u);
  EXPECT_TRUE(feed.stalled());
  EXPECT_EQ(sequences(feed.text_from(1).wire), (std::vector<std::uint64_t>{1, 2, 3}));
  const std::uint64_t wanted = feed.wanted_reservation();
  EXPECT_GT(wanted, 5u);
  feed.reserve(wanted);
  EXPECT_FALSE(feed.stalled());
  EXPECT_EQ(feed.deliverable(), 5u);
  EXPECT_EQ(feed.wanted_reservation(), 0u);
  // Regardless of what happened to the taken text.
  event_buffer other(0, 0);
  chunk(other);
  const event_buffer::range r = other.take();
  other.done(r.from, r.to);
  EXPECT_EQ(other.deliverable(), 0u);
  other.reserve(1);
  EXPECT_EQ(other.deliverable(), 1u);
}

TEST(event_buffer_test, held_events_wait_for_their_transaction) {
  event_buffer feed(0, 64);
  chunk(feed);
  feed.hold();
  feed.append("status").text("status", "completed");
  EXPECT_EQ(feed.deliverable(), 1u);
  EXPECT_EQ(sequences(feed.take_free().wire), (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(feed.in_flight());
  EXPECT_EQ(sequences(feed.take().wire), (std::vector<std::uint64_t>{2}));
  feed.release();
  EXPECT_EQ(feed.deliverable(), 2u);
}

TEST(event_buffer_test, held_events_request_no_reservation) {
  event_buffer feed(0, 64);
  for (int i = 0; i < 60; ++i) chunk(feed);
  EXPECT_GT(feed.wanted_reservation(), 64u);
  feed.hold();
  for (int i = 0; i < 20; ++i) chunk(feed);
  EXPECT_EQ(feed.wanted_reservation(), 0u) << "its border reserves further";
  EXPECT_FALSE(feed.stalled());
  feed.release();
  EXPECT_GT(feed.wanted_reservation(), 80u);
  EXPECT_TRUE(feed.stalled());

  event_buffer late(0, 64);
  for (int i = 0; i < 70; ++i) chunk(late);
  late.hold();
  chunk(late);
  EXPECT_GT(late.wanted_reservation(), 70u) << "what came before the border cannot be delivered without";
  EXPECT_TRUE(late.stalled());
}

TEST(event_buffer_test, durable_moves_without_holes) {
  event_buffer feed(0, 64);
  chunk(feed);
  const auto a = feed.take();
  const auto a_from = a.from, a_to = a.to;
  chunk(feed);
  const auto b = feed.take();
  feed.done(b.from, b.to);
  EXPECT_EQ(feed.durable(), 0u) << "the earlier append is still on its way";
  feed.done(a_from, a_to);
  EXPECT_EQ(feed.durable(), 2u);
  EXPECT_FALSE(feed.in_flight());
  EXPECT_TRUE(feed.all_durable());
}

TEST(event_buffer_test, memory_is_given_back) {
  event_buffer feed(0, 1'000'000);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 50; ++i) chunk(feed);
    const auto r = feed.take();
    feed.done(r.from, r.to);
  }
  EXPECT_EQ(feed.durable(), 10000u);
  EXPECT_LT(feed.memory(), 16u * 1024);
  EXPECT_EQ(feed.text_from(1).from, 0u);
  EXPECT_TRUE(feed.text_from(10001).empty());
  EXPECT_EQ(feed.text_from(10001).from, 10001u);
}

// In any order of appends, flushes, holds and reads: a reader that falls back on the log sees every number once and in
// order, and none beyond the reservation.
TEST(event_buffer_test, readers_see_every_event_once_under_random_interleavings) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    event_buffer feed(0, 4);
    std::uint64_t in_log = 0, next = 1, reserved = 4;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> flights;
    bool held = false;
    std::vector<std::uint64_t> got;
    const auto read = [&] {
      const event_buffer::range text = feed.text_from(next);
      if (text.from == 0) {
        ASSERT_LE(next, in_log) << "what left the memory is durable";
        got.push_back(next++);
        return;
      }
      for (std::uint64_t s : sequences(text.wire)) {
        ASSERT_EQ(s, next);
        ASSERT_TRUE(s <= reserved || s <= in_log);
        got.push_back(next++);
      }
    };
    for (int i = 0; i < 400; ++i) {
      switch (random() % 7) {
        case 0:
        case 1:
          chunk(feed, random() % 400);
          break;
        case 2: {
          const event_buffer::range r = held ? feed.take_free() : feed.take();
          if (!r.empty()) flights.emplace_back(r.from, r.to);
          break;
        }
        case 3:
          if (!flights.empty()) {
            const std::size_t at = random() % flights.size();
            feed.done(flights[at].first, flights[at].second);
            flights.erase(flights.begin() + static_cast<std::ptrdiff_t>(at));
            in_log = feed.durable();
          }
          break;
        case 4:
          if (const std::uint64_t want = feed.wanted_reservation(); want != 0) feed.reserve(reserved = want);
          break;
        case 5:
          if (held)
            feed.release();
          else
            feed.hold();
          held = !held;
          break;
        default:
          read();
      }
    }
    if (held) feed.release();
    feed.reserve(feed.last());
    reserved = feed.last();
    while (next <= feed.last()) read();
    ASSERT_EQ(got.size(), feed.last());
  }
}

// An answer that arrived in one chunk does not keep its memory for the life of the run.
TEST(event_buffer_test, the_memory_of_a_long_text_is_given_back) {
  event_buffer feed(0, 100);
  chunk(feed, 100'000);
  const event_buffer::range taken = feed.take();
  feed.done(taken.from, taken.to);
  chunk(feed);
  const event_buffer::range next = feed.take();
  feed.done(next.from, next.to);
  EXPECT_LT(feed.memory(), 8'000u);
}

}  // namespace
