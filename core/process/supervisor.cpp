#include "core/process/supervisor.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "core/process/child.hpp"
#include "core/process/launch.hpp"
#include "core/process/reaper.hpp"

// The handle of the ABI.
struct ry_process {
  std::shared_ptr<ry::process::child> what;
  ry::module::hold hold;
};

namespace ry::process {

struct supervisor::impl {
  struct job {
    const launch_plan& plan;
    std::promise<launched> result;
  };

  explicit impl(exec::loop_pool& loops) : loops(loops) {}

  void run();
  launched start(const launch_plan& plan);
  launched start_here(const launch_plan& plan);
  void gone(const child& c);

  exec::loop_pool& loops;
  std::mutex mutex;
  std::condition_variable work;
  std::deque<job*> jobs;
  bool ended = false, stopping = false;
  std::unordered_map<const child*, std::shared_ptr<child>> live;
  std::mutex guard_mutex;
  reaper guard;
  std::thread thread;  // the parent of children that are not started on a loop
};

void supervisor::impl::run() {
  ::pthread_setname_np(::pthread_self(), "spawner");
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [&] { return ended || !jobs.empty(); });
    if (jobs.empty()) return;
    job* j = jobs.front();
    jobs.pop_front();
    lock.unlock();
    try {
      j->result.set_value(start_here(j->plan));
    } catch (...) {
      j->result.set_exception(std::current_exception());
    }
    lock.lock();
  }
}

launched supervisor::impl::start_here(const launch_plan& plan) {
  auto l = launch(plan);
  if (l.failed == launched::failure::none) {
    std::lock_guard guarding(guard_mutex);
    guard.watch(l.pid);
  }
  return l;
}

launched supervisor::impl::start(const launch_plan& plan) {
  // A loop's thread outlives its children; other threads may not.
  for (std::size_t i = 0; i < loops.size(); ++i)
    if (loops.at(i).is_current()) return start_here(plan);
  job j{plan, {}};
  auto result = j.result.get_future();
  {
    std::lock_guard lock(mutex);
    jobs.push_back(&j);
    work.notify_one();
  }
  return result.get();
}

void supervisor::impl::gone(const child& c) {
  {
    std::lock_guard guarding(guard_mutex);
    guard.forget(c.pid());
  }
  std::lock_guard lock(mutex);
  live.erase(&c);
}

supervisor::supervisor(exec::loop_pool& loops) : impl_(std::make_shared<impl>(loops)) {
  ::signal(SIGPIPE, SIG_IGN);
  impl_->thread = std::thread([i = impl_.get()] { i->run(); });
}

supervisor::~supervisor() {
  std::unordered_map<const child*, std::shared_ptr<child>> left;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->ended = impl_->stopping = true;
    impl_->work.notify_all();
    left.swap(impl_->live);
  }
  for (auto& [key, c] : left) {
    {
      std::lock_guard guarding(impl_->guard_mutex);
      impl_->guard.forget(c->pid());
    }
    c->abandon();
  }
  impl_->thread.join();
}

namespace {

bool has_nul(ry_str s) {
  return core::sv(s).find('\0') != std::string_view::npos;
}

// Why a spec is invalid; empty if it is valid.
std::string_view check(const ry_process_spec& spec) {
  if (spec.n_argv == 0 || !spec.argv || spec.argv[0].len == 0) return "argv is empty";
  if (spec.n_env && !spec.env) return "env is missing";
  for (std::size_t i = 0; i < spec.n_argv; ++i)
    if (has_nul(spec.argv[i])) return "argv contains a NUL character";
  for (std::size_t i = 0; i < spec.n_env; ++i) {
    if (has_nul(spec.env[i])) return "env contains a NUL character";
    if (core::sv(spec.env[i]).find('=') == std::string_view::npos) return "env contains an entry without '='";
  }
  if (has_nul(spec.cwd)) return "cwd contains a NUL character";
  return {};
}

launch_plan plan_of(const ry_process_spec& spec) {
  launch_plan plan;
  for (std::size_t i = 0; i < spec.n_argv; ++i) plan.argv.push_back(core::str(spec.argv[i]));
  for (std::size_t i = 0; i < spec.n_env; ++i) plan.env.push_back(core::str(spec.env[i]));
  if (spec.cwd.len) plan.cwd = core::str(spec.cwd);
  if (spec.flags & RY_PROCESS_STDERR_TO_STDOUT) plan.err = launch_plan::stderr_to::stdout_pipe;
  plan.max_processes = spec.limits.max_processes;
  plan.cpu_s = spec.limits.cpu_s;
  plan.memory_bytes = spec.limits.memory_bytes;
  plan.file_bytes = spec.limits.file_bytes;
  plan.open_files = spec.limits.open_files;
  return plan;
}

ry_status status_of(launched::failure f) {
  switch (f) {
    case launched::failure::none:
      return RY_OK;
    case launched::failure::resources:
      return RY_RESOURCE_EXHAUSTED;
    case launched::failure::not_found:
      return RY_NOT_FOUND;
    case launched::failure::not_executable:
      return RY_PERMISSION_DENIED;
    case launched::failure::directory:
      return RY_FAILED_PRECONDITION;
    case launched::failure::other:
      return RY_INTERNAL;
  }
  return RY_INTERNAL;
}

}  // namespace

