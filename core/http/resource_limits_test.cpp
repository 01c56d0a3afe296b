// Tests of per-caller quotas: unread answers, unfinished bodies, connections.
#include <atomic>
#include <chrono>

#include "core/http/test_fixture.hpp"

namespace ry::http::test {
namespace {

using namespace std::chrono_literals;

struct resource_limits : ::testing::Test {
  static constexpr std::size_t large = 8 * 1024 * 1024;  // more than the kernel buffers of one answer
  settings s = server_fixture::defaults();
  std::unique_ptr<server_fixture> w;
  std::filesystem::path file;

  void TearDown() override {
    if (!file.empty()) std::filesystem::remove(file);
  }
  void start() {
    w = std::make_unique<server_fixture>(s);
    static const std::string body(large, 'x');
    const auto big = [](auto&, auto* r) { return reply(r, 200, body); };
    w->route("GET", "/big", big);
    w->route("GET", "/mine", big, 0);
    w->route("GET", "/ended", [](auto&, auto* r) {
      ry_stream* out = nullptr;
      const auto st = api().stream_open(r, 200, nullptr, 0, &out);
      if (st != RY_OK) return st;
      (void)api().stream_write(out, core::bytes(body));
      api().stream_close(out);
      return st;
    });
    w->route("GET", "/hello", [](auto&, auto* r) { return reply(r, 200, "hi"); });
    w->route("GET", "/file", [this](auto&, auto* r) {
      return api().respond_file(r, 200, nullptr, 0, core::view(file.native()), 0, UINT64_MAX);
    });
    w->route(
        "POST", "/echo", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.body)); }, RY_ROUTE_PUBLIC,
        64 * 1024 * 1024);
    w->route(
        "POST", "/form",
        [](auto&, auto* r) {
          return api().read_form(
              r, nullptr,
              [](void* ctx, ry_status st, const ry_form*, const ry_error_view* e) noexcept {
                auto* q = static_cast<ry_request*>(ctx);
                if (st == RY_OK)
                  reply(q, 200, "complete");
                else
                  api().fail(q, e);
              },
              r);
        },
        RY_ROUTE_PUBLIC | RY_ROUTE_STREAM_BODY);
    w->start();
  }
  // Reads the whole answer; the long timeout allows for a busy machine.
  std::size_t response_size(std::string_view path, std::string_view headers = {}) {
    client c(*w);
    c.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n");
    return c.read(false, 60'000).body.size();
  }
  // Sends the request and reads only the head of the answer.
  int begin(client& c, std::string_view path, std::string_view headers = {}) {
    c.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n");
    return c.read(true).status;
  }
};

TEST_F(resource_limits, unread_responses_are_limited_per_caller) {
  s.unsent_bytes = {20 * 1024 * 1024, 0};
  start();
  client a(*w, 4096), b(*w, 4096), c(*w, 4096);
  EXPECT_EQ(200, begin(a, "/big"));
  EXPECT_EQ(200, begin(b, "/big"));
  const auto refused = c.get("/big");
  EXPECT_EQ(503, refused.status);
  EXPECT_EQ("2", refused.header("Retry-After"));
  EXPECT_NE(refused.body.find(R"("error_code":"RESPONSE_BUFFER_LIMIT")"), std::string::npos) << refused.body;
  EXPECT_GE(w->srv->stats().unsent_bytes, 16u * 1024 * 1024);
  EXPECT_EQ(1u, w->srv->stats().unsent_refused);
  EXPECT_EQ(200, client(*w).get("/hello").status) << "small responses are not limited";
  EXPECT_EQ(large, response_size("/mine", "Authorization: Bearer good\r\n")) << "another caller is not limited";
  a.close();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().unsent_bytes < 12 * 1024 * 1024; }));
  EXPECT_EQ(large, response_size("/big"));
  b.close();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().unsent_bytes == 0; }));
}

TEST_F(resource_limits, unread_responses_are_limited_in_total) {
  s.unsent_bytes = {0, 20 * 1024 * 1024};
  start();
  client a(*w, 4096), b(*w, 4096), c(*w, 4096);
  EXPECT_EQ(200, begin(a, "/big"));
  EXPECT_EQ(503, begin(b, "/big")) << "a caller may hold at most the unused amount";
  EXPECT_EQ(200, begin(c, "/mine", "Authorization: Bearer good\r\n")) << "so that the next caller gets a share";
}

TEST_F(resource_limits, an_unread_file_stays_on_disk) {
  s.unsent_bytes = {8 * 1024 * 1024, 0};
  file = std::filesystem::temp_directory_path() / ("ry-limits-" + std::to_string(::getpid()));
  FILE* f = std::fopen(file.c_str(), "w");
  std::fclose(f);
  std::filesystem::resize_file(file, 64 * 1024 * 1024);
  start();
  client a(*w, 4096), b(*w, 4096), c(*w, 4096);
  for (auto* each : {&a, &b, &c}) EXPECT_EQ(200, begin(*each, "/file"));
  EXPECT_LE(w->srv->stats().unsent_bytes, 1024u * 1024);
  EXPECT_EQ(64u * 1024 * 1024, response_size("/file"));
}

