// sandbox.driver/1 by bubblewrap: glue between the driver's table, ry.process/1 and the plain parts:
// command_line, workspace and tree.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <ry/cpp/trace.hpp>
#include <ry/ry.hpp>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "command_call.hpp"
#include "command_line.hpp"
#include "contents.hpp"
#include "control_groups.hpp"
#include "diagnosis.hpp"
#include "disk_guard.hpp"
#include "hidden_places.hpp"
#include "ry/ext/sandbox_driver.h"
#include "surroundings.hpp"
#include "start_request.hpp"
#include "system_calls.hpp"
#include "tree.hpp"
#include "warm_pool.hpp"
#include "watchdog.hpp"
#include "workspace.hpp"

namespace bubblewrap {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "bwrap_path": {"type": "string", "default": "/usr/bin/bwrap"},
    "exec_path": {"type": "string", "default": "", "description": "Path of runyard-sandbox-exec; empty: in the directory of the server's program"},
    "wall_seconds": {"type": "integer", "minimum": 1, "default": 120, "description": "Time of one command",
      "limit": {"resource": "Time of a command", "per": "command", "answer": "command ends", "metric": "runyard_sandbox_bubblewrap_ended_total"}},
    "max_wall_seconds": {"type": "integer", "minimum": 1, "default": 900},
    "memory_mb": {"type": "integer", "minimum": 16, "default": 4096, "description": "Memory of all processes of a command together, and address space of each",
      "limit": {"resource": "Memory of a command, with control groups including kernel memory", "per": "command", "answer": "command ends", "metric": "runyard_sandbox_bubblewrap_ended_total"}},
    "processes": {"type": "integer", "minimum": 4, "default": 128,
      "limit": {"resource": "Processes of a command", "per": "command", "answer": "the command cannot start more"}},
    "file_mb": {"type": "integer", "minimum": 1, "default": 512, "description": "Largest file that a command may write",
      "limit": {"resource": "File", "per": "file", "answer": "the command cannot write more"}},
    "workspace_mb": {"type": "integer", "minimum": 1, "default": 4096, "description": "Size of a workspace over which a command that makes it larger is ended; removed files that are still open count",
      "limit": {"resource": "Workspace, bytes, with removed files that are open", "per": "project", "answer": "command ends", "metric": "runyard_sandbox_bubblewrap_ended_total"}},
    "workspace_files": {"type": "integer", "minimum": 100, "default": 200000, "description": "Files, directories and links of a workspace over which a command that makes more is ended",
      "limit": {"resource": "Workspace, files and directories (inodes)", "per": "project", "answer": "command ends", "metric": "runyard_sandbox_bubblewrap_ended_total"}},
    "min_free_mb": {"type": "integer", "minimum": 0, "default": 1024, "description": "Free space below which no command begins and those that write most are ended; 0: no reserve",
      "limit": {"resource": "Free disk space", "per": "node", "answer": "commands end and new ones are refused", "metric": "runyard_sandbox_bubblewrap_refused_total", "alert": "RunyardDiskNearlyFull"}},
    "open_files": {"type": "integer", "minimum": 16, "default": 512,
      "limit": {"resource": "Descriptors", "per": "process", "answer": "the command cannot open more"}},
    "tmp_mb": {"type": "integer", "minimum": 1, "default": 256,
      "limit": {"resource": "/tmp and /dev/shm", "per": "command", "answer": "the command cannot write more"}},
    "output_kb": {"type": "integer", "minimum": 1, "default": 1024, "description": "Output of a command that is handed on",
      "limit": {"resource": "Output of a command", "per": "command", "answer": "truncated with a note"}},
    "warm": {"type": "integer", "minimum": 0, "maximum": 16, "default": 2, "description": "Sandboxes started in advance for local MCP programs, of each kind per event loop; 0: none"},
    "warm_total": {"type": "integer", "minimum": 0, "maximum": 1024, "default": 16, "description": "Most sandboxes started in advance, of all kinds together",
      "limit": {"resource": "Sandboxes started in advance", "per": "node", "answer": "none are started"}},
    "warm_seconds": {"type": "integer", "minimum": 1, "default": 60, "description": "Seconds after the last use of a kind until its waiting sandboxes are ended"},
    "control_groups": {"type": "string", "enum": ["auto", "required", "off"], "default": "auto", "description": "Control groups (version 2) for commands. auto: if they are delegated to the server; required: no commands without them; off: never"},
    "account_memory_mb": {"type": "integer", "minimum": 16, "default": 16384, "description": "With control groups: memory of all commands of an account together",
      "limit": {"resource": "Memory of commands, with control groups", "per": "account, node", "answer": "a command ends", "metric": "runyard_sandbox_bubblewrap_ended_total"}},
    "account_processes": {"type": "integer", "minimum": 16, "default": 4096, "description": "With control groups: processes and threads of all commands of an account together",
      "limit": {"resource": "Processes of commands, with control groups", "per": "account, node", "answer": "commands cannot start more"}},
    "cpu_weight": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20, "description": "With control groups: CPU weight of all commands together; the server has 100"},
    "io_weight": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 20, "description": "With control groups: I/O weight of all commands together, if the disk's scheduler supports weights"},
    "uid_base": {"type": "integer", "minimum": 1000, "maximum": 2147418112, "default": 61184, "description": "When started as root: first of the user ids of the projects"},
    "uid_count": {"type": "integer", "minimum": 1, "maximum": 65536, "default": 4096}
  }
})json";

std::uint64_t setting(const boost::json::object& o, const char* key, std::uint64_t otherwise) {
  const boost::json::value* v = o.if_contains(key);
  return v != nullptr && v->is_int64() ? static_cast<std::uint64_t>(v->as_int64()) : otherwise;
}

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

ry::error as_error(const file_error& e) { return ry::error(e.status, "sandbox.file", e.message); }

