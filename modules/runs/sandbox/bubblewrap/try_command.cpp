#include "try_command.hpp"

#include <condition_variable>
#include <mutex>
#include <string_view>

namespace bubblewrap {
namespace {

struct trial_state {
  std::mutex mutex;
  std::condition_variable changed;
  command_trial found;
  bool done = false;
};

}  // namespace

command_trial try_command(command_runner& runner, const std::string& project, ry_exec* exec) {
  trial_state state;
  const ry_str words[] = {ry::str("true")};
  ry_sandbox_command command{};
  command.struct_size = sizeof command;
  command.argv = words;
  command.n_argv = 1;
  command.wall_ms = 10000;
  ry_sandbox_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = [](void* p, int32_t, ry_bytes bytes) noexcept {
    auto* s = static_cast<trial_state*>(p);
    (void)ry::guard([&] { s->found.output += ry::view(bytes); });
  };
  sink.on_exit = [](void* p, ry_status, const ry_sandbox_exit* end, const ry_error_view*) noexcept {
    auto* s = static_cast<trial_state*>(p);
    std::lock_guard lock(s->mutex);
    s->found.code = end != nullptr ? end->exit_code : -1;
    s->done = true;
    s->changed.notify_all();
  };
  void* call = nullptr;
  char text[256];
  ry_errbuf err{text, sizeof text, 0};
  const ry_status st = runner.run(project, command, exec, sink, &state, &call, &err);
  if (st != RY_OK) return {-1, std::string(err.ptr, err.len)};
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.done; });
  std::string& output = state.found.output;
  while (output.ends_with('\n')) output.pop_back();
  return std::move(state.found);
}

}  // namespace bubblewrap
