// ry/testing.hpp - a fake host for unit tests of modules: one thread, virtual time, scripted responses.
//
//   ry::testing::fake_host host;
//   host.db.on("select balance", {{"balance"}, {{"100"}}});
//   host.load(*ry_module_entry(), R"({"limit": 3})");           // create() and start()
//   auto answer = host.call("GET", "/balance?unit=credits");
//   EXPECT_EQ(answer.status, 200u);
//   int n = host.await(some_task(host.ctx()));                    // without a module
//
// Nothing runs between two calls: call(), await(), run() and advance() run the pending work. The clock moves only when
// everything waits. Provides ry.core, registrar, http, db, jobs, events, secrets, services, metrics, auth and
// http_client; a test can hide one with `host.hide("ry.jobs/1")`. Not thread-safe; blocking work runs on the same
// thread. Only start() runs on a separate thread, because it may wait; it is not synchronized with the tasks that it
// spawned. ry/testing_runs.hpp provides the service runs/1.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include <ry/ry.hpp>

namespace ry::testing {

using cell = std::optional<std::string>;

// The scripted result of a statement.
struct db_reply {
  std::vector<std::string> columns;
  std::vector<std::vector<cell>> rows;
  std::uint64_t affected = 0;
  error failure{RY_OK};
  std::uint64_t takes_ms = 0;  // of the virtual clock
};

struct db_call {
  std::string sql;
  std::vector<cell> params;  // as text; arrays as "{a,b}"
  bool in_tx = false;
};

struct answer {
  std::uint32_t status = 0;  // 0: the request is still open
  headers fields;
  std::string body;  // of a stream: all pieces so far
  error failure{RY_OK};
  bool streaming = false;
  std::string_view header(std::string_view name) const noexcept {
    for (const auto& [n, v] : fields) {
      if (iequals(n, name)) return v;
    }
    return {};
  }
};

struct log_line {
  std::int32_t level;
  std::string message, fields;
};

// A request to a loaded module. `principal_subject` empty: no caller.
struct call_options {
  std::string body;
  headers fields;
  std::string principal_subject = "11111111-1111-4111-8111-111111111111";
  std::uint32_t role = RY_ROLE_USER;
  std::string auth_kind = "jwt";
};

class fake_host {
 public:
  fake_host() = default;
  fake_host(const fake_host&) = delete;
  fake_host& operator=(const fake_host&) = delete;
  ~fake_host() {
    if (module_ != nullptr) unload();
    ctx_.reset();
  }

  // ---- scripting and records ----
  struct database_script {
    // Scripts the results of statements whose text contains `part`; several results are used in order, the last one
    // repeatedly.
    void on(std::string part, db_reply reply) { script_[std::move(part)].push_back(std::move(reply)); }
    void fail(std::string part, error e) { on(std::move(part), db_reply{{}, {}, 0, std::move(e)}); }
    std::vector<db_call> calls;
    int commits = 0, rollbacks = 0;
    std::map<std::string, std::vector<db_reply>> script_;
  } db;
  struct client_script {
    // Scripts the responses to requests whose URL contains `part`.
    void on(std::string part, std::uint32_t status, std::vector<std::string> chunks, error failure = error(RY_OK)) {
      script_[std::move(part)] = {status, std::move(chunks), std::move(failure)};
    }
    struct sent {
      std::string method, url, body;
      headers fields;
    };
    struct reply {
      std::uint32_t status;
      std::vector<std::string> chunks;
      error failure;
    };
    std::vector<sent> requests;
    std::map<std::string, reply> script_;
  } client;
  std::vector<log_line> log;
  std::vector<std::pair<std::string, std::string>> enqueued;  // kind, args
  std::vector<std::pair<std::string, std::string>> published;  // kind, payload
  std::vector<std::string> revoked_sessions;  // of ry.auth
  std::map<std::string, double> metric_values;  // last value or sum of each metric
  std::map<std::string, std::string> host_values;
  std::map<std::string, std::pair<const void*, void*>> services;  // id -> table, self
  std::map<std::string, std::pair<const void*, void*>> drivers;  // "point:name" -> table, self
  std::vector<std::pair<std::string, std::string>> migrations;
  std::vector<std::string> descriptions;  // OpenAPI
  std::vector<std::string> driver_violations;  // "point driver: rule: problem", see context::report_driver_violation

