// Control groups (version 2) of sandboxed commands: what the kernel keeps for a command counts against its limits, too,
// and accounts get equal shares of processor and disk.
//
// Below the server's own group, which systemd delegates to it (Delegate=yes):
//   server/                     the server itself, its database, programs without a sandbox
//   sandbox/<account>/<command> one group for each command, limits at both levels
//
// Any thread. The functions write to control files, which the kernel answers at once.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bubblewrap {

// 0: none.
struct group_limits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
};

struct group_settings {
  group_limits account;        // of all commands of an account together
  std::uint64_t cpu_weight = 0;  // of all commands together; the server has 100. 0: the kernel's default
  std::uint64_t io_weight = 0;
};

// What is done to the file system of the control groups. Results as of system calls: 0, or the number of the error.
class group_files {
 public:
  virtual ~group_files() = default;
  virtual int make(const std::string& directory);
  virtual int remove(const std::string& directory);
  virtual int write(const std::string& file, std::string_view text);
  virtual std::optional<std::string> read(const std::string& file);
  // Whether the manager of the services has given the group to the server.
  virtual bool delegated(const std::string& directory);
};

// The directory of this process's own group, by /proc/self/mountinfo and /proc/self/cgroup; empty: there is none of
// version 2.
std::string own_group(std::string_view mountinfo, std::string_view membership);

class control_groups {
 public:
  explicit control_groups(std::unique_ptr<group_files> files = std::make_unique<group_files>()) : files_(std::move(files)) {}

  // Takes over the group in `directory`: moves its processes to server/ and divides it. Empty: done; otherwise a
  // sentence why there are no control groups. Once, before the others.
  std::string prepare(const std::string& directory, const group_settings& settings);
  // What of it cannot be done in this group, whoever has it; empty: nothing.
  std::string lacks(const std::string& directory);
  bool usable() const { return !base_.empty(); }

  // A new group for a command. Empty: it could not be made. account: a name of a directory.
  std::string add(const std::string& account, const group_limits& limits);
  // Commands that wait for their account have no limits but those of all.
  static constexpr std::string_view waiting = "waiting";
  // Moves all processes. False: one of them could not be moved.
  bool move(const std::string& from, const std::string& to);
  // Whether the kernel has ended processes of the group because of its memory.
  bool ran_out_of_memory(const std::string& group);
  // Kills what is left in it. It is removed at once or, where processes are still ending, with one of the next.
  void remove(const std::string& group);

 private:
  bool all_processes_are_ours(const std::string& directory);
  bool divide(const std::string& directory);
  bool set_limits(const std::string& group, const group_limits& limits);
  void sweep(const std::string& account_directory);
  void remove_pending();

  const std::unique_ptr<group_files> files_;
  std::string base_;
  group_settings settings_;
  std::string prefix_;  // of the names of this instance's groups
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::map<std::string, std::size_t> commands_;  // of each account
  std::vector<std::string> pending_;
};

}  // namespace bubblewrap
