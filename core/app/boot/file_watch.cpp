#include "core/app/boot/file_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "core/observe/log.hpp"

namespace ry::app {

namespace {

using steady = std::chrono::steady_clock;

// A copy consists of many writes, and an installer touches a file more than once.
constexpr auto quiet_time = std::chrono::milliseconds(500);

}  // namespace

file_watch::file_watch(const std::vector<std::string>& directories,
                       std::function<void(const std::filesystem::path&)> changed)
    : changed_(std::move(changed)) {
  events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (events_ < 0) throw std::system_error(errno, std::generic_category(), "inotify");
  stop_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (stop_ < 0) {
    const int error = errno;
    ::close(events_);
    throw std::system_error(error, std::generic_category(), "eventfd");
  }
  for (const auto& dir : directories) {
    const int watch = ::inotify_add_watch(events_, dir.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (watch < 0)
      observe::log(observe::level::warn, "module", "a directory of modules is not watched",
                   {{"directory", dir}, {"error", std::generic_category().message(errno)}});
    else
      directories_[watch] = dir;
  }
  thread_ = std::thread([this] { listen(); });
}

file_watch::~file_watch() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(events_);
  ::close(stop_);
}

void file_watch::listen() {
  std::map<std::filesystem::path, steady::time_point> due;
  alignas(inotify_event) char buffer[16 * 1024];
  for (;;) {
    auto wait = std::chrono::milliseconds(-1);
    for (const auto& [file, when] : due) {
      const auto left =
          std::max(std::chrono::ceil<std::chrono::milliseconds>(when - steady::now()), std::chrono::milliseconds(0));
      if (wait.count() < 0 || left < wait) wait = left;
    }
    pollfd fds[] = {{events_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (::poll(fds, 2, static_cast<int>(wait.count())) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    for (ssize_t n; (n = ::read(events_, buffer, sizeof buffer)) > 0;)
      for (ssize_t at = 0; at < n;) {
        const auto* e = reinterpret_cast<const inotify_event*>(buffer + at);
        at += static_cast<ssize_t>(sizeof *e) + e->len;
        const auto dir = directories_.find(e->wd);
        if (e->len > 0 && dir != directories_.end()) due[dir->second / e->name] = steady::now() + quiet_time;
      }
    for (auto it = due.begin(); it != due.end();) {
      if (it->second > steady::now()) {
        ++it;
        continue;
      }
      changed_(it->first);
      it = due.erase(it);
    }
  }
}

}  // namespace ry::app
