#include "core/module/crash_reporter.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "core/module/code_map.hpp"
#include "core/module/host.hpp"

namespace ry::module {

namespace {

constexpr unsigned time_limit_s = 30;
constexpr std::array signals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
std::array<struct sigaction, signals.size()> before;
std::atomic<bool> installed{false};
std::atomic<int> mark_fd{-1};

// The current module_step. Written before the signals whose handlers read it can arrive.
std::array<char, 64> step_module;
std::atomic<const char*> step_what{nullptr};
std::atomic<pid_t> step_thread{0};

pid_t this_thread() noexcept {
  return static_cast<pid_t>(::syscall(SYS_gettid));
}

// Formats one line without heap memory and writes it in one call.
class line {
 public:
  line& operator<<(std::string_view text) noexcept {
    const std::size_t n = std::min(text.size(), text_.size() - 1 - size_);
    std::memcpy(text_.data() + size_, text.data(), n);
    size_ += n;
    return *this;
  }
  void write() noexcept {
    text_[size_++] = '\n';
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  std::array<char, 512> text_;
  std::size_t size_ = 0;
};

std::string_view text_of(const char* s) noexcept {
  return s != nullptr ? std::string_view(s) : std::string_view();
}

std::string_view name_of(int signal) noexcept {
  return text_of(::sigabbrev_np(signal));
}

// The innermost module on the interrupted stack.
code_name module_on_stack() noexcept {
  std::array<void*, 64> frames;
  const int n = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < n; ++i)
    if (const auto name = code_at(frames[i]); name[0] != '\0') return name;
  return {};
}

void explain(int signal) noexcept {
  const ry_host* current = ry_host::current();
  const char* step = step_thread.load() == this_thread() ? step_what.load() : nullptr;
  const std::string_view asked = step != nullptr      ? text_of(step_module.data())
                                 : current != nullptr ? std::string_view(current->name)
                                                      : std::string_view();
  const std::string_view what = step != nullptr ? text_of(step) : text_of(current_callback());
  const auto found = module_on_stack();
  const std::string_view guilty = found[0] != '\0' ? text_of(found.data()) : asked;
  line out;
  out << "runyard: ";
  if (guilty.empty())
    out << "crashed outside of all modules";
  else
    out << "module \"" << guilty << "\" crashed";
  out << " (SIG" << name_of(signal) << ", " << text_of(::sigdescr_np(signal)) << ")";
  if (!what.empty()) out << " in " << what;
  if (!asked.empty() && guilty != asked) out << " of module \"" << asked << "\"";
  out.write();
}

void write_mark() noexcept {
  const int fd = mark_fd.load();
  if (fd < 0) return;
  std::array<char, crash_mark.size() + 1> text;
  std::copy(crash_mark.begin(), crash_mark.end(), text.begin());
  text.back() = '\n';
  [[maybe_unused]] const auto n = ::write(fd, text.data(), text.size());
}

void on_crash(int signal, siginfo_t* info, void*) noexcept {
  const int error = errno;
  // Restore the previous handlers. A crash in this handler then ends the process, and the original fault recurs on
  // return and reaches them.
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before[i], nullptr);
  explain(signal);
  // Sent by the kernel or by abort() in this process: a crash.
  if (info->si_code > 0 || info->si_pid == ::getpid()) write_mark();
  // A signal that was sent does not recur on return, so send it again.
  if (info->si_code <= 0) ::syscall(SYS_tgkill, ::getpid(), this_thread(), signal);
  errno = error;
}

bool traced() noexcept {
  std::array<char, 4096> text;
  const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t n = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (n <= 0) return false;
  constexpr std::string_view key = "TracerPid:\t";
  const std::string_view all(text.data(), static_cast<std::size_t>(n));
  const auto at = all.find(key);
  return at != std::string_view::npos && all.substr(at + key.size()).substr(0, 1) != "0";
}

void on_alarm(int) noexcept {
  const char* what = step_what.load();
  if (what == nullptr) return;
  const int error = errno;
  if (traced()) {
    ::alarm(time_limit_s);
    errno = error;
    return;
  }
  line out;
  out << "runyard: module \"" << text_of(step_module.data()) << "\" did not return from " << what << " within 30 s";
  out.write();
  ::_exit(EXIT_FAILURE);
}

void on_exit() noexcept {
  const ry_host* current = ry_host::current();
  const bool in_step = step_what.load() != nullptr && step_thread.load() == this_thread();
  if (current == nullptr && !in_step) return;
  line out;
  out << "runyard: module \"" << (current != nullptr ? std::string_view(current->name) : text_of(step_module.data()))
      << "\" terminated the process in " << text_of(current != nullptr ? current_callback() : step_what.load());
  out.write();
  write_mark();
  // Replace the exit status of the module: the process has not finished its work.
  ::_exit(EXIT_FAILURE);
}

}  // namespace

void mark_crashes_in(int fd) noexcept {
  mark_fd = fd;
}

void explain_crashes() noexcept {
  if (installed.exchange(true)) return;
  // Load the unwinder now, because the handler must not.
  void* frame = nullptr;
  (void)::backtrace(&frame, 1);
  // The handler needs its own stack in case of a stack overflow.
  static std::array<char, 64 * 1024> stack;
  stack_t other{};
  if (stack_t now{}; ::sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
    other.ss_sp = stack.data();
    other.ss_size = stack.size();
    ::sigaltstack(&other, nullptr);
  }
  struct sigaction act {};
  act.sa_sigaction = on_crash;
  act.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&act.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &act, &before[i]);
  struct sigaction late {};
  late.sa_handler = on_alarm;
  late.sa_flags = SA_RESTART;
  sigemptyset(&late.sa_mask);
  ::sigaction(SIGALRM, &late, nullptr);
  (void)std::atexit([] { on_exit(); });
}

module_step::module_step(std::string_view module, const char* what, time_limit how_long) {
  const std::size_t n = std::min(module.size(), step_module.size() - 1);
  std::copy_n(module.data(), n, step_module.data());
  step_module[n] = '\0';
  step_thread = this_thread();
  step_what = what;
  if (how_long == time_limit::thirty_seconds) ::alarm(time_limit_s);
}

module_step::~module_step() {
  ::alarm(0);
  step_what = nullptr;
}

}  // namespace ry::module
