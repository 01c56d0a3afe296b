#include "core/module/host.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include "core/observe/log.hpp"

namespace {
thread_local ry_host* t_current = nullptr;
constexpr auto slow_callback = std::chrono::milliseconds(50);

// The library whose code called into the host on this thread, as its file's name without ".so"; "host" when the stack
// does not tell.
std::string calling_library() {
  void* frames[32];
  const int n = ::backtrace(frames, 32);
  Dl_info own{};
  if (::dladdr(reinterpret_cast<void*>(&calling_library), &own) == 0) return "host";
  for (int i = 1; i < n; ++i) {
    Dl_info at{};
    if (::dladdr(frames[i], &at) == 0 || at.dli_fbase == own.dli_fbase || !at.dli_fname) continue;
    std::string_view file = at.dli_fname;
    file.remove_prefix(file.rfind('/') + 1);
    return std::string(file.substr(0, file.find(".so")));
  }
  return "host";
}

}  // namespace

ry_host* ry_host::current() noexcept {
  return t_current;
}

namespace ry::module {

namespace detail {

entered::entered(ry_host* host, const char* what) noexcept
    : host_(host), what_(what), before_(t_current), trace_(observe::trace_of_thread()), start_(std::chrono::steady_clock::now()) {
  t_current = host;
}

entered::~entered() {
  t_current = before_;
  observe::enter_trace(std::move(trace_));
  if (!host_ || !ry_exec::current()) return;
  const auto took = std::chrono::steady_clock::now() - start_;
  if (took < slow_callback) return;
  host_->slow_callbacks.fetch_add(1, std::memory_order_relaxed);
  observe::log(observe::level::warn, host_->name, "slow callback blocked a loop",
               {{"callback", what_},
                {"ms", std::to_string(
                           std::chrono::duration_cast<std::chrono::milliseconds>(took).count())}});
}

}  // namespace detail

void misbehaved(ry_host* host, std::string_view rule, std::string_view where, std::string_view how) noexcept {
  if (host) host->strikes.fetch_add(1, std::memory_order_relaxed);
  try {
    if (host) {
      std::lock_guard lock(host->mutex);
      host->last_strike.assign(rule).append(" in ").append(where).append(": ").append(how);
    }
    observe::log(observe::level::error, host ? host->name : calling_library(), "module misbehaved",
                 {{"rule", std::string(rule)}, {"where", std::string(where)}, {"problem", std::string(how)}});
  } catch (const std::bad_alloc&) {
    // The count stays right; only its explanation is missing.
  }
}

void complete(const ry_host* host, ry_exec* exec, ry_done done, ry_status st, observe::trace_ref trace) {
  if (!done.fn) return;
  post(host, exec, [host, done, st, trace = std::move(trace)] {
    const observe::trace_scope scope(trace);
    invoke(const_cast<ry_host*>(host), "completion", done.fn, done.ctx, st,
           static_cast<const ry_error_view*>(nullptr));
  });
}

void complete(const ry_host* host, ry_exec* exec, ry_done done, core::error err, observe::trace_ref trace) {
  if (!done.fn) return;
  post(host, exec, [host, done, err = std::move(err), trace = std::move(trace)] {
    const observe::trace_scope scope(trace);
    const auto v = err.view();
    invoke(const_cast<ry_host*>(host), "completion", done.fn, done.ctx, err.status,
           static_cast<const ry_error_view*>(&v));
  });
}

}  // namespace ry::module
