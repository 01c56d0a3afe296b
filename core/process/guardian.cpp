#include "core/process/guardian.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "core/observe/log.hpp"
#include "core/process/launch.hpp"

namespace ry::process {

namespace {
// Groups are kept as one string of numbers between blanks.
constexpr const char* script =
    "trap '' HUP INT TERM\n"
    "g=' '\n"
    "while read -r what n; do\n"
    "  case $what in\n"
    "    +) g=\"$g$n \" ;;\n"
    "    -) case $g in *\" $n \"*) g=\"${g%% $n *} ${g#* $n }\" ;; esac ;;\n"
    "  esac\n"
    "done\n"
    "for n in $g; do kill -s KILL -- -$n 2>/dev/null; done\n"
    "exit 0\n";
}  // namespace

guardian::~guardian() {
  pipe_.reset();
  if (pid_ > 0)
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool guardian::start() {
  if (missing_) return false;
  if (pid_ > 0) {
    pipe_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  launch_plan plan;
  plan.argv = {"/bin/sh", "-c", script, "runyard-guardian"};
  plan.err = launch_plan::stderr_to::stdout_pipe;
  plan.lives = launch_plan::outlives::parent;
  auto l = launch(plan);
  if (l.failed != launched::failure::none) {
    missing_ = l.failed != launched::failure::resources;
    observe::log(observe::level::warn, "process",
                 "no guardian: processes started by tools may outlive a killed host",
                 {{"reason", l.message}});
    return false;
  }
  pid_ = l.pid;
  pipe_ = std::move(l.in);
  return true;
}

bool guardian::flush() {
  while (!unsent_.empty()) {
    const auto n = ::write(pipe_.get(), unsent_.data(), unsent_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    unsent_.erase(0, static_cast<std::size_t>(n));
  }
  return true;
}

void guardian::tell(char what, pid_t group) {
  unsent_ += std::string(1, what) + " " + std::to_string(group) + "\n";
  if (flush()) return;
  // Somebody ended the shell: a new one learns all groups.
  unsent_.clear();
  if (!start()) return;
  for (const pid_t g : groups_) unsent_ += "+ " + std::to_string(g) + "\n";
  flush();
}

void guardian::watch(pid_t group) {
  if (pid_ < 0 && !start()) return;
  groups_.insert(group);
  tell('+', group);
}

void guardian::forget(pid_t group) {
  if (groups_.erase(group) && pid_ > 0) tell('-', group);
}

}  // namespace ry::process
