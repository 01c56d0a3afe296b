// Runs commands in sandboxes, from a request of sandbox.driver/1 to the exit, and applies their limits. workspace_calls
// serves the files of workspaces.
//
// Thread: as sandbox.driver/1 specifies for each function. Lifetime: must outlive its commands; the constructor's
// arguments must outlive it.
#pragma once
#include <ry/ext/sandbox_driver.h>
#include <ry/if/process.h>

#include <atomic>
#include <cstdint>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "command_call.hpp"
#include "command_groups.hpp"
#include "command_line.hpp"
#include "command_options.hpp"
#include "disk_guard.hpp"
#include "memory_guard.hpp"
#include "project_users.hpp"
#include "warm_sandboxes.hpp"
#include "workspace.hpp"

namespace bubblewrap {

struct command_settings {
  std::string bwrap_path, exec_path;
  std::string etc_directory;  // see command_spec
  std::vector<std::string> private_paths;  // paths of the server that are hidden from all commands
  std::uint64_t wall_ms = 0, max_wall_ms = 0, output_bytes = 0;
  limits limit;
  std::uint64_t workspace_bytes = 0, workspace_files = 0;
  warm_limits warm;
  std::uint32_t nice = 19;
};

class command_runner final : private sandbox_starter {
 public:
  command_runner(ry::context& ctx, command_settings settings, const workspaces& files, disk_guard& disk,
                 memory_guard& memory, command_groups& groups, const project_users& users);

  // The functions of sandbox.driver/1 with these names.
  ry_status run(const std::string& project, const ry_sandbox_command& command, ry_exec* exec,
                const ry_sandbox_sink& sink, void* ctx, void** call, ry_errbuf* err);
  void cancel(command_call& call);
  ry_status write(command_call& call, ry_bytes bytes, ry_done done);
  void close_stdin(command_call& call);
  void pause(command_call& call) { call.paused = true; }
  void resume(command_call& call);

  // While the probe of start() runs, commands start even below the reserves of disk and memory, because the probe's
  // result is used for longer than such a shortage lasts.
  void set_probing(bool on) { probing_ = on; }
  // Terminates the warm sandboxes. No command starts afterwards.
  void close() { warm_.close(); }

 private:
  void set_limits(const command_options& options, std::uint64_t memory_bytes, command_spec& spec) const;
  ry_status set_files(const command_options& options, command_spec& spec, unique_fd& cache) const;
  ry_status unusable(std::string_view message, std::string_view cause) const;
  ry_status spawn(command_call& call, const std::vector<std::string>& words, const std::string& directory,
                  const std::vector<std::string>& environment, std::uint64_t wall_ms, ry_exec* exec,
                  ry_errbuf* err) override;
  void watch(command_call& call, const std::string& project, const std::string& account, const command_spec& spec,
             unique_fd cache);
  void limit_time(command_call& call, std::uint64_t wall_ms);
  void release(command_call* call) noexcept override;
  // The final measurement. Blocks.
  disk_verdict measure(command_call& call, disk::tree_use& use);
  bool measure_then_finish(command_call* call, std::int32_t code, std::int32_t why) noexcept;
  void finish(command_call* call, std::int32_t code, std::int32_t why, disk_verdict disk,
              const disk::tree_use& use) noexcept;
  static ry_status output(void* call, std::int32_t fd, ry_bytes chunk) noexcept;
  static void exited(void* call, std::int32_t code, std::int32_t why) noexcept;

  ry::context& ctx_;
  const ry_process_v1& process_;
  const command_settings settings_;
  const workspaces& files_;
  disk_guard& disk_;
  memory_guard& memory_;
  command_groups& groups_;
  const project_users& users_;
  std::atomic<bool> probing_{false};
  ry::metric timed_out_;
  warm_sandboxes warm_;
};

}  // namespace bubblewrap
