#include "core/module/host.hpp"

#include "core/module/code_map.hpp"
#include "core/observe/log.hpp"

namespace {
thread_local ry_host* t_current = nullptr;
thread_local const char* t_callback = nullptr;
constexpr auto slow_callback = std::chrono::milliseconds(50);

}  // namespace

ry_host* ry_host::current() noexcept {
  return t_current;
}

namespace ry::module {

namespace detail {

entered::entered(ry_host* host, const char* what) noexcept
    : host_(host),
      what_(what),
      before_(t_current),
      before_what_(t_callback),
      trace_(observe::trace_of_thread()),
      start_(std::chrono::steady_clock::now()) {
  t_current = host;
  t_callback = what;
}

entered::~entered() {
  t_current = before_;
  t_callback = before_what_;
  observe::enter_trace(std::move(trace_));
  if (!host_ || !ry_exec::current()) return;
  const auto took = std::chrono::steady_clock::now() - start_;
  if (took < slow_callback) return;
  host_->slow_callbacks.fetch_add(1, std::memory_order_relaxed);
  observe::log(observe::level::warn, host_->name, "slow callback blocked a loop",
               {{"callback", what_},
                {"ms", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count())}});
}

}  // namespace detail

const char* current_callback() noexcept {
  return t_callback;
}

namespace {

void log_violation(std::string_view who, std::string_view rule, std::string_view where, std::string_view how) {
  observe::log(observe::level::error, who, "module contract violated",
               {{"rule", std::string(rule)}, {"where", std::string(where)}, {"problem", std::string(how)}});
}

}  // namespace

void report_violation(ry_host* host, std::string_view rule, std::string_view where, std::string_view how) noexcept {
  try {
    if (!host) {
      const auto from = calling_module([&](ry_host& its) { report_violation(&its, rule, where, how); });
      if (!from.lives) log_violation(from.name[0] != '\0' ? from.name.data() : "host", rule, where, how);
      return;
    }
    host->violations.fetch_add(1, std::memory_order_relaxed);
    {
      std::lock_guard lock(host->mutex);
      host->last_violation.assign(rule).append(" in ").append(where).append(": ").append(how);
    }
    log_violation(host->name, rule, where, how);
  } catch (const std::bad_alloc&) {
    // The violation is counted, but not logged.
  }
}

void complete(const ry_host* host, ry_exec* exec, ry_done done, ry_status st, observe::trace_ref trace) {
  if (!done.fn) return;
  post(host, exec, [host, done, st, trace = std::move(trace)] {
    const observe::trace_scope scope(trace);
    invoke(const_cast<ry_host*>(host), "completion", done.fn, done.ctx, st, static_cast<const ry_error_view*>(nullptr));
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