  void hide(std::string interface_id) { hidden_.insert(std::move(interface_id)); }

  // ---- running ----
  ry_exec* exec() noexcept { return reinterpret_cast<ry_exec*>(this); }
  // A context without a module.
  context& ctx() {
    if (!ctx_) ctx_ = std::make_unique<context>(c_host(), &get_interface, "{}");
    return *ctx_;
  }
  // Runs what is ready now.
  void run_ready() {
    for (;;) {
      std::function<void()> f;
      {
        std::lock_guard lock(mutex_);
        if (ready_.empty()) return;
        f = std::move(ready_.front());
        ready_.pop_front();
      }
      f();
    }
  }
  // Runs until only timers later than `ms` from now are pending.
  void advance(std::uint64_t ms) {
    const std::int64_t until = now_us_ + static_cast<std::int64_t>(ms) * 1000;
    run_ready();
    while (fire_next(until)) run_ready();
    now_us_ = until;
  }
  // Runs until nothing is pending, moving the clock as needed, at most one virtual hour.
  void run() {
    const std::int64_t until = now_us_ + 3'600'000'000;
    run_ready();
    while (fire_next(until)) run_ready();
  }
  // Runs a task to its end. Throws its exception, or std::logic_error if it waits forever.
  template <class T>
  T await(task<T> t) {
    std::optional<result<T>> out;
    std::exception_ptr failed;
    ctx().spawn(keep(std::move(t), &out, &failed), exec());
    run();
    if (failed) std::rethrow_exception(failed);
    if (!out) throw std::logic_error("the task did not end");
    if constexpr (!std::is_void_v<T>) return std::move(*out).value();
  }

  // ---- modules ----
  // create() and start(); throws std::runtime_error with the module's message.
  void load(const ry_module_v1& descriptor, std::string_view settings = "{}") {
    char text_of_error[512];
    ry_errbuf err{text_of_error, sizeof text_of_error, 0};
    void* self = nullptr;
    if (descriptor.create(c_host(), &get_interface, reinterpret_cast<ry_registrar*>(this), str(settings), &self,
                          &err) != RY_OK) {
      throw std::runtime_error("create: " + std::string(err.ptr, err.len));
    }
    module_ = &descriptor;
    self_ = self;
    std::atomic<bool> ended{false};
    ry_status st = RY_OK;
    std::thread starter([&] {
      st = descriptor.start(self, &err);
      ended = true;
    });
    while (!ended) {
      advance(1);
      std::this_thread::yield();
    }
    starter.join();
    if (st != RY_OK) {
      descriptor.destroy(self);
      module_ = nullptr;
      throw std::runtime_error("start: " + std::string(err.ptr, err.len));
    }
    run_ready();
  }
  // stop(), then destroy(). Throws std::logic_error if the stop does not end.
  void unload() {
    bool stopped = false;
    const ry_module_v1* m = std::exchange(module_, nullptr);
    m->stop(self_, now_us_ + 30'000'000,
            {[](void* p, ry_status, const ry_error_view*) noexcept { *static_cast<bool*>(p) = true; }, &stopped});
    run();
    if (!stopped) throw std::logic_error("the module did not stop");
    m->destroy(self_);
    routes_.clear();
    jobs_.clear();
    consumers_.clear();
  }
  result<void> health() {
    char text_of_error[512];
    ry_errbuf err{text_of_error, sizeof text_of_error, 0};
    if (module_->health(self_, &err) == RY_OK) return {};
    return error(RY_UNAVAILABLE, "", std::string(err.ptr, err.len));
  }
  // The degraded parts that a healthy module reports; empty: none, or it is not healthy.
  std::string degraded() {
    char text_of_problem[512];
    ry_errbuf problem{text_of_problem, sizeof text_of_problem, 0};
    if (module_->health(self_, &problem) != RY_OK) return {};
    return std::string(problem.ptr, problem.len);
  }
  // Sends a request to a registered route and runs until nothing is ready; 404 if no route matches.
  std::shared_ptr<answer> send(std::string_view method, std::string_view target, const call_options& o = {});
  answer call(std::string_view method, std::string_view target, const call_options& o = {}) {
    auto a = send(method, target, o);
    if (a->status == 0 || a->streaming) run();
    return *a;
  }
  // Cancels a request that is still open.
  void drop_client(const answer& a, std::int32_t why = RY_REASON_GONE);
  // Runs a registered job to its end; its outcome is RY_JOB_*.
  std::int32_t run_job(std::string_view kind, std::string_view args_json, std::uint32_t attempt = 1);
  // Delivers an event to a registered consumer; returns the status of its acknowledgement.
  ry_status deliver(std::string_view consumer, std::string_view kind, std::string_view key,
                    std::string_view payload_json);

