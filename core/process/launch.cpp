#include "core/process/launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace ry::process {

namespace {

constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

struct limit {
  int what;
  rlim_t value;
};

// Everything the child needs, prepared in advance: nothing may allocate between vfork and exec.
struct prepared {
  std::vector<const char*> candidates;  // paths to try
  std::vector<char*> argv, env;
  const char* cwd;
  int in, out, err, third, report;
  bool dies_with_parent;
  pid_t parent;
  std::vector<limit> limits;
};

enum class step : int { setup, directory, exec };
struct failure_report {
  step at;
  int error;
};

[[noreturn]] void fail(int report, step at) noexcept {
  const failure_report r{at, errno};
  [[maybe_unused]] const auto n = ::write(report, &r, sizeof r);
  ::_exit(127);
}

// Runs in the child, which may share the parent's memory: system calls only.
[[noreturn]] void become(const prepared& p) noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int s = 1; s < NSIG; ++s) ::sigaction(s, &standard, nullptr);
  int report = p.report;
  if (::setsid() < 0) fail(report, step::setup);
  if (p.dies_with_parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail(report, step::setup);
    if (::getppid() != p.parent) ::_exit(127);
  }
  if (::dup2(p.in, 0) < 0 || ::dup2(p.out, 1) < 0 || ::dup2(p.err, 2) < 0) fail(report, step::setup);
  int last = 3;
  if (p.third >= 0) {
    // Moves both descriptors up first: each may have the number that the other needs.
    const int third = ::fcntl(p.third, F_DUPFD, 5);
    report = ::fcntl(report, F_DUPFD_CLOEXEC, 5);
    if (third < 0 || report < 0 || ::dup2(third, 3) < 0) fail(p.report, step::setup);
    last = 4;
  }
  if (report != last) {
    if (::dup3(report, last, O_CLOEXEC) < 0) fail(report, step::setup);
    report = last;
  }
  const unsigned first = static_cast<unsigned>(last) + 1;
  if (::syscall(SYS_close_range, first, ~0u, 0u) < 0)  // before Linux 5.9, or filtered
    for (unsigned fd = first; fd < 65536; ++fd) ::close(static_cast<int>(fd));
  if (::chdir(p.cwd) < 0) fail(report, step::directory);
  for (const limit& l : p.limits) {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(l.what), &now) < 0) fail(report, step::setup);
    now.rlim_cur = now.rlim_max = l.value < now.rlim_max ? l.value : now.rlim_max;
    if (::setrlimit(static_cast<__rlimit_resource_t>(l.what), &now) < 0) fail(report, step::setup);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int worst = ENOENT;
  for (const char* path : p.candidates) {
    ::execve(path, p.argv.data(), p.env.data());
    if (errno != ENOENT && errno != ENOTDIR) worst = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  errno = worst;
  fail(report, step::exec);
}

// vfork does not copy the page tables of a large host; the calling thread waits for the exec. Signals are blocked,
// because no signal handler of the host may run in the child while it shares the host's memory.
pid_t start(const prepared& p) noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::vfork();
  if (pid == 0) become(p);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

std::vector<std::string> candidates(const launch_plan& plan) {
  const std::string& program = plan.argv[0];
  if (program.find('/') != std::string::npos) return {program};
  std::string_view path = default_path;
  for (const auto& e : plan.env)
    if (e.starts_with("PATH=")) path = std::string_view(e).substr(5);
  std::vector<std::string> out;
  for (;;) {
    const auto colon = path.find(':');
    const auto dir = path.substr(0, colon);
    out.push_back((dir.empty() ? std::string(".") : std::string(dir)) + "/" + program);
    if (colon == std::string_view::npos) return out;
    path.remove_prefix(colon + 1);
  }
}

struct pipe_ends {
  unique_fd read, write;
};

