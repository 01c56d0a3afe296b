#include "command_groups.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

namespace bubblewrap {
namespace {

constexpr const char* fix =
    ". Fix: run the server as a systemd unit with Delegate=yes, on a machine with control groups of version 2";

std::string file_text(const char* path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return std::move(out).str();
}

// Adds room for the memory file systems (/tmp, /dev/shm, for some commands /workspace), which have separate limits, and
// for the processes of bwrap and runyard-sandbox-exec.
group_limits limits_of(const command_spec& spec) {
  const std::uint64_t memory = std::max(spec.limit.memory_bytes, spec.limit.data_bytes);
  return {memory == 0 ? 0 : memory + 3 * spec.limit.tmp_bytes,
          spec.limit.processes == 0 ? 0 : spec.limit.processes + 2};
}

}  // namespace

command_groups::command_groups(ry::context& ctx, std::string mode, const group_settings& settings)
    : ctx_(ctx), mode_(std::move(mode)), settings_(settings) {
  // `runyard check` runs outside the server's group, so this checks only the machine.
  if (mode_ != "auto") return;
  const std::string missing = groups_.missing_requirement(own_group(file_text("/proc/self/mountinfo"), "0::/\n"));
  if (!missing.empty()) report_missing(missing);
}

void command_groups::report_missing(const std::string& missing) {
  missing_limits_ =
      "commands run without control groups. Kernel memory (socket buffers, page tables) of a command, and memory, processes and "
      "CPU time per account are not limited. Cause: " +
      missing;
  if (mode_ == "auto")
    ctx_.log(ctx_.fact("deployment.mode") == "local" ? RY_LOG_INFO : RY_LOG_WARN, missing_limits_ + fix);
}

std::string command_groups::start() {
  std::string missing = "sandbox_bubblewrap.control_groups is \"off\"";
  if (mode_ != "off")
    missing = groups_.prepare(own_group(file_text("/proc/self/mountinfo"), file_text("/proc/self/cgroup")), settings_);
  ctx_.metrics().gauge("control_groups", "1 if commands run in control groups").set(groups_.usable() ? 1 : 0);
  if (groups_.usable()) {
    missing_limits_.clear();  // the constructor could only check the machine
    return {};
  }
  if (mode_ == "required")
    return "the sandbox has no control groups, but sandbox_bubblewrap.control_groups = \"required\": " + missing + fix;
  if (missing_limits_.empty()) report_missing(missing);
  return {};
}

bool command_groups::add(std::string& group, const std::string& account, const command_spec& spec) {
  if (!groups_.usable()) return true;
  group = groups_.add(account, limits_of(spec));
  return !group.empty();
}

bool command_groups::add_waiting(std::string& group) {
  if (!groups_.usable()) return true;
  group = groups_.add(std::string(control_groups::waiting), {});
  return !group.empty();
}

bool command_groups::move(std::string& group, const std::string& account, const command_spec& spec) {
  if (!groups_.usable()) return true;
  std::string to;
  if (group.empty() || !add(to, account, spec)) return false;
  const bool moved = groups_.move(group, to);
  groups_.remove(moved ? std::exchange(group, to) : to);
  return moved;
}

void command_groups::remove(const std::string& group) {
  if (!group.empty()) groups_.remove(group);
}

}  // namespace bubblewrap
