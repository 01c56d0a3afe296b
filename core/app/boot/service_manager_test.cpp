#include "core/app/boot/service_manager.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>

namespace ry::app {
namespace {

using namespace std::chrono_literals;

// The manager's side: a socket that receives the notifications.
class manager_socket {
 public:
  explicit manager_socket(std::string name) : name_(std::move(name)) {
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name_.data(), name_.size());
    if (name_[0] == '@') at.sun_path[0] = '\0';
    const auto size = offsetof(sockaddr_un, sun_path) + name_.size() + (name_[0] == '@' ? 0 : 1);
    EXPECT_EQ(0, ::bind(fd_, reinterpret_cast<sockaddr*>(&at), static_cast<socklen_t>(size)));
  }
  ~manager_socket() {
    ::close(fd_);
    if (name_[0] == '/') ::unlink(name_.c_str());
  }
  manager_socket(const manager_socket&) = delete;
  manager_socket& operator=(const manager_socket&) = delete;

  // The next message; empty if none arrived in time.
  std::string next(std::chrono::milliseconds timeout = 5s) {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(timeout.count())) != 1) return {};
    char text[4096];
    const auto n = ::recv(fd_, text, sizeof text, 0);
    return n < 0 ? std::string() : std::string(text, static_cast<std::size_t>(n));
  }

 private:
  std::string name_;
  int fd_ = -1;
};

class service_manager_test : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static constexpr const char* names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                          "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("ry-notify-" + std::to_string(::getpid()))).string();
  const std::string own_pid_ = std::to_string(::getpid());
};

TEST_F(service_manager_test, does_nothing_without_a_service_manager) {
  service_manager m;
  m.ready("http://127.0.0.1:1");
  m.stopping();
  EXPECT_FALSE(m.take_listener());
  EXPECT_EQ(0, m.watchdog().count());
}

TEST_F(service_manager_test, sends_state_notifications_as_protocol_lines) {
  for (const auto& name : {path_, "@ry-notify-" + own_pid_}) {
    manager_socket socket(name);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    service_manager m;
    m.starting("a\nREADY=1");
    EXPECT_EQ("STATUS=a READY=1", socket.next()) << "a line break in a text must not add a protocol line";
    m.extend_start_timeout("a\nREADY=1");
    EXPECT_EQ("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=a READY=1", socket.next());
    m.ready("http://127.0.0.1:1");
    EXPECT_EQ("READY=1\nSTATUS=serving http://127.0.0.1:1", socket.next());
    m.reloading();
    EXPECT_EQ(0u, socket.next().find("RELOADING=1\nMONOTONIC_USEC="));
    m.stopping();
    EXPECT_EQ(0u, socket.next().find("STOPPING=1\n"));
  }
}

TEST_F(service_manager_test, removes_its_variables_from_the_environment) {
  for (const char* name : names) ::setenv(name, "1", 1);
  service_manager m;
  for (const char* name : names) EXPECT_EQ(nullptr, std::getenv(name)) << name;
}

TEST_F(service_manager_test, an_unreachable_notify_socket_is_not_an_error) {
  for (const auto& name : {std::string("/nowhere/at/all"), std::string("relative"), "/" + std::string(200, 'x'),
                           std::string("@nobody-there")}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    service_manager m;
    m.ready("x");
    m.stopping();
  }
}

TEST_F(service_manager_test, a_watchdog_for_another_process_is_ignored) {
  ::setenv("WATCHDOG_USEC", "500000", 1);
  EXPECT_EQ(500ms, service_manager().watchdog());
  ::setenv("WATCHDOG_USEC", "500000", 1);
  ::setenv("WATCHDOG_PID", own_pid_.c_str(), 1);
  EXPECT_EQ(500ms, service_manager().watchdog());
  ::setenv("WATCHDOG_USEC", "500000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(0s, service_manager().watchdog());
  for (const char* nonsense : {"", "-1", "x", "99999999999999999999", "5s"}) {
    ::setenv("WATCHDOG_USEC", nonsense, 1);
    EXPECT_EQ(0s, service_manager().watchdog()) << nonsense;
  }
}

TEST_F(service_manager_test, sockets_for_another_process_are_ignored) {
  ::setenv("LISTEN_FDS", "1", 1);
  ::setenv("LISTEN_PID", "1", 1);
  EXPECT_FALSE(service_manager().take_listener());
  ::setenv("LISTEN_FDS", "1", 1);
  EXPECT_FALSE(service_manager().take_listener()) << "no LISTEN_PID";
  ::setenv("LISTEN_FDS", "2", 1);
  ::setenv("LISTEN_PID", own_pid_.c_str(), 1);
  service_manager two;
  EXPECT_THROW(two.take_listener(), std::runtime_error);
}

TEST_F(service_manager_test, heartbeats_stop_while_a_loop_hangs) {
  manager_socket socket(path_);
  ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "300000", 1);
  service_manager m;
  exec::loop_pool loops(2);
  watchdog_heartbeat heartbeat(m, loops);
  EXPECT_EQ("WATCHDOG=1", socket.next());
  EXPECT_EQ("WATCHDOG=1", socket.next());
  std::promise<void> hung, free;
  loops.at(1).post([&] {
    hung.set_value();
    free.get_future().wait();
  });
  hung.get_future().wait();
  while (!socket.next(1s).empty()) {
  }  // what was sent before; then one second of silence
  free.set_value();
  EXPECT_EQ("WATCHDOG=1", socket.next());
}

TEST_F(service_manager_test, heartbeats_stop_immediately_with_the_server) {
  ::setenv("WATCHDOG_USEC", "600000000", 1);
  service_manager m;
  exec::loop_pool loops(1);
  const auto begun = std::chrono::steady_clock::now();
  { watchdog_heartbeat heartbeat(m, loops); }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
}

// An inherited socket must be a listening TCP socket.
TEST(inherited_listener, accepts_only_a_listening_tcp_socket) {
  const auto refused = [](int fd) {
    try {
      http::listener listener(fd);
    } catch (const std::runtime_error& e) {
      return std::string(e.what()).find("is not a listening TCP socket") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused(::socket(AF_INET, SOCK_DGRAM, 0)));
  EXPECT_TRUE(refused(::socket(AF_UNIX, SOCK_STREAM, 0)));
  EXPECT_TRUE(refused(::socket(AF_INET, SOCK_STREAM, 0))) << "it does not listen";
  EXPECT_TRUE(refused(-1));
  http::listener own("::1", 0);
  const auto port = own.port();
  const int fd = own.take();
  ASSERT_EQ(0, ::listen(fd, 1));
  http::listener listener(fd);
  EXPECT_TRUE(listener.inherited());
  EXPECT_EQ(port, listener.port());
  EXPECT_EQ("::1", listener.address());
  EXPECT_EQ("[::1]:" + std::to_string(port), listener.name());
  EXPECT_EQ(AF_INET6, listener.family());
}

}  // namespace
}  // namespace ry::app
