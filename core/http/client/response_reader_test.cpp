#include "core/http/client/response_reader.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using ry::http::response_reader;
using outcome = response_reader::outcome;

struct reading {
  outcome last = outcome::more;
  unsigned status = 0;
  bool keep_alive = false;
  std::string body;
  std::size_t unused = 0;
  std::string problem;
};

// Feeds `text` in pieces of `step` bytes, each in a separate buffer so that sanitizers detect overruns.
reading read(std::string_view text, std::size_t step,
             response_reader::body_rule rule = response_reader::body_rule::normal, bool close = false) {
  response_reader r(rule);
  reading out;
  for (std::size_t at = 0; at < text.size() && out.last == outcome::more; at += step) {
    std::vector<char> piece(text.begin() + at, text.begin() + std::min(text.size(), at + step));
    response_reader::piece got;
    out.last = r.feed(piece, got);
    if (got.head) {
      out.status = r.head().status;
      out.keep_alive = r.head().keep_alive;
    }
    out.body += got.body;
    out.unused = got.unused;
  }
  if (out.last == outcome::more && close) out.last = r.eof();
  out.problem = r.problem();
  return out;
}

TEST(response_reader, reads_each_framing_at_every_split) {
  const struct {
    const char* text;
    const char* body;
    bool close;
    bool keep_alive;
  } rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", false, true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", false, true},
      {"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "", false, true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "hello", false, false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9;x=\"y\"\r\n, "
       "world!!\r\n0\r\n\r\n",
       "hello, world!!", false, true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "", false, true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nContent-Length: "
       "9\r\nX: y\r\n\r\n",
       "x", false, true},
      {"HTTP/1.0 200 OK\r\n\r\nto the end", "to the end", true, false},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 "
       "OK\r\nContent-Length: 2\r\n\r\nok",
       "ok", false, true},
      {"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "", false, true},
      {"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "", false, true},
  };
  for (const auto& row : rows) {
    const std::string_view text = row.text;
    for (std::size_t step = 1; step <= text.size(); ++step) {
      const auto r = read(text, step, response_reader::body_rule::normal, row.close);
      ASSERT_EQ(r.last, outcome::done) << row.text << " step " << step << " " << r.problem;
      ASSERT_EQ(r.body, row.body) << row.text << " step " << step;
      ASSERT_EQ(r.keep_alive, row.keep_alive) << row.text;
      ASSERT_EQ(r.unused, 0u);
    }
  }
}

TEST(response_reader, keeps_fields_and_reports_remaining_bytes) {
  response_reader r;
  std::string text = "HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nX-A:  v \r\nContent-Length: 1\r\n\r\nxHTTP";
  response_reader::piece got;
  EXPECT_EQ(r.feed(text, got), outcome::done);
  EXPECT_EQ(got.unused, 4u);
  EXPECT_EQ(got.body, "x");
  EXPECT_EQ(r.head().status, 429u);
  EXPECT_EQ(r.head().find("retry-after"), "7");
  EXPECT_EQ(r.head().find("x-a"), "v");
  EXPECT_EQ(r.head().find("x-b"), "");
}

TEST(response_reader, response_to_head_has_no_body) {
  const auto r = read("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 7, response_reader::body_rule::head_only);
  EXPECT_EQ(r.last, outcome::done);
}

TEST(response_reader, rejects_hostile_responses) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string many = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 600; ++i) many += "a: b\r\n";
  std::string interim;
  for (int i = 0; i < 40; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string rows[] = {
      "garbage",
      "SSH-2.0-OpenSSH_9.2\r\n",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.2 200 OK\r\n\r\n",
      "HTTP/1.1 2x0 OK\r\n\r\n",
      "HTTP/1.1 099 No\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n",
      std::string("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 28),
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      head + "g\r\n",
      head + "\r\n",
      head + "-1\r\n",
      head + "fffffffffffffffff\r\n",
      head + "1\nx\r\n",
      head + "1\r\nxy\r\n",
      head + "1\r\nx\n0\r\n\r\n",
      head + "1;" + std::string(5000, 'e') + "\r\n",
      head + "0\r\n" + std::string(20000, 't'),
      head + "0\r\nx: y\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + std::string(70000, 'x'),
      many + "\r\n",
      interim,
  };
  for (const auto& text : rows)
    for (std::size_t step : {text.size(), std::size_t{1}, std::size_t{3}}) {
      const auto r = read(text, step);
      EXPECT_EQ(r.last, outcome::malformed) << text.substr(0, 120) << " step " << step;
      EXPECT_FALSE(r.problem.empty()) << text.substr(0, 120);
    }
}

TEST(response_reader, a_truncated_response_is_not_complete) {
  for (const char* text : {"HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", "H"}) {
    const auto r = read(text, 5, response_reader::body_rule::normal, true);
    EXPECT_EQ(r.last, outcome::malformed) << text;
    EXPECT_TRUE(r.problem.empty()) << text;
  }
}

TEST(response_reader, the_largest_head_can_be_read_in_pieces) {
  const std::string begin = "HTTP/1.1 204 No Content\r\nX: ";
  for (const std::size_t more : {0u, 1u}) {
    const std::string text = begin + std::string(response_reader::max_head - begin.size() + more, 'x') + "\r\n\r\n";
    for (const std::size_t step : {text.size(), text.size() - 1, text.size() - 3, text.size() - 4})
      EXPECT_EQ(read(text, step, response_reader::body_rule::normal, true).last,
                more == 0 ? outcome::done : outcome::malformed)
          << step;
  }
}

TEST(response_reader, survives_mutations) {
  const std::string seed =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: "
      "y\r\n\r\n5;a=b\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nT: v\r\n\r\n";
  std::mt19937 rng(7);
  for (int i = 0; i < 20000; ++i) {
    std::string text = seed;
    for (int k = 0; k < 3; ++k) {
      const auto at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text.erase(at, 1 + rng() % 4);
          break;
        default:
          text.insert(at, 1, "\r\n0:; \0f"[rng() % 8]);
      }
      if (text.empty()) text = "H";
    }
    const auto r = read(text, 1 + rng() % 40, response_reader::body_rule::normal, true);
    EXPECT_NE(r.last, outcome::more);
    EXPECT_LE(r.body.size(), text.size());
  }
}

}  // namespace
