// The module's view of its host: interfaces, log, clock, executors, timers, running tasks. There is one context per
// module instance. It is created before the module's constructor runs and valid until destroy() has returned. Every
// member may be called from any thread unless its comment states otherwise.
#pragma once

#include <ry/if/auth.h>
#include <ry/if/core.h>
#include <ry/if/db.h>
#include <ry/if/events.h>
#include <ry/if/http.h>
#include <ry/if/http_client.h>
#include <ry/if/jobs.h>
#include <ry/if/metrics.h>
#include <ry/if/process.h>
#include <ry/if/registrar.h>
#include <ry/if/secrets.h>
#include <ry/if/services.h>

#include <array>
#include <initializer_list>

#include <ry/cpp/task.hpp>

namespace ry {

class auth;
class database;
class event_bus;
class http_client;
class job_queue;
class metrics;
class processes;
class secrets;
template <class Table>
class service;

namespace detail {

// Name, slot and last member in 1.0 of each host interface. min_size is the length in host minor 0, even if the table
// has grown: the wrapper tests later members with RY_HAS.
template <class Table>
struct interface_of;
#define RY_INTERFACE_(type, name, index, last)                                                        \
  template <>                                                                                         \
  struct interface_of<type> {                                                                         \
    static constexpr const char* id = name;                                                           \
    static constexpr std::uint32_t min_size =                                                         \
        static_cast<std::uint32_t>(offsetof(type, last) + sizeof(static_cast<type*>(nullptr)->last)); \
    static constexpr std::size_t slot = index;                                                        \
  }
RY_INTERFACE_(ry_core_v1, RY_CORE_1, 0, run_blocking);
RY_INTERFACE_(ry_http_v1, RY_HTTP_1, 1, buffer_release);
RY_INTERFACE_(ry_db_v1, RY_DB_1, 2, notify);
RY_INTERFACE_(ry_jobs_v1, RY_JOBS_1, 3, finish);
RY_INTERFACE_(ry_events_v1, RY_EVENTS_1, 4, live_publish);
RY_INTERFACE_(ry_process_v1, RY_PROCESS_1, 5, pid);
RY_INTERFACE_(ry_secrets_v1, RY_SECRETS_1, 6, unmask);
RY_INTERFACE_(ry_services_v1, RY_SERVICES_1, 7, release);
RY_INTERFACE_(ry_metrics_v1, RY_METRICS_1, 8, observe);
RY_INTERFACE_(ry_http_client_v1, RY_HTTP_CLIENT_1, 9, trust);
RY_INTERFACE_(ry_auth_v1, RY_AUTH_1, 10, forget);
RY_INTERFACE_(ry_registrar_v1, RY_REGISTRAR_1, 11, describe);
#undef RY_INTERFACE_
inline constexpr std::size_t interface_count = 12;

}  // namespace detail

// One field of a log line: {"run", run_id}, {"ms", 12}, {"cached", true}.
struct log_field {
  template <class V>
  log_field(std::string_view key, const V& value) : key(key) {
    if constexpr (std::is_same_v<V, bool>) {
      json = value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<V>) {
      json = std::to_string(value);
    } else if constexpr (std::is_same_v<V, uuid>) {
      json = json_string(value.to_string());
    } else {
      json = json_string(std::string_view(value));
    }
  }
  std::string_view key;
  std::string json;
};
using log_fields = std::initializer_list<log_field>;

// Counts running tasks and cancels them together. A task_group must live until join() returns or the callback of
// close() runs.
class task_group {
 public:
  explicit task_group(const context& ctx) : ctx_(ctx) {}
  task_group(const context& ctx, const cancel_token& parent) : ctx_(ctx), source_(parent) {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  // Starts t on exec: immediately if the caller runs there, otherwise posted. Its exceptions go to the log. `token`
  // replaces the group's own token (link it to token()). False after the group has ended; t is destroyed without
  // running.
  bool spawn(task<void> t, ry_exec* exec, cancel_token token = {});
  void cancel(std::int32_t why = RY_REASON_SHUTDOWN) const noexcept { source_.cancel(why); }
  cancel_token token() const noexcept { return source_.token(); }
  // Tasks that are running.
  std::size_t size() const noexcept {
    const std::size_t n = count_.load(std::memory_order_acquire);
    return n == 0 ? 0 : n - 1 + (closing_.load(std::memory_order_relaxed) ? 1 : 0);
  }
  // Calls done.fn(done.ctx, RY_OK, NULL) when no task is left, on the thread that ended the last one. Call it once, and
  // not together with join().
  void close(ry_done done) noexcept {
    idle_ = done;
    closing_.store(true, std::memory_order_relaxed);
    leave();
  }
  // Waits until no task is left; nothing can be spawned afterwards. Call it once.
  auto join();

 private:
  bool enter() noexcept {
    std::size_t n = count_.load(std::memory_order_relaxed);
    while (n != 0 && !count_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) {
    }
    return n != 0;
  }
  void leave() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) idle_.fn(idle_.ctx, RY_OK, nullptr);
  }
  static detail::root drive(const context* ctx, task<void> t);

