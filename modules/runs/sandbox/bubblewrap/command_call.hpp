// One command of command_runner.
#pragma once
#include <ry/ext/sandbox_driver.h>
#include <ry/if/process.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "disk_watch.hpp"
#include "memory_end.hpp"
#include "processes.hpp"
#include "warm_pool.hpp"

namespace bubblewrap {

class command_runner;

// A running command. It has two holders, and the last one to release it deletes it: the function that starts it, until that
// returns, and the process, until its exit. The exit may come on another thread while the start still writes to it.
struct command_call {
  std::atomic<int> holders{2};
  command_runner* owner = nullptr;
  ry_sandbox_sink sink{};
  void* ctx = nullptr;
  ry_process* process = nullptr;
  std::uint64_t output_left = 0;
  std::uint64_t dropped = 0;
  std::uint64_t memory_bytes = 0, cache_bytes = 0;
  std::uint64_t workspace_bytes = 0, workspace_files = 0;  // limits
  bool account_bytes = false, account_files = false;  // whether they are the rest of the account's limits
  bool has_workspace = false;
  bool emptied = false;  // the workspace, because of its size
  std::string project, account;
  bool paused = false;
  // Time limit of a program in a warm sandbox. On its executor.
  bool timed = false, out_of_time = false;
  ry_op_id timer{};
  std::string group;  // its control group; empty: none
  // A warm sandbox has no command yet; the pool holds it instead of a starting function. On its executor.
  bool warm = false;
  std::atomic<bool> ended{false};
  std::string said;  // output of bwrap while the sandbox is warm
  ry_exec* exec = nullptr;
  std::shared_ptr<const sandbox_kind> kind;  // until its successor in the pool has been ordered

  void say(const std::string& sentence) const { sink.on_output(ctx, 2, ry::raw("\nsandbox: " + sentence + "\n")); }
  void explain(memory_end found, std::uint64_t account_bytes) const {
    const auto exceeded = [this](const std::string& whose, std::uint64_t bytes) {
      say("ended, " + whose + " took more than " + std::to_string(bytes >> 20) + " MiB of memory together");
    };
    switch (found) {
      case memory_end::none:
        return;
      case memory_end::command:
        return exceeded("its processes", memory_bytes);
      case memory_end::account:
        return exceeded("the commands of this account", account_bytes);
      case memory_end::node:
        return say("ended, the memory of the server is nearly used up");
    }
  }
  void explain(disk_verdict found) const {
    switch (found) {
      case disk_verdict::none:
        return;
      case disk_verdict::bytes:
        if (account_bytes)
          return say(
              "ended, the workspaces of the account are full (this one may have " +
              std::to_string(workspace_bytes >> 20) +
              " MiB, including deleted files that are still open): delete files here or in other projects first");
        return say("ended, the workspace is full (" + std::to_string(workspace_bytes >> 20) +
                   " MiB, including deleted files "
                   "that are still open): delete files first");
      case disk_verdict::files:
        if (account_files)
          return say("ended, the workspaces of the account have too many files (this one may have " +
                     std::to_string(workspace_files) + "): delete files here or in other projects first");
        return say("ended, the workspace has more than " + std::to_string(workspace_files) +
                   " files and directories: delete some first");
      case disk_verdict::depth:
        return say("ended, directories are nested more than " + std::to_string(disk::max_depth) +
                   " levels deep; those below are deleted");
      case disk_verdict::cache:
        return say("ended, its cache is larger than " + std::to_string(cache_bytes >> 20) + " MiB");
      case disk_verdict::uncounted:
        return say("ended, its processes have too many memory mappings or open files (" + std::to_string(max_mappings) +
                   " mappings per process, " + std::to_string(max_looked_at) +
                   " of both together): deleted files cannot be counted");
      case disk_verdict::space:
        return say("ended, the server's disk is nearly full");
    }
  }
};

}  // namespace bubblewrap
