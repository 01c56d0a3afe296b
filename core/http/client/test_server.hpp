// A scripted TCP server for tests: each accepted connection runs a script on its own thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ry::http::test {

class peer {
 public:
  explicit peer(int fd, int number) : fd_(fd), number(number) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~peer() { close(); }
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  bool send(std::string_view data) {
    while (!data.empty()) {
      const auto n = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      data.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // Reads one request with its Content-Length body; empty when the client closed the connection.
  std::string request() {
    for (;;) {
      const auto end = in_.find("\r\n\r\n");
      if (end != std::string::npos) {
        std::size_t body = 0;
        const auto at = in_.find("Content-Length: ");
        if (at != std::string::npos && at < end) body = std::stoul(in_.substr(at + 16, 20));
        if (in_.size() >= end + 4 + body) {
          std::string out = in_.substr(0, end + 4 + body);
          in_.erase(0, out.size());
          return out;
        }
      }
      if (!more()) return {};
    }
  }
  // True if the client closes the connection within this time.
  bool closed_within(int ms) {
    for (;;) {
      pollfd p{fd_, POLLIN, 0};
      if (::poll(&p, 1, ms) <= 0) return false;
      if (!more()) return true;
    }
  }
  void reset() {
    const linger l{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }

 private:
  bool more() {
    char buf[65536];
    const auto n = ::recv(fd_, buf, sizeof buf, 0);
    if (n > 0) in_.append(buf, static_cast<std::size_t>(n));
    return n > 0;
  }
  int fd_;
  std::string in_;

 public:
  const int number;  // 0 for the first connection
};

class server {
 public:
  using script = std::function<void(peer&)>;
  explicit server(script s) : script_(std::move(s)) {
    listen_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    if (::bind(listen_, reinterpret_cast<sockaddr*>(&a), size) != 0 || ::listen(listen_, 512) != 0) std::abort();
    ::getsockname(listen_, reinterpret_cast<sockaddr*>(&a), &size);
    port = ntohs(a.sin_port);
    acceptor_ = std::thread([this] { accept(); });
  }
  ~server() {
    stopping_ = true;
    ::shutdown(listen_, SHUT_RDWR);
    acceptor_.join();
    ::close(listen_);
    {
      std::lock_guard lock(mutex_);
      for (int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& t : threads_) t.join();
  }
  std::string url(std::string_view path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port) + std::string(path);
  }
  std::uint16_t port = 0;
  std::atomic<int> connections{0};

 private:
  void accept() {
    for (;;) {
      const int fd = ::accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) {
        if (stopping_) return;
        continue;
      }
      const int number = connections++;
      std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number] {
        {
          peer p(::dup(fd), number);
          script_(p);
        }
        std::lock_guard inner(mutex_);
        open_.remove(fd);
        ::close(fd);
      });
    }
  }
  script script_;
  int listen_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread acceptor_;
  std::mutex mutex_;
  std::list<int> open_;
  std::list<std::thread> threads_;
};

}  // namespace ry::http::test
