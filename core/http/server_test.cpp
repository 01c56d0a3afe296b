// Tests of requests and responses over real sockets.
#include <atomic>

#include "core/http/test_fixture.hpp"

namespace ry::http::test {
namespace {

struct basic : ::testing::Test {
  basic() { reset(server_fixture::defaults()); }
  void reset(settings s) {
    w = std::make_unique<server_fixture>(std::move(s));
    w->route("GET", "/hello", [](auto&, auto* r) { return reply(r, 200, "hi"); });
    w->route("POST", "/echo", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.body)); });
    w->route("GET", "/things/{id}/parts/{rest...}", [](auto& v, auto* r) {
      return reply(r, 200,
                   core::str(v.params[0].value) + "|" + core::str(v.params[1].value) + "|" + core::str(v.query) + "|" +
                       core::str(v.route));
    });
    w->route(
        "GET", "/mine",
        [](auto& v, auto* r) { return reply(r, 200, v.principal ? core::sv(v.principal->subject) : "anonymous"); }, 0);
    w->route(
        "GET", "/admin", [](auto&, auto* r) { return reply(r, 200, "ok"); }, RY_ROUTE_ADMIN);
    w->route("GET", "/open", [](auto& v, auto* r) {
      return reply(r, 200, v.principal ? core::sv(v.principal->subject) : "anonymous");
    });
    w->route(
        "GET", "/stream/{id}", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.query)); }, RY_ROUTE_QUERY_TOKEN);
    w->route("GET", "/throws", [](auto&, auto*) -> ry_status { return RY_INTERNAL; });
    w->route(
        "GET", "/never",
        [this](auto&, auto* r) {
          kept = r;
          return RY_OK;
        },
        RY_ROUTE_PUBLIC, 0, 300);
  }
  void start() { w->start(); }
  std::unique_ptr<server_fixture> w;
  std::atomic<ry_request*> kept{nullptr};
};

TEST_F(basic, responds_and_keeps_the_connection_alive) {
  start();
  client c(*w);
  for (int i = 0; i < 3; ++i) {
    const auto r = c.get("/hello");
    EXPECT_EQ(200, r.status);
    EXPECT_EQ("hi", r.body);
    EXPECT_EQ("2", r.header("Content-Length"));
    EXPECT_EQ(36u, r.header("X-Request-Id").size());
    EXPECT_EQ(29u, r.header("Date").size());
    EXPECT_EQ("", r.header("Connection"));
  }
  EXPECT_EQ(200, c.get("/hello", "Connection: close\r\n").status);
  EXPECT_TRUE(c.ends());
}

// A bound socket that does not listen reserves the port, and the kernel refuses clients instead of queueing them.
TEST(listener, holds_the_port_and_listens_later) {
  listener bound("127.0.0.1", 0);
  ASSERT_NE(0, bound.port());
  const auto connects = [port = bound.port()] {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool ok = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    ::close(fd);
    return ok;
  };
  EXPECT_FALSE(connects());
  server_fixture w;
  w.srv->publish({});
  const auto port = bound.port();
  w.srv->start(std::move(bound));
  EXPECT_EQ(port, w.srv->port());
  EXPECT_TRUE(connects());
  try {
    listener second("127.0.0.1", port);
    ADD_FAILURE() << "bound twice";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ("cannot listen on 127.0.0.1:" + std::to_string(port) + ": Address already in use", std::string(e.what()));
  }
  EXPECT_THROW(listener("localhost", 0), std::runtime_error);
  EXPECT_NE(0, listener("::1", 0).port());
}

TEST(listener, a_second_listener_on_the_same_port_fails) {
  listener one("127.0.0.1", 0);
  std::optional<listener> two;
  try {
    two.emplace("127.0.0.1", one.port());
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this system already rejects the second bind()";
  }
  server_fixture first, second;
  first.srv->start(std::move(one));
  EXPECT_THROW(second.srv->start(std::move(*two)), std::runtime_error);
}

TEST_F(basic, the_request_id_of_the_client_is_used) {
  start();
  client c(*w);
  EXPECT_EQ("abc-1", c.get("/hello", "X-Request-Id: abc-1\r\n").header("X-Request-Id"));
  EXPECT_EQ(36u, c.get("/hello", "X-Request-Id: a b\"<\r\n").header("X-Request-Id").size());
}

