#include <chrono>
#include <filesystem>
#include <system_error>

#include "core/exec/blocking_pool.hpp"
#include "core/exec/op_table.hpp"
#include "core/module/abi.hpp"
#include "core/module/host.hpp"
#include "core/module/registry.hpp"
#include "core/observe/log.hpp"

namespace ry::module {

namespace {

std::int64_t us(auto duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

void log(const ry_host* host, int32_t severity, ry_str message, ry_str fields_json) noexcept {
  using observe::level;
  static constexpr observe::level levels[] = {level::trace, level::debug, level::info, level::warn, level::error};
  const auto l = severity >= RY_LOG_TRACE && severity <= RY_LOG_ERROR ? levels[severity] : level::info;
  observe::log_json(l, host->name, core::sv(message), core::sv(fields_json));
}

int64_t now_unix_us(const ry_host*) noexcept {
  return us(std::chrono::system_clock::now().time_since_epoch());
}

int64_t mono_us(const ry_host*) noexcept {
  return us(std::chrono::steady_clock::now().time_since_epoch());
}

ry_str own_data_dir(ry_host* host) {
  const auto root = host->rt.host_values.find("data_dir");
  if (root == host->rt.host_values.end() || root->second.empty()) return {};
  std::lock_guard lock(host->mutex);
  if (host->data_dir.empty()) {
    namespace fs = std::filesystem;
    const fs::path dir = fs::path(root->second) / "modules" / host->name;
    std::error_code ec;
    fs::create_directories(dir, ec);
    if (!ec) fs::permissions(dir, fs::perms::owner_all, ec);
    if (ec) {
      observe::log(observe::level::error, host->name, "the data directory of the module cannot be created",
                   {{"error", ec.message()}});
      return {};
    }
    host->data_dir = dir.string();
  }
  return core::view(host->data_dir);
}

ry_str info(const ry_host* host, ry_str key) noexcept {
  try {
    const std::string name = core::str(key);
    if (name == "data_dir") return own_data_dir(const_cast<ry_host*>(host));
    const auto it = host->rt.host_values.find(name);
    return it == host->rt.host_values.end() ? ry_str{} : core::view(it->second);
  } catch (...) {
    return {};
  }
}

void new_uuid(const ry_host* host, ry_uuid* out) noexcept {
  *out = host->rt.modules->uuids.next();
}

ry_exec* pick_exec(const ry_host* host) noexcept {
  return &host->rt.loops->pick();
}

uint32_t on_exec(const ry_exec* exec) noexcept {
  return exec && exec->is_current() ? 1 : 0;
}

ry_status exec_post(const ry_host* host, ry_exec* exec, ry_call_fn fn, void* ctx) noexcept {
  if (!exec || !fn) return RY_INVALID_ARGUMENT;
  try {
    post(host, exec, [host, fn, ctx, trace = observe::current_trace()] {
      const observe::trace_scope scope(trace);
      invoke(const_cast<ry_host*>(host), "posted call", fn, ctx);
    });
    return RY_OK;
  } catch (...) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

ry_status sleep_ms(const ry_host* host, ry_exec* exec, uint64_t ms, ry_done done, ry_op_id* op) noexcept {
  if (!exec || !done.fn) return RY_INVALID_ARGUMENT;
  try {
    return host->rt.modules->timers.start(host, exec, ms, done, op);
  } catch (...) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

void op_cancel(const ry_host* host, ry_op_id op) noexcept {
  try {
    if (host->rt.ops) host->rt.ops->cancel(op);
  } catch (...) {
    // Out of memory: the cancellation cannot be posted, and the operation completes normally.
  }
}

ry_status run_blocking(const ry_host* host, ry_exec* exec, ry_call_fn work, void* ctx, ry_done done) noexcept {
  if (!exec || !work) return RY_INVALID_ARGUMENT;
  if (!host->rt.blocking) return RY_UNAVAILABLE;
  try {
    const auto result =
        host->rt.blocking->submit([keep = hold(host), host, exec, work, ctx, done, trace = observe::current_trace()] {
          const observe::trace_scope scope(trace);
          invoke(const_cast<ry_host*>(host), "blocking work", work, ctx);
          complete(host, exec, done, RY_OK, trace);
        });
    if (result == exec::submit_result::yes) return RY_OK;
    return result == exec::submit_result::stopped ? RY_UNAVAILABLE : RY_RESOURCE_EXHAUSTED;
  } catch (...) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

}  // namespace

const ry_core_v1& core_v1() noexcept {
  static constexpr ry_core_v1 table = {sizeof(ry_core_v1), 0,         log,     now_unix_us, mono_us,  info,
                                       new_uuid,           pick_exec, on_exec, exec_post,   sleep_ms, op_cancel,
                                       run_blocking};
  return table;
}

}  // namespace ry::module
