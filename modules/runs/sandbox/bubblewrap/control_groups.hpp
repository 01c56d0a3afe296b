// Control groups (version 2) of sandboxed commands: a command's limits include kernel memory, and accounts get equal
// shares of CPU and disk I/O.
//
// Below the server's own group, which systemd delegates to it (Delegate=yes):
//   server/                     the server itself, its database, programs without a sandbox
//   sandbox/<account>/<command> one group for each command, limits at both levels
//
// Thread: any. The functions write to control files, which does not block for long.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory_verdict.hpp"

namespace bubblewrap {

// 0: no limit.
struct group_limits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
};

struct group_settings {
  group_limits account;  // of all commands of an account together
  std::uint64_t cpu_weight = 0;  // of all commands together; the server's weight is 100. 0: the kernel's default
  std::uint64_t io_weight = 0;
  // Limits of all commands together, in percent of those of the server's group. The rest is reserved for the server and
  // its database.
  std::uint64_t memory_percent = 0;  // 0: no limit
  std::uint64_t processes_percent = 0;
};

// Operations on the file system of the control groups. They return 0 or a value of errno.
class group_files {
 public:
  virtual ~group_files() = default;
  virtual int make(const std::string& directory);
  virtual int remove(const std::string& directory);
  virtual int write(const std::string& file, std::string_view text);
  virtual std::optional<std::string> read(const std::string& file);
  // Whether the service manager has delegated the group to the server.
  virtual bool delegated(const std::string& directory);
};

// The directory of this process's control group, according to /proc/self/mountinfo and /proc/self/cgroup; empty: there
// is no group of version 2.
std::string own_group(std::string_view mountinfo, std::string_view membership);

class control_groups {
 public:
  explicit control_groups(std::unique_ptr<group_files> files = std::make_unique<group_files>())
      : files_(std::move(files)) {}

  // Takes over the group in `directory`: moves its processes to server/ and enables controllers. Returns the reason if
  // control groups cannot be used, otherwise an empty string. To be called once, before the other functions.
  std::string prepare(const std::string& directory, const group_settings& settings);
  // The reason why prepare() must fail in this group for every user; empty: there is none.
  std::string missing_requirement(const std::string& directory);
  bool usable() const { return !base_.empty(); }

  // Creates a group for a command. Empty: creation failed. account: must be a valid directory name.
  std::string add(const std::string& account, const group_limits& limits);
  // Stands for the account of sandboxes whose account is not known yet. Only the limits of all commands together apply.
  static constexpr std::string_view waiting = "waiting";
  // Moves all processes. False: a process could not be moved.
  bool move(const std::string& from, const std::string& to);
  // Whether the kernel has killed processes of the group for lack of memory, and at which limit.
  memory_verdict ran_out_of_memory(const std::string& group);
  // Memory that the kernel currently charges to the group.
  std::optional<std::uint64_t> memory_of(const std::string& group);
  // Kills the remaining processes and removes the group, immediately or, if processes are still exiting, in a later
  // call.
  void remove(const std::string& group);

 private:
  bool all_processes_are_ours(const std::string& directory);
  bool enable_controllers(const std::string& directory);
  bool set_limits(const std::string& group, const group_limits& limits);
  group_limits limits_of_all(const std::string& base, const group_settings& settings);
  std::uint64_t number_in(const std::string& file);
  std::uint64_t event_count(const std::string& file, std::string_view event);
  void remove_leftovers(const std::string& account_directory);
  void remove_pending();

  const std::unique_ptr<group_files> files_;
  std::string base_;
  group_settings settings_;
  std::string prefix_;  // of the names of this instance's groups
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::map<std::string, std::size_t> commands_;  // number of groups by account
  std::vector<std::string> pending_;
};

}  // namespace bubblewrap