ry_status supervisor::spawn(const ry_host* host, ry_exec* exec, const ry_process_spec& spec,
                            const ry_process_handler& handler, void* ctx, ry_process** out, ry_errbuf* err) {
  if (!exec || !out || spec.struct_size < sizeof(ry_process_spec) || handler.struct_size < sizeof(ry_process_handler)) {
    core::write_err(err, "exec, out or a struct_size is wrong");
    return RY_INVALID_ARGUMENT;
  }
  if (const auto wrong = check(spec); !wrong.empty()) {
    core::write_err(err, wrong);
    return RY_INVALID_ARGUMENT;
  }
  {
    std::lock_guard lock(impl_->mutex);
    if (impl_->stopping) {
      core::write_err(err, "the host is stopping");
      return RY_UNAVAILABLE;
    }
  }
  auto l = impl_->start(plan_of(spec));
  if (l.failed != launched::failure::none) {
    core::write_err(err, l.message);
    return status_of(l.failed);
  }
  auto c = std::make_shared<child>(*exec, std::move(l), handler, ctx, module::hold(host), spec.limits.wall_ms,
                                   [weak = std::weak_ptr(impl_)](child& which) {
                                     if (auto i = weak.lock()) i->gone(which);
                                   });
  bool late;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->live.emplace(c.get(), c);
    late = impl_->stopping;
  }
  if (late) c->kill(SIGKILL, RY_REASON_SHUTDOWN);
  *out = new ry_process{c, module::hold(host)};
  exec->post([c] { c->start(); });
  return RY_OK;
}

void supervisor::stop() {
  std::unordered_map<const child*, std::shared_ptr<child>> all;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    all = impl_->live;
  }
  for (auto& [key, c] : all) {
    c->kill(SIGKILL, RY_REASON_SHUTDOWN);
    c->resume();  // a paused receiver must not delay the end
  }
}

std::size_t supervisor::alive() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->live.size();
}

namespace {

ry_status spawn(const ry_host* host, ry_exec* exec, const ry_process_spec* spec, const ry_process_handler* handler,
                void* ctx, ry_process** out, ry_errbuf* err) noexcept {
  if (!host || !spec || !handler) return RY_INVALID_ARGUMENT;
  auto* s = host->rt.processes;
  if (!s) return RY_UNAVAILABLE;
  try {
    return s->spawn(host, exec, *spec, *handler, ctx, out, err);
  } catch (const std::exception&) {
    core::write_err(err, "not enough memory");
    return RY_RESOURCE_EXHAUSTED;
  }
}

ry_status write(ry_process* p, ry_bytes bytes, ry_done done) noexcept {
  if (!p || (bytes.len && !bytes.ptr)) return RY_INVALID_ARGUMENT;
  try {
    return p->what->write(p->hold.get(), core::sv(bytes), done);
  } catch (const std::exception&) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

void close_stdin(ry_process* p) noexcept {
  if (p) p->what->close_stdin();
}
void resume(ry_process* p) noexcept {
  if (p) p->what->resume();
}
void kill(ry_process* p, std::int32_t signal) noexcept {
  if (p && signal > 0 && signal < NSIG) p->what->kill(signal, RY_REASON_USER);
}
void release(ry_process* p) noexcept {
  if (!p) return;
  p->what->release();
  delete p;
}
std::int32_t pid(const ry_process* p) noexcept {
  return p ? p->what->pid() : -1;
}

}  // namespace

const ry_process_v1& process_v1() noexcept {
  static constexpr ry_process_v1 table{sizeof(ry_process_v1), 0, spawn, write, close_stdin, resume, kill, release, pid};
  return table;
}

}  // namespace ry::process