  const context& ctx_;
  cancel_source source_;
  std::atomic<std::size_t> count_{1};  // running tasks, plus one until close()
  std::atomic<bool> closing_{false};
  ry_done idle_{};
};

class context {
 public:
  context(const ry_host* host, ry_get_interface_fn get, std::string settings)
      : host_(host), get_(get), settings_(std::move(settings)), tasks_(*this) {
    interface<ry_core_v1>();
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  const ry_host* host() const noexcept { return host_; }
  // The module's settings as a JSON object, including defaults.
  std::string_view settings() const noexcept { return settings_; }

  // The table of a host interface; nullptr if this host does not have it.
  template <class Table>
  const Table* try_interface() const noexcept {
    using interface = detail::interface_of<Table>;
    auto& slot = tables_[interface::slot];
    const void* table = slot.load(std::memory_order_acquire);
    if (table == nullptr) {
      table = get_(host_, str(interface::id), interface::min_size);
      slot.store(table, std::memory_order_release);
    }
    return static_cast<const Table*>(table);
  }
  // The same; throws RY_UNAVAILABLE naming the interface.
  template <class Table>
  const Table& interface() const {
    const Table* table = try_interface<Table>();
    if (table == nullptr) {
      throw error(RY_UNAVAILABLE, "host.interface_missing",
                  std::string(detail::interface_of<Table>::id) +
                      " is not among the module's needs, or this host does not offer it");
    }
    return *table;
  }
  const ry_core_v1& core() const noexcept { return *try_interface<ry_core_v1>(); }

  // ---- log and properties of the host ----
  void log(std::int32_t level, std::string_view message, log_fields fields = {}) const {
    std::string json;
    if (fields.size() != 0) {
      json = "{";
      for (const auto& f : fields) {
        if (json.size() > 1) json += ',';
        append_json_string(json, f.key);
        json += ':';
        json += f.json;
      }
      json += '}';
    }
    core().log(host_, level, str(message), str(json));
  }
  void debug(std::string_view m, log_fields f = {}) const { log(RY_LOG_DEBUG, m, f); }
  void info(std::string_view m, log_fields f = {}) const { log(RY_LOG_INFO, m, f); }
  void warn(std::string_view m, log_fields f = {}) const { log(RY_LOG_WARN, m, f); }
  // For errors; never throws.
  void log_error(std::string_view m, const error& e) const noexcept {
    try {
      log(RY_LOG_ERROR, m, {{"status", status_name(e.status())}, {"reason", e.reason()}, {"error", e.message()}});
    } catch (...) {
      core().log(host_, RY_LOG_ERROR, str(m), ry_str{});
    }
  }
  // ry.core/1 info(): "version", "node_id", "http.public_url", "data_dir", ...
  std::string_view fact(std::string_view key) const noexcept { return view(core().info(host_, str(key))); }
  std::int64_t now_unix_us() const noexcept { return core().now_unix_us(host_); }
  std::int64_t mono_us() const noexcept { return core().mono_us(host_); }
  uuid new_uuid() const noexcept {
    uuid out;
    core().new_uuid(host_, &out);
    return out;
  }

  // For owners of extension points: reports that a driver violated the contract of the point; the violation counts for
  // the driver's module. False: this host does not support it, or the driver is unknown.
  bool report_driver_violation(std::string_view point, std::string_view driver, std::string_view rule,
                               std::string_view problem) const noexcept {
    const auto* services = try_interface<ry_services_v1>();
    return services != nullptr && RY_HAS(services, ry_services_v1, report_driver_violation) &&
           services->report_driver_violation(host_, str(point), str(driver), str(rule), str(problem)) == RY_OK;
  }

  // ---- executors and tasks ----
  ry_exec* pick_exec() const noexcept { return core().pick_exec(host_); }
  bool on_exec(const ry_exec* exec) const noexcept { return core().on_exec(exec) != 0; }
  // Runs f on exec later. Its exceptions go to the log.
  template <class F>
  void post(ry_exec* exec, F f) const {
    struct call {
      const context* ctx;
      F f;
    };
    auto c = std::make_unique<call>(call{this, std::move(f)});
    check(core().exec_post(
              host_, exec,
              [](void* p) noexcept {
                std::unique_ptr<call> own(static_cast<call*>(p));
                try {
                  own->f();
                } catch (...) {
                  own->ctx->log_error("a posted function failed", current_error());
                }
              },
              c.get()),
          "exec_post");
    c.release();
  }
  // Starts a task in the module's own group: stopping the module cancels it and waits for it. exec: nullptr: the host
  // chooses.
  bool spawn(task<void> t, ry_exec* exec = nullptr, cancel_token token = {}) const {
    return tasks_.spawn(std::move(t), exec != nullptr ? exec : pick_exec(), std::move(token));
  }
  task_group& tasks() const noexcept { return tasks_; }

  // ---- awaitables ----
  auto sleep(std::uint64_t ms) const;  // -> result<void>
  auto switch_to(ry_exec* exec) const noexcept;  // moves the chain to this executor
  template <class F>
  auto run_blocking(F f) const;  // f on a thread that may block -> result of f, or its exception

  // ---- interfaces, wrapped; each throws RY_UNAVAILABLE when the host does not have it ----
  database db() const;
  ry::http_client http_client() const;
  job_queue jobs() const;
  event_bus events() const;
  ry::processes processes() const;
  ry::secrets secrets() const;
  ry::metrics metrics() const;
  ry::auth auth() const;
  // A service of another module; from start() on.
  template <class Table>
  service<Table> acquire(std::string_view id) const;

 private:
  const ry_host* host_;
  ry_get_interface_fn get_;
  std::string settings_;
  mutable std::array<std::atomic<const void*>, detail::interface_count> tables_{};
  mutable task_group tasks_;
};

inline detail::root task_group::drive(const context* ctx, task<void> t) {
  try {
    co_await std::move(t);
  } catch (...) {
    const error e = current_error();
    if (e.status() != RY_CANCELLED) ctx->log_error("a task failed", e);
  }
}

inline bool task_group::spawn(task<void> t, ry_exec* exec, cancel_token token) {
  if (!enter()) return false;
  try {
    detail::root r = drive(&ctx_, std::move(t));
    auto handle = r.prepare(
        {&ctx_, exec, token ? std::move(token) : source_.token()},
        [](void* g) noexcept { static_cast<task_group*>(g)->leave(); }, this);
    if (ctx_.on_exec(exec)) {
      handle.resume();
      return true;
    }
    const ry_status st = ctx_.core().exec_post(
        ctx_.host(), exec, [](void* p) noexcept { std::coroutine_handle<>::from_address(p).resume(); },
        handle.address());
    if (st == RY_OK) return true;
    handle.destroy();
    leave();
    return false;
  } catch (...) {
    leave();
    throw;
  }
}

}  // namespace ry
