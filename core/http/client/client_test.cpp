#include "core/http/client/client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "core/http/client/test_client.hpp"
#include "core/http/client/test_server.hpp"

namespace {

using namespace ry::http::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(client, sends_a_request_and_streams_the_response) {
  std::string seen;
  server s([&](peer& p) {
    seen = p.request();
    p.send("HTTP/1.1 201 Created\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 50; ++i) p.send("3\r\nabc\r\n");
    p.send("0\r\nX-T: u\r\n\r\n");
    p.closed_within(2000);
  });
  client_fixture w;
  const auto a = w.run(
      {.method = "POST",
       .url = s.url("/x?y"),
       .body = "hello",
       .headers = {
           {"X-Q", "1"}, {"host", "evil"}, {"Content-Length", "999"}, {"Connection", "close"}, {"User-Agent", "me"}}});
  EXPECT_EQ(a->status, RY_OK) << a->message;
  EXPECT_EQ(a->http, 201u);
  EXPECT_EQ(a->heads, 1);
  EXPECT_EQ(a->dones, 1);
  EXPECT_FALSE(a->wrong_thread);
  EXPECT_EQ(a->body.size(), 150u);
  EXPECT_EQ(a->peer, "127.0.0.1");
  EXPECT_EQ(a->url, s.url("/x?y"));
  EXPECT_EQ(seen, "POST /x?y HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(s.port) +
                      "\r\nX-Q: 1\r\nUser-Agent: me\r\nAccept: */*\r\nContent-Length: "
                      "5\r\n\r\nhello");
  for (const auto& [n, v] : a->headers) EXPECT_NE(n, "X-T");
}

TEST(client, reuses_a_connection_only_within_its_key) {
  server s([](peer& p) {
    while (!p.request().empty()) p.send(ok);
  });
  client_fixture w;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 1);
  EXPECT_EQ(w.run({.url = s.url(), .pool_key = "other"})->body, "ok");
  EXPECT_EQ(s.connections, 2);
  EXPECT_EQ(w.run({.url = s.url(), .flags = RY_CLIENT_FRESH_CONNECTION})->body, "ok");
  EXPECT_EQ(s.connections, 3);
  EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 3);
  EXPECT_EQ(w.http.stats().connections_reused, 5u);
}

TEST(client, idle_connections_of_a_key_can_be_dropped) {
  server s([](peer& p) {
    while (!p.request().empty()) p.send(ok);
  });
  client_fixture w;
  EXPECT_EQ(w.run({.url = s.url(), .pool_key = "mine"})->body, "ok");
  EXPECT_EQ(w.run({.url = s.url(), .pool_key = "not mine"})->body, "ok");
  EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 3);
  w.drop_idle("mine");
  EXPECT_EQ(w.run({.url = s.url(), .pool_key = "mine"})->body, "ok");
  EXPECT_EQ(s.connections, 4);
  EXPECT_EQ(w.run({.url = s.url(), .pool_key = "not mine"})->body, "ok");
  EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 4);
  EXPECT_EQ(w.run({.url = s.url(), .flags = RY_CLIENT_LAST})->body, "ok");
  EXPECT_EQ(s.connections, 4);
  EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 5);
}

