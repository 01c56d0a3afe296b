#include "program.hpp"

#include <signal.h>

namespace mcp_json {
namespace {

[[noreturn]] void fail_to_start(ry_status st, const command& c) {
  if (st == RY_NOT_FOUND) {
    throw ry::error(RY_UNAVAILABLE, "mcp.spawn", "there is no program " + c.argv.front());
  }
  if (st == RY_RESOURCE_EXHAUSTED) {
    throw ry::unavailable("mcp.spawn", "the server is short of disk space or memory: try again later");
  }
  throw ry::error(st, "mcp.spawn", "the program could not be started");
}

// The private HOME directory of a program; removed with the program.
class private_home {
 public:
  private_home(const ry::context& ctx, homes& all) : all_(all), path_(all.create(ctx)) {}
  private_home(const private_home&) = delete;
  private_home& operator=(const private_home&) = delete;
  ~private_home() { all_.remove(path_); }
  const std::string& path() const noexcept { return path_; }

 private:
  homes& all_;
  const std::string path_;
};

// Variables of the configuration come last and take precedence.
std::vector<std::pair<std::string, std::string>> variables_of(const launch_options& options, const std::string& cache) {
  std::vector<std::pair<std::string, std::string>> out;
  if (!options.cache.empty()) out = cache_variables(options.command_line, cache);
  for (const auto& variable : options.command_line.env) {
    std::erase_if(out, [&](const auto& v) { return v.first == variable.first; });
    out.push_back(variable);
  }
  return out;
}

class unsandboxed_program final : public program {
 public:
  unsandboxed_program(const ry::context& ctx, const settings& s, homes& home_directories, const launch_options& options,
                      ry_exec* exec, listener& events)
      : table_(ctx.interface<ry_process_v1>()), events_(events) {
    const auto& c = options.command_line;
    if (s.directory.empty()) home_.emplace(ctx, home_directories);
    const std::string& home = home_ ? home_->path() : s.directory;
    ry::process_spec spec(c.argv);
    spec.cwd(home).env("PATH", s.path).env("HOME", home).env("TMPDIR", "/tmp").env("LANG", "C.UTF-8");
    spec.env("TERM", "dumb").env("SHELL", "/bin/sh").env("USER", "runyard").env("LOGNAME", "runyard");
    for (const auto& [name, value] : variables_of(options, options.cache)) spec.env(name, value);
    spec.limits().open_files = s.open_files;
    spec.limits().file_bytes = s.file_bytes;
    spec.limits().wall_ms = s.wall_ms;
    ry_process_handler h{};
    h.struct_size = sizeof h;
    h.on_stdout = [](void* p, ry_bytes chunk) noexcept { return of(p)->output(1, chunk); };
    h.on_stderr = [](void* p, ry_bytes chunk) noexcept { return of(p)->output(2, chunk); };
    h.on_exit = [](void* p, std::int32_t code, std::int32_t reason) noexcept { of(p)->events_.exited(code, reason); };
    std::vector<ry_str> store;
    const auto spec_c = spec.c_form(store);
    const auto st = table_.spawn(ctx.host(), exec, &spec_c, &h, this, &child_, nullptr);
    if (st != RY_OK) fail_to_start(st, c);
  }
  ~unsandboxed_program() override {
    // Also kills the remaining processes in the child's process group.
    if (child_ != nullptr) table_.release(child_);
  }
  ry_status write(std::string_view bytes, ry_done done) noexcept override {
    return table_.write(child_, ry::raw(bytes), done);
  }
  void close_stdin() noexcept override { table_.close_stdin(child_); }
  void resume() noexcept override { table_.resume(child_); }
  bool terminate() noexcept override {
    table_.kill(child_, SIGTERM);
    return true;
  }
  void kill() noexcept override { table_.kill(child_, SIGKILL); }

 private:
  static unsandboxed_program* of(void* p) noexcept { return static_cast<unsandboxed_program*>(p); }
  ry_status output(std::int32_t fd, ry_bytes chunk) noexcept {
    return events_.output(fd, ry::view(chunk)) ? RY_OK : RY_RESOURCE_EXHAUSTED;
  }

