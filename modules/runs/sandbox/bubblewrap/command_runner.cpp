#include "command_runner.hpp"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "command_metrics.hpp"
#include "command_options.hpp"
#include "hidden_paths.hpp"

namespace bubblewrap {
namespace {

constexpr std::size_t max_startup_output = 1000;
constexpr disk::tree_use unknown_use{UINT64_MAX, UINT64_MAX, false, false};

bool has_nul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') && !has_nul(path);
}

}  // namespace

command_runner::command_runner(ry::context& ctx, command_settings settings, const workspaces& files, disk_guard& disk,
                               memory_guard& memory, command_groups& groups, const project_users& users)
    : ctx_(ctx),
      process_(ctx.interface<ry_process_v1>()),
      settings_(std::move(settings)),
      files_(files),
      disk_(disk),
      memory_(memory),
      groups_(groups),
      users_(users),
      timed_out_(ended_counter(ctx, "time")),
      warm_(ctx, *this, groups, settings_.warm) {}

ry_status command_runner::run(const std::string& project, const ry_sandbox_command& command, ry_exec* exec,
                              const ry_sandbox_sink& sink, void* ctx, void** call, ry_errbuf* err) {
  if (command.n_argv == 0 || files_.path_of(project).empty()) return RY_INVALID_ARGUMENT;
  const command_options options(command);
  command_spec spec;
  spec.mode = users_.mode;
  spec.network = command.network != 0 ? network_access::host : network_access::none;
  spec.bwrap_path = settings_.bwrap_path;
  spec.exec_path = settings_.exec_path;
  spec.nice = settings_.nice;
  if ((options.flags & RY_SANDBOX_SCRATCH) == 0) spec.workspace = files_.path_of(project);
  spec.etc_directory = settings_.etc_directory;
  spec.uid = users_.owner_of(project).value_or(0);
  set_limits(options, command.memory_bytes, spec);
  unique_fd cache;
  if (const ry_status st = set_files(options, spec, cache); st != RY_OK) return st;
  for (const ry_str word : std::span(command.argv, command.n_argv)) {
    if (has_nul(ry::view(word))) return RY_INVALID_ARGUMENT;
    spec.argv.push_back(ry::view(word));
  }
  if (!probing_ && !memory_.check_reserve()) return RY_RESOURCE_EXHAUSTED;
  // A command that writes only to memory may start even if the disk is full.
  if (!probing_ && (!spec.workspace.empty() || !spec.cache.empty()))
    if (const file_error e = disk_.check_space()) return e.status;
  std::vector<std::string> environment = command_environment();
  for (const ry_str variable : options.env) {
    const std::string_view text = ry::view(variable);
    if (has_nul(text)) return RY_INVALID_ARGUMENT;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    std::erase_if(environment, [&](const std::string& e) { return e.starts_with(name); });
    environment.emplace_back(text);
  }
  std::uint64_t wall_ms = command.wall_ms != 0 ? command.wall_ms : settings_.wall_ms;
  // The time limit of a program with an open standard input is set by the caller, which limits the length of the
  // session.
  if ((options.flags & RY_SANDBOX_INTERACTIVE) == 0) wall_ms = std::min(wall_ms, settings_.max_wall_ms);
  constexpr std::uint32_t mcp_program_flags = RY_SANDBOX_INTERACTIVE | RY_SANDBOX_SCRATCH;
  const bool may_be_warm = warm_.enabled() && (options.flags & mcp_program_flags) == mcp_program_flags;
  const auto kind = may_be_warm ? std::make_shared<const sandbox_kind>(kind_of(spec)) : nullptr;
  const auto assign = [&](command_call& to) {
    to.sink = sink;
    to.ctx = ctx;
    to.remaining_output = command.output_bytes != 0 ? command.output_bytes : settings_.output_bytes;
    to.kind = kind;
  };
  // The account becomes the name of a directory (its control group), so only a UUID is accepted.
  const std::string account = ry::uuid::parse(options.account) ? std::string(options.account) : project;
  command_call* started = kind ? warm_.claim(*kind, spec, account, environment, exec) : nullptr;
  const bool was_warm = started != nullptr;
  if (was_warm) {
    assign(*started);
  } else {
    auto own = std::make_unique<command_call>();
    assign(*own);
    if (!groups_.add(own->group, account, spec))
      return unusable("no control group can be created for a command",
                      "see cgroup.max.descendants and the kernel's log");
    const ry_status st =
        spawn(*own, build_command_line(spec), working_directory(spec), environment, wall_ms, exec, err);
    // With these errors, bwrap or runyard-sandbox-exec is missing, not the caller's program.
    if (st == RY_NOT_FOUND || st == RY_PERMISSION_DENIED)
      return unusable("the sandbox's own program cannot be started", std::string_view(err->ptr, err->len));
    if (st != RY_OK) return st;
    started = own.release();
  }
  *call = started;
  if (command.stdin_bytes.len != 0) process_.write(started->process, command.stdin_bytes, ry_done{});
  if ((options.flags & RY_SANDBOX_INTERACTIVE) == 0) process_.close_stdin(started->process);
  started->cache_bytes = options.cache_bytes;
  const auto lower = [](std::uint64_t requested, std::uint64_t limit) {
    return requested != 0 ? std::min(requested, limit) : limit;
  };
  started->workspace_bytes = lower(options.workspace_bytes, settings_.workspace_bytes);
  started->workspace_files = lower(options.workspace_files, settings_.workspace_files);
  started->account_bytes = started->workspace_bytes < settings_.workspace_bytes;
  started->account_files = started->workspace_files < settings_.workspace_files;
  watch(*started, project, account, spec, std::move(cache));
  // A new process gets its time limit from its ry_process_spec.
  if (was_warm) limit_time(*started, wall_ms);
  release(started);
  return RY_OK;
}

