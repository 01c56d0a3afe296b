#include "workspace/extractor.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace runs {
namespace {

constexpr std::uint64_t memory_bytes = 1u << 30;
constexpr std::size_t max_write_bytes = 256u << 10;  // of one write to standard input

// One execution of the program; stored in the coroutine frame that awaits it.
struct program_run : abortable {
  const ry_sandbox_driver_v1* table = nullptr;
  void* self = nullptr;
  void* call = nullptr;
  std::string output;
  ry_status status = RY_OK;
  ry_sandbox_exit exit{};
  ry::signal done;

  void abort() noexcept override {
    if (call != nullptr) table->cancel(self, call);
  }
  static void on_output(void* ctx, std::int32_t fd, ry_bytes bytes) noexcept {
    if (fd != 1) return;
    (void)ry::guard([&] { static_cast<program_run*>(ctx)->output += ry::view(bytes); });
  }
  static void on_exit(void* ctx, ry_status st, const ry_sandbox_exit* end, const ry_error_view*) noexcept {
    auto* l = static_cast<program_run*>(ctx);
    l->call = nullptr;
    l->status = st;
    if (end != nullptr) l->exit = *end;
    l->done.set();
  }
};

ry::task<void> write_input(program_run& state, std::string_view input) {
  for (std::size_t at = 0; at < input.size() && state.call != nullptr; at += max_write_bytes) {
    const std::string_view piece = input.substr(at, max_write_bytes);
    ry::result<void> wrote = co_await ry::call_done(
        [&](ry_exec*, ry_done d) { return state.table->write(state.self, state.call, ry::raw(piece), d); });
    if (!wrote) co_return;  // the program has exited
  }
  if (state.call != nullptr) state.table->close_stdin(state.self, state.call);
}

}  // namespace

void extractor::start() {
  std::string path = config_.extract_program;
  if (path.empty()) {
    std::error_code bad;
    path = std::filesystem::read_symlink("/proc/self/exe", bad).replace_filename("runyard-extract").string();
  }
  program_ = ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

ry::task<extractor_result> extractor::run(std::shared_ptr<live_run> run, extractor_job job) const {
  const auto driver = sandboxes_.in_use();
  extractor_result out;
  out.how = extractor_result::end::no_sandbox;
  if (!driver || program_.empty()) co_return out;
  program_run state;
  state.table = driver->table;
  state.self = driver->self;
  const std::string program = "/opt/runyard/" + program_.substr(program_.rfind('/') + 1);
  std::vector<ry_str> argv{ry::str(program)};
  for (const std::string& argument : job.arguments) argv.push_back(ry::str(argument));
  const ry_str host_files[] = {ry::str(program_)};
  ry_sandbox_command command{};
  command.struct_size = sizeof command;
  command.argv = argv.data();
  command.n_argv = argv.size();
  command.wall_ms = job.wall_ms;
  command.memory_bytes = memory_bytes;
  command.output_bytes = job.output_bytes;
  command.host_files = host_files;
  command.n_host_files = 1;
  if (!job.input.empty()) command.flags = RY_SANDBOX_INTERACTIVE | RY_SANDBOX_SCRATCH;
  ry_sandbox_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_output = &program_run::on_output;
  sink.on_exit = &program_run::on_exit;
  const std::string project = run->who.project.to_string(), account = run->who.account.to_string();
  command.account = ry::str(account);
  const ry_status st =
      driver->table->run(driver->self, ry::str(project), &command, run->exec, &sink, &state, &state.call);
  if (st != RY_OK) {
    out.how = st == RY_UNAVAILABLE ? extractor_result::end::unavailable : extractor_result::end::not_started;
    co_return out;
  }
  {
    stop_state::working busy(run->stop, state);
    if (!job.input.empty()) co_await write_input(state, job.input);
    // The driver refers to `state` until on_exit, so wait for it.
    while (state.call != nullptr) (void)co_await state.done.wait();
  }
  const bool failed = state.status != RY_OK || state.exit.exit_code != 0 || state.exit.why != 0;
  out.how = state.exit.why == RY_REASON_DEADLINE ? extractor_result::end::too_long
            : failed                             ? extractor_result::end::failed
                                                 : extractor_result::end::finished;
  if (out.how == extractor_result::end::finished) out.output = std::move(state.output);
  co_return out;
}

}  // namespace runs
