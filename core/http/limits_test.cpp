// Tests of limits and refusals for hostile or slow clients.
#include <sys/resource.h>

#include <atomic>

#include "core/http/test_fixture.hpp"

namespace ry::http::test {
namespace {

struct limits : ::testing::Test {
  settings s = server_fixture::defaults();
  std::unique_ptr<server_fixture> w;
  std::atomic<int> handled{0};
  void start() {
    w = std::make_unique<server_fixture>(s);
    w->route("GET", "/hello", [this](auto& v, auto* r) {
      ++handled;
      for (std::uint32_t i = 0; i < v.n_headers; ++i)
        if (core::sv(v.headers[i].name) == "X-Admin") return reply(r, 200, "admin");
      return reply(r, 200, "hi");
    });
    w->route("POST", "/echo", [this](auto& v, auto* r) {
      ++handled;
      for (std::uint32_t i = 0; i < v.n_headers; ++i)
        if (core::sv(v.headers[i].name) == "X-Admin") return reply(r, 200, "admin");
      return reply(r, 200, core::sv(v.body));
    });
    w->route(
        "POST", "/small", [](auto& v, auto* r) { return reply(r, 200, core::sv(v.body)); }, RY_ROUTE_PUBLIC, 10);
    w->start();
  }
};

// The access log lines written while `act` runs.
template <class F>
std::string logged(F act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(limits, refused_heads_are_logged_with_their_path) {
  s.access = access_log::on;
  s.header_timeout = std::chrono::milliseconds(300);
  start();
  struct bad {
    std::string text, path, status;
  };
  const std::vector<bad> all = {{"GET /twice?token=secret HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "/twice", "400"},
                                {"GET /folded?token=secret HTTP/1.1\r\nHost: a\r\n more\r\n\r\n", "/folded", "400"},
                                {"GET http://me:secret@a/x HTTP/1.1\r\n\r\n", "", "400"},
                                {"GET http://me:secret@a/x HTTP/1.1\r\nHost: a\r\n\r\n", "", "400"},
                                {"GET /big HTTP/1.1\r\nX: " + std::string(60'000, 'x'), "/big", "431"},
                                {"GET /long" + std::string(20'000, 'x'), "/longxxx", "414"},
                                {"POST /slow HTTP/1.1\r\nHos", "/slow", "408"}};
  for (const auto& b : all) {
    const auto text = logged([&] {
      client c(*w);
      c.send(b.text);
      EXPECT_EQ(b.status, std::to_string(c.read().status)) << b.path;
    });
    EXPECT_NE(text.find("path=" + b.path), std::string::npos) << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  }
  const auto text = logged([&] {
    client c(*w);
    c.send("\x16\x03\x01 hello ?\r\n\r\n");
    EXPECT_EQ(400, c.read().status);
  });
  EXPECT_EQ(text.find("hello"), std::string::npos) << text;
}

TEST_F(limits, messages_of_unexpected_errors_are_logged_but_not_sent) {
  w = std::make_unique<server_fixture>(s);
  w->route("GET", "/fail/{n}", [](auto& v, auto* r) {
    const core::error all[] = {
        {RY_INTERNAL, "x.open", "cannot open /srv/secret/file", R"({"path":"/srv/secret"})", 0, 0},
        {RY_OK, "x.open", "cannot open /srv/secret/file", {}, 0, 0},
        {RY_DATA_LOSS, "x.open", "cannot open /srv/secret/file", {}, 0, 0},
        {RY_INTERNAL, "x.start", "The start failed", {}, 500, 0},
        {RY_INTERNAL, "db.42703", "The database could not run a statement.", {}, 0, 0}};
    const auto view = all[core::sv(v.params[0].value)[0] - '0'].view();
    return api().fail(r, &view);
  });
  w->start();
  client c(*w);
  for (const char* path : {"/fail/0", "/fail/1", "/fail/2"}) {
    response r;
    const auto text = logged([&] { r = c.get(path); });
    EXPECT_EQ(500, r.status);
    EXPECT_EQ(R"({"detail":"Internal server error"})", r.body) << path;
    EXPECT_NE(text.find("cannot open /srv/secret/file"), std::string::npos) << text;
  }
  EXPECT_EQ(R"({"detail":"The start failed"})", c.get("/fail/3").body) << "the module chose the status and the text";
  EXPECT_EQ(R"({"detail":"The database could not run a statement."})", c.get("/fail/4").body);
}

TEST_F(limits, the_reason_of_a_module_failure_is_logged_but_not_sent) {
  w = std::make_unique<server_fixture>(s);
  w->route("GET", "/broken", [](auto&, auto* r) {
    const core::error full{
        RY_UNAVAILABLE, "db.53100", "The database is short of resources.", R"({"message":"no space left"})", 0, 0};
    const auto view = full.view();
    return api().fail(r, &view);
  });
  w->start();
  response r;
  const auto text = logged([&] { r = client(*w).get("/broken"); });
  EXPECT_EQ(503, r.status);
  EXPECT_EQ(r.body.find("no space left"), std::string::npos) << r.body;
  EXPECT_NE(text.find("db.53100"), std::string::npos) << text;
  EXPECT_NE(text.find("no space left"), std::string::npos) << text;
  EXPECT_NE(text.find("request_id=" + r.header("X-Request-Id")), std::string::npos) << text;
}

TEST_F(limits, two_idempotency_keys_are_rejected) {
  start();
  client c(*w);
  c.send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nIdempotency-Key: a\r\nidempotency-key: a\r\n"
      "Content-Length: 0\r\n\r\n");
  const auto r = c.read();
  EXPECT_EQ(400, r.status);
  EXPECT_NE(r.body.find("More than one Idempotency-Key header"), std::string::npos) << r.body;
  EXPECT_EQ(0, handled);
}

struct bad_request {
  const char* name;
  const char* text;
  int status;
};
std::ostream& operator<<(std::ostream& o, const bad_request& b) {
  return o << b.name;
}

struct smuggling : limits, ::testing::WithParamInterface<bad_request> {};

// The server must never serve bytes that follow a refused request.
TEST_P(smuggling, is_rejected_and_closes_the_connection) {
  start();
  client c(*w);
  c.send(std::string(GetParam().text) + "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto r = c.read();
  EXPECT_EQ(GetParam().status, r.status) << r.head << r.body;
  EXPECT_EQ("close", r.header("Connection"));
  EXPECT_EQ(36u, r.header("X-Request-Id").size());
  EXPECT_TRUE(c.ends());
  EXPECT_TRUE(c.in.empty()) << c.in;
  EXPECT_EQ(0, handled);
}

INSTANTIATE_TEST_SUITE_P(
    all, smuggling,
    ::testing::Values(
        bad_request{"te_gzip", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        bad_request{"te_chunked_identity",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, "
                    "identity\r\n\r\n0\r\n\r\n",
                    501},
        bad_request{"te_identity_chunked",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, "
                    "chunked\r\n\r\n0\r\n\r\n",
                    501},
        bad_request{"te_xchunked", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                    501},
        bad_request{"te_empty", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \r\n\r\n", 501},
        bad_request{"te_twice",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n",
                    501},
        bad_request{"te_chunked_twice",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n",
                    400},
        bad_request{"te_in_1_0", "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        bad_request{"te_and_cl",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n",
                    400},
        bad_request{"cl_and_te",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    "chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
                    400},
        bad_request{"te_gzip_and_cl",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nContent-Length: "
                    "5\r\n\r\nabcde",
                    400},
        bad_request{"two_lengths", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                    400},
        bad_request{"same_lengths", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
                    400},
        bad_request{"length_list", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na", 400},
        bad_request{"length_plus", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", 400},
        bad_request{"length_negative", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na", 400},
        bad_request{"length_hex", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na", 400},
        bad_request{"length_overflow",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551617\r\n\r\na", 400},
        bad_request{"no_host", "GET /hello HTTP/1.1\r\n\r\n", 400},
        bad_request{"two_hosts", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        bad_request{"host_with_space", "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        bad_request{"host_list", "GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
        bad_request{"host_with_path", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
        bad_request{"host_with_user", "GET /hello HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
        bad_request{"host_with_bad_port", "GET /hello HTTP/1.1\r\nHost: a:8x\r\n\r\n", 400},
        bad_request{"host_with_long_port", "GET /hello HTTP/1.1\r\nHost: example.com:123456789\r\n\r\n", 400},
        bad_request{"host_with_port_out_of_range", "GET /hello HTTP/1.1\r\nHost: [::1]:65536\r\n\r\n", 400},
        bad_request{"host_open_bracket", "GET /hello HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
        bad_request{"lower_case_method", "get /hello HTTP/1.1\r\nHost: x\r\n\r\n", 501},
        bad_request{"unknown_method", "BREW /hello HTTP/1.1\r\nHost: x\r\n\r\n", 501},
        bad_request{"connect", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 501},
        bad_request{"fold", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\n\r\n", 400},
        bad_request{"fold_empty", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A:\r\n\tTransfer-Encoding: chunked\r\n\r\n",
                    400},
        bad_request{"space_before_colon", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n", 400},
        bad_request{"no_colon", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A\r\n\r\n", 400},
        bad_request{"bare_lf", "GET /hello HTTP/1.1\nHost: x\n\n", 400},
        bad_request{"bare_lf_in_header", "GET /hello HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n", 400},
        bad_request{"bare_cr_in_value", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n", 400},
        bad_request{"control_in_value", "GET /hello HTTP/1.1\r\nHost: x\r\nX-A: a\x01\r\n\r\n", 400},
        bad_request{"control_in_target", "GET /he\x01llo HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"tab_in_request_line", "GET\t/hello\tHTTP/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"version_2", "GET /hello HTTP/2.0\r\nHost: x\r\n\r\n", 505},
        bad_request{"version_0_9", "GET /hello\r\n\r\n", 400},
        bad_request{"version_garbage", "GET /hello HTTP/1.1x\r\nHost: x\r\n\r\n", 400},
        bad_request{"version_lower_case", "GET /hello http/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"space_in_target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"version_in_target", "GET /a HTTP/2.0 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"two_spaces_before_version", "GET /a  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
        bad_request{"expect_other", "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\na",
                    417},
        bad_request{"chunk_size_bad", "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
                    400},
        bad_request{"chunk_size_and_more",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1 zz\r\na\r\n0\r\n\r\n", 400},
        bad_request{"chunk_extension_control",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\x01\r\na\r\n0\r\n\r\n",
                    400},
        bad_request{"chunk_size_overflow",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n11111111111111111\r\na\r\n",
                    400},
        bad_request{"chunk_no_crlf",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
                    400},
        bad_request{"trailer_te",
                    "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
                    400},
        bad_request{"two_authorizations",
                    "GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400},
        bad_request{"an_empty_authorization_first",
                    "GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization:\r\nAuthorization: b\r\n\r\n", 400}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(limits, nul_bytes_are_rejected) {
  start();
  using namespace std::string_literals;
  for (const std::string& text :
       {"GET /he\0llo HTTP/1.1\r\nHost: x\r\n\r\n"s, "GET /hello HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n"s, "\0\0\0\0"s,
        "\x16\x03\x01\x02\x00\x01"s}) {
    client c(*w);
    c.send(text);
    EXPECT_EQ(400, c.read().status);
    EXPECT_TRUE(c.ends());
  }
}

TEST_F(limits, trailers_never_become_headers) {
  start();
  client c(*w);
  EXPECT_EQ("abc", c.ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
                         "X-Admin: 1\r\nHost: y\r\n\r\n")
                       .body);
  EXPECT_EQ("hi", c.get("/hello").body);
}

TEST_F(limits, sizes_are_limited) {
  s.max_header_bytes = 4096;
  s.max_target_bytes = 1024;
  s.max_body_bytes = 1000;
  start();
  EXPECT_EQ(431, client(*w).get("/hello", "X-A: " + std::string(5000, 'a') + "\r\n").status);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "X-" + std::to_string(i) + ": b\r\n";
  EXPECT_EQ(431, client(*w).get("/hello", many).status);
  EXPECT_EQ(414, client(*w).get("/" + std::string(2000, 'a')).status);
  EXPECT_EQ(414, client(*w).get("/" + std::string(20000, 'a')).status);
  client c(*w);
  EXPECT_EQ(200, c.get("/hello", "X-A: " + std::string(3500, 'a') + "\r\n").status);
  EXPECT_EQ(413,
            c.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + std::string(1001, 'a')).status);
  EXPECT_EQ(200,
            c.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'a')).status)
      << "the small rest of the rejected body is discarded";
  EXPECT_EQ(413, client(*w).ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\n").status);
  EXPECT_EQ(413, client(*w)
                     .ask("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n")
                     .status);
  EXPECT_EQ(200, client(*w).ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789").status);
}

TEST_F(limits, expect_continue_is_answered) {
  start();
  client c(*w);
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(100, c.read(true).status);
  c.send("abc");
  EXPECT_EQ("abc", c.read().body);
  // Refused before the body: no 100, and the connection cannot be reused.
  const auto r = c.ask("POST /small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
  EXPECT_EQ(413, r.status);
  EXPECT_EQ("close", r.header("Connection"));
  EXPECT_TRUE(c.ends());
}

TEST_F(limits, a_slow_head_times_out) {
  s.header_timeout = std::chrono::milliseconds(300);
  start();
  client silent(*w), slow(*w);
  slow.send("GET /hello HTTP/1.1\r\nHo");
  EXPECT_EQ(408, slow.read().status);
  EXPECT_TRUE(slow.ends(2000));
  EXPECT_TRUE(silent.ends(2000));
  slow.close();
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
}

TEST_F(limits, a_head_that_arrives_byte_by_byte_times_out) {
  s.header_timeout = std::chrono::milliseconds(500);
  start();
  client c(*w);
  c.get("/hello");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100 && c.in.empty(); ++i) {
    if (!c.send(i == 0 ? "GET / HTTP/1.1\r\nX: " : "a")) break;
    c.more(20);
  }
  EXPECT_EQ(408, c.read().status);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(limits, a_slow_body_times_out) {
  s.body_idle_timeout = std::chrono::milliseconds(300);
  start();
  client c(*w);
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
  const auto r = c.read();
  EXPECT_EQ(408, r.status);
  EXPECT_TRUE(c.ends());
}

TEST_F(limits, a_body_below_the_minimum_rate_times_out) {
  s.body_idle_timeout = std::chrono::seconds(10);
  s.body_rate_grace = std::chrono::milliseconds(500);
  s.body_min_rate = 1000;
  start();
  client c(*w);
  c.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 100 && c.in.empty(); ++i) {
    if (!c.send("a")) break;
    c.more(50);
  }
  EXPECT_EQ(408, c.read().status);
}

TEST_F(limits, an_idle_connection_is_closed) {
  s.idle_timeout = std::chrono::milliseconds(300);
  start();
  client c(*w);
  EXPECT_EQ(200, c.get("/hello").status);
  EXPECT_TRUE(c.ends(2000));
}

TEST_F(limits, the_number_of_connections_is_limited) {
  s.max_connections = 3;
  start();
  {
    client a(*w), b(*w), c(*w);
    EXPECT_EQ(200, a.get("/hello").status);
    EXPECT_EQ(200, b.get("/hello").status);
    EXPECT_EQ(200, c.get("/hello").status);
    client d(*w);
    const auto r = d.get("/hello");
    EXPECT_EQ(503, r.status);
    EXPECT_EQ("1", r.header("Retry-After"));
    EXPECT_TRUE(d.ends());
    EXPECT_EQ(200, a.get("/hello").status);
  }
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 0; }));
  EXPECT_EQ(200, client(*w).get("/hello").status);
}

TEST_F(limits, the_server_recovers_when_descriptors_run_out) {
  start();
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  std::vector<int> fds;
  client waiting(*w);
  EXPECT_EQ(200, waiting.get("/hello").status);
  // The client's own socket exists before descriptors run out; only accept() cannot get one.
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit tight = old;
  tight.rlim_cur = static_cast<rlim_t>(probe + 1);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &tight));
  for (int fd; (fd = ::dup(probe)) >= 0;) fds.push_back(fd);
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(w->srv->port());
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(0, ::connect(probe, reinterpret_cast<sockaddr*>(&a), sizeof a));
  EXPECT_TRUE(eventually([&] { return w->srv->stats().refused > 0; }));
  EXPECT_EQ(200, waiting.get("/hello").status) << "existing connections are served meanwhile";
  for (int fd : fds) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_TRUE(eventually([&] { return w->srv->stats().connections == 2; }))
      << "the waiting connection is accepted afterwards";
  ::close(probe);
}

}  // namespace
}  // namespace ry::http::test