void command_runner::set_limits(const command_options& options, std::uint64_t memory_bytes, command_spec& spec) const {
  spec.limit = settings_.limit;
  if ((options.flags & RY_SANDBOX_LIMIT_DATA) != 0) {
    spec.limit.data_bytes = memory_bytes != 0 ? memory_bytes : settings_.limit.memory_bytes;
    spec.limit.memory_bytes = 0;
  } else if (memory_bytes != 0) {
    spec.limit.memory_bytes = std::min(memory_bytes, settings_.limit.memory_bytes);
  }
  for (const auto& [requested, limit] :
       {std::pair{options.processes, &spec.limit.processes}, std::pair{options.open_files, &spec.limit.open_files},
        std::pair{options.file_bytes, &spec.limit.file_bytes},
        std::pair{options.scratch_bytes, &spec.limit.tmp_bytes}}) {
    if (requested != 0) *limit = requested;
  }
}

ry_status command_runner::set_files(const command_options& options, command_spec& spec, unique_fd& cache) const {
  if (!options.cache.empty()) {
    if (!is_absolute(options.cache)) return RY_INVALID_ARGUMENT;
    std::error_code bad;
    spec.cache = std::filesystem::canonical(options.cache, bad).string();
    const file_error e = bad ? file_error{RY_NOT_FOUND, bad.message()} : open_cache(spec.cache, spec.uid, cache);
    if (e) return unusable("the package cache cannot be used", e.message);
  }
  for (const auto& mount : options.mounts) {
    const std::string_view path = ry::view(mount.path);
    if (!is_absolute(path)) return RY_INVALID_ARGUMENT;
    if (!is_inside(path, settings_.private_paths))
      spec.host_paths.push_back({path, (mount.flags & RY_SANDBOX_WRITABLE) != 0});
  }
  if (!spec.host_paths.empty()) {
    auto hidden = credentials_in(home_directories());
    hidden.insert(hidden.end(), settings_.private_paths.begin(), settings_.private_paths.end());
    spec.hidden = hidden_paths_in(spec.host_paths, hidden);
  }
  for (const ry_str file : options.host_files) {
    const std::string_view path = ry::view(file);
    if (!is_absolute(path) || path.back() == '/') return RY_INVALID_ARGUMENT;
    spec.host_files.push_back(path);
  }
  return RY_OK;
}

