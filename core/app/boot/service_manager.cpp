#include "core/app/boot/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "core/observe/log.hpp"

namespace ry::app {

using observe::level;

namespace {

constexpr int first_socket = 3;
constexpr int beats_within_patience = 3;
constexpr std::chrono::microseconds more_time = std::chrono::minutes(1);

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  ::unsetenv(name);
  return text;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || r.ec != std::errc{} || r.ptr != text.data() + text.size()) return std::nullopt;
  return n;
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c == '\n' || c == '\r') c = ' ';
  return out;
}

}  // namespace

service_manager::service_manager() : address_(take_variable("NOTIFY_SOCKET")) {
  const auto listen_pid = number(take_variable("LISTEN_PID"));
  const auto listen_fds = number(take_variable("LISTEN_FDS"));
  take_variable("LISTEN_FDNAMES");
  const auto watchdog_pid = take_variable("WATCHDOG_PID");
  const auto watchdog = number(take_variable("WATCHDOG_USEC"));
  // Variables addressed to a parent process are ignored.
  if (listen_pid == ::getpid() && listen_fds && *listen_fds > 0 && *listen_fds < 1024)
    sockets_ = static_cast<int>(*listen_fds);
  if (watchdog && *watchdog > 0 && (watchdog_pid.empty() || number(watchdog_pid) == ::getpid()))
    watchdog_ = std::chrono::microseconds(*watchdog);
}

std::optional<http::listener> service_manager::take_listener() {
  if (sockets_ == 0) return std::nullopt;
  if (std::exchange(sockets_, 0) != 1)
    throw std::runtime_error(
        "the service manager passes several sockets, but the server supports one: keep only one ListenStream in the "
        "socket unit ([::]:8080 serves IPv4 too)");
  return http::listener(first_socket);
}

void service_manager::starting(std::string_view what) const {
  notify("STATUS=" + one_line(what));
}

void service_manager::extend_start_timeout(std::string_view what) const {
  notify("EXTEND_TIMEOUT_USEC=" + std::to_string(more_time.count()) + "\nSTATUS=" + one_line(what));
}

void service_manager::ready(std::string_view url) const {
  notify("READY=1\nSTATUS=serving " + one_line(url));
}

void service_manager::reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto us = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us) + "\nSTATUS=reloading modules");
}

void service_manager::stopping() const {
  notify("STOPPING=1\nSTATUS=draining requests and releasing jobs");
}

void service_manager::notify(const std::string& state) const {
  if (address_.empty()) return;
  const auto log_error = [this](const std::string& why) {
    std::call_once(failure_logged_, [&] {
      observe::log(level::warn, "host", "the service manager cannot be notified",
                   {{"NOTIFY_SOCKET", address_}, {"reason", why}});
    });
  };
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  const bool is_abstract = address_[0] == '@';
  if ((address_[0] != '/' && !is_abstract) || address_.size() >= sizeof to.sun_path)
    return log_error("it is not a Unix socket address");
  std::memcpy(to.sun_path, address_.data(), address_.size());
  if (is_abstract) to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size() + (is_abstract ? 0 : 1));
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool sent = fd >= 0 && ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                                        reinterpret_cast<const sockaddr*>(&to), size) >= 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!sent) log_error(std::generic_category().message(error));
}

watchdog_heartbeat::watchdog_heartbeat(const service_manager& manager, exec::loop_pool& loops)
    : manager_(manager), loops_(loops), interval_(manager.watchdog() / beats_within_patience) {
  if (interval_.count() > 0) thread_ = std::thread([this] { heartbeat(); });
}

watchdog_heartbeat::~watchdog_heartbeat() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool watchdog_heartbeat::all_loops_responsive() {
  // Outlives this object if a loop responds too late.
  struct roll_call {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t missing;
  };
  auto call = std::make_shared<roll_call>();
  call->missing = loops_.size();
  for (std::size_t i = 0; i < loops_.size(); ++i)
    loops_.at(i).post([call] {
      std::lock_guard lock(call->mutex);
      if (--call->missing == 0) call->changed.notify_all();
    });
  std::unique_lock lock(call->mutex);
  return call->changed.wait_for(lock, interval_, [&] { return call->missing == 0; });
}

void watchdog_heartbeat::heartbeat() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    if (all_loops_responsive())
      manager_.notify("WATCHDOG=1");
    else
      observe::log(level::error, "host", "an event loop is blocked; the systemd watchdog is not notified",
                   {{"ms", std::to_string(interval_.count() / 1000)}});
    lock.lock();
    changed_.wait_for(lock, interval_, [this] { return ended_; });
  }
}

}  // namespace ry::app
