#include "core/app/boot/init_process.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace ry::app {

namespace {

constexpr int killed = 128;

int code_of(int status) {
  return WIFSIGNALED(status) ? killed + WTERMSIG(status) : WEXITSTATUS(status);
}

// Reaps every child that terminates; returns the exit code once the server has terminated.
std::optional<int> reap(pid_t server) {
  std::optional<int> ended;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
    if (pid == server) ended = code_of(status);
  return ended;
}

}  // namespace

std::optional<int> run_below_init() {
  if (::getpid() != 1) return std::nullopt;
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  const pid_t server = ::fork();
  if (server < 0) throw std::runtime_error(std::string("cannot fork the server process: ") + std::strerror(errno));
  if (server == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return std::nullopt;
  }
  for (;;) {
    int signal = 0;
    if (::sigwait(&all, &signal) != 0) continue;
    if (signal != SIGCHLD) {
      ::kill(server, signal);
    } else if (const auto ended = reap(server)) {
      return ended;
    }
  }
}

}  // namespace ry::app
