// The implementation of ry_host: one module instance as the host's components see it. The ABI tables reach the
// components through `rt`, count outstanding work with hold(), and call into the module only with invoke().
#pragma once

#include <ry/abi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "core/exec/error.hpp"
#include "core/exec/loop.hpp"
#include "core/observe/trace.hpp"

namespace ry::exec {
class op_table;
class blocking_pool;
}  // namespace ry::exec
namespace ry::observe {
class metrics;
class tracer;
}  // namespace ry::observe
namespace ry::db {
class database;
}
namespace ry::http {
class client;
}
namespace ry::process {
class supervisor;
}
namespace ry::auth {
class authenticator;
class secret_box;
}  // namespace ry::auth
namespace ry::jobs {
class queue;
}
namespace ry::events {
class hub;
}

namespace ry::module {

class registry;
class start_guard;

// The host's components behind the ABI tables. core/app fills it in before the first module is created. An absent
// component is nullptr (`runyard check` has no database), and its calls return RY_UNAVAILABLE.
struct runtime {
  exec::loop_pool* loops = nullptr;
  exec::op_table* ops = nullptr;
  exec::blocking_pool* blocking = nullptr;
  observe::metrics* metrics = nullptr;
  observe::tracer* tracer = nullptr;  // nullptr: no tracing
  db::database* db = nullptr;
  http::client* http_client = nullptr;
  process::supervisor* processes = nullptr;
  auth::authenticator* auth = nullptr;
  auth::secret_box* secrets = nullptr;
  jobs::queue* jobs = nullptr;
  events::hub* events = nullptr;
  registry* modules = nullptr;  // services and extension points of the loaded modules
  start_guard* starts = nullptr;  // nullptr: starts are not recorded
  // Values for info() of ry.core/1: "version", "node_id", "deployment.mode", "http.base_path", ...
  std::unordered_map<std::string, std::string> host_values;
};

}  // namespace ry::module

struct ry_host {
  ry_host(ry::module::runtime& rt, std::string name, std::uint64_t instance)
      : rt(rt), name(std::move(name)), instance(instance) {}
  ry_host(const ry_host&) = delete;
  ry_host& operator=(const ry_host&) = delete;

  ry::module::runtime& rt;
  const std::string name;
  const std::uint64_t instance;  // unique within the process
  std::string version;  // of the module; constant after loading

  std::mutex mutex;  // guards the two members below
  std::string data_dir;  // created on the first request, see ry.core/1 info; constant once set
  std::string last_violation;  // description of the latest violation

  // Undelivered completions and open handles. destroy() waits for zero.
  std::atomic<std::int64_t> outstanding{0};
  // Number of exceptions and contract violations; see invoke().
  std::atomic<std::uint32_t> violations{0};
  std::atomic<std::uint64_t> slow_callbacks{0};
  // The module's statements that failed because the schema lacks an object that they name.
  std::atomic<std::uint64_t> schema_misses{0};

  // The module whose code runs on this thread; nullptr in host code.
  static ry_host* current() noexcept;
};

namespace ry::module {

// Keeps a module instance from being destroyed. Each copy counts.
class hold {
 public:
  explicit hold(const ry_host* host = nullptr) noexcept : host_(const_cast<ry_host*>(host)) { add(); }
  hold(const hold& o) noexcept : host_(o.host_) { add(); }
  hold(hold&& o) noexcept : host_(std::exchange(o.host_, nullptr)) {}
  hold& operator=(hold o) noexcept {
    std::swap(host_, o.host_);
    return *this;
  }
  ~hold() {
    if (host_) host_->outstanding.fetch_sub(1, std::memory_order_acq_rel);
  }
  ry_host* get() const noexcept { return host_; }
  explicit operator bool() const noexcept { return host_ != nullptr; }

 private:
  void add() noexcept {
    if (host_) host_->outstanding.fetch_add(1, std::memory_order_acq_rel);
  }
  ry_host* host_;
};

namespace detail {
class entered {  // sets the current module, restores the trace afterwards, measures the call
 public:
  entered(ry_host* host, const char* what) noexcept;
  ~entered();

 private:
  ry_host* const host_;
  const char* const what_;
  ry_host* const before_;
  const char* const before_what_;
  observe::trace_ref trace_;
  const std::chrono::steady_clock::time_point start_;
};

template <class F>
struct plain_fn;
template <class R, class... A>
struct plain_fn<R (*)(A...) noexcept> {
  using type = R (*)(A...);
};
template <class R, class... A>
struct plain_fn<R (*)(A...)> {
  using type = R (*)(A...);
};
}  // namespace detail

// The `what` of the innermost invoke() on this thread; nullptr: none.
const char* current_callback() noexcept;

// Counts and logs a violation of the ABI by a module. host == nullptr: the thread is unknown to the host; the
// violation is attributed to the module whose code is on the stack. Any thread.
void report_violation(ry_host* host, std::string_view rule, std::string_view where, std::string_view how) noexcept;

// Calls a function pointer of a module; third layer of the exception firewall. It drops `noexcept` from the type, so
// that it can catch exceptions of the module's code before they end the process. Logs calls on a loop that take
// longer than 50 ms. `what` is a literal for the log. Returns the function's result; after an exception RY_INTERNAL,
// or nothing for void functions.
template <class Fn, class... Args>
auto invoke(ry_host* host, const char* what, Fn* fn, Args... args) noexcept {
  using plain = typename detail::plain_fn<Fn*>::type;
  using result = std::invoke_result_t<plain, Args...>;
  plain call = fn;
  detail::entered scope(host, what);
  try {
    return call(args...);
  } catch (const std::exception& e) {
    report_violation(host, "exception", what, e.what());
  } catch (...) {
    report_violation(host, "exception", what, "an exception of unknown type");
  }
  if constexpr (!std::is_void_v<result>) return static_cast<result>(RY_INTERNAL);
}

// Posts f to exec and keeps the module instance alive until f has run.
template <class F>
void post(const ry_host* host, ry_exec* exec, F&& f) {
  exec->post([h = hold(host), f = std::forward<F>(f)]() mutable { f(); });
}

// Completes `done` on exec, never inline, with an optional error, within the given trace.
void complete(const ry_host* host, ry_exec* exec, ry_done done, ry_status st, observe::trace_ref trace = {});
void complete(const ry_host* host, ry_exec* exec, ry_done done, core::error err, observe::trace_ref trace = {});

}  // namespace ry::module