  const ry_process_v1& table_;
  listener& events_;
  std::optional<private_home> home_;
  ry_process* child_ = nullptr;
};

class sandboxed_program final : public program {
 public:
  sandboxed_program(const settings& s, const launch_options& options, ry_exec* exec, listener& events)
      : sandbox_(options.sandbox), events_(events) {
    const auto& c = options.command_line;
    if (!RY_HAS(sandbox_->table, ry_sandbox_driver_v1, resume)) {
      throw ry::unavailable("mcp.sandbox",
                            "the sandbox " + sandbox_->name + " does not support programs that stay open for input");
    }
    std::vector<std::string> variables{"PATH=" + s.path};
    for (const auto& [name, value] : variables_of(options, "/cache")) variables.push_back(name + "=" + value);
    std::vector<ry_str> argv, env;
    for (const auto& word : c.argv) argv.push_back(ry::str(word));
    for (const auto& variable : variables) env.push_back(ry::str(variable));
    std::vector<ry_sandbox_mount> mounts;
    for (const auto& path : s.readable) mounts.push_back({sizeof(ry_sandbox_mount), 0, ry::str(path)});
    for (const auto& path : s.writable) {
      mounts.push_back({sizeof(ry_sandbox_mount), RY_SANDBOX_WRITABLE, ry::str(path)});
    }
    ry_sandbox_command command{};
    command.struct_size = sizeof command;
    command.network = s.network ? 1 : 0;
    command.argv = argv.data();
    command.n_argv = argv.size();
    command.wall_ms = s.wall_ms;
    command.memory_bytes = s.memory_bytes;
    command.output_bytes = UINT64_MAX;
    command.flags = RY_SANDBOX_INTERACTIVE | RY_SANDBOX_SCRATCH | RY_SANDBOX_LIMIT_DATA;
    command.env = env.data();
    command.n_env = env.size();
    command.mounts = mounts.data();
    command.n_mounts = mounts.size();
    command.processes = s.processes;
    command.open_files = s.open_files;
    command.file_bytes = s.file_bytes;
    command.scratch_bytes = s.scratch_bytes;
    command.cache = ry::str(options.cache);
    command.cache_bytes = options.cache.empty() ? 0 : s.cache_bytes;
    command.account = ry::str(options.account);
    ry_sandbox_sink sink{};
    sink.struct_size = sizeof sink;
    sink.on_output = [](void* p, std::int32_t fd, ry_bytes chunk) noexcept {
      auto* self = static_cast<sandboxed_program*>(p);
      if (!self->events_.output(fd, ry::view(chunk))) self->table().pause(self->sandbox_->self, self->call_);
    };
    sink.on_exit = [](void* p, ry_status, const ry_sandbox_exit* end, const ry_error_view*) noexcept {
      auto* self = static_cast<sandboxed_program*>(p);
      self->call_ = nullptr;
      self->events_.exited(end != nullptr ? end->exit_code : -SIGKILL, end != nullptr ? end->why : 0);
    };
    const std::string project = options.account.empty() ? ry::uuid().to_string() : options.account;
    const auto st = table().run(sandbox_->self, ry::str(project), &command, exec, &sink, this, &call_);
    if (st == RY_UNAVAILABLE) {
      throw ry::unavailable(
          "mcp.sandbox",
          "the sandbox cannot be used on this machine; mcp_json.sandbox = \"none\" runs programs without one");
    }
    // Uses another status, because RY_RESOURCE_EXHAUSTED from open() means that the account has too many sessions.
    if (st == RY_RESOURCE_EXHAUSTED) {
      throw ry::unavailable("mcp.sandbox",
                            "the disk of the server is nearly full, so the program cannot be started; try again later");
    }
    if (st != RY_OK) fail_to_start(st, c);
  }
  ry_status write(std::string_view bytes, ry_done done) noexcept override {
    if (call_ == nullptr) return RY_CANCELLED;
    return table().write(sandbox_->self, call_, ry::raw(bytes), done);
  }
  void close_stdin() noexcept override {
    if (call_ != nullptr) table().close_stdin(sandbox_->self, call_);
  }
  void resume() noexcept override {
    if (call_ != nullptr) table().resume(sandbox_->self, call_);
  }
  bool terminate() noexcept override { return false; }
  void kill() noexcept override {
    if (call_ != nullptr) table().cancel(sandbox_->self, call_);
  }

 private:
  const ry_sandbox_driver_v1& table() const noexcept { return *sandbox_->table; }

  const sandboxes::entry sandbox_;
  listener& events_;
  void* call_ = nullptr;
};

}  // namespace

std::unique_ptr<program> start_program(const ry::context& ctx, const settings& s, homes& home_directories,
                                       const launch_options& options, ry_exec* exec, listener& events) {
  if (!options.sandbox) return std::make_unique<unsandboxed_program>(ctx, s, home_directories, options, exec, events);
  return std::make_unique<sandboxed_program>(s, options, exec, events);
}

}  // namespace mcp_json