// Keeps both ends above the standard descriptors, so that dup2 in the child never has equal source and target.
bool open_pipe(pipe_ends& p) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) < 0) return false;
  p.read = unique_fd(fds[0]);
  p.write = unique_fd(fds[1]);
  for (auto* end : {&p.read, &p.write}) {
    if (end->get() > 2) continue;
    unique_fd moved(::fcntl(end->get(), F_DUPFD_CLOEXEC, 3));
    if (!moved) return false;
    *end = std::move(moved);
  }
  return true;
}

launched fail(launched::failure why, std::string message) {
  launched l;
  l.failed = why;
  l.message = std::move(message);
  return l;
}

launched describe(const failure_report& r, const launch_plan& plan) {
  using failure = launched::failure;
  const std::string why = std::strerror(r.error);
  if (r.at == step::directory) return fail(failure::directory, "the working directory cannot be entered: " + why);
  if (r.error == EAGAIN || r.error == ENOMEM || r.error == EMFILE || r.error == ENFILE)
    return fail(failure::resources, "the program could not be started: " + why);
  if (r.at == step::exec && (r.error == ENOENT || r.error == ENOTDIR))
    return fail(failure::not_found, "no such program: " + plan.argv[0]);
  if (r.at == step::exec) return fail(failure::not_executable, "cannot execute " + plan.argv[0] + ": " + why);
  return fail(failure::other, "the child could not be set up: " + why);
}

}  // namespace

launched launch(const launch_plan& plan) {
  using failure = launched::failure;
  pipe_ends in, out, err, report;
  const bool separate_err = plan.err == launch_plan::stderr_to::pipe;
  if (!open_pipe(in) || !open_pipe(out) || (separate_err && !open_pipe(err)) || !open_pipe(report))
    return fail(failure::resources, std::string("no pipe: ") + std::strerror(errno));
  for (const auto* end : {&in.write, &out.read, &err.read})
    if (*end) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);

  const auto paths = candidates(plan);
  prepared p;
  for (const auto& c : paths) p.candidates.push_back(c.c_str());
  for (const auto& a : plan.argv) p.argv.push_back(const_cast<char*>(a.c_str()));
  for (const auto& e : plan.env) p.env.push_back(const_cast<char*>(e.c_str()));
  p.argv.push_back(nullptr);
  p.env.push_back(nullptr);
  p.cwd = plan.cwd.c_str();
  p.in = in.read.get();
  p.out = out.write.get();
  p.err = separate_err ? err.write.get() : out.write.get();
  p.third = plan.third;
  p.report = report.write.get();
  p.dies_with_parent = plan.lives == launch_plan::outlives::none;
  p.parent = ::getpid();
  p.limits.push_back({RLIMIT_CORE, 0});
  const auto add = [&p](int what, std::uint64_t value) {
    if (value) p.limits.push_back({what, static_cast<rlim_t>(value)});
  };
  add(RLIMIT_NPROC, plan.max_processes);
  add(RLIMIT_CPU, plan.cpu_s);
  add(RLIMIT_AS, plan.memory_bytes);
  add(RLIMIT_FSIZE, plan.file_bytes);
  add(RLIMIT_NOFILE, plan.open_files);

  launched l;
  l.pid = start(p);
  if (l.pid < 0) return fail(failure::resources, std::string("no more processes: ") + std::strerror(errno));
  report.write.reset();
  failure_report r{};
  ssize_t n;
  while ((n = ::read(report.read.get(), &r, sizeof r)) < 0 && errno == EINTR) {
  }
  const auto reap = [&l] {
    while (::waitpid(l.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  };
  if (n == sizeof r) {
    reap();
    return describe(r, plan);
  }
  l.pidfd = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, l.pid, 0)));
  if (!l.pidfd) {
    const std::string why = std::strerror(errno);
    ::kill(-l.pid, SIGKILL);
    reap();
    return fail(failure::resources, "the child could not be watched: " + why);
  }
  l.in = std::move(in.write);
  l.out = std::move(out.read);
  l.err = std::move(err.read);
  return l;
}

}  // namespace ry::process
