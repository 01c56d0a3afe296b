#include "stream/event_text.hpp"

#include <gtest/gtest.h>

using namespace runs;

namespace {

std::string events(std::uint64_t from, std::uint64_t to, std::size_t content) {
  std::string wire;
  for (std::uint64_t n = from; n <= to; ++n) event_text(wire, n, "x").text("content", std::string(content, 'a'));
  return wire;
}

TEST(text_from, begins_with_the_requested_event) {
  const std::string wire = events(7, 12, 3);
  EXPECT_EQ(text_from(wire, 1), wire);
  EXPECT_EQ(text_from(wire, 7), wire);
  EXPECT_EQ(text_from(wire, 10), events(10, 12, 3));
  EXPECT_EQ(text_from(wire, 13), "");
  EXPECT_EQ(text_from("id: 1\ndata: torn", 2), "");
}

}  // namespace
