#include "try_command.hpp"

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>

namespace bubblewrap {
namespace {

// Programs other than bwrap and runyard-sandbox-exec may exit with 0 without running the command (/bin/true), or print
// their arguments (/bin/echo).
constexpr std::string_view marker = "runyard-sandbox-probe";

struct trial_state {
  std::mutex mutex;
  std::condition_variable changed;
  command_trial found;
  std::string standard_output;
  bool done = false;
};

}  // namespace

command_trial try_command(command_runner& runner, const std::string& project, ry_exec* exec) {
  trial_state state;
  const ry_str words[] = {ry::str("echo"), ry::str(marker)};
  ry_sandbox_command command{};
  command.struct_size = sizeof command;
  command.argv = words;
  command.n_argv = std::size(words);
  command.wall_ms = std::chrono::milliseconds(trial_limit).count();
  ry_sandbox_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = [](void* p, int32_t fd, ry_bytes bytes) noexcept {
    auto* s = static_cast<trial_state*>(p);
    (void)ry::guard([&] {
      s->found.output += ry::view(bytes);
      if (fd == 1) s->standard_output += ry::view(bytes);
    });
  };
  sink.on_exit = [](void* p, ry_status, const ry_sandbox_exit* end, const ry_error_view*) noexcept {
    auto* s = static_cast<trial_state*>(p);
    std::lock_guard lock(s->mutex);
    s->found.code = end != nullptr ? end->exit_code : -1;
    s->found.timed_out = end != nullptr && end->why == RY_REASON_DEADLINE;
    s->done = true;
    s->changed.notify_all();
  };
  void* call = nullptr;
  char text[256];
  ry_errbuf err{text, sizeof text, 0};
  const ry_status st = runner.run(project, command, exec, sink, &state, &call, &err);
  if (st != RY_OK) return {-1, false, false, std::string(err.ptr, err.len)};
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.done; });
  state.found.printed_marker = state.standard_output == std::string(marker) + "\n";
  std::string& output = state.found.output;
  while (output.ends_with('\n')) output.pop_back();
  return std::move(state.found);
}

}  // namespace bubblewrap