constexpr std::size_t max_said = 1000;
constexpr const char* groups_fix = ". Run the server as a systemd unit with Delegate=yes, on a machine with control groups of version 2";

}  // namespace

class driver {
 public:
  driver(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx), process_(ctx.interface<ry_process_v1>()) {
    const boost::json::value parsed =
        ctx.settings().empty() ? boost::json::value(boost::json::object())
                               : boost::json::parse(std::string(ctx.settings()));
    const boost::json::object& o = parsed.as_object();
    if (const auto* path = o.if_contains("bwrap_path"); path != nullptr && path->is_string())
      bwrap_path_ = std::string(path->as_string());
    if (const auto* path = o.if_contains("exec_path"); path != nullptr && path->is_string())
      exec_path_ = std::string(path->as_string());
    if (exec_path_.empty()) {
      std::error_code unreadable;
      exec_path_ = std::filesystem::read_symlink("/proc/self/exe", unreadable).replace_filename("runyard-sandbox-exec");
    }
    wall_ms_ = setting(o, "wall_seconds", 120) * 1000;
    max_wall_ms_ = setting(o, "max_wall_seconds", 900) * 1000;
    output_bytes_ = setting(o, "output_kb", 1024) << 10;
    limits_.memory_bytes = setting(o, "memory_mb", 4096) << 20;
    limits_.processes = setting(o, "processes", 128);
    limits_.file_bytes = setting(o, "file_mb", 512) << 20;
    limits_.open_files = setting(o, "open_files", 512);
    limits_.tmp_bytes = setting(o, "tmp_mb", 256) << 20;
    workspace_bytes_ = setting(o, "workspace_mb", 4096) << 20;
    workspace_files_ = setting(o, "workspace_files", 200000);
    disk_.emplace(ctx, setting(o, "min_free_mb", 1024) << 20);
    pool_.emplace(warm_limits{setting(o, "warm", 2), setting(o, "warm_total", 16),
                              std::chrono::seconds(setting(o, "warm_seconds", 60))});
    if (const auto* mode = o.if_contains("control_groups"); mode != nullptr && mode->is_string())
      group_mode_ = std::string(mode->as_string());
    group_settings_ = {{setting(o, "account_memory_mb", 16384) << 20, setting(o, "account_processes", 4096)},
                       setting(o, "cpu_weight", 20), setting(o, "io_weight", 20)};
    if (group_mode_ == "auto") look_for_control_groups();
    uid_base_ = static_cast<std::uint32_t>(setting(o, "uid_base", 61184));
    uid_count_ = static_cast<std::uint32_t>(setting(o, "uid_count", 4096));
    table_.struct_size = sizeof table_;
    table_.ensure = &driver::ensure;
    table_.run = &driver::run;
    table_.cancel = &driver::cancel;
    table_.read_file = &driver::read_file;
    table_.write_file = &driver::write_file;
    table_.import_file = &driver::import_file;
    table_.list_files = &driver::list_files;
    table_.destroy = &driver::destroy;
    table_.scan = &driver::scan;
    table_.place = &driver::place;
    table_.write = &driver::write;
    table_.close_stdin = &driver::close_stdin;
    table_.pause = &driver::pause;
    table_.resume = &driver::resume;
    table_.open_file = &driver::open_file;
    reg.contribute(RY_SANDBOX_DRIVER_1, "bubblewrap", &table_, this);
    reg.contribute(RY_MCP_SANDBOX_1, "bubblewrap", &table_, this);
  }