TEST_F(basic, matches_paths_and_parameters) {
  start();
  client c(*w);
  EXPECT_EQ("a b|x/y z|q=1&r|/things/{id}/parts/{rest...}", c.get("/things/a%20b/parts/x/y%20z?q=1&r").body);
  EXPECT_EQ(400, c.get("/things/a%00b/parts/x").status);
  EXPECT_EQ(400, c.get("/things/a%zz/parts/x").status);
  EXPECT_EQ(400, c.get("/things/../parts/x").status);
  EXPECT_EQ(400, c.get("/things/%2e%2E/parts/x").status);
  EXPECT_EQ(404, c.get("/things//parts/x").status);
  EXPECT_EQ("{\"detail\":\"Not Found\"}", c.get("/nothing").body);
  EXPECT_EQ("hi", c.get("http://example.org/hello").body);
  EXPECT_EQ("hi", c.get("/hello?x").body);
}

TEST_F(basic, handles_methods_and_head) {
  start();
  client c(*w);
  auto r = c.ask("DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(405, r.status);
  EXPECT_EQ("GET, HEAD, OPTIONS", r.header("Allow"));
  r = c.ask("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(200, r.status);
  EXPECT_EQ("2", r.header("Content-Length"));
  EXPECT_EQ("hi", c.get("/hello").body);
  r = c.ask("OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(204, r.status);
  EXPECT_EQ("OPTIONS, POST", r.header("Allow"));
  EXPECT_EQ(204, c.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").status);
}

TEST_F(basic, supports_http_1_0) {
  start();
  client c(*w);
  EXPECT_EQ("hi", c.ask("GET /hello HTTP/1.0\r\n\r\n").body);
  EXPECT_TRUE(c.ends());
  client k(*w);
  EXPECT_EQ("keep-alive", k.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").header("Connection"));
  EXPECT_EQ("hi", k.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").body);
}

TEST_F(basic, authenticates_requests) {
  start();
  client c(*w);
  auto r = c.get("/mine");
  EXPECT_EQ(401, r.status);
  EXPECT_EQ("{\"detail\":\"Not authenticated\"}", r.body);
  EXPECT_EQ("Bearer", r.header("WWW-Authenticate"));
  EXPECT_EQ(401, c.get("/mine", "Authorization: Bearer bad\r\n").status);
  EXPECT_EQ(401, c.get("/mine", "Authorization: Basic good\r\n").status);
  EXPECT_EQ("subject-1", c.get("/mine", "Authorization: bearer good\r\n").body);
  EXPECT_EQ("subject-1", c.get("/mine", "Authorization: Bearer later-good\r\n").body);
  EXPECT_EQ(401, c.get("/mine", "Authorization: Bearer later-bad\r\n").status);
  EXPECT_EQ(503, c.get("/mine", "Authorization: Bearer down\r\n").status);
  EXPECT_EQ(403, c.get("/admin", "Authorization: Bearer good\r\n").status);
  EXPECT_EQ(401, c.get("/admin").status);
  EXPECT_EQ(200, c.get("/admin", "Authorization: Bearer admin\r\n").status);
  EXPECT_EQ("anonymous", c.get("/open").body);
  EXPECT_EQ("anonymous", c.get("/open", "Authorization: Bearer bad\r\n").body);
  EXPECT_EQ("subject-1", c.get("/open", "Authorization: Bearer good\r\n").body);
}

TEST(authentication, times_out) {
  auto s = server_fixture::defaults();
  s.auth_timeout = std::chrono::milliseconds(100);
  server_fixture w(std::move(s));
  const auto who = [](auto& v, auto* r) {
    return reply(r, 200, v.principal ? core::sv(v.principal->subject) : "anonymous");
  };
  w.route("GET", "/mine", who, 0);
  w.route("GET", "/open", who);
  w.start();
  client c(w);
  auto r = c.get("/mine", "Authorization: Bearer slow-good\r\n");
  EXPECT_EQ(503, r.status);
  EXPECT_EQ("2", r.header("Retry-After"));
  EXPECT_EQ("anonymous", c.get("/open", "Authorization: Bearer slow-good\r\n").body);
  // The late verdicts arrive while the connection handles requests that do not wait for one.
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ("anonymous", c.get("/open").body);
    EXPECT_EQ(401, c.get("/mine").status);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ("subject-1", c.get("/mine", "Authorization: Bearer good\r\n").body);
}

TEST_F(basic, the_client_disconnects_during_authentication) {
  start();
  for (int i = 0; i < 20; ++i) {
    client c(*w);
    c.send("GET /mine HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer later-good\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    c.reset();
  }
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ("hi", client(*w).get("/hello").body);
}

TEST_F(basic, the_query_token_is_removed_from_the_query) {
  start();
  client c(*w);
  EXPECT_EQ("a=1&b=2", c.get("/stream/7?a=1&token=q-%2Fstream%2F7&b=2").body);
  EXPECT_EQ(401, c.get("/stream/7?token=q-/stream/8").status);
  EXPECT_EQ(401, c.get("/mine?token=q-/mine").status);
}

TEST_F(basic, reports_errors_and_timeouts) {
  start();
  client c(*w);
  auto r = c.get("/throws");
  EXPECT_EQ(500, r.status);
  EXPECT_EQ("{\"detail\":\"Internal server error\"}", r.body);
  r = c.get("/never");
  EXPECT_EQ(504, r.status);
  ASSERT_NE(nullptr, kept.load());
  // After the 504 the module may still complete the handle once, from any thread; completing it again fails.
  EXPECT_EQ(RY_OK, reply(kept, 200, "late"));
  EXPECT_EQ(RY_FAILED_PRECONDITION, reply(kept, 200, "later"));
  EXPECT_EQ("hi", c.get("/hello").body);
}

TEST_F(basic, a_second_response_is_rejected) {
  std::atomic<int> second{-1}, bad_header{-1}, stale{-1};
  std::atomic<ry_request*> old{nullptr};
  w->route("GET", "/twice", [&](auto&, auto* r) {
    const ry_header split{{"X-A", 3}, {"a\r\nX-B: 1", 9}};
    bad_header = api().respond(r, 200, &split, 1, {});
    if (old.load()) stale = reply(old, 200, "stale");
    reply(r, 200, "one");
    second = reply(r, 200, "two");
    old = r;
    return RY_OK;
  });
  start();
  client c(*w);
  EXPECT_EQ("one", c.get("/twice").body);
  EXPECT_EQ(RY_FAILED_PRECONDITION, second);
  EXPECT_EQ(RY_INVALID_ARGUMENT, bad_header);
  EXPECT_EQ("one", c.get("/twice").body);
  EXPECT_EQ(RY_FAILED_PRECONDITION, stale) << "the slot is reused, the old handle stays invalid";
  EXPECT_GE(w->host.violations.load(), 2u);
}

TEST_F(basic, invalid_arguments_are_rejected_or_replaced) {
  std::atomic<int> no_bytes{-1}, cut_path{-1}, no_path{-1}, no_header{-1};
  w->route("GET", "/broken", [&](auto&, auto* r) {
    no_bytes = api().respond(r, 200, nullptr, 0, {nullptr, 5});
    cut_path = api().respond_file(r, 200, nullptr, 0, {"/etc/hostname\0.txt", 18}, 0, UINT64_MAX);
    no_path = api().respond_file(r, 200, nullptr, 0, {nullptr, 5}, 0, UINT64_MAX);
    const ry_header header{{"X-A", 3}, {nullptr, 5}};
    no_header = api().respond(r, 200, &header, 1, {});
    return no_header == RY_OK ? RY_OK : reply(r, 200, "still open");
  });
  w->route("GET", "/fail/{n}", [](auto& v, auto* r) {
    const char* details[] = {R"({"a":1})", R"({"a":1)", "\"x\"}, {", "\xff", R"({"a":1} x)"};
    const auto* detail = details[core::sv(v.params[0].value)[0] - '0'];
    const ry_error_view e{
        sizeof(ry_error_view), RY_INVALID_ARGUMENT, {}, core::view("the message"), core::view(detail), 0, 0};
    return api().fail(r, &e);
  });
  start();
  client c(*w);
  c.get("/broken");
  EXPECT_EQ(RY_INVALID_ARGUMENT, no_bytes);
  EXPECT_EQ(RY_INVALID_ARGUMENT, cut_path);
  EXPECT_EQ(RY_INVALID_ARGUMENT, no_path);
  EXPECT_EQ(RY_INVALID_ARGUMENT, no_header);
  EXPECT_EQ("{\"detail\":{\"a\":1}}", c.get("/fail/0").body);
  for (const char* path : {"/fail/1", "/fail/2", "/fail/3", "/fail/4"})
    EXPECT_EQ("{\"detail\":\"the message\"}", c.get(path).body) << path;
}

TEST_F(basic, another_thread_may_respond) {
  w->route("GET", "/thread/{n}", [](auto& v, auto* r) {
    std::thread([r, n = core::str(v.params[0].value)] { reply(r, 200, n); }).detach();
    return RY_OK;
  });
  start();
  client c(*w);
  std::string all;
  for (int i = 0; i < 50; ++i) all += "GET /thread/" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  c.send(all);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(std::to_string(i), c.read().body);
}

TEST_F(basic, pipelines_more_requests_than_the_output_limit) {
  start();
  client c(*w);
  std::string all;
  for (int i = 0; i < 1500; ++i) all += "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";
  c.send(all);  // all requests arrive before the first answer is read
  for (int i = 0; i < 1500; ++i) ASSERT_EQ("hi", c.read().body) << i;
}

TEST_F(basic, answers_pipelined_requests_in_order) {
  start();
  client c(*w);
  std::string all;
  for (int i = 0; i < 500; ++i)
    all += i % 2 ? "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
                 : "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n" + std::to_string(100 + i % 900);
  std::thread sender([&] { c.send(all); });
  for (int i = 0; i < 500; ++i) ASSERT_EQ(i % 2 ? "hi" : std::to_string(100 + i % 900), c.read().body) << i;
  sender.join();
}

TEST_F(basic, reads_requests_byte_by_byte) {
  start();
  client c(*w);
  for (const char b : std::string("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n"
                                  "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"))
    c.send({&b, 1});
  EXPECT_EQ("abcde", c.read().body);
  EXPECT_EQ("hi", c.read().body);
}

TEST_F(basic, serves_pipelined_requests_before_a_half_close) {
  w->route("GET", "/slow", [](auto&, auto* r) {
    std::thread([r] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      reply(r, 200, "slow");
    }).detach();
    return RY_OK;
  });
  start();
  client c(*w);
  c.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  c.half_close();
  EXPECT_EQ("slow", c.read().body);
  EXPECT_EQ("hi", c.read().body);
  EXPECT_TRUE(c.ends());
}

TEST_F(basic, answers_cors_requests) {
  auto s = server_fixture::defaults();
  s.cors.origins = {"https://app.example"};
  reset(s);
  start();
  client c(*w);
  auto r = c.ask(
      "OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: https://app.example\r\n"
      "Access-Control-Request-Method: POST\r\n"
      "Access-Control-Request-Headers: authorization,content-type\r\n\r\n");
  EXPECT_EQ(204, r.status);
  EXPECT_EQ("https://app.example", r.header("Access-Control-Allow-Origin"));
  EXPECT_EQ("authorization,content-type", r.header("Access-Control-Allow-Headers"));
  EXPECT_NE(std::string::npos, r.header("Access-Control-Allow-Methods").find("POST"));
  r = c.get("/hello", "Origin: https://app.example\r\n");
  EXPECT_EQ("https://app.example", r.header("Access-Control-Allow-Origin"));
  EXPECT_EQ("Origin", r.header("Vary"));
  EXPECT_EQ("", c.get("/hello", "Origin: https://evil.example\r\n").header("Access-Control-Allow-Origin"));
  EXPECT_EQ(403, c.ask("OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\n"
                       "Access-Control-Request-Method: POST\r\n\r\n")
                     .status);
}

// A cross-origin page can read only the headers listed in Access-Control-Expose-Headers.
TEST_F(basic, cors_exposes_the_headers_of_the_host_and_of_the_route) {
  auto s = server_fixture::defaults();
  s.cors.origins = {"https://app.example"};
  reset(s);
  w->route("GET", "/replayed", [](auto&, auto* r) {
    const auto header = [](std::string_view name, std::string_view value) {
      return ry_header{core::view(name), core::view(value)};
    };
    return reply(r, 200, "hi",
                 {header("Idempotency-Replayed", "true"), header("ETag", "\"1\""), header("Cache-Control", "no-store"),
                  header("Set-Cookie", "a=b")});
  });
  start();
  client c(*w);
  const std::string of_host =
      "X-Request-Id, Retry-After, Server-Timing, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset";
  EXPECT_EQ(of_host, c.get("/hello", "Origin: https://app.example\r\n").header("Access-Control-Expose-Headers"));
  EXPECT_EQ(of_host + ", Idempotency-Replayed, ETag",
            c.get("/replayed", "Origin: https://app.example\r\n").header("Access-Control-Expose-Headers"));
  EXPECT_EQ(of_host, c.get("/nowhere", "Origin: https://app.example\r\n").header("Access-Control-Expose-Headers"))
      << "also for errors";
  EXPECT_EQ("", c.get("/hello", "Origin: https://evil.example\r\n").header("Access-Control-Expose-Headers"));
  EXPECT_EQ("", c.get("/hello").header("Access-Control-Expose-Headers"));
}

TEST_F(basic, host_routes_ignore_the_base_path) {
  auto s = server_fixture::defaults();
  s.base_path = "/api/";
  reset(s);
  w->srv->add_host_route({"GET", "/healthz", [](auto&) { return host_answer{200, "text/plain", "ok"}; }});
  w->srv->add_host_route({"GET", "/slowz",
                          [](auto& v) {
                            return host_answer{200, "text/plain", core::str(v.path)};
                          },
                          runs_on::blocking});
  start();
  client c(*w);
  EXPECT_EQ("hi", c.get("/api/hello").body);
  EXPECT_EQ(404, c.get("/hello").status);
  EXPECT_EQ(404, c.get("/apihello").status);
  EXPECT_EQ("ok", c.get("/healthz").body);
  EXPECT_EQ("/slowz", c.get("/slowz").body);
}

TEST_F(basic, duplicate_routes_are_rejected) {
  w->route("GET", "/things/{other}/parts/{x...}", [](auto&, auto* r) { return reply(r, 200, ""); });
  try {
    w->srv->publish(w->routes);
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("module \"fake\""));
  }
}

TEST_F(basic, routes_can_be_replaced_under_traffic) {
  start();
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0}, good{0};
  std::thread traffic([&] {
    client c(*w);
    while (!stop) {
      const auto r = c.get("/hello");
      ++(r.status == 200 && r.body == "hi" ? good : bad);
    }
  });
  for (int i = 0; i < 50; ++i) w->srv->publish(w->routes);
  EXPECT_TRUE(eventually([&] { return good > 50; }));
  stop = true;
  traffic.join();
  EXPECT_EQ(0, bad);
  w->srv->publish({});
  EXPECT_EQ(404, client(*w).get("/hello").status);
}

TEST_F(basic, trusts_configured_proxies) {
  for (const bool trusted : {false, true}) {
    auto s = server_fixture::defaults();
    if (trusted) s.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8"};
    reset(s);
    w->route("GET", "/remote", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.remote_address)); });
    start();
    client c(*w);
    EXPECT_EQ(trusted ? "203.0.113.9" : "127.0.0.1",
              c.get("/remote", "X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.2.3\r\n").body);
  }
}

TEST_F(basic, counts_requests_and_connections) {
  start();
  client c(*w);
  c.get("/hello");
  c.get("/hello");
  c.get("/nope");
  const auto s = w->srv->stats();
  EXPECT_EQ(1u, s.connections);
  EXPECT_EQ(3u, s.requests);
  EXPECT_GT(s.bytes_in, 0u);
  EXPECT_GT(s.bytes_out, 0u);
  bool seen = false;
  for (const auto& r : s.routes)
    if (r.pattern == "/hello") {
      seen = true;
      ASSERT_EQ(1u, r.by_status.size());
      EXPECT_EQ(200u, r.by_status[0].first);
      EXPECT_EQ(2u, r.by_status[0].second);
    }
  EXPECT_TRUE(seen);
}

TEST_F(basic, serves_many_concurrent_connections) {
  start();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        client c(*w);
        for (int k = 0; k < 20; ++k) good += c.get("/hello").status == 200;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(8 * 20 * 20, good);
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
}

}  // namespace
}  // namespace ry::http::test
