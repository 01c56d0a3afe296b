#include "control_groups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "workspace.hpp"

namespace bubblewrap {
namespace {

namespace fs = std::filesystem;

constexpr int max_move_rounds = 20;
constexpr const char* server_name = "server";
constexpr const char* sandbox_name = "sandbox";

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(std::move(word));
  return out;
}

// The kernel writes spaces in the paths of this file as octal numbers.
std::string unescaped(std::string_view path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 3 < path.size()) {
      out += static_cast<char>((path[i + 1] - '0') * 64 + (path[i + 2] - '0') * 8 + (path[i + 3] - '0'));
      i += 3;
    } else {
      out += path[i];
    }
  }
  return out;
}

std::string error_text(int error) {
  return std::generic_category().message(error);
}

// 0: not a number, such as "max".
std::uint64_t number_of(std::string_view word) {
  std::uint64_t n = 0;
  (void)std::from_chars(word.data(), word.data() + word.size(), n);
  return n;
}

// BFQ weights range from 1 to 1000; as in systemd, 100 is the default of both scales.
std::uint64_t bfq_weight(std::uint64_t weight) {
  return weight <= 100 ? weight : 100 + (weight - 100) / 11;
}

}  // namespace

int group_files::make(const std::string& directory) {
  return ::mkdir(directory.c_str(), 0755) == 0 ? 0 : errno;
}

int group_files::remove(const std::string& directory) {
  return ::rmdir(directory.c_str()) == 0 ? 0 : errno;
}

int group_files::write(const std::string& file, std::string_view text) {
  const unique_fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno;
  return ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

std::optional<std::string> group_files::read(const std::string& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

bool group_files::delegated(const std::string& directory) {
  // systemd sets one of these attributes, depending on its version. Only root can read the second.
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    char value = 0;
    if (::getxattr(directory.c_str(), name, &value, 1) == 1 && value == '1') return true;
  }
  return false;
}

std::string own_group(std::string_view mountinfo, std::string_view membership) {
  std::string path;
  std::istringstream groups{std::string(membership)};
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) path = line.substr(3);
  if (path.empty()) return {};
  std::istringstream mounts{std::string(mountinfo)};
  for (std::string line; std::getline(mounts, line);) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos || words_of(line.substr(separator + 3)).at(0) != "cgroup2") continue;
    const auto words = words_of(line.substr(0, separator));
    if (words.size() < 5) continue;
    const std::string root = unescaped(words[3]), point = unescaped(words[4]);
    if (root == "/") return path == "/" ? point : point + path;
    // Only a part of the hierarchy is mounted, for example in containers without a cgroup namespace.
    if (path == root) return point;
    if (path.starts_with(root + "/")) return point + path.substr(root.size());
  }
  return {};
}

bool control_groups::all_processes_are_ours(const std::string& directory) {
  const auto parent_of = [&](const std::string& id) -> std::string {
    const std::string stat = files_->read("/proc/" + id + "/stat").value_or("");
    const std::size_t at = stat.rfind(')');
    const auto words =
        at == std::string::npos ? std::vector<std::string>() : words_of(std::string_view(stat).substr(at + 1));
    return words.size() < 2 ? "0" : words[1];
  };
  const std::string self = std::to_string(::getpid());
  for (std::string id : words_of(files_->read(directory + "/cgroup.procs").value_or(""))) {
    while (id != self && id != "0" && id != "1") id = parent_of(id);
    if (id != self) return false;
  }
  return true;
}

bool control_groups::enable_controllers(const std::string& directory) {
  if (files_->write(directory + "/cgroup.subtree_control", "+memory +pids") != 0) return false;
  // Weights only serve fairness, so a missing controller is not an error. Written one at a time, because the kernel
  // rejects a complete list if one controller is missing.
  for (const char* controller : {"+cpu", "+io"}) (void)files_->write(directory + "/cgroup.subtree_control", controller);
  return true;
}

bool control_groups::set_limits(const std::string& group, const group_limits& limits) {
  if (limits.memory_bytes != 0) {
    if (files_->write(group + "/memory.max", std::to_string(limits.memory_bytes)) != 0) return false;
    // Kernels without swap accounting do not have this file.
    (void)files_->write(group + "/memory.swap.max", "0");
  }
  return limits.processes == 0 || files_->write(group + "/pids.max", std::to_string(limits.processes)) == 0;
}

std::uint64_t control_groups::number_in(const std::string& file) {
  return number_of(files_->read(file).value_or(""));
}

std::uint64_t control_groups::event_count(const std::string& file, std::string_view event) {
  const auto words = words_of(files_->read(file).value_or(""));
  for (std::size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i] == event) return number_of(words[i + 1]);
  return 0;
}

group_limits control_groups::limits_of_all(const std::string& base, const group_settings& settings) {
  constexpr std::uint64_t percent = 100;
  const auto machine = words_of(files_->read("/proc/meminfo").value_or(""));
  std::uint64_t memory = number_in(base + "/memory.max");
  if (machine.size() > 1 && machine[0] == "MemTotal:") {
    const std::uint64_t present = number_of(machine[1]) << 10;
    memory = memory == 0 ? present : std::min(memory, present);
  }
  return {memory / percent * settings.memory_percent,
          number_in(base + "/pids.max") * settings.processes_percent / percent};
}

std::string control_groups::missing_requirement(const std::string& directory) {
  if (directory.empty()) return "this machine has no control groups of version 2";
  const auto controllers = words_of(files_->read(directory + "/cgroup.controllers").value_or(""));
  for (const char* needed : {"memory", "pids"})
    if (std::find(controllers.begin(), controllers.end(), needed) == controllers.end())
      return "the controller \"" + std::string(needed) + "\" of control groups (version 2) is not available";
  return {};
}

