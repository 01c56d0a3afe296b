#include "stream/event_buffer.hpp"

#include <gtest/gtest.h>

#include <random>

using runs::event_buffer;
using runs::event_view;

namespace {

void chunk(event_buffer& buffer, std::size_t size = 20) {
  buffer.append("llm_response_chunk").text("content", std::string(size, 'x'));
}

std::vector<std::uint64_t> sequences(std::string_view wire) {
  std::vector<std::uint64_t> out;
  for (event_view e = runs::next_event(wire); e.sequence != 0; e = runs::next_event(wire)) out.push_back(e.sequence);
  return out;
}

TEST(event_buffer_test, numbers_continue_after_the_durable_events) {
  event_buffer buffer(41, 100);
  chunk(buffer);
  chunk(buffer);
  EXPECT_EQ(buffer.last(), 43u);
  EXPECT_EQ(sequences(buffer.text_from(42).wire), (std::vector<std::uint64_t>{42, 43}));
  EXPECT_EQ(buffer.text_from(44).from, 44u);
  EXPECT_TRUE(buffer.text_from(44).empty());
  EXPECT_EQ(buffer.text_from(41).from, 0u) << "older events are only in the log";
}

TEST(event_buffer_test, a_seeded_run_is_readable_from_its_first_event) {
  event_buffer buffer(1, 64);
  buffer.seed("id: 1\ndata: {\"type\": \"status\", \"sequence\": 1}\n\n");
  chunk(buffer);
  EXPECT_EQ(sequences(buffer.text_from(1).wire), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(sequences(buffer.take().wire), (std::vector<std::uint64_t>{2})) << "the first event is already in the log";
}

TEST(event_buffer_test, dropped_held_events_leave_no_trace) {
  event_buffer buffer(0, 64);
  chunk(buffer);
  chunk(buffer);
  buffer.hold();
  chunk(buffer, 5000);
  EXPECT_EQ(sequences(buffer.take().wire), (std::vector<std::uint64_t>{1, 2, 3}));
  buffer.drop_held();
  EXPECT_FALSE(buffer.in_flight());
  EXPECT_EQ(buffer.last(), 2u);
  EXPECT_EQ(buffer.durable(), 0u);
  EXPECT_EQ(sequences(buffer.text_from(1).wire), (std::vector<std::uint64_t>{1, 2})) << "these events were delivered";
  // The next event gets the number of the dropped one, and the earlier events are written with it.
  buffer.hold();
  chunk(buffer);
  const event_buffer::range r = buffer.take();
  EXPECT_EQ(sequences(r.wire), (std::vector<std::uint64_t>{1, 2, 3}));
  buffer.release();
  buffer.done(r.from, r.to);
  EXPECT_TRUE(buffer.all_durable());
  // No event is held back, so drop_held() has no effect.
  chunk(buffer);
  buffer.drop_held();
  EXPECT_EQ(buffer.last(), 4u);
}

TEST(event_buffer_test, the_last_held_event_can_be_replaced) {
  event_buffer buffer(0, 100);
  chunk(buffer);
  buffer.hold();
  chunk(buffer);
  buffer.append("status");
  EXPECT_EQ(sequences(buffer.take().wire), (std::vector<std::uint64_t>{1, 2, 3}));
  buffer.drop_last();
  EXPECT_FALSE(buffer.in_flight());
  EXPECT_EQ(buffer.last(), 2u);
  EXPECT_EQ(buffer.deliverable(), 1u) << "the other event is still held back";
  buffer.append("message");
  const event_buffer::range r = buffer.take();
  EXPECT_EQ(sequences(r.wire), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(r.wire.find("status"), std::string_view::npos);
  buffer.release();
  buffer.done(r.from, r.to);
  EXPECT_TRUE(buffer.all_durable());
  // No event is held back, so drop_last() has no effect.
  buffer.drop_last();
  buffer.hold();
  buffer.drop_last();
  EXPECT_EQ(buffer.last(), 3u);
}

TEST(event_buffer_test, events_beyond_the_reservation_are_not_delivered) {
  event_buffer buffer(0, 3);
  for (int i = 0; i < 5; ++i) chunk(buffer);
  EXPECT_EQ(buffer.deliverable(), 3u);
  EXPECT_TRUE(buffer.stalled());
  EXPECT_EQ(sequences(buffer.text_from(1).wire), (std::vector<std::uint64_t>{1, 2, 3}));
  const std::uint64_t reservation = buffer.wanted_reservation();
  EXPECT_GT(reservation, 5u);
  buffer.reserve(reservation);
  EXPECT_FALSE(buffer.stalled());
  EXPECT_EQ(buffer.deliverable(), 5u);
  EXPECT_EQ(buffer.wanted_reservation(), 0u);
  // This also applies to events that are already in the log.
  event_buffer other(0, 0);
  chunk(other);
  const event_buffer::range r = other.take();
  other.done(r.from, r.to);
  EXPECT_EQ(other.deliverable(), 0u);
  other.reserve(1);
  EXPECT_EQ(other.deliverable(), 1u);
}

TEST(event_buffer_test, held_events_wait_for_their_transaction) {
  event_buffer buffer(0, 64);
  chunk(buffer);
  buffer.hold();
  buffer.append("status").text("status", "completed");
  EXPECT_EQ(buffer.deliverable(), 1u);
  EXPECT_EQ(sequences(buffer.take_free().wire), (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(buffer.in_flight());
  EXPECT_EQ(sequences(buffer.take().wire), (std::vector<std::uint64_t>{2}));
  buffer.release();
  EXPECT_EQ(buffer.deliverable(), 2u);
}

TEST(event_buffer_test, held_events_request_no_reservation) {
  event_buffer buffer(0, 64);
  for (int i = 0; i < 60; ++i) chunk(buffer);
  EXPECT_GT(buffer.wanted_reservation(), 64u);
  buffer.hold();
  for (int i = 0; i < 20; ++i) chunk(buffer);
  EXPECT_EQ(buffer.wanted_reservation(), 0u) << "the checkpoint extends the reservation";
  EXPECT_FALSE(buffer.stalled());
  buffer.release();
  EXPECT_GT(buffer.wanted_reservation(), 80u);
  EXPECT_TRUE(buffer.stalled());

  event_buffer late(0, 64);
  for (int i = 0; i < 70; ++i) chunk(late);
  late.hold();
  chunk(late);
  EXPECT_GT(late.wanted_reservation(), 70u) << "earlier events cannot be delivered without a reservation";
  EXPECT_TRUE(late.stalled());
}

TEST(event_buffer_test, durable_advances_without_gaps) {
  event_buffer buffer(0, 64);
  chunk(buffer);
  const auto a = buffer.take();
  const auto a_from = a.from, a_to = a.to;
  chunk(buffer);
  const auto b = buffer.take();
  buffer.done(b.from, b.to);
  EXPECT_EQ(buffer.durable(), 0u) << "the earlier append is still in flight";
  buffer.done(a_from, a_to);
  EXPECT_EQ(buffer.durable(), 2u);
  EXPECT_FALSE(buffer.in_flight());
  EXPECT_TRUE(buffer.all_durable());
}

TEST(event_buffer_test, memory_of_durable_events_is_freed) {
  event_buffer buffer(0, 1'000'000);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 50; ++i) chunk(buffer);
    const auto r = buffer.take();
    buffer.done(r.from, r.to);
  }
  EXPECT_EQ(buffer.durable(), 10000u);
  EXPECT_LT(buffer.memory(), 16u * 1024);
  EXPECT_EQ(buffer.text_from(1).from, 0u);
  EXPECT_TRUE(buffer.text_from(10001).empty());
  EXPECT_EQ(buffer.text_from(10001).from, 10001u);
}

// Appends, flushes, holds and reads in random order: a reader that falls back to the log gets every number once and in
// order, and none beyond the reservation.
TEST(event_buffer_test, readers_get_every_event_once_under_random_interleavings) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    event_buffer buffer(0, 4);
    std::uint64_t in_log = 0, next = 1, reserved = 4;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> flights;
    bool held = false;
    std::vector<std::uint64_t> received;
    const auto read = [&] {
      const event_buffer::range text = buffer.text_from(next);
      if (text.from == 0) {
        ASSERT_LE(next, in_log) << "events that are no longer in memory are durable";
        received.push_back(next++);
        return;
      }
      for (std::uint64_t s : sequences(text.wire)) {
        ASSERT_EQ(s, next);
        ASSERT_TRUE(s <= reserved || s <= in_log);
        received.push_back(next++);
      }
    };
    for (int i = 0; i < 400; ++i) {
      switch (random() % 7) {
        case 0:
        case 1:
          chunk(buffer, random() % 400);
          break;
        case 2: {
          const event_buffer::range r = held ? buffer.take_free() : buffer.take();
          if (!r.empty()) flights.emplace_back(r.from, r.to);
          break;
        }
        case 3:
          if (!flights.empty()) {
            const std::size_t at = random() % flights.size();
            buffer.done(flights[at].first, flights[at].second);
            flights.erase(flights.begin() + static_cast<std::ptrdiff_t>(at));
            in_log = buffer.durable();
          }
          break;
        case 4:
          if (const std::uint64_t up_to = buffer.wanted_reservation(); up_to != 0) buffer.reserve(reserved = up_to);
          break;
        case 5:
          if (held)
            buffer.release();
          else
            buffer.hold();
          held = !held;
          break;
        default:
          read();
      }
    }
    if (held) buffer.release();
    buffer.reserve(buffer.last());
    reserved = buffer.last();
    while (next <= buffer.last()) read();
    ASSERT_EQ(received.size(), buffer.last());
  }
}

// A response that arrives in one chunk must not keep its memory for the lifetime of the run.
TEST(event_buffer_test, the_memory_of_a_long_text_is_freed) {
  event_buffer buffer(0, 100);
  chunk(buffer, 100'000);
  const event_buffer::range taken = buffer.take();
  buffer.done(taken.from, taken.to);
  chunk(buffer);
  const event_buffer::range next = buffer.take();
  buffer.done(next.from, next.to);
  EXPECT_LT(buffer.memory(), 8'000u);
}

}  // namespace