TEST(client, does_not_reuse_a_connection_with_excess_data) {
  server s([](peer& p) {
    p.request();
    p.send(p.number == 0 ? "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
                         : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n");
    p.closed_within(1000);
  });
  client_fixture w;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(w.run({.url = s.url()})->body, "ok");
  EXPECT_EQ(s.connections, 3);
}

TEST(client, retries_a_stale_connection_only_when_it_is_safe) {
  // The peer answers once and closes after it received the second request, which may have been executed.
  server s([](peer& p) {
    p.request();
    p.send(ok);
    p.request();
  });
  client_fixture w;
  EXPECT_EQ(w.run({.url = s.url()})->status, RY_OK);
  EXPECT_EQ(w.run({.url = s.url()})->status, RY_OK);
  EXPECT_EQ(w.http.stats().retries, 1u);
  EXPECT_EQ(s.connections, 2);
  const auto a = w.run({.method = "POST", .url = s.url(), .body = "x"});
  EXPECT_EQ(a->status, RY_UNAVAILABLE);
  EXPECT_EQ(a->reason, "http_client.reset");
  EXPECT_EQ(s.connections, 2);
}

TEST(client, a_repeatable_post_is_retried_when_a_pooled_connection_breaks) {
  server s([](peer& p) {
    p.request();
    p.send(ok);
    p.request();
  });
  client_fixture w;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(w.run({.method = "POST", .url = s.url(), .body = "x", .flags = RY_CLIENT_REPEATABLE})->status, RY_OK);
  EXPECT_EQ(w.http.stats().retries, 2u);
  EXPECT_EQ(s.connections, 3);
}

TEST(client, detects_a_connection_that_closed_while_idle) {
  server s([](peer& p) {
    p.request();
    p.send(ok);
  });
  client_fixture w;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(w.run({.method = "POST", .url = s.url(), .body = "x"})->status, RY_OK);
    std::this_thread::sleep_for(milliseconds(30));
  }
}

