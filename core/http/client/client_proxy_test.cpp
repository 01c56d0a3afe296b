// Tests of requests through proxies, and of certificates for single requests.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "core/http/client/test_client.hpp"
#include "core/http/client/test_server.hpp"
#include "core/http/client/test_tls.hpp"

namespace {

using namespace ry::http::test;
using ry::http::address_guard;
using ry::http::client_settings;
using ry::http::environment_proxies;

constexpr std::uint32_t operator_url = RY_CLIENT_OPERATOR_URL;

// Only the proxy resolves names: a lookup in the client is a failure.
client_settings without_names(address_guard guard = address_guard::off) {
  client_settings s{guard};
  s.lookup = [](const std::string& name) {
    ADD_FAILURE() << name << " was looked up";
    return ry::http::resolver::addresses{};
  };
  return s;
}

// A proxy that answers absolute-form requests itself; after an accepted CONNECT it passes the connection to `inside`.
struct test_proxy {
  std::mutex mutex;
  std::vector<std::string> heads;
  std::function<void(peer&)> inside;
  std::string refusal;  // the answer to CONNECT when it is not empty
  server tcp{[this](peer& p) {
    for (std::string r = p.request(); !r.empty(); r = p.request()) {
      {
        std::lock_guard lock(mutex);
        heads.push_back(r);
      }
      if (r.starts_with("CONNECT ")) {
        if (!refusal.empty()) {
          p.send(refusal);
          return;
        }
        p.send("HTTP/1.1 200 Connection established\r\nProxy-Agent: test\r\n\r\n");
        return inside(p);
      }
      p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
  }};
  std::string address(const std::string& credentials = "") const {
    return "http://" + credentials + "127.0.0.1:" + std::to_string(tcp.port);
  }
  std::string head(std::size_t i) {
    std::lock_guard lock(mutex);
    return i < heads.size() ? heads[i] : "";
  }
  std::size_t count() {
    std::lock_guard lock(mutex);
    return heads.size();
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Serves TLS on an existing connection.
std::function<void(peer&)> serves_tls(const self_signed_certificate& id, SSL_CTX* ctx) {
  SSL_CTX_use_certificate(ctx, id.cert.get());
  SSL_CTX_use_PrivateKey(ctx, id.key.get());
  return [ctx](peer& p) {
    SSL* ssl = SSL_new(ctx);
    SSL_set_fd(ssl, p.fd());
    if (SSL_accept(ssl) == 1)
      for (std::string r = read_request(ssl); !r.empty(); r = read_request(ssl))
        send_all(ssl, "HTTP/1.1 200 OK\r\nX-Proxy-Auth: " + std::string(has(r, "roxy") ? "seen" : "none") +
                          "\r\nContent-Length: 6\r\n\r\nsecret");
    SSL_free(ssl);
  };
}

TEST(client_proxy, http_urls_use_the_absolute_form) {
  test_proxy via;
  client_fixture w(without_names());
  const auto a = w.run({.url = "http://model.example/v1?x=1", .proxy = via.address("ann:pw@"), .flags = operator_url});
  EXPECT_EQ(a->status, RY_OK) << a->message;
  EXPECT_EQ(a->body, "ok");
  EXPECT_EQ(a->url, "http://model.example/v1?x=1");
  EXPECT_TRUE(via.head(0).starts_with("GET http://model.example/v1?x=1 HTTP/1.1\r\nHost: model.example\r\n"))
      << via.head(0);
  EXPECT_TRUE(has(via.head(0), "\r\nProxy-Authorization: Basic YW5uOnB3\r\n")) << via.head(0);
}

TEST(client_proxy, https_urls_use_a_tunnel) {
  ::signal(SIGPIPE, SIG_IGN);
  const self_signed_certificate id("DNS:model.example");
  const ctx_ptr ctx(SSL_CTX_new(TLS_server_method()));
  test_proxy via;
  via.inside = serves_tls(id, ctx.get());
  client_fixture w(without_names());
  const call c{.method = "POST",
               .url = "https://model.example/v1",
               .body = "{}",
               .proxy = via.address("ann:pw@"),
               .flags = operator_url,
               .trust = w.http.trust(id.pem())};
  for (int i = 0; i < 2; ++i) {
    const auto a = w.run(c);
    EXPECT_EQ(a->status, RY_OK) << a->message;
    EXPECT_EQ(a->body, "secret");
    EXPECT_TRUE(a->heads == 1 && a->headers.size() == 2 && a->headers[0].second == "none")
        << "the target must not receive the proxy's credentials";
  }
  EXPECT_EQ(via.count(), 1u) << "the second request uses the tunnel of the first";
  EXPECT_TRUE(via.head(0).starts_with("CONNECT model.example:443 HTTP/1.1\r\nHost: model.example:443\r\n"))
      << via.head(0);
  EXPECT_TRUE(has(via.head(0), "\r\nProxy-Authorization: Basic YW5uOnB3\r\n")) << via.head(0);
}

TEST(client_proxy, connections_are_not_shared_between_proxies) {
  test_proxy one, two;
  server direct([](peer& p) {
    while (!p.request().empty()) p.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect");
  });
  client_fixture w(without_names());
  const auto body = [&](const std::string& proxy) {
    return w.run({.url = direct.url(), .pool_key = "k", .proxy = proxy, .flags = operator_url})->body;
  };
  EXPECT_EQ(body(""), "direct");
  EXPECT_EQ(body(one.address()), "ok");
  EXPECT_EQ(body(two.address()), "ok");
  EXPECT_EQ(body(one.address("ann:pw@")), "ok");
  EXPECT_EQ(body(""), "direct");
  EXPECT_EQ(body(one.address()), "ok");
  EXPECT_EQ(one.tcp.connections, 2) << "one without and one with credentials";
  EXPECT_EQ(two.tcp.connections, 1);
  EXPECT_EQ(direct.connections, 1);
  w.drop_idle("k");
  EXPECT_EQ(body(one.address()), "ok");
  EXPECT_EQ(one.tcp.connections, 3) << "drop_idle() closes connections through proxies too";
}

TEST(client_proxy, errors_name_the_proxy_but_not_its_credentials) {
  const struct {
    const char* answer;
    ry_status status;
    const char* expected;
  } rows[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\nnope", RY_PERMISSION_DENIED,
       "rejected or requires credentials"},
      {"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", RY_PERMISSION_DENIED,
       "does not allow connections to model.example"},
      {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", RY_UNAVAILABLE, "could not connect to model.example"},
      {"SSH-2.0-x\r\n\r\n", RY_UNAVAILABLE, "did not respond to CONNECT with HTTP"},
      {"HTTP/1.1 200 OK\r\n\r\nearly", RY_UNAVAILABLE, "sent data ahead"},
      {"HTTP/1.1 200", RY_UNAVAILABLE, "closed the connection"},
  };
  for (const auto& r : rows) {
    test_proxy via;
    via.refusal = r.answer;
    client_fixture w(without_names());
    const auto a = w.run({.url = "https://model.example/", .proxy = via.address("ann:hush@"), .flags = operator_url});
    EXPECT_EQ(a->status, r.status) << a->message;
    EXPECT_EQ(a->reason, "http_client.proxy") << r.answer;
    EXPECT_TRUE(has(a->message, r.expected)) << a->message;
    EXPECT_TRUE(has(a->message, "127.0.0.1:" + std::to_string(via.tcp.port))) << a->message;
    EXPECT_FALSE(has(a->message, "hush")) << a->message;
    EXPECT_EQ(a->heads, 0);
  }
  server demands([](peer& p) {
    p.request();
    p.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  });
  client_fixture w(without_names());
  const auto a = w.run({.url = "http://model.example/", .proxy = demands.url(), .flags = operator_url});
  EXPECT_EQ(a->status, RY_PERMISSION_DENIED);
  EXPECT_EQ(a->reason, "http_client.proxy");
  EXPECT_EQ(a->heads, 0);
}

TEST(client_proxy, the_connect_timeout_covers_a_silent_proxy) {
  server silent([](peer& p) { p.closed_within(5000); });
  client_fixture w(without_names());
  const auto a =
      w.run({.url = "https://model.example/", .proxy = silent.url(), .flags = operator_url, .connect_ms = 150});
  EXPECT_EQ(a->reason, "http_client.connect_timeout");
  EXPECT_TRUE(has(a->message, "through the proxy 127.0.0.1:")) << a->message;
}

TEST(client_proxy, requests_to_user_urls_use_no_proxy) {
  test_proxy via;
  client_settings s = without_names(address_guard::on);
  s.proxies = environment_proxies({via.address(), via.address(), ""});
  client_fixture w(std::move(s));
  const auto given = w.run({.url = "http://169.254.169.254/", .proxy = via.address()});
  EXPECT_EQ(given->status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(given->reason, "http_client.proxy");
  const auto asked = w.run({.url = "http://169.254.169.254/", .flags = RY_CLIENT_ENVIRONMENT_PROXY});
  EXPECT_EQ(asked->reason, "http_client.proxy");
  EXPECT_EQ(w.run({.url = "http://169.254.169.254/"})->reason, "http_client.address_refused");
  EXPECT_EQ(via.count(), 0u);
}

TEST(client_proxy, the_environment_proxy_is_used_when_requested) {
  test_proxy via, own;
  server direct([](peer& p) {
    while (!p.request().empty()) p.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ndirect");
  });
  client_settings s = without_names();
  s.proxies = environment_proxies({via.address(), "socks5://no:where@x:1", "127.0.0.1"});
  client_fixture w(std::move(s));
  constexpr auto env = operator_url | RY_CLIENT_ENVIRONMENT_PROXY;
  EXPECT_EQ(w.run({.url = "http://model.example/", .flags = env})->body, "ok");
  EXPECT_EQ(via.count(), 1u);
  EXPECT_EQ(w.run({.url = direct.url(), .flags = env})->body, "direct") << "NO_PROXY";
  EXPECT_EQ(w.run({.url = "http://model.example/", .proxy = own.address(), .flags = env})->body, "ok");
  EXPECT_EQ(own.count(), 1u) << "the proxy of the request has precedence";
  EXPECT_EQ(via.count(), 1u);
  const auto bad = w.run({.url = "https://model.example/", .flags = env});
  EXPECT_EQ(bad->reason, "http_client.proxy");
  EXPECT_TRUE(has(bad->message, "HTTPS_PROXY") && !has(bad->message, "where")) << bad->message;
}

TEST(client_proxy, a_request_struct_of_an_older_version_has_no_proxy) {
  test_proxy via;
  client_fixture w(without_names());
  const std::string url = via.address() + "/";
  ry_client_request r{};
  r.struct_size = offsetof(ry_client_request, proxy);
  r.flags = operator_url;
  r.method = ry::core::view("GET");
  r.url = ry::core::view(url);
  r.proxy = ry::core::view("no proxy at all");  // beyond the struct_size of the caller
  r.trust = 99;
  auto a = std::make_shared<answer>();
  a->exec = &w.loops.at(0);
  const ry_client_handler h{sizeof h, 0, &client_fixture::on_head, &client_fixture::on_data, &client_fixture::on_done};
  ASSERT_EQ(ry::http::http_client_v1().request(&w.host, a->exec, &r, &h, new std::shared_ptr<answer>(a), &a->op),
            RY_OK);
  ASSERT_TRUE(a->wait());
  EXPECT_EQ(a->body, "ok") << a->message;
}

TEST(client_trust, only_requests_that_name_certificates_trust_them) {
  const self_signed_certificate id("DNS:model.example"), other("DNS:model.example", 3600, "another");
  tls_server s(id, [](SSL* ssl) {
    for (std::string r = read_request(ssl); !r.empty(); r = read_request(ssl))
      send_all(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  client_settings settings{address_guard::off};
  settings.lookup = [](const std::string&) {
    return ry::http::resolver::addresses{boost::asio::ip::make_address("127.0.0.1")};
  };
  client_fixture w(std::move(settings));
  const auto own = w.http.trust(id.pem()), wrong = w.http.trust(other.pem());
  EXPECT_NE(own, wrong);
  EXPECT_EQ(w.http.trust(id.pem()), own);
  const auto url = s.url("model.example");
  EXPECT_EQ(w.run({.url = url, .trust = own})->body, "ok");
  EXPECT_EQ(w.run({.url = url})->reason, "http_client.tls")
      << "a connection with additional trusted certificates was reused";
  EXPECT_EQ(w.run({.url = url, .trust = wrong})->reason, "http_client.tls");
  EXPECT_EQ(w.run({.url = url, .trust = own})->body, "ok");
  EXPECT_EQ(w.run({.url = url, .trust = 77})->status, RY_INVALID_ARGUMENT);
  EXPECT_EQ(w.http.trust(other.pem() + id.pem()), 3u);
  EXPECT_EQ(w.run({.url = url, .trust = 3})->body, "ok") << "several certificates in one text";
}

TEST(client_trust, explains_certificate_errors) {
  const self_signed_certificate id("DNS:x");
  const auto examine = [](const ry_host* host, const std::string& pem) {
    char text[256];
    ry_errbuf err{text, sizeof text, 0};
    std::uint64_t number = 7;
    const auto st = ry::http::http_client_v1().trust(host, ry::core::view(pem), &number, &err);
    EXPECT_TRUE(st == RY_OK || number == 0);
    return st == RY_OK ? std::string("ok") : std::string(err.ptr, err.len);
  };
  client_fixture w;
  ry::module::runtime bare;
  const ry_host nowhere(bare, "checked", 1);  // a host without a client, as in `runyard check`
  auto cut = id.pem();
  cut.erase(80, 20);
  for (const ry_host* host : {static_cast<const ry_host*>(&w.host), &nowhere}) {
    EXPECT_EQ(examine(host, id.pem()), "ok");
    EXPECT_TRUE(has(examine(host, "hello"), "no certificate in PEM form"));
    EXPECT_TRUE(has(examine(host, ""), "no certificate in PEM form"));
    EXPECT_TRUE(has(examine(host, id.pem() + cut), "certificate 2 cannot be read")) << examine(host, id.pem() + cut);
  }
}

}  // namespace