TEST_F(resource_limits, pipelined_responses_count_towards_the_limit) {
  s.unsent_bytes = {512 * 1024, 0};
  start();
  client c(*w, 4096), d(*w);
  EXPECT_EQ(503, c.get("/big").status);
  EXPECT_TRUE(c.ends()) << "the following requests are not served";
  EXPECT_EQ(200, d.get("/hello").status);
  EXPECT_EQ(0u, w->srv->stats().unsent_bytes);
}

TEST_F(resource_limits, a_reader_below_the_minimum_rate_is_disconnected) {
  s.write_stall_timeout = 500ms;
  s.read_min_rate = 256 * 1024;
  start();
  client c(*w, 4096);
  c.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually(
      [&] {
        (void)c.more(1);  // at most a few KiB per call
        std::this_thread::sleep_for(100ms);
        return w->srv->stats().slow_readers == 1;
      },
      8000));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  EXPECT_EQ(0u, w->srv->stats().unsent_bytes);
}

TEST_F(resource_limits, a_reader_at_the_minimum_rate_is_served_regardless_of_kernel_buffers) {
  s.write_stall_timeout = 300ms;
  s.read_min_rate = 64 * 1024;
  start();
  client c(*w, 64 * 1024);
  c.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  while (c.in.size() < large && c.more(5000)) std::this_thread::sleep_for(5ms);
  EXPECT_GT(c.in.size(), large);
  EXPECT_EQ(0u, w->srv->stats().slow_readers);
}

TEST_F(resource_limits, bodies_in_progress_are_limited) {
  s.bodies = {2, 0};
  start();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n";
  client a(*w), b(*w), c(*w), d(*w);
  a.send(head + "0123");
  b.send(head);
  ASSERT_TRUE(eventually([&] { return w->srv->stats().bodies == 2; }));
  c.send(head + "0");
  const auto refused = c.read();
  EXPECT_EQ(429, refused.status);
  EXPECT_EQ("5", refused.header("Retry-After"));
  EXPECT_NE(refused.body.find(R"("error_code":"UPLOAD_LIMIT")"), std::string::npos) << refused.body;
  EXPECT_TRUE(c.ends());
  EXPECT_EQ("0123456789", d.ask(head + "0123456789").body) << "a body that arrives with its head is not charged";
  a.send("456789");
  EXPECT_EQ("0123456789", a.read().body);
  b.reset();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().bodies == 0; }));
  EXPECT_EQ(1u, w->srv->stats().bodies_refused);
}

TEST_F(resource_limits, forms_in_progress_are_limited) {
  s.bodies = {1, 0};
  start();
  const std::string head =
      "POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      "Content-Length: 10\r\n\r\n";
  client a(*w), b(*w);
  a.send(head + "a=1");
  ASSERT_TRUE(eventually([&] { return w->srv->stats().bodies == 1; }));
  b.send(head + "a=1");
  EXPECT_EQ(429, b.read().status);
  a.send("&b=2345");
  EXPECT_EQ("complete", a.read().body);
}