  void start() {
    const std::string data(ctx_.fact("data_dir"));
    if (data.empty()) throw ry::unavailable("sandbox.data_dir", "there is no data directory");
    const std::string root = data + "/workspaces";
    etc_ = data + "/etc";
    ::mkdir(root.c_str(), 0711);
    ::mkdir(etc_.c_str(), 0755);
    std::ofstream(etc_ + "/passwd", std::ios::trunc) << passwd_text(uid_base_, uid_count_);
    std::ofstream(etc_ + "/group", std::ios::trunc) << group_text(uid_base_, uid_count_);
    std::ofstream(etc_ + "/system_calls", std::ios::trunc) << system_call_filter();
    ::chmod((etc_ + "/passwd").c_str(), 0644);
    ::chmod((etc_ + "/group").c_str(), 0644);
    etc_ = std::filesystem::canonical(etc_).string();
    files_.emplace(std::filesystem::canonical(root).string());
    private_paths_ = {data};
    for (auto rest = ctx_.fact("private_paths"); !rest.empty();) {
      const auto end = std::min(rest.find('\n'), rest.size());
      if (end != 0) private_paths_.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    disk_->start(std::filesystem::canonical(root).string());
    take_control_groups();
    if (problem_.empty()) probe();
  }

  ry::task<void> stop() {
    end_warm(pool_->close());
    co_return;
  }

  ry::result<void> health() const {
    std::lock_guard lock(mutex_);
    if (!problem_.empty()) return ry::unavailable("sandbox.unusable", problem_);
    return {};
  }
  // Beside health(), for /readyz.
  std::string degraded() const { return without_groups_; }

 private:
  static driver* self_of(void* self) { return static_cast<driver*>(self); }
  static std::string str(ry_str s) { return ry::text(s); }

  std::optional<uid_t> owner_of(std::string_view project) const {
    if (mode_ != confinement::drop_root) return std::nullopt;
    return project_uid(project, uid_base_, uid_count_);
  }

  static const char* name_of(confinement way) {
    return way == confinement::drop_root ? "drop_root" : "user_namespace";
  }

  // Root of the host must not run a command even confined to a user namespace: it would still be root to
  // the files it can reach, and no limit on processes holds for it. So root drops to a user of its own
  // for each project, or nobody runs anything. Whoever is root in a user namespace only is an ordinary
  // user outside of it.
  static std::vector<confinement> possible_ways() {
    if (::geteuid() != 0) return {confinement::user_namespace};
    std::uint32_t inside = 0, outside = 0;
    std::ifstream("/proc/self/uid_map") >> inside >> outside;
    if (outside == 0) return {confinement::drop_root};
    return {confinement::drop_root, confinement::user_namespace};
  }

  static std::string file_text(const char* path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return std::move(out).str();
  }

  void tell_without_groups(const std::string& missing) {
    without_groups_ =
        "commands run without control groups, so that memory which the kernel keeps for them (buffers of sockets, page tables) "
        "is not limited, and neither are memory, processes and processor time of an account: " + missing;
    if (group_mode_ == "auto")
      ctx_.log(ctx_.fact("deployment.mode") == "local" ? RY_LOG_INFO : RY_LOG_WARN, without_groups_ + groups_fix);
  }

  // What `runyard check` can know: it does not run in the server's group.
  void look_for_control_groups() {
    if (const std::string missing = groups_.lacks(own_group(file_text("/proc/self/mountinfo"), "0::/\n")); !missing.empty())
      tell_without_groups(missing);
  }

  void take_control_groups() {
    std::string missing = "sandbox_bubblewrap.control_groups is \"off\"";
    if (group_mode_ != "off")
      missing = groups_.prepare(own_group(file_text("/proc/self/mountinfo"), file_text("/proc/self/cgroup")), group_settings_);
    ctx_.metrics().gauge("control_groups", "1: commands run in control groups").set(groups_.usable() ? 1 : 0);
    if (groups_.usable()) return;
    if (group_mode_ == "required") {
      std::lock_guard lock(mutex_);
      problem_ = "the sandbox has no control groups, which sandbox_bubblewrap.control_groups = \"required\" wants: " + missing + groups_fix;
      ctx_.warn(problem_);
    } else if (without_groups_.empty()) {
      tell_without_groups(missing);
    }
  }

  file_error destroy_workspace(const std::string& project) {
    const std::string path = files_->path_of(project);
    if (path.empty()) return {RY_INVALID_ARGUMENT, "project_id is not a UUID"};
    return disk_->destroy(project, path);
  }

  // Tries each way of confinement with a command that does nothing, and takes the first that works.
  void probe() {
    const std::string project = "00000000-0000-0000-0000-000000000000";
    const surroundings here = read_surroundings(bwrap_path_);
    std::string problem;
    probing_ = true;
    for (confinement way : possible_ways()) {
      mode_ = way;
      if (const file_error e = files_->ensure(project, owner_of(project))) {
        problem = workspace_sentence(e.message);
        continue;
      }
      const auto [code, output] = try_command(project);
      (void)destroy_workspace(project);
      if (code == 0) {
        probing_ = false;
        ctx_.info("sandbox ready", {{"confinement", name_of(way)}, {"memory", groups_.usable() ? "control groups" : "summed up while a command runs"}});
        return;
      }
      const std::string said =
          output.empty() ? "nothing (exit code " + std::to_string(code) + ")" : output;
      problem = sentence(diagnose(said, here, bwrap_path_), said);
      ctx_.warn("the sandbox does not work in this confinement mode",
                {{"confinement", name_of(way)}, {"said", said}});
    }
    probing_ = false;
    std::lock_guard lock(mutex_);
    problem_ = problem;
    ctx_.warn(problem_);
  }

  struct probe_state {
    std::mutex mutex;
    std::condition_variable changed;
    std::string output;
    int code = -1;
    bool done = false;
  };

  std::pair<int, std::string> try_command(const std::string& project) {
    probe_state state;
    const ry_str words[] = {ry::str("true")};
    ry_sandbox_command command{};
    command.struct_size = sizeof command;
    command.argv = words;
    command.n_argv = 1;
    command.wall_ms = 10000;
    ry_sandbox_sink sink{};
    sink.struct_size = sizeof sink;
    sink.on_output = [](void* p, int32_t, ry_bytes bytes) noexcept {
      auto* s = static_cast<probe_state*>(p);
      (void)ry::guard([&] { s->output += ry::view(bytes); });
    };
    sink.on_exit = [](void* p, ry_status, const ry_sandbox_exit* end, const ry_error_view*) noexcept {
      auto* s = static_cast<probe_state*>(p);
      std::lock_guard lock(s->mutex);
      s->code = end != nullptr ? end->exit_code : -1;
      s->done = true;
      s->changed.notify_all();
    };
    void* call = nullptr;
    char text[256];
    ry_errbuf err{text, sizeof text, 0};
    const ry_status st = start_command(project, command, ctx_.pick_exec(), sink, &state, &call, &err);
    if (st != RY_OK) return {-1, std::string(err.ptr, err.len)};
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.done; });
    while (!state.output.empty() && state.output.back() == '\n') state.output.pop_back();
    return {state.code, state.output};
  }

  // What the command says beyond the first version of its structure.
  struct ask {
    explicit ask(const ry_sandbox_command& c) {
      if (c.struct_size < offsetof(ry_sandbox_command, n_places) + sizeof c.n_places) return;
      flags = c.flags;
      env = {c.env, c.n_env};
      places = {c.places, c.n_places};
      if (c.struct_size < offsetof(ry_sandbox_command, cache_bytes) + sizeof c.cache_bytes) return;
      processes = c.processes;
      open_files = c.open_files;
      file_bytes = c.file_bytes;
      scratch_bytes = c.scratch_bytes;
      cache = ry::view(c.cache);
      cache_bytes = c.cache_bytes;
      if (c.struct_size < offsetof(ry_sandbox_command, account) + sizeof c.account) return;
      account = ry::view(c.account);
      if (c.struct_size < offsetof(ry_sandbox_command, workspace_files) + sizeof c.workspace_files) return;
      workspace_bytes = c.workspace_bytes;
      workspace_files = c.workspace_files;
    }
    std::uint32_t flags = 0;
    std::span<const ry_str> env;
    std::span<const ry_sandbox_place> places;
    std::uint64_t processes = 0, open_files = 0, file_bytes = 0, scratch_bytes = 0, cache_bytes = 0;
    std::uint64_t workspace_bytes = 0, workspace_files = 0;
    std::string_view cache, account;
  };

  // A cache belongs to the user that fills it. Its contents are that one's already, unless user ids were set up anew.
  static file_error open_cache(const command_spec& spec, unique_fd& out) {
    out = unique_fd(::open(spec.cache.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat present {};
    if (!out || ::fstat(out.get(), &present) != 0) return {RY_NOT_FOUND, "the cache cannot be opened"};
    if (spec.uid == 0 || (present.st_uid == spec.uid && present.st_gid == spec.uid)) return {};
    return give_to(out.get(), spec.uid);
  }

  ry_status start_command(const std::string& project, const ry_sandbox_command& command, ry_exec* exec,
                          const ry_sandbox_sink& sink, void* ctx, void** call, ry_errbuf* err) {
    if (command.n_argv == 0 || files_->path_of(project).empty()) return RY_INVALID_ARGUMENT;
    command_spec spec;
    spec.mode = mode_;
    spec.network = command.network != 0 ? network_access::host : network_access::none;
    spec.bwrap_path = bwrap_path_;
    spec.exec_path = exec_path_;
    const ask a(command);
    if ((a.flags & RY_SANDBOX_SCRATCH) == 0) spec.workspace = files_->path_of(project);
    spec.etc_directory = etc_;
    spec.uid = owner_of(project).value_or(0);
    spec.limit = limits_;
    if ((a.flags & RY_SANDBOX_COUNTS_DATA) != 0) {
      spec.limit.data_bytes = command.memory_bytes != 0 ? command.memory_bytes : limits_.memory_bytes;
      spec.limit.memory_bytes = 0;
    } else if (command.memory_bytes != 0) {
      spec.limit.memory_bytes = std::min<std::uint64_t>(command.memory_bytes, limits_.memory_bytes);
    }
    for (const auto& [asked, limit] : {std::pair{a.processes, &spec.limit.processes}, std::pair{a.open_files, &spec.limit.open_files},
                                       std::pair{a.file_bytes, &spec.limit.file_bytes}, std::pair{a.scratch_bytes, &spec.limit.tmp_bytes}}) {
      if (asked != 0) *limit = asked;
    }
    unique_fd cache;
    if (!a.cache.empty()) {
      if (a.cache.front() != '/' || a.cache.find('\0') != std::string_view::npos) return RY_INVALID_ARGUMENT;
      std::error_code bad;
      spec.cache = std::filesystem::canonical(a.cache, bad).string();
      const file_error e = bad ? file_error{RY_NOT_FOUND, bad.message()} : open_cache(spec, cache);
      if (e) return unusable("the package cache cannot be used", e.message);
    }
    for (const auto& place : a.places) {
      const std::string_view path = ry::view(place.path);
      if (path.empty() || path.front() != '/' || path.find('\0') != std::string_view::npos)
        return RY_INVALID_ARGUMENT;
      if (!lies_in(path, private_paths_)) spec.places.push_back({path, (place.flags & RY_SANDBOX_WRITABLE) != 0});
    }
    if (!spec.places.empty()) {
      auto hidden = credentials_in(home_directories());
      hidden.insert(hidden.end(), private_paths_.begin(), private_paths_.end());
      spec.hidden = hidden_in(spec.places, hidden);
    }
    for (std::size_t i = 0; i < command.n_argv; ++i) spec.argv.push_back(ry::view(command.argv[i]));
    if (command.struct_size >= offsetof(ry_sandbox_command, n_host_files) + sizeof command.n_host_files)
      for (std::size_t i = 0; i < command.n_host_files; ++i)
        spec.host_files.push_back(ry::view(command.host_files[i]));
    for (std::string_view file : spec.host_files)
      if (file.empty() || file.front() != '/' || file.back() == '/' ||
          file.find('\0') != std::string_view::npos)
        return RY_INVALID_ARGUMENT;
    for (std::string_view word : spec.argv)
      if (word.find('\0') != std::string_view::npos) return RY_INVALID_ARGUMENT;
    // What writes nothing but memory may begin, and so may the probe: it decides for longer than the disk is full.
    if (!probing_ && (!spec.workspace.empty() || !spec.cache.empty()))
      if (const file_error e = disk_->check_space()) return e.status;
    std::vector<std::string> environment = command_environment();
    for (const ry_str variable : a.env) {
      const std::string_view text = ry::view(variable);
      if (text.find('\0') != std::string_view::npos) return RY_INVALID_ARGUMENT;
      const std::string_view name = text.substr(0, text.find('=') + 1);
      std::erase_if(environment, [&](const std::string& e) { return e.starts_with(name); });
      environment.emplace_back(text);
    }
    std::uint64_t wall_ms = command.wall_ms != 0 ? command.wall_ms : wall_ms_;
    // What is talked with lives as long as the talk, which its caller bounds.
    if ((a.flags & RY_SANDBOX_TALKS) == 0) wall_ms = std::min(wall_ms, max_wall_ms_);
    constexpr std::uint32_t as_mcp_programs = RY_SANDBOX_TALKS | RY_SANDBOX_SCRATCH;
    const bool may_be_warm = pool_->enabled() && (a.flags & as_mcp_programs) == as_mcp_programs;
    const auto kind = may_be_warm ? std::make_shared<const sandbox_kind>(kind_of(spec)) : nullptr;
    const auto hand_over = [&](command_call& to) {
      to.sink = sink;
      to.ctx = ctx;
      to.output_left = command.output_bytes != 0 ? command.output_bytes : output_bytes_;
      to.kind = kind;
    };
    // A name that is no UUID is no name of a group.
    const std::string account = ry::uuid::parse(a.account) ? std::string(a.account) : project;
    command_call* started = kind ? claim_warm(*kind, spec, account, environment, exec) : nullptr;
    const bool was_warm = started != nullptr;
    if (was_warm) {
      hand_over(*started);
    } else {
      auto own = std::make_unique<command_call>();
      hand_over(*own);
      if (groups_.usable() && (own->group = groups_.add(account, group_limits_of(spec))).empty())
        return unusable("no control group can be made for a command", "see cgroup.max.descendants and the kernel's log");
      const ry_status st = spawn(*own, build_command_line(spec), working_directory(spec), environment, wall_ms, exec, err);
      // The program that is missing then is the sandbox's, and not the caller's.
      if (st == RY_NOT_FOUND || st == RY_PERMISSION_DENIED)
        return unusable("the sandbox's own program cannot be started", std::string_view(err->ptr, err->len));
      if (st != RY_OK) return st;
      started = own.release();
    }
    *call = started;
    if (command.stdin_bytes.len != 0) process_.write(started->process, command.stdin_bytes, ry_done{});
    if ((a.flags & RY_SANDBOX_TALKS) == 0) process_.close_stdin(started->process);
    // The time of another process ends with its command's.
    started->cache_bytes = a.cache_bytes;
    started->workspace_bytes = a.workspace_bytes != 0 ? std::min(a.workspace_bytes, workspace_bytes_) : workspace_bytes_;
    started->workspace_files = a.workspace_files != 0 ? std::min(a.workspace_files, workspace_files_) : workspace_files_;
    watch(*started, project, spec, std::move(cache));
    if (was_warm) limit_time(*started, wall_ms);
    let_go(started);
    return RY_OK;
  }

  ry_status unusable(std::string_view what, std::string_view cause) const {
    ctx_.log(RY_LOG_ERROR, what, {{"cause", cause}});
    return RY_UNAVAILABLE;
  }

  // The memory file systems (/tmp, /dev/shm, perhaps /workspace) have limits of their own. bwrap and the init count as
  // processes.
  static group_limits group_limits_of(const command_spec& spec) {
    const std::uint64_t memory = std::max(spec.limit.memory_bytes, spec.limit.data_bytes);
    return {memory == 0 ? 0 : memory + 3 * spec.limit.tmp_bytes, spec.limit.processes == 0 ? 0 : spec.limit.processes + 2};
  }

  ry_status spawn(command_call& call, const std::vector<std::string>& words, const std::string& directory,
                  const std::vector<std::string>& environment, std::uint64_t wall_ms, ry_exec* exec, ry_errbuf* err) {
    std::vector<ry_str> argv, env;
    for (const std::string& word : words) argv.push_back(ry::str(word));
    if (!call.group.empty()) argv.insert(argv.begin() + 2, {ry::str("--group"), ry::str(call.group)});
    for (const std::string& variable : environment) env.push_back(ry::str(variable));
    ry_process_spec p{};
    p.struct_size = sizeof p;
    p.argv = argv.data();
    p.n_argv = argv.size();
    p.cwd = ry::str(directory);
    p.env = env.data();
    p.n_env = env.size();
    p.limits.struct_size = sizeof p.limits;
    p.limits.wall_ms = wall_ms;
    ry_process_handler handler{};
    handler.struct_size = sizeof handler;
    handler.on_stdout = [](void* c, ry_bytes chunk) noexcept { return output(c, 1, chunk); };
    handler.on_stderr = [](void* c, ry_bytes chunk) noexcept { return output(c, 2, chunk); };
    handler.on_exit = &driver::exited;
    call.owner = this;
    call.exec = exec;
    const ry_status st = process_.spawn(ctx_.host(), exec, &p, &handler, &call, &call.process, err);
    if (st != RY_OK && !call.group.empty()) groups_.remove(call.group);
    return st;
  }

  // ---- warm sandboxes ----

  // A warm sandbox that has been told to start this command, or nullptr.
  command_call* claim_warm(const sandbox_kind& kind, const command_spec& spec, const std::string& account,
                           const std::vector<std::string>& environment, ry_exec* exec) {
    // Elsewhere its handler could run meanwhile.
    if (ctx_.core().on_exec(exec) == 0) return nullptr;
    const auto request = encode_start_request(spec.uid, environment, spec.argv);
    if (!request) return nullptr;
    std::vector<command_call*> outdated;
    command_call* warm = nullptr;
    {
      std::lock_guard lock(claim_mutex_);
      if (mounts_.changed()) outdated = pool_->clear();
      warm = pool_->claim(kind.name, exec, clock::now());
    }
    end_warm(outdated);
    if (warm == nullptr) return nullptr;
    if (enter_group(*warm, account, spec) && process_.write(warm->process, ry::raw(*request), ry_done{}) == RY_OK) {
      warm->warm = false;
      return warm;
    }
    end_warm({warm});
    return nullptr;
  }

  // From the group of those that wait to one of the account.
  bool enter_group(command_call& call, const std::string& account, const command_spec& spec) {
    if (!groups_.usable()) return true;
    if (call.group.empty()) return false;
    const std::string group = groups_.add(account, group_limits_of(spec));
    if (group.empty()) return false;
    const bool moved = groups_.move(call.group, group);
    groups_.remove(moved ? std::exchange(call.group, group) : group);
    return moved;
  }

  void end_warm(const std::vector<command_call*>& sandboxes) {
    for (command_call* each : sandboxes) {
      process_.kill(each->process, SIGKILL);
      let_go(each);
    }
  }

  // After the call of a program, so that it does not take its time.
  void prepare_next(command_call& call) {
    const auto kind = std::exchange(call.kind, nullptr);
    if (!kind) return;
    (void)ry::guard([&] {
      // A sandbox belongs to the trace of the call that it is used for, not to that of the call before.
      const ry::trace none = ry::trace::none(ctx_);
      const ry::trace_switch during(ctx_, none);
      const auto [n, generation] = pool_->wanted(kind->name, call.exec, clock::now(), kind->most);
      std::vector<start_order> orders;
      orders.reserve(n);
      for (std::size_t i = 0; i < n; ++i) orders.emplace_back(*this, kind, call.exec, generation);
      for (start_order& each : orders) (void)ctx_.spawn(prepare(std::move(each)), call.exec);
      if (!pool_->empty() && !expiring_.exchange(true) && !ctx_.spawn(expire())) expiring_ = false;
    });
  }

  // A sandbox that the pool has ordered. The pool hears of its end in each case, also if it is never started.
  class start_order {
   public:
    start_order(driver& of, std::shared_ptr<const sandbox_kind> kind, ry_exec* exec, std::uint64_t generation) noexcept
        : of_(&of), kind_(std::move(kind)), exec_(exec), generation_(generation) {}
    start_order(start_order&& o) noexcept
        : of_(std::exchange(o.of_, nullptr)), kind_(std::move(o.kind_)), exec_(o.exec_), generation_(o.generation_) {}
    start_order& operator=(start_order&&) = delete;
    ~start_order() { fulfil(nullptr); }

    const sandbox_kind& kind() const noexcept { return *kind_; }
    ry_exec* exec() const noexcept { return exec_; }
    void fulfil(command_call* sandbox) noexcept {
      driver* of = std::exchange(of_, nullptr);
      if (of == nullptr) return;
      (void)ry::guard([&] {
        of->end_warm(of->pool_->started(kind_->name, exec_, generation_, sandbox, [&] { return sandbox->ended.load(); }));
      });
    }

   private:
    driver* of_;
    std::shared_ptr<const sandbox_kind> kind_;
    ry_exec* exec_;
    std::uint64_t generation_;
  };

  ry::task<void> prepare(start_order order) {
    co_await ctx_.run_blocking([this, &order] {
      auto own = std::make_unique<command_call>();
      own->warm = true;
      if (groups_.usable() && (own->group = groups_.add(std::string(control_groups::waiting), {})).empty()) return;
      char text[256];
      ry_errbuf err{text, sizeof text, 0};
      const ry_status st =
          spawn(*own, order.kind().words, order.kind().directory, command_environment(), 0, order.exec(), &err);
      if (st != RY_OK) ctx_.warn("no sandbox could be started in advance", {{"cause", std::string_view(err.ptr, err.len)}});
      order.fulfil(st == RY_OK ? own.release() : nullptr);
    });
  }

  ry::task<void> expire() {
    do {
      while (!pool_->empty()) {
        const auto slept = co_await ctx_.sleep(1000);
        if (!slept.ok()) co_return;
        end_warm(pool_->expire(clock::now()));
      }
      expiring_ = false;
    } while (!pool_->empty() && !expiring_.exchange(true));
  }

  void watch(command_call& call, const std::string& project, const command_spec& spec, unique_fd cache) {
    watched_command w;
    w.leader = process_.pid(call.process);
    w.memory_bytes = std::max(spec.limit.memory_bytes, spec.limit.data_bytes);
    w.end = [this, process = call.process] { process_.kill(process, SIGKILL); };
    call.memory_bytes = w.memory_bytes;
    disk_command d;
    d.leader = w.leader;
    d.project = project;
    d.max_bytes = call.workspace_bytes;
    d.max_files = call.workspace_files;
    d.end = w.end;
    if (!spec.workspace.empty()) call.has_workspace = !files_->open_workspace(project, d.workspace);
    if (call.cache_bytes != 0) d.cache = std::move(cache);
    d.cache_bytes = call.cache_bytes;
    // Without it the limits of each process still hold.
    (void)ry::guard([&] { watch_.add(&call, std::move(w)); });
    (void)ry::guard([&] {
      if (d.workspace || d.cache) disk_->watch().add(&call, std::move(d));
    });
  }

  // The process of a warm sandbox has no limit of its own: it was started before its program.
  void limit_time(command_call& call, std::uint64_t wall_ms) {
    const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                         auto* c = static_cast<command_call*>(p);
                         c->timed = false;
                         if (st == RY_OK) {
                           c->out_of_time = true;
                           c->owner->process_.kill(c->process, SIGKILL);
                         }
                         let_go(c);
                       },
                       &call};
    call.holders.fetch_add(1, std::memory_order_relaxed);
    call.timed = ctx_.core().sleep_ms(ctx_.host(), call.exec, wall_ms, done, &call.timer) == RY_OK;
    if (call.timed) return;
    // A program without a limit must not run.
    process_.kill(call.process, SIGKILL);
    let_go(&call);
  }

  static void let_go(command_call* call) noexcept {
    if (call->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    call->owner->watch_.remove(call);
    call->owner->disk_->watch().remove(call);
    if (!call->group.empty()) call->owner->groups_.remove(call->group);
    call->owner->process_.release(call->process);
    delete call;
  }

  static ry_status output(void* p, std::int32_t fd, ry_bytes chunk) noexcept {
    auto* call = static_cast<command_call*>(p);
    if (call->warm) {
      (void)ry::guard([&] { call->said.append(ry::view(chunk).substr(0, max_said - std::min(max_said, call->said.size()))); });
      return RY_OK;
    }
    const std::size_t pass = std::min<std::uint64_t>(chunk.len, call->output_left);
    call->output_left -= pass;
    call->dropped += chunk.len - pass;
    if (pass != 0) call->sink.on_output(call->ctx, fd, {chunk.ptr, pass});
    return call->paused ? RY_RESOURCE_EXHAUSTED : RY_OK;
  }

  static void exited(void* p, std::int32_t code, std::int32_t why) noexcept {
    auto* call = static_cast<command_call*>(p);
    if (call->warm) {
      call->ended = true;
      if (call->owner->pool_->remove(call)) {
        (void)ry::guard([&] {
          call->owner->ctx_.warn("a sandbox that was started in advance ended before its program was known; the next program gets a new one",
                                 {{"exit_code", code}, {"said", call->said}});
        });
        let_go(call);
      }
      return let_go(call);
    }
    if (call->timed) call->owner->ctx_.core().op_cancel(call->owner->ctx_.host(), call->timer);
    // Its result counts when the workspace is what it may be.
    if (call->has_workspace && call->owner->conclude(call, code, why)) return;
    finish(call, code, why, call->owner->disk_->watch().verdict_on(call), unknown_use);
  }

  // Measures the workspace on a thread that may block, then finishes. False: that is not possible.
  bool conclude(command_call* call, std::int32_t code, std::int32_t why) noexcept {
    struct last_look {
      command_call* call;
      std::int32_t code, why;
      disk_verdict found = disk_verdict::none;
      disk::tree_use use = unknown_use;
    };
    ry_status st = RY_UNKNOWN;
    (void)ry::guard([&] {
      auto own = std::make_unique<last_look>(last_look{call, code, why});
      st = ctx_.core().run_blocking(
          ctx_.host(), call->exec,
          [](void* p) noexcept {
            auto* l = static_cast<last_look*>(p);
            (void)ry::guard([&] { l->found = l->call->owner->disk_->watch().conclude(l->call, l->use); });
          },
          own.get(),
          {[](void* p, ry_status ran, const ry_error_view*) noexcept {
             const std::unique_ptr<last_look> l(static_cast<last_look*>(p));
             finish(l->call, l->code, l->why, ran == RY_OK ? l->found : l->call->owner->disk_->watch().verdict_on(l->call), l->use);
           },
           own.get()});
      if (st == RY_OK) own.release();
    });
    return st == RY_OK;
  }

  static constexpr disk::tree_use unknown_use{UINT64_MAX, UINT64_MAX, false, false};

  static void finish(command_call* call, std::int32_t code, std::int32_t why, disk_verdict disk,
                     const disk::tree_use& use) noexcept {
    driver* d = call->owner;
    ry_sandbox_exit end{};
    end.struct_size = sizeof end;
    end.exit_code = code;
    end.why = why;
    if (call->out_of_time) {
      end.why = RY_WHY_DEADLINE;
      d->disk_->count_time();
    } else if (d->watch_.verdict_on(call) == verdict::memory ||
               (!call->group.empty() && d->groups_.ran_out_of_memory(call->group))) {
      end.why = RY_WHY_OVERLOAD;
      d->disk_->count_memory();
      if (!call->paused) (void)ry::guard([&] { call->explain_memory(); });
    } else if (disk != disk_verdict::none) {
      end.why = RY_WHY_OVERLOAD;
      d->disk_->count(disk);
      if (!call->paused) (void)ry::guard([&] { call->explain(disk); });
    }
    end.dropped_bytes = call->dropped;
    end.workspace_bytes = use.bytes;
    end.workspace_files = use.entries;
    d->prepare_next(*call);
    call->sink.on_exit(call->ctx, RY_OK, &end, nullptr);
    let_go(call);
  }

  // ---- the table ----

  static ry_status run(void* self, ry_str project, const ry_sandbox_command* command, ry_exec* exec,
                       const ry_sandbox_sink* sink, void* ctx, void** call) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      if (!d->health().ok()) return static_cast<ry_status>(RY_UNAVAILABLE);
      char text[256];
      ry_errbuf err{text, sizeof text, 0};
      return d->start_command(str(project), *command, exec, *sink, ctx, call, &err);
    });
  }

  static void cancel(void* self, void* call) noexcept {
    self_of(self)->process_.kill(static_cast<command_call*>(call)->process, SIGKILL);
  }

  static ry_status write(void* self, void* call, ry_bytes bytes, ry_done done) noexcept {
    return self_of(self)->process_.write(static_cast<command_call*>(call)->process, bytes, done);
  }
  static void close_stdin(void* self, void* call) noexcept {
    auto* c = static_cast<command_call*>(call);
    self_of(self)->process_.close_stdin(c->process);
    self_of(self)->prepare_next(*c);
  }
  static void pause(void*, void* call) noexcept { static_cast<command_call*>(call)->paused = true; }
  static void resume(void* self, void* call) noexcept {
    auto* c = static_cast<command_call*>(call);
    if (!std::exchange(c->paused, false)) return;
    self_of(self)->process_.resume(c->process);
  }

  // Does `work` on a thread that may block, then hands its outcome to `finish` on exec.
  template <class Work, class Finish>
  ry_status blocking(ry_exec* exec, Work work, Finish finish) {
    struct block {
      Work work;
      Finish finish;
      file_error error;
    };
    auto own = std::make_unique<block>(block{std::move(work), std::move(finish), {}});
    const ry_status st = ctx_.core().run_blocking(
        ctx_.host(), exec,
        [](void* p) noexcept {
          auto* b = static_cast<block*>(p);
          const ry_status failed = ry::guard([&] { b->error = b->work(); });
          if (failed != RY_OK) b->error = {failed, "the sandbox failed"};
        },
        own.get(),
        {[](void* p, ry_status ran, const ry_error_view*) noexcept {
           std::unique_ptr<block> b(static_cast<block*>(p));
           if (ran != RY_OK) b->error = {ran, "called off"};
           const ry::error e = as_error(b->error);
           const ry_error_view view = e.view();
           b->finish(b->error.status, b->error.status == RY_OK ? nullptr : &view);
         },
         own.get()});
    if (st == RY_OK) own.release();
    return st;
  }

  static ry_status ensure(void* self, ry_str project, ry_exec* exec, ry_done done) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      return d->blocking(
          exec, [d, id = str(project)] { return d->files_->ensure(id, d->owner_of(id)); },
          [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
    });
  }

  static ry_status read_file(void* self, ry_str project, ry_str path, uint64_t offset,
                             uint64_t max_bytes, ry_exec* exec, ry_sandbox_read_fn fn,
                             void* ctx) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      auto content = std::make_shared<file_content>();
      return d->blocking(
          exec,
          [d, id = str(project), name = str(path), offset, max_bytes, content] {
            return d->files_->read(id, name, offset, max_bytes, *content);
          },
          [fn, ctx, content](ry_status st, const ry_error_view* err) {
            fn(ctx, st, ry::raw(content->bytes), content->total_size, err);
          });
    });
  }

  static ry_status open_file(void* self, ry_str project, ry_str path, ry_exec* exec, ry_sandbox_open_fn fn,
                             void* ctx) noexcept {
    return ry::guard([&] {
      struct opened {
        unique_fd fd;
        std::uint64_t size = 0;
      };
      driver* d = self_of(self);
      auto file = std::make_shared<opened>();
      return d->blocking(
          exec, [d, id = str(project), name = str(path), file] { return d->files_->open(id, name, file->fd, file->size); },
          [fn, ctx, file](ry_status st, const ry_error_view* err) {
            fn(ctx, st, st == RY_OK ? file->fd.release() : -1, file->size, err);
          });
    });
  }

  static ry_status write_file(void* self, ry_str project, ry_str path, ry_bytes content, ry_exec* exec,
                              ry_done done) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      return d->blocking(
          exec,
          [d, id = str(project), name = str(path), bytes = ry::text(content)] {
            if (file_error e = d->disk_->before_write(id, bytes.size())) return e;
            return d->files_->write(id, name, bytes, d->owner_of(id));
          },
          [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
    });
  }

  static ry_status import_file(void* self, ry_str project, ry_str path, ry_str host_path,
                               ry_exec* exec, ry_done done) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      return d->blocking(
          exec,
          [d, id = str(project), name = str(path), from = str(host_path)] {
            if (file_error e = d->disk_->before_write(id, size_of(from))) return e;
            return d->files_->import(id, name, from, d->owner_of(id));
          },
          [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
    });
  }

  static ry_status list_files(void* self, ry_str project, ry_str path, ry_exec* exec,
                              ry_sandbox_list_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      auto json = std::make_shared<std::string>();
      return d->blocking(
          exec,
          [d, id = str(project), name = str(path), json] { return d->files_->list(id, name, *json); },
          [fn, ctx, json](ry_status st, const ry_error_view* err) {
            fn(ctx, st, st == RY_OK ? ry::str(*json) : ry_str{}, err);
          });
    });
  }

  static ry_status destroy(void* self, ry_str project, ry_exec* exec, ry_done done) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      return d->blocking(
          exec, [d, id = str(project)] { return d->destroy_workspace(id); },
          [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
    });
  }

  static ry_status scan(void* self, ry_str project, uint64_t max_entries, ry_exec* exec,
                        ry_sandbox_scan_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      auto found = std::make_shared<std::vector<tree_entry>>();
      return d->blocking(
          exec,
          [d, id = str(project), max_entries, found] {
            return scan_tree(*d->files_, id, max_entries, *found);
          },
          [fn, ctx, found](ry_status st, const ry_error_view* err) {
            std::vector<ry_sandbox_entry> entries(st == RY_OK ? found->size() : 0);
            for (std::size_t i = 0; i < entries.size(); ++i) {
              const tree_entry& from = (*found)[i];
              ry_sandbox_entry& e = entries[i];
              e.struct_size = sizeof e;
              e.kind = from.kind;
              e.path = ry::str(from.path);
              e.target = ry::str(from.target);
              e.size = from.size;
              e.inode = from.inode;
              e.modified_ns = from.modified_ns;
              e.changed_ns = from.changed_ns;
              e.mode = from.mode;
            }
            fn(ctx, st, entries.data(), entries.size(), err);
          });
    });
  }

  static ry_status place(void* self, ry_str project, const ry_sandbox_entry* entry, ry_str host_path,
                         ry_exec* exec, ry_done done) noexcept {
    return ry::guard([&] {
      driver* d = self_of(self);
      tree_entry wish;
      wish.kind = entry->kind;
      wish.path = str(entry->path);
      wish.target = str(entry->target);
      wish.modified_ns = entry->modified_ns;
      wish.mode = entry->mode;
      return d->blocking(
          exec,
          [d, id = str(project), wish, from = str(host_path)] {
            if (wish.kind != RY_SANDBOX_GONE)
              if (file_error e = d->disk_->before_write(id, wish.kind == RY_SANDBOX_FILE ? size_of(from) : 0)) return e;
            return place_entry(*d->files_, id, wish, from, d->owner_of(id));
          },
          [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
    });
  }

  using clock = std::chrono::steady_clock;

  ry::context& ctx_;
  const ry_process_v1& process_;
  ry_sandbox_driver_v1 table_{};
  std::string bwrap_path_ = "/usr/bin/bwrap";
  std::string exec_path_;
  std::string etc_;
  std::vector<std::string> private_paths_;  // of the server; no command sees them
  std::uint64_t wall_ms_ = 0, max_wall_ms_ = 0, output_bytes_ = 0;
  limits limits_;
  std::uint32_t uid_base_ = 0, uid_count_ = 1;
  std::string group_mode_ = "auto", without_groups_;
  group_settings group_settings_;
  control_groups groups_;
  confinement mode_ = confinement::user_namespace;
  bool probing_ = false;
  std::optional<workspaces> files_;
  std::uint64_t workspace_bytes_ = 0, workspace_files_ = 0;
  watchdog watch_;
  std::optional<disk_guard> disk_;
  std::optional<warm_pool<command_call, ry_exec>> pool_;
  const mount_table mounts_;
  std::mutex claim_mutex_;
  std::atomic<bool> expiring_{false};
  mutable std::mutex mutex_;
  std::string problem_;
};

}  // namespace bubblewrap

RY_MODULE(bubblewrap::driver, "sandbox_bubblewrap", "0.1.0",
          .needs("ry.core/1", "ry.metrics/1", "ry.process/1", "sandbox.driver/1")
              .wants(RY_MCP_SANDBOX_1)
              .settings(bubblewrap::schema));
