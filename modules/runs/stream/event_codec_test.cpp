#include "stream/event_codec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "stream/event_text.hpp"

using namespace runs;

namespace {

std::string events(std::uint64_t from, std::uint64_t to, std::size_t content, std::string_view type = "x") {
  std::string wire;
  for (std::uint64_t n = from; n <= to; ++n) event_text(wire, n, type).text("content", std::string(content, 'a'));
  return wire;
}

log_rows rows_of(std::string_view wire, std::uint64_t from, std::uint64_t to) {
  log_rows rows;
  rows.add(wire, from, to);
  return rows;
}

// Expects that each row contains exactly the events of its range, and all rows together the complete text.
void expect_complete(const log_rows& rows, std::string_view wire, std::uint64_t first) {
  std::string all;
  std::uint64_t next = first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows.firsts[i], static_cast<std::int64_t>(next));
    const auto [unfolded_wire, count] = unfold(rows.texts[i]);
    EXPECT_EQ(static_cast<std::int64_t>(count), rows.lasts[i] - rows.firsts[i] + 1);
    std::string_view rest = unfolded_wire;
    for (event_view e = next_event(rest); e.sequence != 0; e = next_event(rest)) EXPECT_EQ(e.sequence, next++);
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(rows.lasts[i], static_cast<std::int64_t>(next - 1));
    const bool single_event = rows.firsts[i] == rows.lasts[i];
    EXPECT_TRUE(rows.texts[i].size() <= log_rows::max_bytes || single_event) << rows.texts[i].size();
    EXPECT_TRUE(unfolded_wire.size() <= log_rows::max_wire_bytes || single_event) << unfolded_wire.size();
    all += unfolded_wire;
  }
  EXPECT_EQ(all, wire);
}

TEST(log_rows, have_a_bounded_size_and_contain_all_events) {
  for (const std::string_view type : {"x", "llm_response_chunk"}) {
    for (const std::size_t content : {0, 1, 20, 100, 3860, 15460, 15470, 30880, 30940, 30950, 30960, 31000, 70000}) {
      for (const std::uint64_t first : {std::uint64_t{2}, std::uint64_t{98}, std::uint64_t{9999999998}}) {
        const std::uint64_t count = content > 1000 ? 40 : 2000;
        const std::string wire = events(first, first + count - 1, content, type);
        const log_rows rows = rows_of(wire, first, first + count - 1);
        expect_complete(rows, wire, first);
        EXPECT_LE(rows.size(),
                  wire.size() / (log_rows::max_bytes / 2) + 1 + count * (content > log_rows::max_bytes / 2 - 50));
      }
    }
  }
}

TEST(log_rows, are_bounded_when_other_events_follow_merged_chunks) {
  for (std::size_t last = 15'000; last < 15'100; ++last) {
    std::string wire;
    event_text(wire, 1, "llm_response_chunk").text("content", std::string(15'900, 'a'));
    event_text(wire, 2, "x").text("content", std::string(last, 'a'));
    event_text(wire, 3, "reasoning_chunk").text("content", "b");
    expect_complete(rows_of(wire, 1, 3), wire, 1);
  }
}

TEST(log_rows, keep_several_ranges_separate) {
  log_rows rows;
  rows.add({}, 5, 4);
  EXPECT_TRUE(rows.empty());
  rows.add(events(5, 7, 1), 5, 7);
  rows.add(events(2, 2, 1), 2, 2);
  EXPECT_EQ(rows.firsts, (std::vector<std::int64_t>{5, 2}));
  EXPECT_EQ(rows.lasts, (std::vector<std::int64_t>{7, 2}));
}

TEST(log_rows, merge_consecutive_text_chunks_into_one_line) {
  std::string wire;
  event_text(wire, 7, "llm_response_start").integer("step", 1);
  event_text(wire, 8, "reasoning_chunk").text("content", "so \"what\"\n\n");
  event_text(wire, 9, "llm_response_chunk").text("content", "Hello");
  event_text(wire, 10, "llm_response_chunk").text("content", "");
  event_text(wire, 11, "llm_response_chunk").text("content", " world\\");
  event_text(wire, 12, "tool_output_chunk").text("tool_call_id", "a").text("content", "ok");
  event_text(wire, 13, "llm_response_chunk").text("content", "!");
  const log_rows rows = rows_of(wire, 7, 13);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(
      rows.texts[0],
      "id: 7\ndata: {\"type\": \"llm_response_start\", \"sequence\": 7, \"step\": 1}\n\n"
      "reasoning_chunk 8 [\"so \\\"what\\\"\\n\\n\"]\n\n"
      "llm_response_chunk 9 [\"Hello\",\"\",\" world\\\\\"]\n\n"
      "id: 12\ndata: {\"type\": \"tool_output_chunk\", \"sequence\": 12, \"tool_call_id\": \"a\", \"content\": \"ok\"}\n\n"
      "llm_response_chunk 13 [\"!\"]\n\n");
  expect_complete(rows, wire, 7);
}

TEST(log_rows, store_events_verbatim_if_merging_would_change_them) {
  for (const std::string_view odd :
       {"id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 5, \"content\": \"a\", \"more\": \"b\"}\n\n",
        "id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 6, \"content\": \"a\"}\n\n",
        "id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 5,  \"content\": \"a\"}\n\n",
        "id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 5, \"content\": \"a\\\"}\n\n",
        "id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 5, \"content\": null}\n\n",
        "id: 5\ndata: {\"type\": \"llm_response_chunk\", \"sequence\": 5, \"content\": \"a\"}\n"}) {
    const log_rows rows = rows_of(odd, 5, 5);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows.texts[0], odd);
  }
}

TEST(log_rows, round_trip_random_events) {
  std::mt19937 random(1);
  const auto any = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  const std::string_view types[] = {"llm_response_chunk", "reasoning_chunk", "tool_output_chunk", "status"};
  const std::string_view parts[] = {"\"", "\\", "\n", "[", "]", ",", "id: 3", "\n\n", "}", "a", "\xc3\xa4", "\x01", ""};
  for (int round = 0; round < 500; ++round) {
    const std::uint64_t first = 1 + any(2000);
    std::string wire;
    std::uint64_t next = first;
    for (unsigned n = 1 + any(60); n > 0; --n) {
      std::string text;
      for (unsigned i = any(6); i > 0; --i) text += parts[any(std::size(parts))];
      event_text(wire, next++, types[std::min(any(8) / 2, 3u)]).text("content", text);
    }
    expect_complete(rows_of(wire, first, next - 1), wire, first);
  }
}

TEST(unfold, skips_malformed_events_without_counting_them) {
  const std::string good = events(3, 3, 2);
  for (const std::string_view bad :
       {"llm_response_chunk\n\n", "llm_response_chunk x [\"a\"]\n\n", "llm_response_chunk 3\n\n",
        "llm_response_chunk 3 [a]\n\n", "llm_response_chunk 3 []\n\n", "other 3 [\"a\"]\n\n",
        "llm_response_chunk 99999999999999999999 [\"a\"]\n\n", "\n\n"}) {
    const unfolded out = unfold(std::string(bad) + good);
    EXPECT_EQ(out.wire, good) << bad;
    EXPECT_EQ(out.count, 1u) << bad;
  }
  const unfolded truncated = unfold("llm_response_chunk 3 [\"a\",\"b");
  EXPECT_EQ(truncated.wire, unfold("llm_response_chunk 3 [\"a\"]\n\n").wire);
  EXPECT_EQ(truncated.count, 1u);
  EXPECT_EQ(unfold("").count, 0u);
}

}  // namespace
