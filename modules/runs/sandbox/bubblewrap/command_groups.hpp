// The control groups of the driver's commands, as the setting control_groups demands, and the description of the limits that
// are missing without them. Thread: start() before the others, which any thread may call.
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

  // Takes over the server's group. Returns an error message if commands must not run; empty: they may.
  std::string start();
  // Names the limits that are missing; empty: none.
  const std::string& degraded() const { return without_; }
  bool usable() const { return groups_.usable(); }

  // Makes a group for a command and sets `group`, which stays empty without control groups. False: it could not be made.
  bool add(std::string& group, const std::string& account, const command_spec& spec);
  // Makes a group for a sandbox whose account is not known yet.
  bool add_waiting(std::string& group);
  // Moves a sandbox from that group to a new one of the account, and sets `group`. False: it could not be moved.
  bool move(std::string& group, const std::string& account, const command_spec& spec);
  // These accept an empty name.
  void remove(const std::string& group);
  memory_end ran_out_of_memory(const std::string& group) {
    return group.empty() ? memory_end::none : groups_.ran_out_of_memory(group);
  }
  // The memory limit for all commands of an account.
  std::uint64_t account_memory_bytes() const { return settings_.account.memory_bytes; }
  // nullopt: unknown.
  std::optional<std::uint64_t> memory_of(const std::string& group) {
    return group.empty() ? std::nullopt : groups_.memory_of(group);
  }

 private:
  void warn_of(const std::string& missing);

  ry::context& ctx_;
  const std::string mode_;
  const group_settings settings_;
  std::string without_;
  control_groups groups_;
};

}  // namespace bubblewrap
