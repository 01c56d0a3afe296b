// Tests of streams, files, drain and TLS.
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <mutex>
#include <random>

#include "core/http/test_streams.hpp"

namespace ry::http::test {
namespace {

TEST_F(streams, chunked_streams_keep_the_connection_alive) {
  make();
  w->route("GET", "/count", [](auto&, auto* r) {
    auto* st = open(r);
    for (int i = 0; i < 5; ++i) write(st, "data: " + std::to_string(i) + "\n\n");
    api().stream_close(st);
    return RY_OK;
  });
  w->start();
  client c(*w);
  for (int i = 0; i < 3; ++i) {
    const auto r = c.get("/count");
    EXPECT_EQ("text/event-stream", r.header("Content-Type"));
    EXPECT_EQ("data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n", r.body);
  }
  EXPECT_EQ("hi", c.get("/hello").body);
  c.send("HEAD /count HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(200, c.read(true).status);
  EXPECT_EQ("hi", c.get("/hello").body);
  client old(*w);
  old.send("GET /count HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.ends());
  EXPECT_NE(std::string::npos, old.in.find("\r\n\r\ndata: 0"));
  EXPECT_EQ(0u, w->srv->stats().streams);
}

TEST_F(streams, the_head_is_sent_with_the_first_pieces) {
  make();
  w->route("GET", "/count", [](auto&, auto* r) {
    auto* st = open(r);
    for (int i = 0; i < 5; ++i) write(st, "data: " + std::to_string(i) + "\n\n");
    api().stream_close(st);
    return RY_OK;
  });
  w->start();
  client c(*w);
  for (int i = 0; i < 3; ++i) {
    c.send("GET /count HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(c.more());
    EXPECT_TRUE(c.in.starts_with("HTTP/1.1 200 OK\r\n")) << c.in;
    EXPECT_TRUE(c.in.ends_with("data: 4\n\n\r\n0\r\n\r\n")) << c.in;
    c.in.clear();
  }
  // The head is also sent when no piece follows.
  c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(c.more());
  EXPECT_TRUE(c.in.ends_with("\r\n\r\n")) << c.in;
  api().stream_close(live());
  EXPECT_TRUE(c.until("0\r\n\r\n"));
}

TEST_F(streams, the_content_length_is_enforced) {
  make();
  w->route("GET", "/sized/{n}", [](auto& v, auto* r) {
    const ry_header h{{"content-length", 14}, v.params[0].value};
    ry_stream* st = nullptr;
    EXPECT_EQ(RY_OK, api().stream_open(r, 200, &h, 1, &st));
    write(st, "12345");
    api().stream_close(st);
    return RY_OK;
  });
  w->start();
  client c(*w);
  EXPECT_EQ("12345", c.get("/sized/5").body);
  EXPECT_EQ("123", c.get("/sized/3").body) << "never more than announced";
  c.send("GET /sized/9 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(c.ends()) << "less than announced: only closing the connection signals the error";
}

TEST_F(streams, invalid_arguments_are_rejected_and_counted) {
  make();
  w->route("GET", "/wrong", [](auto&, auto* r) {
    const ry_header split{{"x-a", 3}, {"a\r\nx-b: 1", 9}};
    ry_stream* st = nullptr;
    EXPECT_EQ(RY_INVALID_ARGUMENT, api().stream_open(r, 200, &split, 1, &st));
    EXPECT_EQ(RY_INVALID_ARGUMENT, api().stream_open(r, 0, nullptr, 0, &st));
    EXPECT_EQ(RY_INVALID_ARGUMENT, api().stream_open(r, 200, nullptr, 0, nullptr));
    api().stream_close(open(r));
    return RY_OK;
  });
  w->start();
  client c(*w);
  EXPECT_EQ(200, c.get("/wrong").status);
  EXPECT_EQ(3u, w->host.violations.load());
}

TEST_F(streams, can_be_written_from_many_threads) {
  make();
  w->start();
  client c(*w);
  c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  auto* st = live();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([st] {
      for (int i = 0; i < 200; ++i) {
        while (write(st, "x") != RY_OK) std::this_thread::yield();
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  for (auto& t : threads) t.join();
  api().stream_close(stream.exchange(nullptr));
  EXPECT_EQ(std::string(800, 'x'), c.read().body);
  EXPECT_EQ(RY_FAILED_PRECONDITION, write(st, "late"));
  EXPECT_EQ(0, closes);
}

TEST_F(streams, can_be_opened_on_another_thread) {
  make();
  w->route("GET", "/far", [](auto&, auto* r) {
    std::thread([r] {
      auto* st = open(r);
      write(st, "far");
      api().stream_close(st);
    }).detach();
    return RY_OK;
  });
  w->start();
  client c(*w);
  for (int i = 0; i < 20; ++i) EXPECT_EQ("far", c.get("/far").body);
}

TEST_F(streams, many_streams_share_one_buffer) {
  make();
  std::mutex m;
  std::vector<ry_stream*> all;
  w->route(
      "GET", "/fan",
      [&](auto&, auto* r) {
        auto* st = open(r);
        std::lock_guard lock(m);
        all.push_back(st);
        return RY_OK;
      },
      RY_ROUTE_PUBLIC | RY_ROUTE_LONG);
  w->start();
  std::list<client> clients;
  for (int i = 0; i < 50; ++i) clients.emplace_back(*w).send("GET /fan HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] {
    std::lock_guard lock(m);
    return all.size() == 50;
  }));
  for (int i = 0; i < 10; ++i) {
    auto* b = api().buffer_new(core::bytes("event " + std::to_string(i) + "\n"));
    for (auto* st : all) EXPECT_EQ(RY_OK, api().stream_write_buffer(st, b));
    api().buffer_release(b);
  }
  EXPECT_EQ(50u, w->srv->stats().streams);
  for (auto* st : all) api().stream_close(st);
  for (auto& c : clients) {
    const auto r = c.read();
    EXPECT_EQ(80u, r.body.size());
    EXPECT_EQ("event 9\n", r.body.substr(72));
  }
}

TEST_F(streams, end_when_their_credential_is_revoked) {
  make();
  w->start();
  const std::string request = "GET /live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n";
  client c(*w);
  c.send(request);
  ASSERT_TRUE(c.more());
  EXPECT_TRUE(c.in.starts_with("HTTP/1.1 200")) << c.in;
  EXPECT_TRUE(live());
  w->auth.revoke_all();
  EXPECT_TRUE(c.ends());
  EXPECT_TRUE(eventually([&] { return closes == 1; }));
  EXPECT_EQ(RY_REASON_USER, why);
  client late(*w);
  late.send(request);
  EXPECT_EQ(401, late.read().status);
  // A revocation does not end anonymous streams.
  client anonymous(*w);
  EXPECT_EQ(0u, w->srv->stats().streams);
  anonymous.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(live());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  api().stream_close(stream.exchange(nullptr));
  EXPECT_TRUE(anonymous.until("0\r\n\r\n"));
}

TEST_F(streams, a_slow_reader_is_disconnected) {
  s.stream_queue_bytes = 256 * 1024;
  make();
  w->start();
  client c(*w, 4096);
  c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  auto* st = live();
  const std::string piece(8192, 'x');
  ry_status last = RY_OK;
  for (int i = 0; i < 20'000 && last == RY_OK; ++i) {
    last = write(st, piece);
    if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(RY_RESOURCE_EXHAUSTED, last);
  EXPECT_TRUE(eventually([&] { return closes == 1; }));
  EXPECT_EQ(RY_REASON_OVERLOAD, why);
  EXPECT_TRUE(c.ends());
  EXPECT_EQ(1u, w->srv->stats().streams_cut);
}

// The rest of a partly written piece is sent when the socket is writable, even if no further piece follows.
TEST_F(streams, a_slow_reader_of_small_pieces_does_not_delay_others) {
  s.stream_queue_bytes = 64 * 1024 * 1024;
  s.stream_queue_pieces = 1024 * 1024;
  make();
  w->start();
  client slow(*w, 4096);
  slow.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  auto* st = live();
  std::list<client> others;  // enough of them that each loop serves some
  for (int i = 0; i < 4; ++i) others.emplace_back(*w);
  const std::string piece(3000, 'x');
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(RY_OK, write(st, piece));
    for (auto& c : others) ASSERT_EQ("hi", c.get("/hello").body) << "after piece " << i;
  }
  api().stream_close(stream.exchange(nullptr));
  EXPECT_EQ(2000u * piece.size(), slow.read().body.size());
}

TEST_F(streams, ready_paces_a_replay) {
  s.stream_queue_bytes = 64 * 1024;
  make();
  struct replay {
    ry_stream* st;
    ry_exec* exec;
    int left = 2000;
    static void go(void* ctx, ry_status status, const ry_error_view*) noexcept {
      auto* self = static_cast<replay*>(ctx);
      if (status == RY_OK) {
        ry_status st = RY_OK;
        for (int i = 0; i < 30 && self->left > 0 && st == RY_OK; ++i, --self->left)
          st = write(self->st, std::string(1000, 'r'));
        EXPECT_TRUE(st == RY_OK || st == RY_CANCELLED) << st;
        if (self->left > 0 && st == RY_OK) {
          EXPECT_EQ(RY_OK, api().stream_ready(self->st, self->exec, {&replay::go, self}));
          return;
        }
      }
      api().stream_close(self->st);
      delete self;
    }
  };
  w->route(
      "GET", "/replay",
      [](auto& v, auto* r) {
        replay::go(new replay{open(r), v.exec}, RY_OK, nullptr);
        return RY_OK;
      },
      RY_ROUTE_PUBLIC | RY_ROUTE_LONG);
  w->start();
  client c(*w, 8192);
  EXPECT_EQ(2'000'000u, c.get("/replay").body.size());
  client leaver(*w, 4096);
  leaver.send("GET /replay HTTP/1.1\r\nHost: x\r\n\r\n");
  leaver.until("rrr");
  leaver.reset();
  EXPECT_TRUE(eventually([&] { return w->host.outstanding == 0; })) << "the waiter must be notified";
}

TEST_F(streams, the_client_disconnects) {
  make();
  w->start();
  for (const bool half : {false, true}) {
    closes = 0;
    client c(*w);
    c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
    live();
    half ? c.half_close() : c.close();
    EXPECT_TRUE(eventually([&] { return closes == 1; }));
    EXPECT_EQ(RY_REASON_GONE, why);
  }
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
}

TEST_F(streams, the_connection_sends_keepalives) {
  make();
  w->start();
  client c(*w);
  c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  api().stream_keepalive(live(), 300, core::bytes(": ping\n\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  api().stream_close(stream.exchange(nullptr));
  const auto pings = c.read().body.size() / 8;
  EXPECT_GE(pings, 2u);
  EXPECT_LE(pings, 6u);
}

TEST_F(streams, drain_notifies_streams) {
  make();
  std::atomic<int> cancelled{0};
  std::atomic<ry_request*> pending{nullptr};
  w->route("GET", "/work", [&](auto&, auto* r) {
    api().on_cancel(
        r, [](void* ctx, std::int32_t y) noexcept { *static_cast<std::atomic<int>*>(ctx) = y; }, &cancelled);
    pending = r;
    return RY_OK;
  });
  w->start();
  const auto port = w->srv->port();
  client idle(*w), streaming(*w), working(*w);
  EXPECT_EQ(200, idle.get("/hello").status);
  streaming.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  working.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n");
  live();
  ASSERT_TRUE(eventually([&] { return pending.load() != nullptr; }));
  auto drained = std::async(std::launch::async,
                            [&] { w->srv->drain(std::chrono::steady_clock::now() + std::chrono::seconds(10)); });
  EXPECT_TRUE(eventually([&] { return closes == 1; }));
  EXPECT_EQ(0, cancelled) << "requests may complete during the grace period";
  EXPECT_EQ(RY_REASON_SHUTDOWN, why);
  EXPECT_TRUE(eventually([&] { return cancelled != 0; }));
  EXPECT_EQ(RY_REASON_SHUTDOWN, cancelled);
  EXPECT_TRUE(idle.ends());
  EXPECT_TRUE(streaming.until("0\r\n\r\n")) << "the module closed it properly";
  EXPECT_TRUE(streaming.ends());
  client late(*w), silent(*w);
  const auto refused = late.get("/hello");
  EXPECT_EQ(503, refused.status);
  EXPECT_EQ("1", refused.header("Retry-After"));
  EXPECT_EQ("close", refused.header("Connection"));
  reply(pending, 200, "done");
  const auto r = working.read();
  EXPECT_EQ("done", r.body);
  EXPECT_EQ("close", r.header("Connection"));
  idle.close();
  streaming.close();
  working.close();
  EXPECT_EQ(std::future_status::ready, drained.wait_for(std::chrono::seconds(3)));
  EXPECT_TRUE(client(port).refused);
}

// A connection that has not sent its first request is not idle: the drain still serves it.
TEST_F(streams, drain_serves_clients_that_have_just_connected) {
  make();
  std::optional<listener> own(std::in_place, "127.0.0.1", 0);
  const int held = own->take();
  ASSERT_EQ(0, ::listen(held, 16));
  w->srv->publish({});
  w->srv->start(listener(::dup(held)));
  const auto port = w->srv->port();
  client idle(port), just(port), silent(port);
  EXPECT_EQ(404, idle.get("/none").status);
  ASSERT_TRUE(eventually([&] { return w->srv->stats().connections == 3; }));
  const auto begun = std::chrono::steady_clock::now();
  auto drained = std::async(std::launch::async,
                            [&] { w->srv->drain(std::chrono::steady_clock::now() + std::chrono::seconds(20)); });
  EXPECT_TRUE(idle.ends());  // the drain has begun
  const auto answer = just.get("/none");
  EXPECT_EQ(404, answer.status);
  EXPECT_TRUE(just.ends());
  EXPECT_TRUE(silent.ends());
  ASSERT_EQ(std::future_status::ready, drained.wait_for(std::chrono::seconds(10)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  client next(port);
  EXPECT_FALSE(next.refused) << "it waits for the next server";
  ::close(held);
}

TEST_F(streams, drain_closes_connections_at_the_deadline) {
  make();
  std::atomic<ry_request*> pending{nullptr};
  w->route("GET", "/stuck", [&](auto&, auto* r) {
    pending = r;
    return RY_OK;
  });
  w->start();
  client c(*w);
  c.send("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return pending.load() != nullptr; }));
  w->srv->drain(std::chrono::steady_clock::now() + std::chrono::milliseconds(200));
  EXPECT_TRUE(c.ends());
  EXPECT_EQ(1, w->host.outstanding) << "the module must still end the stream";
  EXPECT_EQ(RY_OK, reply(pending, 200, "dropped"));
  EXPECT_TRUE(eventually([&] { return w->host.outstanding == 0; }));
}

TEST_F(streams, the_client_disconnects_before_the_response) {
  make();
  std::atomic<int> cancelled{0};
  std::atomic<ry_request*> pending{nullptr};
  w->route("GET", "/work", [&](auto&, auto* r) {
    api().on_cancel(
        r, [](void* ctx, std::int32_t y) noexcept { *static_cast<std::atomic<int>*>(ctx) = y; }, &cancelled);
    pending = r;
    return RY_OK;
  });
  w->start();
  client c(*w);
  c.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return pending.load() != nullptr; }));
  c.reset();
  EXPECT_TRUE(eventually([&] { return cancelled == RY_REASON_GONE; }));
  EXPECT_EQ(RY_OK, reply(pending, 200, "not delivered"));
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
}

TEST_F(streams, work_cancelled_for_a_disconnected_client_is_not_a_failure) {
  make();
  std::atomic<bool> begun{false};
  w->route("GET", "/work", [&](auto&, auto* r) {
    api().on_cancel(
        r,
        [](void* request, std::int32_t) noexcept {
          const ry_error_view cancelled{sizeof(ry_error_view), RY_CANCELLED, {}, {}, {}, 0, 0};
          api().fail(static_cast<ry_request*>(request), &cancelled);
        },
        r);
    begun = true;
    return RY_OK;
  });
  w->start();
  client c(*w);
  c.send("GET /work HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  c.half_close();
  EXPECT_EQ(503, c.read().status);
  const auto stats = w->srv->stats();
  const auto route =
      std::find_if(stats.routes.begin(), stats.routes.end(), [](const auto& r) { return r.pattern == "/work"; });
  ASSERT_NE(route, stats.routes.end());
  ASSERT_EQ(1u, route->by_status.size());
  EXPECT_EQ(499u, route->by_status.front().first);
}

// ---- files

TEST_F(streams, files_are_sent) {
  make();
  std::filesystem::create_directories(w->spool);
  const auto path = (w->spool / "big").string();
  std::string content(3'000'000, '\0');
  std::mt19937 rng(1);
  for (auto& b : content) b = static_cast<char>(rng());
  std::ofstream(path, std::ios::binary) << content;
  w->route("GET", "/file/{from}/{len}", [&](auto& v, auto* r) {
    const auto n = core::str(v.params[1].value);
    return api().respond_file(r, 200, nullptr, 0, core::view(path), std::stoull(core::str(v.params[0].value)),
                              n == "all" ? UINT64_MAX : std::stoull(n));
  });
  w->route("GET", "/missing", [&](auto&, auto* r) {
    EXPECT_EQ(RY_NOT_FOUND, api().respond_file(r, 200, nullptr, 0, core::view("/does/not/exist"), 0, 1));
    return RY_NOT_FOUND;
  });
  w->start();
  client c(*w);
  EXPECT_TRUE(content == c.get("/file/0/all").body);
  EXPECT_EQ(content.substr(100, 7), c.get("/file/100/7").body);
  EXPECT_TRUE(content.substr(1000) == c.get("/file/1000/99999999").body);
  EXPECT_EQ("", c.get("/file/3000000/all").body);
  EXPECT_EQ(400, c.get("/file/3000001/all").status);
  EXPECT_EQ(404, c.get("/missing").status);
  EXPECT_EQ("3000000", c.ask("HEAD /file/0/all HTTP/1.1\r\nHost: x\r\n\r\n").header("Content-Length"));
  client leaver(*w, 4096);
  leaver.send("GET /file/0/all HTTP/1.1\r\nHost: x\r\n\r\n");
  leaver.more();
  leaver.reset();
  EXPECT_EQ("hi", c.get("/hello").body);
}

// ---- TLS

struct tls_client {
  SSL_CTX* ctx = SSL_CTX_new(TLS_client_method());
  SSL* ssl = nullptr;
  int fd;
  explicit tls_client(std::uint16_t port) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(fd, reinterpret_cast<sockaddr*>(&a), sizeof a);
    ssl = SSL_new(ctx);
    SSL_set_fd(ssl, fd);
  }
  ~tls_client() {
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    ::close(fd);
  }
  // Reads until the text ends with `end`.
  std::string ask(std::string_view request, std::string_view end) {
    SSL_write(ssl, request.data(), static_cast<int>(request.size()));
    std::string in;
    char buf[16384];
    while (in.size() < end.size() || in.compare(in.size() - end.size(), end.size(), end) != 0) {
      const int n = SSL_read(ssl, buf, sizeof buf);
      if (n <= 0) break;
      in.append(buf, static_cast<std::size_t>(n));
    }
    return in;
  }
};

TEST_F(streams, work_over_tls) {
  const auto dir = std::filesystem::temp_directory_path() / ("ry-http-tls-" + std::to_string(::getpid()));
  std::filesystem::create_directories(dir);
  const auto key = (dir / "key.pem").string(), cert = (dir / "cert.pem").string();
  ASSERT_EQ(0, std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout " + key +
                            " -out " + cert + " 2>/dev/null")
                               .c_str()));
  s.tls_cert_file = cert;
  s.tls_key_file = key;
  make();
  w->route("POST", "/echo", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.body)); });
  w->start();
  tls_client c(w->srv->port());
  ASSERT_EQ(1, SSL_connect(c.ssl));
  EXPECT_NE(std::string::npos, c.ask("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nhi").find("200 OK"));
  const std::string big(900'000, 'e');
  const auto back = c.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + big, big);
  EXPECT_GT(back.size(), big.size());
  EXPECT_NE(std::string::npos, c.ask("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nhi").find("200 OK"));
  tls_client live_client(w->srv->port());
  ASSERT_EQ(1, SSL_connect(live_client.ssl));
  const std::string_view ask = "GET /live HTTP/1.1\r\nHost: x\r\n\r\n";
  SSL_write(live_client.ssl, ask.data(), static_cast<int>(ask.size()));
  write(live(), "data: 1\n\n");
  EXPECT_NE(std::string::npos, live_client.ask("", "data: 1\n\n\r\n").find("text/event-stream"));
  api().stream_close(stream.exchange(nullptr));
  client plain(*w);
  plain.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(plain.ends()) << "no plain HTTP on a TLS port";

  settings wrong = s;
  wrong.tls_key_file = cert;
  try {
    server_fixture bad(wrong);
    bad.start();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("no usable key"));
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace ry::http::test
