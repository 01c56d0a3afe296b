#include "core/app/boot/preflight.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/app/boot/preflight_steps.hpp"
#include "core/process/launch.hpp"

namespace ry::app {

namespace json = boost::json;

namespace {

using steady = std::chrono::steady_clock;

constexpr auto time_limit = std::chrono::seconds(10);
constexpr std::size_t max_answers = 4096;

// Appends the available output; closes the descriptor at end of file.
void listen(process::unique_fd& from, std::string& out) {
  char piece[4096];
  for (;;) {
    const ssize_t n = ::read(from.get(), piece, sizeof piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return from.reset();
    if (out.size() < max_answers) out.append(piece, static_cast<std::size_t>(n));
  }
}

// If the other process has terminated, writing must not kill this one with SIGPIPE.
ssize_t write_quietly(int fd, std::string_view bytes) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t n = ::write(fd, bytes.data(), bytes.size());
  const int error = errno;
  if (n < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec at_once{};
    ::sigtimedwait(&pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** e = ::environ; e != nullptr && *e != nullptr; ++e) out.emplace_back(*e);
  return out;
}

class other_process final : public module::preflight {
 public:
  explicit other_process(const std::string& path) {
    process::launch_plan plan;
    plan.argv = {"/proc/self/exe", "preflight", path};
    // The module must find the same environment as in the server.
    plan.env = own_environment();
    std::error_code ec;
    plan.cwd = std::filesystem::current_path(ec).string();
    if (ec) plan.cwd = "/";
    child_ = process::launch(plan);
  }
  ~other_process() override { end(); }

  std::string load() override {
    if (child_.failed != process::launched::failure::none)
      return "cannot start the preflight process: " + child_.message;
    return objection(loading);
  }

  std::string create(const std::string& settings_json,
                     const std::unordered_map<std::string, std::string>& host_values) override {
    json::object values;
    for (const auto& [key, value] : host_values)
      if (key != "data_dir") values[key] = value;  // the data directory belongs to the running module
    input_ = json::serialize(json::object{{"settings", settings_json}, {"host_values", std::move(values)}});
    return objection(unloading);
  }

 private:
  bool answered(std::string_view line) const { return answers_.find(line) != std::string::npos; }

  // Waits until the process has completed this step, or has terminated or timed out.
  std::string objection(const step& last) {
    const auto until = steady::now() + time_limit;
    bool running = child_.pid > 0;
    while (running && !answered(last.done) && !answered(refused)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady::now()).count();
      if (left <= 0) break;
      pollfd watched[] = {{child_.pidfd.get(), POLLIN, 0},
                          {child_.out.get(), POLLIN, 0},
                          {child_.err.get(), POLLIN, 0},
                          {input_.empty() ? -1 : child_.in.get(), POLLOUT, 0}};
      if (::poll(watched, std::size(watched), static_cast<int>(left)) < 0 && errno != EINTR) break;
      if (watched[3].revents != 0) give();
      running = watched[0].revents == 0;
      if (watched[1].revents != 0 || !running) listen(child_.out, answers_);
      if (watched[2].revents != 0) listen(child_.err, unheard_);
      unheard_.clear();
    }
    if (answered(last.done) || answered(refused)) return {};
    const auto at = std::find_if(steps.begin(), steps.end(), [&](const step& s) { return !answered(s.done); });
    const std::string during(at->during);
    const int status = end();
    if (running) return "it hangs " + during + " (ten seconds)";
    if (WIFSIGNALED(status)) {
      const int number = WTERMSIG(status);
      return "it crashes " + during + " (signal " + std::to_string(number) + ", " + ::strsignal(number) + ")";
    }
    return "it terminates the process " + during + " (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
  }

  void give() {
    const ssize_t n = write_quietly(child_.in.get(), input_);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    input_.erase(0, n < 0 ? input_.size() : static_cast<std::size_t>(n));
    if (input_.empty()) child_.in.reset();
  }

  // The exit status in the form of waitpid().
  int end() noexcept {
    int status = 0;
    if (child_.pid <= 0) return status;
    // The process leads its own group, which may contain other processes.
    ::kill(-child_.pid, SIGKILL);
    while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    child_.pid = -1;
    return status;
  }

  process::launched child_;
  std::string answers_, unheard_, input_;
};

}  // namespace

std::unique_ptr<module::preflight> run_preflight(const std::string& path) {
  return std::make_unique<other_process>(path);
}

}  // namespace ry::app