std::string control_groups::prepare(const std::string& directory, const group_settings& settings) {
  const bool in_server = fs::path(directory).filename() == server_name;
  const std::string base = in_server ? fs::path(directory).parent_path().string() : directory;
  if (std::string missing = missing_requirement(base); !missing.empty()) return missing;
  // The second check also works if an earlier instance has moved the server to server/.
  if (!files_->delegated(base) && !all_processes_are_ours(directory))
    return "the server's control group is not delegated to it and contains other programs";
  const std::string server = base + "/" + server_name, sandbox = base + "/" + sandbox_name;
  if (const int error = files_->make(server); error != 0 && error != EEXIST)
    return "the server's control group is not delegated to it: " + error_text(error);
  // Repeated, because processes may start others at the same time.
  for (int round = 0; round < max_move_rounds; ++round) {
    const auto processes = words_of(files_->read(base + "/cgroup.procs").value_or(""));
    if (processes.empty()) break;
    for (const std::string& id : processes)
      if (const int error = files_->write(server + "/cgroup.procs", id); error != 0 && error != ESRCH)
        return "the server's processes cannot be moved within its control group: " + error_text(error);
  }
  if (const int error = files_->make(sandbox); error != 0 && error != EEXIST)
    return "the control group for commands cannot be created: " + error_text(error);
  if (!enable_controllers(base) || !enable_controllers(sandbox))
    return "the memory and pids controllers cannot be enabled in the server's control group";
  if (settings.cpu_weight != 0) (void)files_->write(sandbox + "/cpu.weight", std::to_string(settings.cpu_weight));
  if (settings.io_weight != 0) {
    (void)files_->write(sandbox + "/io.weight", "default " + std::to_string(settings.io_weight));
    // Only kernels with this scheduler have the file.
    (void)files_->write(sandbox + "/io.bfq.weight", std::to_string(bfq_weight(settings.io_weight)));
  }
  if (!set_limits(sandbox, limits_of_all(base, settings))) return "the limits of all commands cannot be set";
  settings_ = settings;
  prefix_ = std::to_string(::getpid()) + "-" +
            std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1)) + "-";
  base_ = base;
  // Removes the groups of an earlier server that was killed. A group that still has processes remains.
  std::error_code unreadable;
  for (const auto& account : fs::directory_iterator(sandbox, unreadable))
    if (account.is_directory(unreadable)) remove_leftovers(account.path().string());
  return {};
}

void control_groups::remove_leftovers(const std::string& account_directory) {
  std::error_code unreadable;
  for (const auto& command : fs::directory_iterator(account_directory, unreadable))
    if (command.is_directory(unreadable)) (void)files_->remove(command.path().string());
  (void)files_->remove(account_directory);
}

std::string control_groups::add(const std::string& account, const group_limits& limits) {
  std::lock_guard lock(mutex_);
  remove_pending();
  const std::string parent = base_ + "/" + sandbox_name + "/" + account;
  const auto [at, first] = commands_.try_emplace(account, 0);
  const int made = files_->make(parent);
  bool ok = made == 0 || made == EEXIST;
  if (ok && first) ok = enable_controllers(parent) && (account == waiting || set_limits(parent, settings_.account));
  const std::string group = parent + "/" + prefix_ + std::to_string(next_++);
  ok = ok && files_->make(group) == 0;
  if (ok && !set_limits(group, limits)) {
    (void)files_->remove(group);
    ok = false;
  }
  if (!ok) {
    if (at->second == 0) commands_.erase(at);
    return {};
  }
  ++at->second;
  // The kernel must kill all processes of a command together: the remaining ones would continue with wrong results.
  (void)files_->write(group + "/memory.oom.group", "1");
  return group;
}

bool control_groups::move(const std::string& from, const std::string& to) {
  bool ok = true;
  for (int round = 0; ok && round < max_move_rounds; ++round) {
    const auto text = files_->read(from + "/cgroup.procs");
    if (!text) return false;
    const auto processes = words_of(*text);
    if (processes.empty()) return true;
    for (const std::string& id : processes) {
      const int error = files_->write(to + "/cgroup.procs", id);
      ok = ok && (error == 0 || error == ESRCH);
    }
  }
  return false;
}

memory_verdict control_groups::ran_out_of_memory(const std::string& group) {
  if (event_count(group + "/memory.events", "oom_kill") == 0) return memory_verdict::none;
  if (event_count(group + "/memory.events", "oom") != 0) return memory_verdict::command;
  // The account's memory.events also contains the events of its commands; this file contains only those at its own
  // limit.
  const std::string account = fs::path(group).parent_path().string();
  return event_count(account + "/memory.events.local", "oom") != 0 ? memory_verdict::account : memory_verdict::node;
}

std::optional<std::uint64_t> control_groups::memory_of(const std::string& group) {
  const std::string text = files_->read(group + "/memory.current").value_or("");
  std::uint64_t bytes = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec != std::errc{}) return std::nullopt;
  return bytes;
}

void control_groups::remove(const std::string& group) {
  std::lock_guard lock(mutex_);
  (void)files_->write(group + "/cgroup.kill", "1");
  pending_.push_back(group);
  remove_pending();
}

void control_groups::remove_pending() {
  std::erase_if(pending_, [this](const std::string& group) {
    const int error = files_->remove(group);
    if (error == EBUSY) return false;
    const fs::path parent = fs::path(group).parent_path();
    const auto at = commands_.find(parent.filename().string());
    if (at != commands_.end() && --at->second == 0) {
      (void)files_->remove(parent.string());
      commands_.erase(at);
    }
    return true;
  });
}

}  // namespace bubblewrap
