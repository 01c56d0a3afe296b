#include "core/app/rehearsal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "core/app/commands.hpp"
#include "core/process/launch.hpp"

namespace ry::app {

namespace {

constexpr auto patience = std::chrono::seconds(10);
constexpr std::size_t most_output = 64 * 1024;

// Takes what is there; false: the end.
bool drain(int fd, std::string& out) {
  char piece[4096];
  while (true) {
    const ssize_t n = ::read(fd, piece, sizeof piece);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    if (out.size() < most_output) out.append(piece, static_cast<std::size_t>(n));
  }
}

// Whether it ended in time.
bool wait_for_end(process::launched& child, std::string& said) {
  const auto until = std::chrono::steady_clock::now() + patience;
  pollfd watched[] = {{child.pidfd.get(), POLLIN, 0}, {child.out.get(), POLLIN, 0}, {child.err.get(), POLLIN, 0}};
  std::string unheard;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    if (::poll(watched, std::size(watched), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0 && !drain(watched[1].fd, said)) watched[1].fd = -1;
    if (watched[2].revents != 0 && !drain(watched[2].fd, unheard)) watched[2].fd = -1;
    if (watched[0].revents != 0) return drain(child.out.get(), said), true;
  }
}

}  // namespace

std::string rehearse(const std::string& path) {
  process::launch_plan plan;
  plan.argv = {"/proc/self/exe", "inspect", "--load", path};
  auto child = process::launch(plan);
  if (child.failed != process::launched::failure::none) return "no process to try it in: " + child.message;
  std::string said;
  const bool ended = wait_for_end(child, said);
  ::kill(-child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {}
  if (!ended) return "loading it takes longer than ten seconds";
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "it crashes while it is loaded (signal " + std::to_string(number) + ", " + ::strsignal(number) + ")";
  }
  if (said.find(load_line) == std::string::npos)
    return "it ends the process while it is loaded (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
  return {};
}

}  // namespace ry::app