ry_status command_runner::unusable(std::string_view message, std::string_view cause) const {
  ctx_.log(RY_LOG_ERROR, message, {{"cause", cause}});
  return RY_UNAVAILABLE;
}

ry_status command_runner::spawn(command_call& call, const std::vector<std::string>& words, const std::string& directory,
                                const std::vector<std::string>& environment, std::uint64_t wall_ms, ry_exec* exec,
                                ry_errbuf* err) {
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
  handler.on_exit = &command_runner::exited;
  call.owner = this;
  call.exec = exec;
  const ry_status st = process_.spawn(ctx_.host(), exec, &p, &handler, &call, &call.process, err);
  if (st != RY_OK) groups_.remove(call.group);
  return st;
}

void command_runner::watch(command_call& call, const std::string& project, const std::string& account,
                           const command_spec& spec, unique_fd cache) {
  watched_command w;
  w.leader = process_.pid(call.process);
  w.memory_bytes = std::max(spec.limit.memory_bytes, spec.limit.data_bytes);
  w.terminate = [this, process = call.process] { process_.kill(process, SIGKILL); };
  if (!call.group.empty()) w.charged = [this, group = call.group] { return groups_.memory_of(group); };
  w.account = account;
  w.scratch = spec.workspace.empty();
  call.memory_bytes = w.memory_bytes;
  call.project = project;
  call.account = account;
  disk_command d;
  d.leader = w.leader;
  d.project = project;
  d.account = account;
  d.max_bytes = call.workspace_bytes;
  d.max_files = call.workspace_files;
  d.terminate = w.terminate;
  if (!spec.workspace.empty()) call.has_workspace = !files_.open_workspace(project, d.workspace);
  if (call.cache_bytes != 0) d.cache = std::move(cache);
  d.cache_bytes = call.cache_bytes;
  // A shortage of memory or disk space must not terminate the probe, see set_probing().
  if (probing_) return;
  // If these allocations fail, the limits of each process still apply.
  (void)ry::guard([&] { memory_.watch().add(&call, std::move(w)); });
  (void)ry::guard([&] {
    if (d.workspace || d.cache) disk_.watch().add(&call, std::move(d));
  });
}

// The process of a warm sandbox has no time limit: it was started before its program.
void command_runner::limit_time(command_call& call, std::uint64_t wall_ms) {
  const ry_done done{[](void* p, ry_status st, const ry_error_view*) noexcept {
                       auto* c = static_cast<command_call*>(p);
                       c->timed = false;
                       if (st == RY_OK) {
                         c->timed_out = true;
                         c->owner->process_.kill(c->process, SIGKILL);
                       }
                       c->owner->release(c);
                     },
                     &call};
  call.holders.fetch_add(1, std::memory_order_relaxed);
  call.timed = ctx_.core().sleep_ms(ctx_.host(), call.exec, wall_ms, done, &call.timer) == RY_OK;
  if (call.timed) return;
  // No timer could be set, and the program must not run without a time limit.
  process_.kill(call.process, SIGKILL);
  release(&call);
}

