// The control groups of the driver's commands, according to the setting control_groups, and a description of the limits
// that are missing without them. Thread: any, after start().
#pragma once
#include <cstdint>
#include <optional>
#include <ry/ry.hpp>
#include <string>

#include "command_line.hpp"
#include "control_groups.hpp"

namespace bubblewrap {

class command_groups {
 public:
  // mode: "auto", "required" or "off".
  command_groups(ry::context& ctx, std::string mode, const group_settings& settings);

  // Takes over the server's group. Returns an error message if commands must not run, otherwise an empty string.
  std::string start();
  // Describes the missing limits; empty: none.
  const std::string& degraded() const { return missing_limits_; }
  bool usable() const { return groups_.usable(); }

  // Creates a group for a command and sets `group`, which stays empty without control groups. False: creation failed.
  bool add(std::string& group, const std::string& account, const command_spec& spec);
  // Creates a group for a sandbox whose account is not known yet.
  bool add_waiting(std::string& group);
  // Moves such a sandbox to a new group of the account, and sets `group`. False: the move failed.
  bool move(std::string& group, const std::string& account, const command_spec& spec);
  // The following functions accept an empty name.
  void remove(const std::string& group);
  memory_verdict ran_out_of_memory(const std::string& group) {
    return group.empty() ? memory_verdict::none : groups_.ran_out_of_memory(group);
  }
  // The memory limit for all commands of an account.
  std::uint64_t account_memory_bytes() const { return settings_.account.memory_bytes; }
  // nullopt: unknown.
  std::optional<std::uint64_t> memory_of(const std::string& group) {
    return group.empty() ? std::nullopt : groups_.memory_of(group);
  }

 private:
  void report_missing(const std::string& missing);

  ry::context& ctx_;
  const std::string mode_;
  const group_settings settings_;
  std::string missing_limits_;
  control_groups groups_;
};

}  // namespace bubblewrap