TEST(client, closes_idle_connections_in_time) {
  std::atomic<bool> closed{false};
  server s([&](peer& p) {
    p.request();
    p.send(ok);
    closed = p.closed_within(4000);
  });
  ry::http::client_settings settings{ry::http::address_guard::off};
  settings.idle_limits.idle = milliseconds(100);
  client_fixture w(settings);
  EXPECT_EQ(w.run({.url = s.url()})->status, RY_OK);
  for (int i = 0; i < 300 && !closed; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(closed);
}

TEST(client, reports_protocol_violations_of_servers) {
  const struct {
    const char* answer;
    ry_status status;
    const char* reason;
  } rows[] = {
      {"", RY_UNAVAILABLE, "http_client.reset"},
      {"garbage", RY_DATA_LOSS, "http_client.malformed"},
      {"HTTP/1.1 200 OK\r\nContent-Le", RY_DATA_LOSS, "http_client.truncated"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", RY_DATA_LOSS, "http_client.truncated"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", RY_DATA_LOSS, "http_client.truncated"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", RY_DATA_LOSS, "http_client.malformed"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", RY_DATA_LOSS, "http_client.malformed"},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", RY_OK, ""},
  };
  for (const auto& row : rows) {
    server s([&](peer& p) {
      p.request();
      p.send(row.answer);
    });
    client_fixture w;
    const auto a = w.run({.url = s.url()});
    EXPECT_EQ(a->status, row.status) << row.answer;
    EXPECT_EQ(a->reason, row.reason) << row.answer;
    EXPECT_EQ(a->dones, 1);
  }
}

TEST(client, fails_on_an_endless_response_head) {
  for (const char* piece : {"HTTP/1.1 100 Continue\r\n\r\n", "X-Y: 0123456789\r\n"}) {
    server s([&](peer& p) {
      p.request();
      if (piece[0] == 'X') p.send("HTTP/1.1 200 OK\r\n");
      while (p.send(piece)) {
      }
    });
    client_fixture w;
    const auto a = w.run({.url = s.url()});
    EXPECT_EQ(a->reason, "http_client.malformed");
  }
}

TEST(client, limits_the_size_of_a_response) {
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\n\r\n");
    while (p.send(std::string(10000, 'x'))) {
    }
  });
  client_fixture w;
  const auto a = w.run({.url = s.url(), .max = 50'000});
  EXPECT_EQ(a->status, RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(a->reason, "http_client.too_large");
  EXPECT_LE(a->body.size(), 50'000u);
}

TEST(client, deadlines_are_enforced) {
  server silent([](peer& p) { p.closed_within(5000); });
  server trickle([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\n\r\n");
    while (p.send("x")) std::this_thread::sleep_for(milliseconds(20));
  });
  client_fixture w;
  auto begin = steady_clock::now();
  auto a = w.run({.url = silent.url(), .idle_ms = 150});
  EXPECT_EQ(a->status, RY_DEADLINE_EXCEEDED);
  EXPECT_EQ(a->reason, "http_client.idle_timeout");
  EXPECT_LT(a->ended - begin, milliseconds(3000));
  begin = steady_clock::now();
  a = w.run({.url = trickle.url(), .idle_ms = 1000, .total_ms = 300});
  EXPECT_EQ(a->reason, "http_client.total_timeout");
  EXPECT_GE(a->ended - begin, milliseconds(300));
  EXPECT_LT(a->ended - begin, milliseconds(3000));
  EXPECT_GT(a->body.size(), 3u);
}

TEST(client, received_data_extends_the_idle_deadline) {
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
    for (int i = 0; i < 8; ++i) {
      std::this_thread::sleep_for(milliseconds(60));
      p.send("x");
    }
    p.closed_within(1000);
  });
  client_fixture w;
  EXPECT_EQ(w.run({.url = s.url(), .idle_ms = 250})->status, RY_OK);
}

TEST(client, cancel_closes_the_connection_before_it_ends) {
  std::atomic<int> closed_after{-1};
  server s([&](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\n\r\nx");
    if (p.closed_within(3000)) closed_after = 1;
  });
  client_fixture w;
  auto a = w.start({.url = s.url()});
  ASSERT_TRUE(a->wait_body(1));
  w.ops.cancel(a->op);
  ASSERT_TRUE(a->wait(1000));
  EXPECT_EQ(a->status, RY_CANCELLED);
  for (int i = 0; i < 100 && closed_after < 0; ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(closed_after, 1);
  w.ops.cancel(a->op);
  EXPECT_EQ(a->dones, 1);
}

TEST(client, stop_cancels_all_requests) {
  server s([](peer& p) { p.closed_within(5000); });
  client_fixture w({ry::http::address_guard::off}, 2);
  std::vector<std::shared_ptr<answer>> all;
  for (int i = 0; i < 20; ++i) all.push_back(w.start({.url = s.url()}, i % 2));
  w.http.stop();
  for (auto& a : all) {
    ASSERT_TRUE(a->wait(2000));
    EXPECT_TRUE(a->status == RY_CANCELLED || a->status == RY_UNAVAILABLE);
  }
  EXPECT_EQ(w.start({.url = s.url()})->status, RY_UNAVAILABLE);
}

TEST(client, pause_stops_reading_and_resume_continues) {
  constexpr std::size_t size = 8 << 20;
  std::atomic<std::size_t> sent{0};
  server s([&](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    const std::string block(65536, 'x');
    for (std::size_t n = 0; n < size && p.send(block); n += block.size()) sent += block.size();
    p.closed_within(2000);
  });
  client_fixture w;
  std::atomic<bool> pausing{true};
  auto a = w.start({.url = s.url(), .idle_ms = 400, .on_data = [&](std::string_view) -> ry_status {
                      return pausing ? RY_RESOURCE_EXHAUSTED : RY_OK;
                    }});
  ASSERT_TRUE(a->wait_body(1));
  std::this_thread::sleep_for(milliseconds(600));  // longer than the idle timeout, which does not apply while paused
  EXPECT_LT(sent, size);
  const auto seen = a->size();
  EXPECT_LE(seen, 128u * 1024);
  EXPECT_FALSE(a->done);
  w.resume(*a);
  ASSERT_TRUE(a->wait_body(seen + 1));
  pausing = false;
  w.resume(*a);
  ASSERT_TRUE(a->wait());
  EXPECT_EQ(a->status, RY_OK) << a->message;
  EXPECT_EQ(a->body.size(), size);
}

TEST(client, a_pause_on_the_last_piece_delays_the_completion) {
  server s([](peer& p) {
    while (!p.request().empty()) p.send(ok);
  });
  client_fixture w;
  auto a = w.start({.url = s.url(), .on_data = [](std::string_view) -> ry_status { return RY_RESOURCE_EXHAUSTED; }});
  ASSERT_TRUE(a->wait_body(2));
  EXPECT_FALSE(a->wait(100));
  w.resume(*a);
  ASSERT_TRUE(a->wait(1000));
  EXPECT_EQ(a->status, RY_OK);
}

TEST(client, the_receiver_can_abort) {
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\n\r\nx");
    p.closed_within(2000);
  });
  client_fixture w;
  const auto a = w.run({.url = s.url(), .on_data = [](std::string_view) -> ry_status { return RY_DATA_LOSS; }});
  EXPECT_EQ(a->status, RY_DATA_LOSS);
}

