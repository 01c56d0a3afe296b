#include "sse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace {

std::vector<std::string> read(std::string_view text, std::size_t step, bool* fits = nullptr) {
  llm::sse_reader r(1000);
  std::vector<std::string> out;
  bool ok = true;
  for (std::size_t at = 0; ok && at < text.size(); at += step) {
    const std::vector<char> piece(text.begin() + at, text.begin() + std::min(text.size(), at + step));
    ok = r.feed({piece.data(), piece.size()}, [&](std::string_view name, std::string_view data) {
      out.push_back(std::string(name) + "|" + std::string(data));
      return true;
    });
  }
  if (fits) *fits = ok;
  return out;
}

TEST(sse, reads_events_at_every_split_and_with_every_line_ending) {
  const std::string text =
      ": comment\n\ndata: one\n\nevent: a\ndata:two\n\ndata: x\ndata: y\ndata\n\nid: 7\nretry: "
      "5\n\nevent: lost\n\ndata:  padded\n\nunknown: z\ndata: end\n\ndata: unfinished\n";
  for (const char* ending : {"\n", "\r\n", "\r"}) {
    std::string t;
    for (char c : text) t += c == '\n' ? std::string(ending) : std::string(1, c);
    for (std::size_t step = 1; step <= t.size(); ++step)
      ASSERT_THAT(read(t, step), testing::ElementsAre("|one", "a|two", "|x\ny\n", "| padded", "|end"))
          << "step " << step << " ending " << testing::PrintToString(ending);
  }
}

TEST(sse, line_endings_may_be_split_anywhere) {
  for (const std::string text :
       {"data: a\r\n\r\n", "data: a\r\n\n", "data: a\r\r", "data: a\n\r\n", "data: a\r\n\rdata: b\r\n\n"})
    for (std::size_t size = 1; size < text.size(); ++size)
      EXPECT_EQ(read(text, size), read(text, text.size())) << testing::PrintToString(text) << " by " << size;
}

TEST(sse, drops_the_rest_when_the_callback_returns_false) {
  llm::sse_reader r;
  int n = 0;
  EXPECT_TRUE(r.feed("data: a\n\ndata: b\n\n", [&](auto, auto) { return ++n < 1; }));
  EXPECT_EQ(n, 1);
}

TEST(sse, rejects_events_above_the_limit) {
  bool fits = true;
  read("data: " + std::string(5000, 'x'), 100, &fits);
  EXPECT_FALSE(fits);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "data: abc\n";
  read(many, 50, &fits);
  EXPECT_FALSE(fits);
}

TEST(sse, the_limit_does_not_depend_on_how_the_bytes_are_split) {
  for (const std::string& text :
       {": " + std::string(2000, 'c') + "\ndata: a\n\n", "data: " + std::string(2000, 'x') + "\n\n",
        "data: " + std::string(994, 'x') + "\n\n", "data: " + std::string(995, 'x') + "\n\n",
        "data: " + std::string(490, 'x') + "\n{" + std::string(508, 'y') + "\n\n"}) {
    bool fits_whole = true, fits_split = true;
    const auto events = read(text, text.size(), &fits_whole);
    EXPECT_EQ(events, read(text, 7, &fits_split));
    EXPECT_EQ(fits_whole, fits_split) << text.substr(0, 8) << " " << text.size();
  }
  bool fits = true;
  read("data: " + std::string(994, 'x') + "\n\n", 2000, &fits);
  EXPECT_TRUE(fits);
  read("data: " + std::string(995, 'x') + "\n\n", 2000, &fits);
  EXPECT_FALSE(fits);
}

TEST(sse, a_byte_order_mark_is_skipped_only_at_the_beginning) {
  for (std::size_t step = 1; step < 20; ++step)
    EXPECT_THAT(read("\xef\xbb\xbf"
                     "data: a\n\n\xef\xbb\xbf"
                     "data: b\n\ndata: c\n\n",
                     step),
                testing::ElementsAre("|a", "|c"));
}

TEST(sse, random_input_gives_the_same_events_at_every_split) {
  std::mt19937 rng(3);
  for (int i = 0; i < 20000; ++i) {
    std::string t;
    for (int k = 0; k < 60; ++k) t += "data: \n\r:ev\0x"[rng() % 13];
    EXPECT_EQ(read(t, 1), read(t, 1 + rng() % 20)) << testing::PrintToString(t);
  }
}

}  // namespace
