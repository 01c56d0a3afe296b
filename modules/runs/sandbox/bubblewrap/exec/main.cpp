// runyard-sandbox-exec: performs the steps before and inside bubblewrap that bubblewrap does not perform itself. Linked
// statically, because it runs before each sandboxed program, and loading libraries would take longer than its work.
//
//   runyard-sandbox-exec filter [--group DIRECTORY] [--nice N] FILE COMMAND...
//     On the host: joins the control group DIRECTORY, sets the nice value N and the lowest I/O priority, opens FILE, a
//     system call filter, as descriptor 9 for bwrap --seccomp 9, and executes COMMAND. If the machine runs out of
//     memory, the kernel kills COMMAND before the server.
//
//   runyard-sandbox-exec enter [--wait] [--uid N] [--LIMIT N]... -- COMMAND...
//     Inside, as the sandbox's init (process 1): starts COMMAND in /workspace, as the unprivileged user N without any
//     capability and under limits (core, as, data, nproc, fsize, nofile), reaps orphaned processes and exits with
//     COMMAND, which terminates all other processes of the sandbox. With --wait it first reads a start request
//     (start_request.hpp) with user, environment and COMMAND from standard input.
//
// The init has no capability, has the limits of COMMAND, and is not dumpable: COMMAND cannot control it with ptrace()
// or /proc/1/mem, and would gain nothing from it. The init keeps the user of bwrap, because bwrap must be able to kill
// it: without capabilities, bwrap can only send signals to processes of its own user.
//
// Exit codes are those of shells: 127: there is no such program; 126: it cannot be executed; 125: an earlier step
// failed.
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../start_request.hpp"
#include "without_protection.hpp"

extern char** environ;

namespace {

constexpr int filter_descriptor = 9;

[[noreturn]] void fail(const char* step) {
  std::fprintf(stderr, "runyard-sandbox-exec: %s: %s\n", step, std::strerror(errno));
  std::exit(125);
}
[[noreturn]] void refuse(const char* message) {
  std::fprintf(stderr, "runyard-sandbox-exec: %s\n", message);
  std::exit(125);
}

// Executes the caller's program.
[[noreturn]] void execute(char** argv) {
  ::execvp(argv[0], argv);
  const int error = errno;
  std::fprintf(stderr, "sandbox: %s: %s\n", argv[0], error == ENOENT ? "not found" : std::strerror(error));
  std::exit(error == ENOENT || error == ENOTDIR ? 127 : 126);
}

std::uint64_t number(const char* text) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t n = text != nullptr ? std::strtoull(text, &end, 10) : 0;
  if (text == nullptr || *text < '0' || *text > '9' || *end != '\0' || errno != 0) refuse("a number is expected");
  return n;
}

// Rejects root, and 4294967295, with which setresuid() changes nothing.
std::uint32_t user_number(std::uint64_t n) {
  if (n == 0 || n >= UINT32_MAX) refuse("the user id is not one of an unprivileged user");
  return static_cast<std::uint32_t>(n);
}

struct limit_option {
  const char* name;
  int resource;
};
constexpr limit_option limit_options[] = {
    {"--core", RLIMIT_CORE},   {"--as", RLIMIT_AS},       {"--data", RLIMIT_DATA},
    {"--nproc", RLIMIT_NPROC}, {"--fsize", RLIMIT_FSIZE}, {"--nofile", RLIMIT_NOFILE},
};

struct options {
  char* wait = nullptr;  // the option --wait in argv, if given
  std::uint32_t uid = 0;  // 0: the user does not change
  bool limited[std::size(limit_options)] = {};
  rlim_t limits[std::size(limit_options)] = {};
  char** command = nullptr;
};

options read_options(char** word) {
  options o;
  for (; *word != nullptr && std::strcmp(*word, "--") != 0; ++word) {
    if (std::strcmp(*word, "--wait") == 0) {
      o.wait = *word;
      continue;
    }
    const char* name = *word;
    if (*++word == nullptr) refuse("an option lacks its value");
    if (std::strcmp(name, "--uid") == 0) {
      o.uid = user_number(number(*word));
      continue;
    }
    bool known = false;
    for (std::size_t i = 0; i < std::size(limit_options); ++i) {
      if (std::strcmp(name, limit_options[i].name) != 0) continue;
      o.limits[i] = number(*word);
      o.limited[i] = known = true;
    }
    if (!known) refuse("unknown option");
  }
  if (*word == nullptr) refuse("no command");
  o.command = word + 1;
  return o;
}

void drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) fail("capset");
}

void switch_to_user(std::uint32_t uid) {
  // The loop ends at the first capability that this kernel does not support, because dropping it fails.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  if (errno != EINVAL) fail("capabilities");
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) fail("capabilities");
  if (::setgroups(0, nullptr) != 0) fail("setgroups");
  if (::setresgid(uid, uid, uid) != 0) fail("setresgid");
  if (::setresuid(uid, uid, uid) != 0) fail("setresuid");
  drop_capabilities();
}

void apply_limits(const options& o) {
  for (std::size_t i = 0; i < std::size(limit_options); ++i) {
    if (!o.limited[i]) continue;
    const auto resource = static_cast<__rlimit_resource_t>(limit_options[i].resource);
    rlimit now{};
    if (::getrlimit(resource, &now) != 0) fail("getrlimit");
    now.rlim_cur = now.rlim_max = o.limits[i] < now.rlim_max ? o.limits[i] : now.rlim_max;
    if (::setrlimit(resource, &now) != 0) fail("setrlimit");
  }
}

