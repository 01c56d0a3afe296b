#include "core/process/reaper.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "core/observe/log.hpp"
#include "core/process/launch.hpp"

namespace ry::process {

namespace {

constexpr const char* script =
    "trap '' HUP INT TERM\n"
    "while read -r _; do :; done\n"
    "while read -r n; do\n"
    "  [ -z \"$n\" ] || kill -s KILL -- \"-$n\" 2>/dev/null\n"
    "done <&3\n"
    "exit 0\n";
constexpr std::size_t first_lines = 512;

// One group as a fixed-size line: a single store writes it atomically, so a crash of the host cannot leave a torn line.
// A pid has at most seven digits.
std::uint64_t line_of(pid_t group) {
  char text[sizeof(std::uint64_t)];
  std::memset(text, ' ', sizeof text);
  text[sizeof text - 1] = '\n';
  if (group > 0) std::to_chars(text, text + sizeof text - 1, group);
  std::uint64_t line;
  std::memcpy(&line, text, sizeof line);
  return line;
}

void put(std::uint64_t& line, pid_t group) {
  std::atomic_ref(line).store(line_of(group), std::memory_order_release);
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

reaper::~reaper() {
  pipe_.reset();
  if (pid_ > 0) reap(pid_);
  if (!lines_.empty()) ::munmap(lines_.data(), lines_.size_bytes());
}

bool reaper::ended() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

bool reaper::grow() {
  if (!file_) {
    file_ = unique_fd(::memfd_create("runyard-groups", MFD_CLOEXEC));
    if (!file_) return false;
  }
  const std::size_t before = lines_.size(), now = before ? 2 * before : first_lines;
  const std::size_t bytes = now * sizeof(std::uint64_t);
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) < 0) return false;
  void* at = before ? ::mremap(lines_.data(), lines_.size_bytes(), bytes, MREMAP_MAYMOVE)
                    : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) return false;
  lines_ = {static_cast<std::uint64_t*>(at), now};
  for (std::size_t i = now; i-- > before;) {
    put(lines_[i], 0);
    free_.push_back(i);
  }
  return true;
}

void reaper::start() {
  if (pid_ > 0) {
    pipe_.reset();
    reap(pid_);
    pid_ = -1;
  }
  // A previous shell shares the file offset and may have moved it.
  ::lseek(file_.get(), 0, SEEK_SET);
  launch_plan plan;
  plan.argv = {"/bin/sh", "-c", script, "runyard-reaper"};
  plan.err = launch_plan::stderr_to::stdout_pipe;
  plan.lives = launch_plan::outlives::parent;
  plan.third = file_.get();
  auto l = launch(plan);
  if (l.failed != launched::failure::none) {
    missing_ = l.failed != launched::failure::resources;
    observe::log(observe::level::warn, "process",
                 "the reaper process does not run: processes started by tools may outlive a killed host",
                 {{"reason", l.message}});
    return;
  }
  pid_ = l.pid;
  pipe_ = std::move(l.in);
}

void reaper::watch(pid_t group) {
  if (missing_) return;
  if (free_.empty() && !grow()) {
    observe::log(observe::level::warn, "process", "a process that a tool started may outlive a killed host",
                 {{"reason", std::strerror(errno)}});
    return;
  }
  const auto line = free_.back();
  if (!line_of_.emplace(group, line).second) return;
  free_.pop_back();
  put(lines_[line], group);
  // The shell may have been killed. A new one, started now or with the next group, finds all groups in the file.
  if (pid_ < 0 || ended()) start();
}

void reaper::forget(pid_t group) {
  const auto at = line_of_.find(group);
  if (at == line_of_.end()) return;
  put(lines_[at->second], 0);
  free_.push_back(at->second);
  line_of_.erase(at);
}

}  // namespace ry::process