TEST(client, an_early_response_to_a_large_body_is_delivered) {
  server s([](peer& p) {
    p.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
    p.closed_within(300);
  });
  client_fixture w;
  const auto a = w.run({.method = "POST", .url = s.url(), .body = std::string(20 << 20, 'x')});
  EXPECT_EQ(a->http, 413u);
  EXPECT_EQ(a->body, "big");
}

TEST(client, sends_large_bodies) {
  std::string seen;
  server s([&](peer& p) {
    seen = p.request();
    p.send(ok);
  });
  client_fixture w;
  const auto a = w.run({.method = "PUT", .url = s.url(), .body = std::string(5 << 20, 'y')});
  EXPECT_EQ(a->status, RY_OK);
  EXPECT_GT(seen.size(), std::size_t{5 << 20});
}

TEST(client, responses_to_head_and_empty_responses_are_complete) {
  server s([](peer& p) {
    for (std::string r = p.request(); !r.empty(); r = p.request())
      p.send(r[0] == 'H' ? "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" : "HTTP/1.1 204 No\r\n\r\n");
  });
  client_fixture w;
  EXPECT_EQ(w.run({.method = "HEAD", .url = s.url()})->status, RY_OK);
  EXPECT_EQ(w.run({.method = "DELETE", .url = s.url()})->http, 204u);
  EXPECT_EQ(s.connections, 1);
}

TEST(client, follows_redirects_on_the_same_host_only) {
  server other([](peer& p) {
    p.request();
    p.send(ok);
  });
  std::vector<std::string> seen;
  server s([&](peer& p) {
    for (std::string r = p.request(); !r.empty(); r = p.request()) {
      seen.push_back(r.substr(0, r.find(" HTTP")));
      const auto go = [&](const std::string& status, const std::string& to) {
        p.send("HTTP/1.1 " + status + " Moved\r\nLocation: " + to + "\r\nContent-Length: 4\r\n\r\ngone");
      };
      if (r.starts_with("GET /a "))
        go("302", "b?x");
      else if (r.starts_with("GET /loop "))
        go("302", "/loop");
      else if (r.starts_with("GET /away "))
        go("302", other.url());
      else if (r.starts_with("POST /post307 "))
        go("307", "/b");
      else if (r.starts_with("POST /post302 "))
        go("302", "/b");
      else
        p.send(ok);
    }
  });
  client_fixture w;
  auto a = w.run({.url = s.url("/a"), .flags = RY_CLIENT_FOLLOW_REDIRECTS});
  EXPECT_EQ(a->http, 200u);
  EXPECT_EQ(a->body, "ok");
  EXPECT_EQ(a->heads, 1);
  EXPECT_EQ(a->url, s.url("/b?x"));
  EXPECT_EQ(w.run({.url = s.url("/a")})->http, 302u);
  EXPECT_EQ(w.run({.url = s.url("/away"), .flags = RY_CLIENT_FOLLOW_REDIRECTS})->http, 302u);
  EXPECT_EQ(other.connections, 0);
  seen.clear();
  EXPECT_EQ(w.run({.url = s.url("/loop"), .flags = RY_CLIENT_FOLLOW_REDIRECTS})->http, 302u);
  EXPECT_EQ(seen.size(), 6u);
  seen.clear();
  a = w.run({.method = "POST", .url = s.url("/post307"), .body = "data", .flags = RY_CLIENT_FOLLOW_REDIRECTS});
  EXPECT_EQ(a->http, 200u);
  EXPECT_THAT(seen, testing::ElementsAre("POST /post307", "POST /b"));
  EXPECT_EQ(
      w.run({.method = "POST", .url = s.url("/post302"), .body = "data", .flags = RY_CLIENT_FOLLOW_REDIRECTS})->http,
      302u);
}

