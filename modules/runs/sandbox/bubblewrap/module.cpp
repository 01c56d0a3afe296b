// The driver "bubblewrap" of sandbox.driver/1 and mcp.sandbox/1: settings, start, and the driver's table.
// command_runner runs the commands, workspace_calls serves the files of workspaces.
#include <ry/ext/sandbox_driver.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command_groups.hpp"
#include "command_line.hpp"
#include "command_runner.hpp"
#include "diagnosis.hpp"
#include "disk_guard.hpp"
#include "json/members.hpp"
#include "memory_guard.hpp"
#include "processes.hpp"
#include "project_users.hpp"
#include "settings_schema.hpp"
#include "system_calls.hpp"
#include "system_info.hpp"
#include "try_command.hpp"
#include "workspace.hpp"
#include "workspace_calls.hpp"

namespace bubblewrap {
namespace {

std::uint64_t count_setting(const boost::json::object& o, std::string_view key, std::int64_t default_value) {
  return static_cast<std::uint64_t>(module_json::integer_at(o, key, default_value));
}

command_settings read_command_settings(const boost::json::object& o) {
  command_settings out;
  out.bwrap_path = module_json::text_of(o, "bwrap_path", "/usr/bin/bwrap");
  out.exec_path = module_json::text_of(o, "exec_path", "");
  if (out.exec_path.empty()) {
    std::error_code unreadable;
    out.exec_path =
        std::filesystem::read_symlink("/proc/self/exe", unreadable).replace_filename("runyard-sandbox-exec");
  }
  out.wall_ms = count_setting(o, "wall_seconds", 120) * 1000;
  out.max_wall_ms = count_setting(o, "max_wall_seconds", 900) * 1000;
  out.output_bytes = count_setting(o, "output_kb", 1024) << 10;
  out.limit.memory_bytes = count_setting(o, "memory_mb", 4096) << 20;
  out.limit.processes = count_setting(o, "processes", 128);
  out.limit.file_bytes = count_setting(o, "file_mb", 512) << 20;
  out.limit.open_files = count_setting(o, "open_files", 512);
  out.limit.tmp_bytes = count_setting(o, "tmp_mb", 256) << 20;
  out.workspace_bytes = count_setting(o, "workspace_mb", 4096) << 20;
  out.workspace_files = count_setting(o, "workspace_files", 200000);
  out.nice = static_cast<std::uint32_t>(count_setting(o, "nice", 19));
  out.warm = {count_setting(o, "warm", 2), count_setting(o, "warm_total", 16),
              std::chrono::seconds(count_setting(o, "warm_seconds", 60))};
  return out;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end != 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void write_public(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
  ::chmod(path.c_str(), 0644);
}

}  // namespace

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    const boost::json::value parsed = ctx.settings().empty() ? boost::json::value(boost::json::object())
                                                             : boost::json::parse(std::string(ctx.settings()));
    const boost::json::object& o = parsed.as_object();
    settings_ = read_command_settings(o);
    users_.uid_base = static_cast<std::uint32_t>(count_setting(o, "uid_base", 61184));
    users_.uid_count = static_cast<std::uint32_t>(count_setting(o, "uid_count", 4096));
    disk_.emplace(ctx, count_setting(o, "min_free_mb", 1024) << 20);
    memory_.emplace(ctx, count_setting(o, "min_available_mb", 256) << 20);
    groups_.emplace(ctx, module_json::text_of(o, "control_groups", "auto"),
                    group_settings{{count_setting(o, "account_memory_mb", 16384) << 20,
                                    count_setting(o, "account_processes", 4096)},
                                   count_setting(o, "cpu_weight", 20),
                                   count_setting(o, "io_weight", 20),
                                   count_setting(o, "total_memory_percent", 75),
                                   count_setting(o, "total_processes_percent", 75)});
    fill_table();
    reg.contribute(RY_SANDBOX_DRIVER_1, "bubblewrap", &table_, this);
    reg.contribute(RY_MCP_SANDBOX_1, "bubblewrap", &table_, this);
  }

  void start() {
    const std::string data(ctx_.fact("data_dir"));
    if (data.empty()) throw ry::unavailable("sandbox.data_dir", "there is no data directory");
    std::string root = data + "/workspaces", etc = data + "/etc";
    ::mkdir(root.c_str(), 0711);
    ::mkdir(etc.c_str(), 0755);
    root = std::filesystem::canonical(root).string();
    etc = std::filesystem::canonical(etc).string();
    write_public(etc + "/passwd", passwd_text(users_.uid_base, users_.uid_count));
    write_public(etc + "/group", group_text(users_.uid_base, users_.uid_count));
    std::ofstream(etc + "/system_calls", std::ios::trunc) << system_call_filter();
    settings_.etc_directory = etc;
    settings_.private_paths = lines_of(ctx_.fact("private_paths"));
    settings_.private_paths.insert(settings_.private_paths.begin(), data);
    files_.emplace(root);
    disk_->start(root);
    if (!may_copy_descriptors()) {
      uncounted_files_note_ =
          "deleted files that an undumpable process of a command keeps open are not counted. Cause: a system call filter "
          "denies pidfd_open or pidfd_getfd to the server";
      ctx_.warn(uncounted_files_note_);
    }
    memory_->start();
    calls_.emplace(ctx_, *files_, *disk_, users_);
    runner_.emplace(ctx_, settings_, *files_, *disk_, *memory_, *groups_, users_);
    if (const std::string missing = groups_->start(); !missing.empty()) return set_problem(missing);
    probe();
  }

  ry::task<void> stop() {
    if (runner_) runner_->close();
    co_await ctx_.run_blocking([this] { disk_->threads().close(); });
  }

