// Tests of TLS: trust and streaming. The server is OpenSSL on a blocking socket.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/http/client/test_client.hpp"
#include "core/http/client/test_server.hpp"
#include "core/http/client/test_tls.hpp"

namespace {

using namespace ry::http::test;
using ry::http::address_guard;
using ry::http::client_settings;

struct trusting {
  std::string file;
  explicit trusting(const self_signed_certificate& id) : file(id.pem_file()) {}
  ~trusting() { std::filesystem::remove(file); }
  client_settings settings() const {
    client_settings s{address_guard::off, file};
    s.lookup = [](const std::string&) {
      return ry::http::resolver::addresses{boost::asio::ip::make_address("127.0.0.1")};
    };
    return s;
  }
};

TEST(client_tls, streams_and_reuses_connections) {
  const self_signed_certificate id("DNS:tls.example,IP:127.0.0.1");
  const trusting ca(id);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    tls_server s(
        id,
        [](SSL* ssl) {
          for (std::string r = read_request(ssl); !r.empty(); r = read_request(ssl)) {
            send_all(ssl, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 20; ++i) send_all(ssl, "8000\r\n" + std::string(0x8000, 'x') + "\r\n");
            send_all(ssl, "0\r\n\r\n");
          }
        },
        version);
    client_fixture w(ca.settings());
    for (const char* host : {"tls.example", "tls.example", "127.0.0.1"}) {
      const auto a = w.run({.url = s.url(host)});
      EXPECT_EQ(a->status, RY_OK) << a->message;
      EXPECT_EQ(a->body.size(), 20u * 0x8000);
    }
    EXPECT_EQ(s.tcp.connections, 2);
  }
}

TEST(client_tls, backpressure_loses_no_data) {
  const self_signed_certificate id("DNS:tls.example");
  const trusting ca(id);
  constexpr std::size_t size = 1 << 20;
  tls_server s(id, [](SSL* ssl) {
    read_request(ssl);
    send_all(ssl, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    send_all(ssl, std::string(size, 'y'));
    char c;
    SSL_read(ssl, &c, 1);
  });
  client_fixture w(ca.settings());
  auto a = w.start(
      {.url = s.url("tls.example"), .on_data = [](std::string_view) -> ry_status { return RY_RESOURCE_EXHAUSTED; }});
  for (std::size_t seen = 0; seen < size && a->wait_body(seen + 1);) {
    seen = a->size();
    w.resume(*a);
  }
  ASSERT_TRUE(a->wait());
  EXPECT_EQ(a->status, RY_OK) << a->message;
  EXPECT_EQ(a->body.size(), size);
}

TEST(client_tls, rejects_unverifiable_certificates) {
  const self_signed_certificate good("DNS:tls.example"), expired("DNS:tls.example", -3600), stranger("DNS:tls.example");
  const trusting ca(good), old(expired);
  const auto run = [](const self_signed_certificate& id, const trusting& t, const std::string& host) {
    tls_server s(id, [](SSL* ssl) { read_request(ssl); });
    client_fixture w(t.settings());
    return w.run({.url = s.url(host)});
  };
  for (const auto& a : {run(good, ca, "other.example"), run(good, ca, "127.0.0.1"), run(expired, old, "tls.example"),
                        run(stranger, ca, "tls.example")}) {
    EXPECT_EQ(a->status, RY_UNAVAILABLE);
    EXPECT_EQ(a->reason, "http_client.tls") << a->message;
    EXPECT_EQ(a->heads, 0);
  }
  server plain([](peer& p) {
    p.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    p.closed_within(1000);
  });
  client_fixture w(ca.settings());
  EXPECT_EQ(w.run({.url = "https://tls.example:" + std::to_string(plain.port) + "/"})->reason, "http_client.tls");
}

TEST(client_tls, an_end_without_close_notify_is_a_truncation) {
  const self_signed_certificate id("DNS:tls.example");
  const trusting ca(id);
  tls_server s(id, [](SSL* ssl) {
    read_request(ssl);
    send_all(ssl, "HTTP/1.1 200 OK\r\n\r\npartial");
  });
  client_fixture w(ca.settings());
  const auto a = w.run({.url = s.url("tls.example")});
  EXPECT_NE(a->status, RY_OK);
  EXPECT_EQ(a->body, "partial");
}

TEST(client_tls, a_silent_handshake_times_out) {
  server s([](peer& p) { p.closed_within(5000); });
  client_fixture w;
  const auto a = w.run({.url = "https://127.0.0.1:" + std::to_string(s.port) + "/", .connect_ms = 150});
  EXPECT_EQ(a->reason, "http_client.connect_timeout");
}

TEST(client_tls, an_unusable_ca_file_is_reported) {
  ry::exec::loop_pool loops(1);
  ry::exec::op_table ops;
  EXPECT_THROW(ry::http::client(loops, ops, {address_guard::off, "/no/such/file"}), std::runtime_error);
}

}  // namespace
