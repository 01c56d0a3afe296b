// The state of one command of command_runner.
#pragma once
#include <ry/ext/sandbox_driver.h>
#include <ry/if/process.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "disk_watch.hpp"
#include "memory_verdict.hpp"
#include "processes.hpp"
#include "warm_pool.hpp"

namespace bubblewrap {

class command_runner;

// A running command. It has two holders: the function that starts it, until it returns, and the process, until its
// exit. The last holder that releases the call deletes it. The exit may be reported on another thread during the start.
struct command_call {
  std::atomic<int> holders{2};
  command_runner* owner = nullptr;
  ry_sandbox_sink sink{};
  void* ctx = nullptr;
  ry_process* process = nullptr;
  std::uint64_t remaining_output = 0;
  std::uint64_t dropped = 0;
  std::uint64_t memory_bytes = 0, cache_bytes = 0;
  std::uint64_t workspace_bytes = 0, workspace_files = 0;  // limits
  bool account_bytes = false, account_files = false;  // whether these limits are the rest of the account's limits
  bool has_workspace = false;
  bool emptied = false;  // the workspace was emptied because of its size
  std::string project, account;
  bool paused = false;
  // Time limit of a program in a warm sandbox. Accessed on exec.
  bool timed = false, timed_out = false;
  ry_op_id timer{};
  std::string group;  // its control group; empty: none
  // A warm sandbox has no command yet; the pool is the first holder. Accessed on exec.
  bool warm = false;
  std::atomic<bool> ended{false};
  std::string startup_output;  // output of bwrap while the sandbox is warm
  ry_exec* exec = nullptr;
  std::shared_ptr<const sandbox_kind> kind;  // set until a successor has been ordered from the pool

  void print_note(const std::string& note) const { sink.on_output(ctx, 2, ry::raw("\nsandbox: " + note + "\n")); }
  void explain(memory_verdict found, std::uint64_t account_bytes) const {
    const auto exceeded = [this](const std::string& scope, std::uint64_t bytes) {
      print_note("terminated: " + scope + " took more than " + std::to_string(bytes >> 20) + " MiB of memory together");
    };
    switch (found) {
      case memory_verdict::none:
        return;
      case memory_verdict::command:
        return exceeded("its processes", memory_bytes);
      case memory_verdict::account:
        return exceeded("the commands of this account", account_bytes);
      case memory_verdict::node:
        return print_note("terminated: the server is nearly out of memory");
    }
  }
  void explain(disk_verdict found) const {
    switch (found) {
      case disk_verdict::none:
        return;
      case disk_verdict::bytes:
        if (account_bytes)
          return print_note(
              "terminated: the workspaces of the account are full (this one may have " +
              std::to_string(workspace_bytes >> 20) +
              " MiB, including deleted files that are still open): delete files here or in other projects first");
        return print_note("terminated: the workspace is full (" + std::to_string(workspace_bytes >> 20) +
                          " MiB, including deleted files "
                          "that are still open): delete files first");
      case disk_verdict::files:
        if (account_files)
          return print_note("terminated: the workspaces of the account have too many files (this one may have " +
                            std::to_string(workspace_files) + "): delete files here or in other projects first");
        return print_note("terminated: the workspace has more than " + std::to_string(workspace_files) +
                          " files and directories: delete some first");
      case disk_verdict::depth:
        return print_note("terminated: directories are nested more than " + std::to_string(disk::max_depth) +
                          " levels deep; those below are deleted");
      case disk_verdict::cache:
        return print_note("terminated: its cache is larger than " + std::to_string(cache_bytes >> 20) + " MiB");
      case disk_verdict::uncounted:
        return print_note("terminated: its processes have too many memory mappings or open files (" +
                          std::to_string(max_mappings) + " mappings per process, " + std::to_string(max_examined) +
                          " of both together): deleted files cannot be counted");
      case disk_verdict::space:
        return print_note("terminated: the server's disk is nearly full");
    }
  }
};

}  // namespace bubblewrap
