#include <ry/cpp/sse_parser.hpp>

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using ry::sse_parser;
using testing::ElementsAre;

struct read {
  std::vector<std::string> events;
  bool fits = true;
};

read in_pieces(sse_parser& r, std::string_view bytes, std::size_t piece) {
  read out;
  for (std::size_t at = 0; at < bytes.size() && out.fits; at += piece) {
    out.fits = r.feed(bytes.substr(at, piece), [&](std::string_view name, std::string_view data) {
      out.events.push_back(std::string(name) + "=" + std::string(data));
    });
  }
  return out;
}

TEST(sse_parser, reads_any_line_end_in_any_pieces) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string e = end;
    const std::string text = "\xef\xbb\xbf: hello" + e + "id: 1" + e + "data:" + e + e + "event: endpoint" + e +
                             "data: /m" + e + e + "data:a" + e + "data: b\xc3\xa9" + e + "id:2" + e + e + "retry: 250" +
                             e + e + "data: lost";
    for (std::size_t piece = 1; piece < 9; ++piece) {
      sse_parser r(1000);
      const auto got = in_pieces(r, text, piece);
      EXPECT_TRUE(got.fits);
      EXPECT_THAT(got.events, ElementsAre("endpoint=/m", "=a\nb\xc3\xa9"));
      EXPECT_EQ(r.last_id(), "2");
      EXPECT_EQ(r.retry_ms(), 250u);
    }
  }
}

TEST(sse_parser, mixed_line_ends_may_be_split_anywhere) {
  for (const char* text : {"data: a\r\n\n", "data: a\n\r\n", "data: a\r\r\n"})
    for (std::size_t piece = 1; piece < 12; ++piece) {
      sse_parser r(1000);
      EXPECT_THAT(in_pieces(r, text, piece).events, ElementsAre("=a")) << piece;
    }
}

TEST(sse_parser, memory_is_bounded) {
  sse_parser line(100);
  EXPECT_FALSE(in_pieces(line, std::string(1000, 'x'), 7).fits);
  sse_parser lines(100);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "data: 0123456789\n";
  EXPECT_FALSE(in_pieces(lines, many, 64).fits);
  sse_parser events(100);
  std::string small;
  for (int i = 0; i < 100; ++i) small += "data: 0123456789\n\n";
  EXPECT_EQ(in_pieces(events, small, 64).events.size(), 100u);
}

TEST(sse_parser, the_limit_does_not_depend_on_how_the_bytes_are_split) {
  for (const std::string& text :
       {": " + std::string(200, 'c') + "\ndata: a\n\n", "data: " + std::string(95, 'x') + "\n\n"}) {
    sse_parser whole(100), pieces(100);
    EXPECT_FALSE(in_pieces(whole, text, text.size()).fits);
    EXPECT_FALSE(in_pieces(pieces, text, 7).fits);
  }
  sse_parser fits(100);
  EXPECT_TRUE(in_pieces(fits, "data: " + std::string(94, 'x') + "\n\n", 200).fits);
}

TEST(sse_parser, a_new_stream_drops_an_incomplete_event) {
  sse_parser r(1000);
  in_pieces(r, "id: 8\ndata: whole\n\nid: 9\ndata: half", 100);
  r.restart();
  EXPECT_EQ(r.last_id(), "8");
  EXPECT_THAT(in_pieces(r, "data: whole\n\n", 100).events, ElementsAre("=whole"));
  EXPECT_EQ(r.last_id(), "8");
}

TEST(sse_parser, an_id_takes_effect_at_the_end_of_its_event) {
  sse_parser r(1000);
  std::vector<std::string> ids;
  for (const char* line : {"id: 1\n", "id: 2\n", "data: a\n", "\n", "data: b\n", "\n", "id: 3\n", "\n", "id\n", "\n"}) {
    in_pieces(r, line, 100);
    ids.push_back(r.last_id());
  }
  EXPECT_THAT(ids, ElementsAre("", "", "", "2", "2", "2", "2", "3", "3", ""));
}

TEST(sse_parser, an_id_that_no_header_can_contain_is_ignored) {
  sse_parser r(1000);
  in_pieces(r, std::string("id: 7\ndata: a\n\nid: 8\x01\ndata: b\n\nid: 9\x7f\ndata: c\n\nid: 1\0\ndata: d\n\n", 51),
            100);
  EXPECT_EQ(r.last_id(), "7");
}

using seen = std::vector<std::pair<std::string, std::string>>;

// Each event with the last id so far.
seen read_with_ids(sse_parser& p, std::string_view text, std::size_t piece) {
  seen out;
  for (std::size_t at = 0; at < text.size(); at += piece)
    EXPECT_TRUE(p.feed(text.substr(at, piece),
                       [&](std::string_view, std::string_view data) { out.emplace_back(p.last_id(), data); }));
  return out;
}

TEST(sse_parser, any_split_gives_the_same_events) {
  const std::string text =
      "\xEF\xBB\xBF"
      "retry: 50\n\nid: 1\ndata: {\"a\": 1}\n\n: note\n\nid: 2\r\ndata: x\r\ndata: y\r\n\r\n"
      "data:no space\rdata:  two\r\rdata\n\nid\ndata: z\n\nid: 9\ndata: unfinished\n";
  const seen want{{"1", "{\"a\": 1}"}, {"2", "x\ny"}, {"2", "no space\n two"}, {"", "z"}};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    sse_parser p(1000);
    EXPECT_EQ(read_with_ids(p, text, piece), want) << piece;
  }
}

TEST(sse_parser, the_id_of_an_incomplete_event_is_ignored) {
  sse_parser p(1000);
  read_with_ids(p, "id: 7\ndata: a\n\nid: 8\ndata: b", 100);
  EXPECT_EQ(p.last_id(), "7");
  p.restart();
  EXPECT_EQ(read_with_ids(p, "data: c\n\n", 100), (seen{{"7", "c"}})) << "restart() drops the partial event";
}

TEST(sse_parser, malformed_reconnection_times_are_ignored) {
  sse_parser p(1000);
  EXPECT_EQ(p.retry_ms(), std::nullopt);
  read_with_ids(p, "retry: 1500\nretry: soon\nretry: -5\nretry: 99999999999999999999999\n", 100);
  EXPECT_EQ(p.retry_ms(), 1500u);
}

}  // namespace
