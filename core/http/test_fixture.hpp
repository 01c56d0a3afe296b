// Test fixture: an in-process server with lambda routes, and a raw-socket client.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/exec/blocking_pool.hpp"
#include "core/http/server.hpp"

namespace ry::http::test {

using handler = std::function<ry_status(const ry_request_view&, ry_request*)>;
inline const ry_http_v1& api() {
  return http_v1();
}

inline ry_status reply(ry_request* r, std::uint32_t status, std::string_view body,
                       std::vector<ry_header> headers = {}) {
  return api().respond(r, status, headers.data(), headers.size(), core::bytes(body));
}

// Authenticator for tests: "good" is a user, "admin" an administrator; "later-good" is answered on another thread,
// "slow-good" after 500 ms; query tokens are "q-<path>".
class fake_auth final : public authenticator {
 public:
  std::optional<verdict> authenticate(const credential& c, ry_exec* exec, std::function<void(verdict)> later) override {
    if (c.from == credential::kind::query_token)
      return c.value == "q-" + std::string(c.path) ? user(RY_ROLE_USER) : verdict{};
    if (c.value == "good") return user(RY_ROLE_USER);
    if (c.value == "admin") return user(RY_ROLE_ADMIN);
    if (c.value == "later-good" || c.value == "later-bad" || c.value == "slow-good") {
      const bool good = c.value != "later-bad";
      const std::chrono::milliseconds time(c.value == "slow-good" ? 500 : 20);
      std::thread([exec, later = std::move(later), good, time]() mutable {
        std::this_thread::sleep_for(time);
        exec->post([later = std::move(later), good] { later(good ? user(RY_ROLE_USER) : verdict{}); });
      }).detach();
      return std::nullopt;
    }
    if (c.value == "down") return verdict{RY_UNAVAILABLE, {}, {}};
    return verdict{};
  }
  bool revoked(const std::shared_ptr<const void>&) const override { return revoked_; }
  std::uint64_t revocations() const noexcept override { return revoked_ ? 1 : 0; }
  void revoke_all() { revoked_ = true; }

 private:
  static verdict user(std::uint32_t role) {
    auto subject = std::make_shared<std::string>("subject-1");
    ry_principal p{sizeof(ry_principal), role, core::view(*subject), {}, {}, {}, {}, 0};
    return {RY_OK, p, subject};
  }
  std::atomic<bool> revoked_{false};
};

class server_fixture {
 public:
  explicit server_fixture(settings s = defaults(), std::size_t loops = 2)
      : loops(loops),
        blocking(2),
        spool(std::filesystem::temp_directory_path() / ("ry-http-test-" + std::to_string(::getpid()))) {
    if (s.spool_dir.empty()) s.spool_dir = spool.string();
    srv = std::make_unique<server>(server_context{&this->loops, &auth, &blocking}, std::move(s));
  }
  ~server_fixture() {
    srv.reset();
    EXPECT_EQ(0, host.outstanding.load()) << "requests keep their module alive forever";
    std::error_code ec;
    std::filesystem::remove_all(spool, ec);
  }
  static settings defaults() {
    settings s;
    s.port = 0;
    s.access = access_log::off;
    return s;
  }
  void route(std::string method, std::string pattern, handler h, std::uint32_t flags = RY_ROUTE_PUBLIC,
             std::uint64_t max_body = 0, std::uint64_t timeout_ms = 0) {
    handlers.push_back(std::move(h));
    module::route r;
    r.owner = &host;
    r.flags = flags;
    r.method = std::move(method);
    r.pattern = std::move(pattern);
    r.handle = [](void* ctx, const ry_request_view* v, ry_request* q) noexcept {
      return (*static_cast<handler*>(ctx))(*v, q);
    };
    r.ctx = &handlers.back();
    r.max_body = max_body;
    r.timeout_ms = timeout_ms;
    routes.push_back(std::move(r));
  }
  server_fixture& start() {
    srv->publish(routes);
    srv->start();
    return *this;
  }

  exec::loop_pool loops;
  exec::blocking_pool blocking;
  module::runtime rt;
  ry_host host{rt, "fake", 1};
  fake_auth auth;
  std::list<handler> handlers;
  std::vector<module::route> routes;
  std::filesystem::path spool;
  std::unique_ptr<server> srv;
};

struct response {
  int status = 0;
  std::string head, body;
  // "" if absent; names are case-insensitive.
  std::string header(std::string_view name) const {
    std::size_t at = head.find("\r\n");
    while (at != std::string::npos && at + 2 < head.size()) {
      const auto end = head.find("\r\n", at + 2);
      const auto line = std::string_view(head).substr(at + 2, end - at - 2);
      const auto colon = line.find(':');
      if (colon == name.size() && ::strncasecmp(line.data(), name.data(), colon) == 0)
        return std::string(line.substr(colon + 2));
      at = end;
    }
    return {};
  }
};

class client {
 public:
  explicit client(const server_fixture& w, int receive_buffer = 0) : client(w.srv->port(), receive_buffer) {}
  explicit client(std::uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer != 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) refused = true;
  }
  ~client() { close(); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }
  void half_close() { ::shutdown(fd_, SHUT_WR); }
  bool send(std::string_view data) {
    while (!data.empty()) {
      const auto n = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // False: closed, reset, or no data within `ms`.
  bool more(int ms = 5000) {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, ms) <= 0) return false;
    char buf[65536];
    const auto n = ::recv(fd_, buf, sizeof buf, 0);
    if (n == 0) at_end = true;
    if (n <= 0) return false;
    in.append(buf, static_cast<std::size_t>(n));
    return true;
  }
  bool until(std::string_view text, int ms = 5000) {
    while (in.find(text) == std::string::npos)
      if (!more(ms)) return false;
    return true;
  }
  // Reads one answer with Content-Length or chunked coding; status 0: no answer arrived.
  response read(bool head_only = false, int ms = 5000) {
    response r;
    std::size_t end;
    while ((end = in.find("\r\n\r\n")) == std::string::npos)
      if (!more(ms)) return r;
    r.head = in.substr(0, end + 2);
    in.erase(0, end + 4);
    r.status = std::stoi(r.head.substr(9, 3));
    if (head_only || r.status == 204 || r.status == 304 || r.status < 200) return r;
    if (r.header("Transfer-Encoding") == "chunked") {
      for (;;) {
        std::size_t eol;
        while ((eol = in.find("\r\n")) == std::string::npos)
          if (!more(ms)) return r;
        const auto n = std::stoul(in.substr(0, eol), nullptr, 16);
        while (in.size() < eol + 2 + n + 2)
          if (!more(ms)) return r;
        r.body += in.substr(eol + 2, n);
        in.erase(0, eol + 2 + n + 2);
        if (n == 0) return r;
      }
    }
    const auto length = std::stoul(r.header("Content-Length"));
    while (in.size() < length)
      if (!more(ms)) return r;
    r.body = in.substr(0, length);
    in.erase(0, length);
    return r;
  }
  response ask(std::string_view request) {
    send(request);
    return read(request.substr(0, 5) == "HEAD ");
  }
  response get(std::string_view path, std::string_view headers = {}) {
    return ask("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n");
  }
  // True if the server closes the connection within this time.
  bool ends(int ms = 5000) {
    while (more(ms)) {
    }
    return at_end || errno == ECONNRESET;
  }

  std::string in;
  bool at_end = false;
  bool refused = false;

 private:
  int fd_;
};

template <class F>
bool eventually(F&& f, int ms = 5000) {
  for (int i = 0; i < ms / 5; ++i) {
    if (f()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return f();
}

}  // namespace ry::http::test
