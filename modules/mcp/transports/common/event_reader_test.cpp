#include "event_reader.hpp"

#include <gmock/gmock.h>

namespace mcp_transport {
namespace {

using testing::ElementsAre;

struct read {
  std::vector<std::string> events;
  bool fits = true;
};

read in_pieces(event_reader& r, std::string_view bytes, std::size_t piece) {
  read out;
  for (std::size_t at = 0; at < bytes.size() && out.fits; at += piece) {
    out.fits = r.feed(bytes.substr(at, piece), [&](std::string_view name, std::string_view data) {
      out.events.push_back(std::string(name) + "=" + std::string(data));
    });
  }
  return out;
}

TEST(EventReader, ReadsAnyLineEndInAnyPieces) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const std::string e = end;
    const std::string text = "\xef\xbb\xbf: hello" + e + "id: 1" + e + "data:" + e + e + "event: endpoint" + e +
                             "data: /m" + e + e + "data:a" + e + "data: b\xc3\xa9" + e + "id:2" + e + e + "retry: 250" +
                             e + e + "data: lost";
    for (std::size_t piece = 1; piece < 9; ++piece) {
      event_reader r(1000);
      const auto got = in_pieces(r, text, piece);
      EXPECT_TRUE(got.fits);
      EXPECT_THAT(got.events, ElementsAre("endpoint=/m", "=a\nb\xc3\xa9"));
      EXPECT_EQ(r.last_id(), "2");
      EXPECT_EQ(r.retry_ms(), 250u);
    }
  }
}

TEST(EventReader, MixedLineEndsMayBeCutAnywhere) {
  for (const char* text : {"data: a\r\n\n", "data: a\n\r\n", "data: a\r\r\n"})
    for (std::size_t piece = 1; piece < 12; ++piece) {
      event_reader r(1000);
      EXPECT_THAT(in_pieces(r, text, piece).events, ElementsAre("=a")) << piece;
    }
}

TEST(EventReader, MemoryIsBounded) {
  event_reader line(100);
  EXPECT_FALSE(in_pieces(line, std::string(1000, 'x'), 7).fits);
  event_reader lines(100);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "data: 0123456789\n";
  EXPECT_FALSE(in_pieces(lines, many, 64).fits);
  event_reader events(100);
  std::string small;
  for (int i = 0; i < 100; ++i) small += "data: 0123456789\n\n";
  EXPECT_EQ(in_pieces(events, small, 64).events.size(), 100u);
}

TEST(EventReader, TheLimitIsTheSameHoweverTheBytesCome) {
  for (const std::string& text :
       {": " + std::string(200, 'c') + "\ndata: a\n\n", "data: " + std::string(95, 'x') + "\n\n"}) {
    event_reader whole(100), pieces(100);
    EXPECT_FALSE(in_pieces(whole, text, text.size()).fits);
    EXPECT_FALSE(in_pieces(pieces, text, 7).fits);
  }
  event_reader fits(100);
  EXPECT_TRUE(in_pieces(fits, "data: " + std::string(94, 'x') + "\n\n", 200).fits);
}

TEST(EventReader, ANewStreamDropsWhatWasIncomplete) {
  event_reader r(1000);
  in_pieces(r, "id: 8\ndata: whole\n\nid: 9\ndata: half", 100);
  r.restart();
  EXPECT_EQ(r.last_id(), "8");
  EXPECT_THAT(in_pieces(r, "data: whole\n\n", 100).events, ElementsAre("=whole"));
  EXPECT_EQ(r.last_id(), "8");
}

TEST(EventReader, AnIdCountsFromTheEndOfItsEvent) {
  event_reader r(1000);
  std::vector<std::string> ids;
  for (const char* line : {"id: 1\n", "id: 2\n", "data: a\n", "\n", "data: b\n", "\n", "id: 3\n", "\n", "id\n", "\n"}) {
    in_pieces(r, line, 100);
    ids.push_back(r.last_id());
  }
  EXPECT_THAT(ids, ElementsAre("", "", "", "2", "2", "2", "2", "3", "3", ""));
}

TEST(EventReader, AnIdThatNoHeaderCanHoldIsNone) {
  event_reader r(1000);
  in_pieces(r, std::string("id: 7\ndata: a\n\nid: 8\x01\ndata: b\n\nid: 9\x7f\ndata: c\n\nid: 1\0\ndata: d\n\n", 51),
            100);
  EXPECT_EQ(r.last_id(), "7");
}

}  // namespace
}  // namespace mcp_transport