TEST(client, rejects_requests_that_cannot_be_sent) {
  client_fixture w;
  EXPECT_EQ(w.run({.url = "ftp://h/"})->reason, "http_client.url");
  EXPECT_EQ(w.run({.method = "CONNECT", .url = "http://h/"})->reason, "http_client.request");
  EXPECT_EQ(w.run({.method = "G T", .url = "http://h/"})->status, RY_INVALID_ARGUMENT);
  auto a = w.run({.url = "http://h/", .headers = {{"X", "a\r\nY: b"}}});
  EXPECT_EQ(a->reason, "http_client.request");
  EXPECT_THAT(a->message, HasSubstr("X"));
  EXPECT_EQ(w.run({.url = "http://h/", .headers = {{"X Y", "a"}}})->status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(ry::http::http_client_v1().request(&w.host, &w.loops.at(0), nullptr, nullptr, nullptr, nullptr),
            RY_INVALID_ARGUMENT);
}

TEST(client, reports_a_refused_connection) {
  std::uint16_t port;
  {
    port = server([](peer&) {}).port;
  }
  client_fixture w;
  const auto a = w.run({.url = "http://127.0.0.1:" + std::to_string(port) + "/"});
  EXPECT_EQ(a->status, RY_UNAVAILABLE);
  EXPECT_EQ(a->reason, "http_client.connect");
}

TEST(client, serves_many_concurrent_streams) {
  constexpr int streams = 200, chunks = 50;
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < chunks; ++i) p.send("14\r\n0123456789abcdefghij\r\n");
    p.send("0\r\n\r\n");
    p.closed_within(5000);
  });
  client_fixture w({ry::http::address_guard::off}, 2);
  std::vector<std::shared_ptr<answer>> all;
  for (int i = 0; i < streams; ++i) all.push_back(w.start({.url = s.url(), .idle_ms = 20'000}, i % 2));
  for (auto& a : all) {
    ASSERT_TRUE(a->wait(20'000));
    EXPECT_EQ(a->status, RY_OK) << a->message;
    EXPECT_EQ(a->body.size(), 20u * chunks);
    EXPECT_FALSE(a->wrong_thread);
  }
  // The client releases the module after the last callback of the receiver.
  for (int i = 0; i < 1000 && w.host.outstanding > 0; ++i) std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(w.host.outstanding, 0);
  EXPECT_EQ(w.http.stats().active, 0);
}

TEST(client, fetch_buffers_a_response) {
  server s([](peer& p) {
    p.request();
    p.send(ok);
  });
  client_fixture w;
  const auto get = [&](const std::string& url) {
    std::promise<ry::http::fetch_result> promise;
    w.http.fetch(&w.loops.at(0), {.url = url}, [&](ry::http::fetch_result r) { promise.set_value(std::move(r)); });
    return promise.get_future().get();
  };
  const auto r = get(s.url());
  EXPECT_EQ(r.error.status, RY_OK);
  EXPECT_EQ(r.status, 200u);
  EXPECT_EQ(r.body, "ok");
  EXPECT_EQ(get("nonsense").error.reason, "http_client.url");
  w.http.stop();
  EXPECT_EQ(get(s.url()).error.status, RY_UNAVAILABLE);
}

}  // namespace