 private:
  friend struct tables;
  struct timer {
    std::int64_t due;
    ry_done done;
    std::function<void()> run;  // instead of `done`
  };
  struct route {
    std::string method, pattern;
    ry_handler_fn handle;
    void* ctx;
  };
  struct exchange;
  struct running_job {
    std::int32_t outcome = -1;
  };
  struct delivery {
    ry_status st = -1;
  };
  struct result_rows {
    db_reply reply;
    std::vector<ry_str> columns, cells;
    ry_db_rows view{};
  };
  struct flow {
    client_script::reply reply;
    ry_client_handler handler{};
    void* ctx = nullptr;
    std::size_t next = 0;
    bool paused = false, head_sent = false, cancelled = false;
  };

  const ry_host* c_host() const noexcept { return reinterpret_cast<const ry_host*>(this); }
  static fake_host* of(const ry_host* h) noexcept {
    return const_cast<fake_host*>(reinterpret_cast<const fake_host*>(h));
  }
  static const void* get_interface(const ry_host* host, ry_str id, std::uint32_t) noexcept;

  template <class T>
  static task<void> keep(task<T> t, std::optional<result<T>>* out, std::exception_ptr* failed) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(t);
        out->emplace();
      } else {
        out->emplace(co_await std::move(t));
      }
    } catch (...) {
      *failed = std::current_exception();
    }
  }
  bool fire_next(std::int64_t until) {
    std::unique_lock lock(mutex_);
    auto next = timers_.end();
    for (auto it = timers_.begin(); it != timers_.end(); ++it) {
      if (next == timers_.end() || it->second.due < next->second.due) next = it;
    }
    if (next == timers_.end() || next->second.due > until) return false;
    if (next->second.due > now_us_) now_us_ = next->second.due;
    const timer t = std::move(next->second);
    timers_.erase(next);
    lock.unlock();
    if (t.run) {
      t.run();
    } else {
      t.done.fn(t.done.ctx, RY_OK, nullptr);
    }
    return true;
  }
  std::optional<ry_done> take_timer(ry_op_id op) {
    std::lock_guard lock(mutex_);
    const auto it = timers_.find(op);
    if (it == timers_.end()) return std::nullopt;
    const ry_done done = it->second.done;
    timers_.erase(it);
    return done;
  }
  void post_after(std::uint64_t ms, std::function<void()> f) {
    if (ms == 0) return post(std::move(f));
    std::lock_guard lock(mutex_);
    timers_[next_op_++] = {now_us_ + static_cast<std::int64_t>(ms) * 1000, {}, std::move(f)};
  }
  void post(std::function<void()> f) {
    std::lock_guard lock(mutex_);
    ready_.push_back(std::move(f));
  }
  void complete(ry_done done, ry_status st) {
    if (done.fn != nullptr) post([done, st] { done.fn(done.ctx, st, nullptr); });
  }
  db_reply reply_to(const ry_db_call& c, bool in_tx);
  void pump(ry_op_id op);

  std::atomic<std::int64_t> now_us_ = 1'750'000'000'000'000;
  std::atomic<ry_op_id> next_op_ = 1;
  std::uint64_t next_uuid_ = 1;
  std::mutex mutex_;  // of ready_ and timers_; the module's start() runs on a separate thread
  std::deque<std::function<void()>> ready_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::map<ry_op_id, timer> timers_;
  std::map<ry_op_id, flow> flows_;
  std::set<std::string> hidden_;
  std::vector<route> routes_;
  std::map<std::string, std::pair<ry_job_fn, void*>> jobs_;
  std::map<std::string, std::pair<ry_event_fn, void*>> consumers_;
  std::vector<std::shared_ptr<exchange>> exchanges_;
  const ry_module_v1* module_ = nullptr;
  void* self_ = nullptr;
  std::unique_ptr<context> ctx_;
};

}  // namespace ry::testing

#include <ry/testing_impl.hpp>
