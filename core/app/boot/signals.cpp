#include "core/app/boot/signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>

#include "core/observe/log.hpp"

#if defined(__SANITIZE_THREAD__)
// If a second signal ends the process during the drain, the draining thread is never joined.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "thread:drain\n";
}
#endif

namespace ry::app {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  // The disposition of SIGHUP at start: under nohup it stays ignored.
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

bool has_terminal() {
  const int fd = ::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

const char* name_of(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace

signals::signals() {
  const auto set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // Writing to a closed socket is an error of that socket, not of the process.
  ::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { listen(); });
}

signals::~signals() {
  ended_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

void signals::listen() {
  constexpr auto same_request = std::chrono::seconds(1);
  const auto set = stop_signals();
  const bool terminal = has_terminal();
  std::chrono::steady_clock::time_point first;
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (ended_) return;
    if (signal == SIGHUP && !terminal) {
      std::lock_guard lock(mutex_);
      if (closed_ || !hangup_) continue;
      posted_.push_back(hangup_);
      arrived_.notify_all();
      continue;
    }
    const char* name = name_of(signal);
    if (requested_.exchange(true)) {
      // A terminal signals the whole process group, and a parent of the server may forward its own signal: one stop
      // request then arrives twice.
      if (std::chrono::steady_clock::now() - first < same_request) continue;
      observe::log(observe::level::warn, "host", "second signal: exiting immediately", {{"signal", name}});
      _exit(1);
    }
    first = std::chrono::steady_clock::now();
    observe::log(observe::level::info, "host", "stopping", {{"signal", name}});
    std::lock_guard lock(mutex_);
    arrived_.notify_all();
  }
}

void signals::wait() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return requested() || !posted_.empty(); });
    if (requested()) break;
    const auto work = std::move(posted_.front());
    posted_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
  closed_ = true;
  const auto left = std::move(posted_);
  posted_.clear();
  lock.unlock();  // destroying the work may notify other threads
}

void signals::on_hangup(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  hangup_ = std::move(work);
}

bool signals::post(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  posted_.push_back(std::move(work));
  arrived_.notify_all();
  return true;
}

}  // namespace ry::app