  // Reported by /readyz. Runs continue without the sandbox's tools, so a broken sandbox does not make the module
  // unhealthy: otherwise the load balancer would remove the server.
  std::string degraded() const {
    if (const auto problem = this->problem(); !problem.empty()) return problem;
    const std::string& groups = groups_->degraded();
    return groups + (groups.empty() || uncounted_files_note_.empty() ? "" : "; ") + uncounted_files_note_;
  }

 private:
  static std::string output_of(const command_trial& trial) {
    if (!trial.output.empty()) return trial.output;
    return trial.timed_out ? "nothing (terminated after " + std::to_string(trial_limit.count()) + " s)"
                           : "nothing (exit code " + std::to_string(trial.code) + ")";
  }

  diagnosis diagnosis_of(const command_trial& trial, const std::string& output, const system_info& system) const {
    if (trial.timed_out) return diagnose_timeout(trial_limit, settings_.bwrap_path);
    if (trial.code == 0) return diagnose_missing_marker(settings_.bwrap_path, settings_.exec_path);
    return diagnose(output, system, settings_.bwrap_path);
  }

  // Tries each confinement mode with a command that only prints a marker, and keeps the first that works.
  void probe() {
    const std::string project = "00000000-0000-0000-0000-000000000000";
    const system_info system = read_system_info(settings_.bwrap_path);
    std::string problem;
    runner_->set_probing(true);
    for (confinement mode : possible_confinements()) {
      users_.mode = mode;
      if (const file_error e = files_->ensure(project, users_.owner_of(project))) {
        problem = workspace_message(e.message);
        continue;
      }
      const command_trial trial = try_command(*runner_, project, ctx_.pick_exec());
      (void)calls_->destroy_workspace(project);
      if (trial.succeeded()) {
        runner_->set_probing(false);
        ctx_.info("sandbox ready",
                  {{"confinement", name_of(mode)}, {"memory", groups_->usable() ? "control groups" : "polled"}});
        return;
      }
      const std::string output_text = output_of(trial);
      problem = message_of(diagnosis_of(trial, output_text, system), output_text);
      ctx_.warn("the sandbox does not work in this confinement mode",
                {{"confinement", name_of(mode)}, {"output", output_text}});
    }
    runner_->set_probing(false);
    set_problem(problem);
  }

  // The reason why commands cannot run; empty: commands can run.
  std::string problem() const {
    std::lock_guard lock(mutex_);
    return problem_;
  }
  void set_problem(const std::string& problem) {
    std::lock_guard lock(mutex_);
    problem_ = problem;
    ctx_.warn(problem_);
  }

  // ---- the driver's table ----

  static module& self_of(void* self) { return *static_cast<module*>(self); }
  static command_runner& runner_of(void* self) { return *self_of(self).runner_; }
  static command_call& call_of(void* call) { return *static_cast<command_call*>(call); }

  // A function of the driver's table that calls a function of workspace_calls with the same arguments.
  template <auto Function, class... Arguments>
  static ry_status forward(void* self, Arguments... arguments) noexcept {
    return ry::guard([&] { return ((*self_of(self).calls_).*Function)(arguments...); });
  }

  static ry_status run(void* self, ry_str project, const ry_sandbox_command* command, ry_exec* exec,
                       const ry_sandbox_sink* sink, void* ctx, void** call) noexcept {
    return ry::guard([&] {
      if (!self_of(self).problem().empty()) return static_cast<ry_status>(RY_UNAVAILABLE);
      char text[256];
      ry_errbuf err{text, sizeof text, 0};
      return runner_of(self).run(ry::text(project), *command, exec, *sink, ctx, call, &err);
    });
  }

  void fill_table() {
    table_.struct_size = sizeof table_;
    table_.ensure = &module::forward<&workspace_calls::ensure>;
    table_.run = &module::run;
    table_.cancel = [](void* self, void* call) noexcept { runner_of(self).cancel(call_of(call)); };
    table_.read_file = &module::forward<&workspace_calls::read_file>;
    table_.write_file = &module::forward<&workspace_calls::write_file>;
    table_.import_file = &module::forward<&workspace_calls::import_file>;
    table_.list_files = &module::forward<&workspace_calls::list_files>;
    table_.destroy = &module::forward<&workspace_calls::destroy>;
    table_.scan = &module::forward<&workspace_calls::scan>;
    table_.place = &module::forward<&workspace_calls::place>;
    table_.write = [](void* self, void* call, ry_bytes bytes, ry_done done) noexcept {
      return runner_of(self).write(call_of(call), bytes, done);
    };
    table_.close_stdin = [](void* self, void* call) noexcept { runner_of(self).close_stdin(call_of(call)); };
    table_.pause = [](void* self, void* call) noexcept { runner_of(self).pause(call_of(call)); };
    table_.resume = [](void* self, void* call) noexcept { runner_of(self).resume(call_of(call)); };
    table_.open_file = &module::forward<&workspace_calls::open_file>;
  }

  ry::context& ctx_;
  ry_sandbox_driver_v1 table_{};
  command_settings settings_;
  std::string uncounted_files_note_;  // describes why deleted files are not counted; empty: they are counted
  project_users users_;
  std::optional<workspaces> files_;
  std::optional<disk_guard> disk_;
  std::optional<memory_guard> memory_;
  std::optional<command_groups> groups_;
  std::optional<workspace_calls> calls_;
  std::optional<command_runner> runner_;
  mutable std::mutex mutex_;
  std::string problem_;
};

}  // namespace bubblewrap

RY_MODULE(bubblewrap::module, "sandbox_bubblewrap", "0.1.0",
          .needs("ry.core/1", "ry.metrics/1", "ry.process/1", "sandbox.driver/1")
              .wants(RY_MCP_SANDBOX_1)
              .settings(bubblewrap::settings_schema));