// False: the input ended before the first byte.
bool read_exactly(void* to, std::size_t n) {
  std::size_t size = 0;
  while (size < n) {
    const ssize_t received = ::read(0, static_cast<char*>(to) + size, n - size);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) fail("start request");
    if (received == 0 && size == 0) return false;
    if (received == 0) refuse("the start request is incomplete");
    size += static_cast<std::size_t>(received);
  }
  return true;
}

char text[bubblewrap::max_start_request_text];
// Each word occupies at least the byte of its NUL.
char* words[bubblewrap::max_start_request_text + 2];

void wait_for_request(options& o) {
  bubblewrap::start_request_header header{};
  if (!read_exactly(&header, sizeof header)) std::exit(0);
  const std::size_t bytes = header.text_bytes;
  const std::size_t n_words = std::size_t{header.n_env} + header.n_argv;
  if (header.n_argv == 0 || bytes == 0 || bytes > sizeof text || n_words > bytes || !read_exactly(text, bytes) ||
      text[bytes - 1] != '\0')
    refuse("the start request is invalid");
  char** next = words;
  char* at = text;
  for (std::size_t i = 0; i < n_words; ++i) {
    if (i == header.n_env) *next++ = nullptr;
    if (at >= text + bytes) refuse("the start request is invalid");
    *next++ = at;
    at += std::strlen(at) + 1;
  }
  *next = nullptr;
  // Shows operators in process lists that this sandbox no longer waits.
  std::memcpy(o.wait, "--used", std::strlen("--used"));
  environ = words;
  o.command = words + header.n_env + 1;
  // In a user namespace, this process already has an unprivileged user.
  if (::geteuid() != 0) return;
  o.uid = user_number(header.uid);
}

// Exits when the command exits, with the exit code that a shell would return.
[[noreturn]] void serve_as_init(pid_t command) {
  // Readers of the pipes must get their end as soon as the command and its children have closed them.
  for (const int fd : {0, 1, 2}) ::close(fd);
  for (;;) {
    int status = 0;
    const pid_t exited = ::waitpid(-1, &status, 0);
    if (exited < 0 && errno != EINTR) ::_exit(125);
    if (exited != command) continue;
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

[[noreturn]] void run_command(const options& o) {
  if (o.uid != 0) switch_to_user(o.uid);
  if (::geteuid() == 0) refuse("no user is given, and commands must not run as root");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  // After the change of the user: with earlier limits, execve() would fail if the user's other commands had too many
  // processes.
  apply_limits(o);
  // After the change of the user, because only the project's user may enter its workspace.
  if (::chdir("/workspace") != 0) fail("/workspace");
  if (::setenv("PWD", "/workspace", 1) != 0 || ::unsetenv("OLDPWD") != 0) fail("environment");
  execute(o.command);
}

[[noreturn]] void enter(char** arguments) {
  options o = read_options(arguments);
  if (::getpid() != 1) refuse("enter is for the first process of a sandbox");
  if (o.wait != nullptr) wait_for_request(o);
  if (o.command[0] == nullptr) refuse("no command");
  const bool protected_init = !ry_test::without_protection("init_limits");
  // Before the command exists, because the command could access a dumpable process.
  if (protected_init && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("dumpable");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail("parent death signal");
  const pid_t command = ::fork();
  if (command < 0) fail("the limit on processes");
  if (command == 0) run_command(o);
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  if (protected_init) apply_limits(o);
  serve_as_init(command);
}

void join_group(const char* directory) {
  const int at = ::open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int fd = at < 0 ? -1 : ::openat(at, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || ::write(fd, "0", 1) != 1) fail("control group");
  ::close(fd);
  ::close(at);
}

// A process may raise its own value. Without /proc, the limits of the command still apply.
void prefer_for_oom_kill() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t written = ::write(fd, "1000", 4);
  (void)written;
  ::close(fd);
}

// Gives the server priority over its commands, even without control groups.
void lower_priority(std::uint64_t nice) {
  constexpr int process = 1, best_effort = 2 << 13, lowest = 7;  // of ioprio_set(2)
  // It is not an error if the server already has this nice value, or if the kernel has no I/O priorities.
  if (::getpriority(PRIO_PROCESS, 0) < static_cast<int>(nice))
    (void)::setpriority(PRIO_PROCESS, 0, static_cast<int>(nice));
  (void)::syscall(SYS_ioprio_set, process, 0, best_effort | lowest);
}

[[noreturn]] void open_filter(char** arguments) {
  for (; arguments[0] != nullptr && arguments[0][0] == '-'; arguments += 2) {
    if (arguments[1] == nullptr) refuse("an option lacks its value");
    if (std::strcmp(arguments[0], "--group") == 0)
      join_group(arguments[1]);
    else if (std::strcmp(arguments[0], "--nice") == 0)
      lower_priority(number(arguments[1]));
    else
      refuse("unknown option");
  }
  if (arguments[0] == nullptr || arguments[1] == nullptr) refuse("no command");
  prefer_for_oom_kill();
  const int fd = ::open(arguments[0], O_RDONLY);
  if (fd < 0) fail("the list of system calls");
  if (fd != filter_descriptor && ::dup2(fd, filter_descriptor) < 0) fail("the list of system calls");
  if (fd != filter_descriptor) ::close(fd);
  // Does not use execute(), because its exit codes mean that the command's program is missing.
  ::execvp(arguments[1], arguments + 1);
  fail("bubblewrap");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 4 && std::strcmp(argv[1], "filter") == 0) open_filter(argv + 2);
  if (argc >= 4 && std::strcmp(argv[1], "enter") == 0) enter(argv + 2);
  refuse(
      "usage: runyard-sandbox-exec filter [--group DIRECTORY] [--nice N] FILE COMMAND... | enter [OPTION]... -- COMMAND...");
}