void command_runner::release(command_call* call) noexcept {
  if (call->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  memory_.watch().remove(call);
  disk_.watch().remove(call);
  groups_.remove(call->group);
  process_.release(call->process);
  delete call;
}

ry_status command_runner::output(void* p, std::int32_t fd, ry_bytes chunk) noexcept {
  auto* call = static_cast<command_call*>(p);
  if (call->warm) {
    (void)ry::guard([&] {
      call->startup_output.append(
          ry::view(chunk).substr(0, max_startup_output - std::min(max_startup_output, call->startup_output.size())));
    });
    return RY_OK;
  }
  const std::size_t pass = std::min<std::uint64_t>(chunk.len, call->remaining_output);
  call->remaining_output -= pass;
  call->dropped += chunk.len - pass;
  if (pass != 0) call->sink.on_output(call->ctx, fd, {chunk.ptr, pass});
  return call->paused ? RY_RESOURCE_EXHAUSTED : RY_OK;
}

void command_runner::exited(void* p, std::int32_t code, std::int32_t why) noexcept {
  auto* call = static_cast<command_call*>(p);
  command_runner* of = call->owner;
  if (call->warm) return of->warm_.ended(call, code);
  if (call->timed) of->ctx_.core().op_cancel(of->ctx_.host(), call->timer);
  if (call->has_workspace && of->measure_then_finish(call, code, why)) return;
  of->finish(call, code, why, of->disk_.watch().verdict_on(call), unknown_use);
}

// The final measurement of the workspace decides the command's result. It blocks, so it runs on another thread. False:
// no thread is available.
bool command_runner::measure_then_finish(command_call* call, std::int32_t code, std::int32_t why) noexcept {
  struct last_measurement {
    command_call* call;
    std::int32_t code, why;
    disk_verdict found = disk_verdict::none;
    disk::tree_use use = unknown_use;
  };
  ry_status st = RY_UNKNOWN;
  (void)ry::guard([&] {
    auto own = std::make_unique<last_measurement>(last_measurement{call, code, why});
    st = disk_.threads().run(call->account, call->exec,
                             [](void* p) noexcept {
                               auto* l = static_cast<last_measurement*>(p);
                               (void)ry::guard([&] { l->found = l->call->owner->measure(*l->call, l->use); });
                             },
                             own.get(),
                             {[](void* p, ry_status ran, const ry_error_view*) noexcept {
                                const std::unique_ptr<last_measurement> l(static_cast<last_measurement*>(p));
                                command_runner* of = l->call->owner;
                                of->finish(l->call, l->code, l->why,
                                           ran == RY_OK ? l->found : of->disk_.watch().verdict_on(l->call), l->use);
                              },
                              own.get()});
    if (st == RY_OK) own.release();
  });
  return st == RY_OK;
}

disk_verdict command_runner::measure(command_call& call, disk::tree_use& use) {
  const disk_verdict found = disk_.watch().final_measurement(&call, use);
  if (!disk_.watch().is_far_over(&call)) return found;
  ctx_.warn("a workspace is far above its limit, so it is emptied",
            {{"project", call.project}, {"mb", use.bytes >> 20}, {"files", use.entries}});
  (void)disk_.destroy(call.project, files_.path_of(call.project));
  call.emptied = true;
  use = {};
  return found;
}

void command_runner::finish(command_call* call, std::int32_t code, std::int32_t why, disk_verdict disk,
                            const disk::tree_use& use) noexcept {
  ry_sandbox_exit end{};
  end.struct_size = sizeof end;
  end.exit_code = code;
  end.why = why;
  memory_verdict memory = memory_.watch().verdict_on(call);
  if (memory == memory_verdict::none) memory = groups_.ran_out_of_memory(call->group);
  if (call->timed_out) end.why = RY_REASON_DEADLINE;
  if (end.why == RY_REASON_DEADLINE) {
    timed_out_.add();
  } else if (memory != memory_verdict::none) {
    end.why = RY_REASON_OVERLOAD;
    memory_.count(memory);
    if (!call->paused) (void)ry::guard([&] { call->explain(memory, groups_.account_memory_bytes()); });
  } else if (disk != disk_verdict::none) {
    end.why = RY_REASON_OVERLOAD;
    disk_.count(disk);
    if (!call->paused) (void)ry::guard([&] { call->explain(disk); });
    if (!call->paused && call->emptied)
      (void)ry::guard([&] {
        call->print_note(

            "the workspace was far above its limit and was emptied; stored files are restored for the next command");
      });
  }
  end.dropped_bytes = call->dropped;
  end.workspace_bytes = use.bytes;
  end.workspace_files = use.entries;
  warm_.prepare_next(*call);
  call->sink.on_exit(call->ctx, RY_OK, &end, nullptr);
  release(call);
}

void command_runner::cancel(command_call& call) {
  process_.kill(call.process, SIGKILL);
}

ry_status command_runner::write(command_call& call, ry_bytes bytes, ry_done done) {
  return process_.write(call.process, bytes, done);
}

void command_runner::close_stdin(command_call& call) {
  process_.close_stdin(call.process);
  warm_.prepare_next(call);
}

void command_runner::resume(command_call& call) {
  if (std::exchange(call.paused, false)) process_.resume(call.process);
}

}  // namespace bubblewrap
