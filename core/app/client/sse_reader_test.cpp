#include "core/app/client/sse_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ry::app::client {
namespace {

using seen = std::vector<std::pair<std::string, std::string>>;

seen read(std::string_view text, std::size_t step) {
  sse_reader reader;
  seen out;
  for (std::size_t i = 0; i < text.size(); i += step)
    EXPECT_TRUE(reader.feed(text.substr(i, step), [&](const sse_event& e) { out.emplace_back(e.id, e.data); }));
  return out;
}

TEST(sse_reader, any_cutting_gives_the_same_events) {
  const std::string text =
      "\xEF\xBB\xBF"
      "retry: 50\n\nid: 1\ndata: {\"a\": 1}\n\n: note\n\nid: 2\r\ndata: x\r\ndata: y\r\n\r\n"
      "data:no space\rdata:  two\r\rdata\n\nid\ndata: z\n\nid: 9\ndata: unfinished\n";
  const seen want{{"1", "{\"a\": 1}"}, {"2", "x\ny"}, {"2", "no space\n two"}, {"", "z"}};
  for (std::size_t step = 1; step <= text.size(); ++step) EXPECT_EQ(read(text, step), want) << step;
}

TEST(sse_reader, an_id_counts_only_with_its_finished_event) {
  sse_reader reader;
  const auto ignore = [](const sse_event&) {};
  reader.feed("id: 7\ndata: a\n\nid: 8\ndata: b", ignore);
  EXPECT_EQ(reader.last_id(), "7");
  reader.reconnect();
  seen out;
  reader.feed("data: c\n\n", [&](const sse_event& e) { out.emplace_back(e.id, e.data); });
  EXPECT_EQ(out, (seen{{"7", "c"}})) << "the half event before the cut is gone";
}

TEST(sse_reader, retry) {
  sse_reader reader;
  const auto ignore = [](const sse_event&) {};
  EXPECT_EQ(reader.retry_ms(), -1);
  reader.feed("retry: 1500\nretry: soon\nretry: -5\nretry: 99999999999999\n", ignore);
  EXPECT_EQ(reader.retry_ms(), 1500);
}

TEST(sse_reader, a_huge_event_is_refused) {
  sse_reader reader;
  const auto ignore = [](const sse_event&) {};
  const std::string block(1024 * 1024, 'x');
  std::size_t fed = 0;
  while (fed <= sse_reader::max_event && reader.feed(block, ignore)) fed += block.size();
  EXPECT_LE(fed, sse_reader::max_event);
}

}  // namespace
}  // namespace ry::app::client
