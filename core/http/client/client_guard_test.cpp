// Tests of the address guard in the client: which addresses it connects to.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "core/http/client/test_client.hpp"
#include "core/http/client/test_server.hpp"

namespace {

using namespace ry::http::test;
using ry::http::address_guard;
using ry::http::client_settings;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

ry::http::resolver::addresses ips(std::initializer_list<const char*> list) {
  ry::http::resolver::addresses out;
  for (const char* a : list) out.push_back(boost::asio::ip::make_address(a));
  return out;
}

client_settings guarded(ry::http::resolver::lookup_fn lookup) {
  client_settings s{address_guard::on};
  s.lookup = std::move(lookup);
  return s;
}

TEST(client_guard, refuses_literals_names_and_resolved_addresses) {
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  const auto port = ":" + std::to_string(s.port) + "/";
  client_fixture w(guarded([](const std::string& host) {
    if (host == "mixed.example") return ips({"93.184.216.34", "10.0.0.1"});
    if (host == "none.example") return ips({});
    return ips({"127.0.0.1"});
  }));
  for (const char* host :
       {"127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "localhost",
        "metadata.google.internal", "LOCALHOST.", "rebound.example", "mixed.example", "0"}) {
    const auto a = w.run({.url = "http://" + std::string(host) + port});
    EXPECT_EQ(a->status, RY_PERMISSION_DENIED) << host;
    EXPECT_EQ(a->reason, "http_client.address_refused") << host;
  }
  const auto a = w.run({.url = "http://none.example/"});
  EXPECT_EQ(a->status, RY_UNAVAILABLE);
  EXPECT_EQ(a->reason, "http_client.resolve");
  EXPECT_EQ(s.connections, 0);
  EXPECT_EQ(w.run({.url = "http://127.0.0.1" + port, .flags = RY_CLIENT_OPERATOR_URL})->body, "ok");
}

TEST(client_guard, rejects_public_addresses_of_local_interfaces) {
  auto s = guarded([](const std::string& host) {
    return host == "own.example" ? ips({"93.184.216.34"}) : ips({"2606:2800:220::1", "93.184.216.35"});
  });
  s.interfaces = [] { return ips({"127.0.0.1", "93.184.216.34", "2606:2800:220::1"}); };
  client_fixture w(s);
  for (const char* host : {"93.184.216.34", "own.example", "both.example", "[2606:2800:220::1]", "0x5db8d822",
                           "[64:ff9b::5db8:d822]", "[2002:5db8:d822::]"}) {
    const auto a = w.run({.url = "http://" + std::string(host) + "/"});
    EXPECT_EQ(a->reason, "http_client.address_refused") << host;
  }
  const auto check = [&](std::string_view url) {
    return ry::http::http_client_v1().check_url(&w.host, ry::core::view(url));
  };
  EXPECT_EQ(check("http://93.184.216.34/"), RY_PERMISSION_DENIED);
  EXPECT_EQ(check("http://93.184.216.36/"), RY_OK);
  EXPECT_FALSE(ry::http::local_addresses::read_interfaces().empty());
}

TEST(client_guard, an_operators_connection_is_not_shared_with_guarded_requests) {
  server s([](peer& p) {
    while (!p.request().empty()) p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  client_fixture w(guarded([](const std::string&) { return ips({"127.0.0.1"}); }));
  const auto url = "http://intern.example:" + std::to_string(s.port) + "/";
  EXPECT_EQ(w.run({.url = url, .flags = RY_CLIENT_OPERATOR_URL})->body, "ok");
  EXPECT_EQ(w.run({.url = url})->status, RY_PERMISSION_DENIED);
}

TEST(client_guard, check_url_checks_only_literal_addresses_and_known_names) {
  client_fixture w(guarded([](const std::string&) { return ips({}); }));
  const auto check = [&](std::string_view url) {
    return ry::http::http_client_v1().check_url(&w.host, ry::core::view(url));
  };
  EXPECT_EQ(check("https://example.com/x"), RY_OK);
  EXPECT_EQ(check("http://8.8.8.8/"), RY_OK);
  EXPECT_EQ(check("http://127.1/"), RY_PERMISSION_DENIED);
  EXPECT_EQ(check("http://localhost:9/"), RY_PERMISSION_DENIED);
  EXPECT_EQ(check("ftp://example.com/"), RY_INVALID_ARGUMENT);
  EXPECT_EQ(check(""), RY_INVALID_ARGUMENT);
  client_fixture local;
  EXPECT_EQ(ry::http::http_client_v1().check_url(&local.host, ry::core::view(std::string_view("http://127.0.0.1/"))),
            RY_OK);
}

TEST(client_guard, a_slow_lookup_does_not_extend_deadlines_or_block_other_requests) {
  std::promise<void> release;
  auto released = release.get_future().share();
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  client_settings settings{address_guard::off};
  settings.lookup = [released](const std::string& host) {
    if (host == "slow.example") released.wait();
    return ips({"127.0.0.1"});
  };
  {
    client_fixture w(settings);
    const auto begin = steady_clock::now();
    auto slow = w.start({.url = "http://slow.example/", .connect_ms = 200});
    auto total = w.start({.url = "http://slow.example/", .connect_ms = 5000, .total_ms = 100});
    auto cancelled = w.start({.url = "http://slow.example/"});
    EXPECT_EQ(w.run({.url = "http://fast.example:" + std::to_string(s.port) + "/"})->body, "ok");
    w.ops.cancel(cancelled->op);
    ASSERT_TRUE(slow->wait(3000) && total->wait(3000) && cancelled->wait(3000));
    EXPECT_EQ(slow->reason, "http_client.connect_timeout");
    EXPECT_EQ(total->reason, "http_client.total_timeout");
    EXPECT_EQ(cancelled->status, RY_CANCELLED);
    EXPECT_LT(slow->ended - begin, milliseconds(3000));
    EXPECT_LT(total->ended - begin, milliseconds(3000));
  }
  release.set_value();  // the lookup ends after the client is destroyed
}

TEST(client_guard, unanswered_lookups_do_not_delay_operator_requests_or_later_requests) {
  std::promise<void> release;
  auto released = release.get_future().share();
  std::atomic<int> looked_up{0};
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  client_settings settings{address_guard::off};
  settings.lookup = [released, &looked_up](const std::string& host) {
    ++looked_up;
    if (host.starts_with("silent")) released.wait();
    return ips({"127.0.0.1"});
  };
  client_fixture w(settings);
  const auto port = ":" + std::to_string(s.port) + "/";
  std::vector<std::shared_ptr<answer>> silent;
  for (int i = 0; i < 200; ++i)
    silent.push_back(w.start({.url = "http://silent" + std::to_string(i) + ".example/", .connect_ms = 500}));
  const auto model = w.run({.url = "http://model.example" + port, .flags = RY_CLIENT_OPERATOR_URL});
  EXPECT_EQ(model->body, "ok") << model->message;
  for (const auto& a : silent) {
    ASSERT_TRUE(a->wait());
    EXPECT_EQ(a->reason, "http_client.connect_timeout");
  }
  auto later = w.start({.url = "http://later.example" + port});
  release.set_value();
  ASSERT_TRUE(later->wait());
  EXPECT_EQ(later->body, "ok") << later->message;
  EXPECT_LT(looked_up, 100);  // only the lookups in progress, not the cancelled ones
}

TEST(client_guard, tries_the_next_address_when_one_fails) {
  server s([](peer& p) {
    p.request();
    p.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  client_settings settings{address_guard::off};
  settings.lookup = [](const std::string&) { return ips({"::1", "127.0.0.9", "127.0.0.1"}); };
  client_fixture w(settings);
  const auto a = w.run({.url = "http://many.example:" + std::to_string(s.port) + "/"});
  EXPECT_EQ(a->body, "ok") << a->message;
  EXPECT_EQ(a->peer, "127.0.0.1");
}

}  // namespace
