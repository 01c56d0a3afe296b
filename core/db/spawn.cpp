#include "core/db/spawn.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/db/embedded_error.hpp"

namespace ry::db {

namespace fs = std::filesystem;
using embedded::last_error;
using embedded::refuse;

namespace {

// Runs between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const spawn_spec& spec, char* const* argv, char* const* env, int report, pid_t parent) {
  const auto fail = [&] {
    const int e = errno;
    [[maybe_unused]] const auto n = ::write(report, &e, sizeof e);
    ::_exit(127);
  };
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int s = 1; s < 32; ++s) ::signal(s, SIG_DFL);
  ::setsid();  // Ctrl-C in the terminal must reach only this process, which then stops the server in order
  if (::chdir("/") != 0) fail();
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) fail();
  const int out = spec.output < 0 ? null : spec.output;
  if (::dup2(null, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0) fail();
  ::umask(077);
  if (spec.user && (::setgroups(0, nullptr) != 0 || ::setgid(spec.user->gid) != 0 || ::setuid(spec.user->uid) != 0))
    fail();
  if (spec.death_signal) {  // after setuid(), which clears it
    ::prctl(PR_SET_PDEATHSIG, spec.death_signal);
    if (::getppid() != parent) ::_exit(127);
  }
  ::execve(argv[0], argv, env);
  fail();
  ::_exit(127);
}

}  // namespace

pid_t spawn(const spawn_spec& spec) {
  std::vector<char*> argv;
  for (const auto& a : spec.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LC_ALL=C.UTF-8", zone[] = "TZ=UTC";
  // Without these, a backend returns the memory of large statements to the kernel and allocates it again each time,
  // and the kernel zeroes each page.
  char trim[] = "MALLOC_TRIM_THRESHOLD_=33554432", map[] = "MALLOC_MMAP_THRESHOLD_=33554432";
  char* const env[] = {path, lang, zone, trim, map, nullptr};
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) refuse("Cannot create a pipe: " + last_error());
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(spec, argv.data(), env, report[1], parent);
  const int fork_error = errno;
  ::close(report[1]);
  int e = 0;
  ssize_t n = 0;
  if (child > 0) {
    do n = ::read(report[0], &e, sizeof e);
    while (n < 0 && errno == EINTR);
  }
  ::close(report[0]);
  if (child < 0) refuse("Cannot start a process: " + std::string(std::strerror(fork_error)));
  if (n == sizeof e) {
    ::waitpid(child, nullptr, 0);
    refuse("Cannot start " + spec.argv[0] + ": " + std::strerror(e));
  }
  return child;
}

finished run_program(std::vector<std::string> argv, const std::optional<run_as>& user) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) refuse("Cannot create a pipe: " + last_error());
  finished f;
  pid_t child = 0;
  try {
    child = spawn({std::move(argv), user, out[1], SIGKILL});
  } catch (...) {
    ::close(out[0]);
    ::close(out[1]);
    throw;
  }
  ::close(out[1]);
  char buf[4096];
  for (;;) {
    const auto n = ::read(out[0], buf, sizeof buf);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (f.output.size() < 65536) f.output.append(buf, static_cast<std::size_t>(n));
  }
  ::close(out[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  f.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return f;
}

bool can_enter(const std::filesystem::path& dir, const std::optional<run_as>& user) {
  if (!user) return ::access(dir.c_str(), X_OK) == 0;
  return run_program({"/usr/bin/test", "-x", dir.string()}, user).status == 0;
}

std::optional<run_as> unprivileged_user(const std::vector<std::string>& names) {
  if (::geteuid() != 0) return std::nullopt;
  for (const auto& name : names) {
    passwd pw{}, *found = nullptr;
    char buf[4096];
    if (::getpwnam_r(name.c_str(), &pw, buf, sizeof buf, &found) == 0 && found && found->pw_uid != 0)
      return run_as{found->pw_uid, found->pw_gid, name};
  }
  refuse(
      "PostgreSQL does not run as root, and the user runyard-pg does not exist. Create it (useradd --system runyard-pg), "
      "start the server as a different user, or set database.url.");
}

namespace {

// Not with stream iterators, which would throw if the process ends meanwhile and its file becomes unreadable.
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

template <class F>
std::vector<pid_t> processes(F&& wanted) {
  std::vector<pid_t> out;
  std::error_code ec;
  for (const auto& e : fs::directory_iterator("/proc", ec)) {
    const auto pid = static_cast<pid_t>(std::atoi(e.path().filename().c_str()));
    if (pid > 0 && wanted(pid)) out.push_back(pid);
  }
  return out;
}

}  // namespace

std::optional<process_info> process_info_of(pid_t pid) {
  // "4711 (any (name)) S 1 ..."
  const auto text = contents(fs::path("/proc") / std::to_string(pid) / "stat");
  const auto name = text.find('('), name_end = text.rfind(')');
  process_info out;
  if (name == std::string::npos || name_end == std::string::npos ||
      std::sscanf(text.c_str() + name_end + 1, " %c %d", &out.state, &out.parent) != 2)
    return std::nullopt;
  out.program = text.substr(name + 1, name_end - name - 1);
  return out;
}

std::vector<pid_t> children_of(pid_t pid) {
  return processes([pid](pid_t each) {
    const auto info = process_info_of(each);
    return info && info->parent == pid;
  });
}

std::vector<pid_t> servers_of(const fs::path& cluster, pid_t suspect) {
  struct stat ours {};
  if (::stat(cluster.c_str(), &ours) != 0) return {};
  return processes([&](pid_t each) {
    const auto info = process_info_of(each);
    if (!info || info->program != "postgres" || info->state == 'Z') return false;
    const auto proc = fs::path("/proc") / std::to_string(each);
    // Compare the directory itself: the same path may denote another directory in the process's mount namespace.
    struct stat its {};
    if (::stat((proc / "cwd").c_str(), &its) == 0) return its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
    return each == suspect && contents(proc / "cmdline").find('\0' + cluster.string() + '\0') != std::string::npos;
  });
}

}  // namespace ry::db