TEST_F(resource_limits, spool_space_of_forms_is_limited) {
  s.spool_bytes = {300'000, 0};
  start();
  const auto part = [](std::size_t n) {
    return "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n" + std::string(n, 'x');
  };
  const auto head = [](std::size_t n) {
    return "POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: " +
           std::to_string(n) + "\r\n\r\n";
  };
  client a(*w), b(*w);
  a.send(head(1'000'000) + part(200'000));
  ASSERT_TRUE(eventually([&] { return w->srv->stats().spool_bytes >= 200'000; }));
  const auto form_body = part(150'000) + "\r\n--b--\r\n";
  b.send(head(form_body.size()) + form_body);
  const auto refused = b.read();
  EXPECT_EQ(429, refused.status);
  EXPECT_NE(refused.body.find(R"("error_code":"UPLOAD_SPACE_LIMIT")"), std::string::npos) << refused.body;
  a.reset();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().spool_bytes == 0; }));
  EXPECT_EQ(200, client(*w).ask(head(form_body.size()) + form_body).status);
  EXPECT_TRUE(eventually([&] { return std::filesystem::is_empty(w->spool); })) << "no spool file remains";
}

TEST_F(resource_limits, the_rate_of_a_body_is_measured_over_the_last_window) {
  s.body_idle_timeout = 10s;
  s.body_rate_grace = 500ms;
  s.body_min_rate = 1000;
  start();
  client c(*w);
  // With an average over the whole body, these bytes would allow an hour without data.
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 40000000\r\n\r\n" + std::string(4'000'000, 'x'));
  for (int i = 0; i < 200 && c.in.empty(); ++i) {
    if (!c.send("a")) break;
    c.more(50);
  }
  EXPECT_EQ(408, c.read().status);
}

TEST_F(resource_limits, a_body_has_a_total_timeout) {
  s.body_timeout = 700ms;
  s.body_min_rate = 0;
  start();
  client c(*w);
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 200 && c.in.empty(); ++i) {
    if (!c.send("a")) break;
    c.more(50);
  }
  EXPECT_EQ(408, c.read().status);
}

TEST_F(resource_limits, connections_per_address_are_limited) {
  s.address_connections = 3;
  start();
  client a(*w), b(*w);
  {
    client c(*w);
    for (auto* each : {&a, &b, &c}) EXPECT_EQ(200, each->get("/hello").status);
    client d(*w);
    const auto r = d.get("/hello");
    EXPECT_EQ(503, r.status);
    EXPECT_NE(r.body.find(R"("error_code":"CONNECTION_LIMIT")"), std::string::npos) << r.body;
    EXPECT_TRUE(d.ends());
    client silent(*w), half(*w);
    half.send("GET /hel");
    EXPECT_TRUE(silent.ends(4000)) << "it waits for a request only briefly";
    EXPECT_TRUE(half.ends(4000));
  }
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 2; }));
  EXPECT_EQ(200, client(*w).get("/hello").status);
  EXPECT_EQ(3u, w->srv->stats().connections_refused_by_address);
}

TEST_F(resource_limits, one_address_leaves_connections_to_others) {
  s.address_connections = 100;
  s.max_connections = 8;
  start();
  std::list<client> clients;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(200, clients.emplace_back(*w).get("/hello").status);
  EXPECT_EQ(503, client(*w).get("/hello").status) << "the address gets the remaining connections";
  EXPECT_EQ(1u, w->srv->stats().connections_refused_by_address);
}

TEST_F(resource_limits, trusted_proxies_may_have_any_number_of_connections) {
  s.address_connections = 1;
  s.trusted_proxies = {"127.0.0.0/8"};
  start();
  client a(*w), b(*w);
  EXPECT_EQ(200, a.get("/hello").status);
  EXPECT_EQ(200, b.get("/hello").status);
}

// Many refused connections must not delay the next one in the listen backlog.
TEST_F(resource_limits, connections_over_the_limit_get_a_503_immediately) {
  s.max_connections = 2;
  start();
  std::list<client> clients;
  for (int i = 0; i < 140; ++i) clients.emplace_back(*w).send("GET /hel");
  const auto begun = std::chrono::steady_clock::now();
  client next(*w);
  EXPECT_EQ(503, next.get("/hello").status);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 800ms);
}

TEST_F(resource_limits, an_ended_stream_counts_until_it_is_read) {
  s.unsent_bytes = {64 * 1024 * 1024, 0};
  start();
  client a(*w, 4096);
  EXPECT_EQ(200, begin(a, "/ended"));
  EXPECT_TRUE(eventually([&] { return w->srv->stats().streams == 0; })) << "the request has ended";
  EXPECT_GE(w->srv->stats().unsent_bytes, large / 2);
  a.close();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().unsent_bytes == 0; }));
  EXPECT_GE(response_size("/ended"), large);
  EXPECT_TRUE(eventually([&] { return w->srv->stats().unsent_bytes == 0; }));
}

TEST_F(resource_limits, stream_readers_share_the_budget) {
  s.unsent_bytes = {6 * 1024 * 1024, 0};
  s.stream_queue_bytes = 64 * 1024 * 1024;
  w = std::make_unique<server_fixture>(s);
  std::atomic<ry_stream*> opened{nullptr};
  w->route("GET", "/live", [&](auto&, auto* r) {
    ry_stream* out = nullptr;
    const auto st = api().stream_open(r, 200, nullptr, 0, &out);
    opened = out;
    return st;
  });
  w->start();
  client c(*w, 4096);
  c.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return opened.load() != nullptr; }));
  const std::string piece(256 * 1024, 'x');
  ry_status last = RY_OK;
  int written = 0;
  for (; written < 200 && last == RY_OK; ++written) {
    last = api().stream_write(opened, core::bytes(piece));
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_NE(RY_OK, last);
  EXPECT_GT(written, 6 * 4 / 2) << "the kernel's buffer is not included";
  EXPECT_TRUE(eventually([&] { return w->srv->stats().streams_cut == 1; }));
  EXPECT_TRUE(eventually([&] { return w->srv->stats().unsent_bytes == 0; }));
  api().stream_close(opened);
}

}  // namespace
}  // namespace ry::http::test
