// The worker threads behind db::database. Internal to core/db.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/db/connection.hpp"
#include "core/db/pool_stats.hpp"
#include "core/db/settings.hpp"
#include "core/db/shortage.hpp"

namespace ry::db {

using steady = std::chrono::steady_clock;

// A unit of work for a worker. Runs exactly once.
struct task : std::enable_shared_from_this<task> {
  virtual ~task() = default;
  // The connection is open unless the database is unavailable. noexcept: the task reports its own errors.
  virtual void run(connection& c) noexcept = 0;
  // If not nullptr, the task consists of this unit and may be sent together with others; done() follows.
  virtual connection::unit* unit() noexcept { return nullptr; }
  // Called just before the unit is sent. Returns false if the unit was cancelled and must not run; done() still
  // follows.
  virtual bool begin() noexcept { return true; }
  virtual void done() noexcept {}

  steady::time_point pushed{};  // set by the pool
};
using task_ptr = std::shared_ptr<task>;

class pool {
 public:
  explicit pool(settings s);
  ~pool();

  enum class kind { normal, priority, transaction };
  // Returns false if the task was rejected (stopped, or the queue is full); it will never run.
  bool push(task_ptr t, kind k);
  // Removes a queued task. Returns false if it is running or has run.
  bool remove(const task* t);
  // Cancels the running statement of the unit with this tag. May block.
  void cancel_running(const void* tag) noexcept;

  bool healthy() const noexcept { return connected_.load(std::memory_order_relaxed) > 0; }
  bool wait_healthy(std::chrono::milliseconds timeout) const;
  // True if the database has been unavailable for longer than the grace period: fail calls instead of queueing them.
  bool away() const noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool aborting() const noexcept { return aborting_.load(std::memory_order_relaxed); }
  std::string last_error() const;
  const settings& config() const noexcept { return settings_; }
  pool_stats stats() const;
  // Counts a failure that a caller got instead of a result.
  void count_failure(const failure& f) noexcept {
    failures_.add(f.error.status);
    shortages_.note(f);
  }
  const shortage_record& shortages() const noexcept { return shortages_; }
  // The connections of all workers; valid as long as the pool.
  std::vector<connection*> connections() const;
  // Ends the worker threads; see database::stop.
  void stop();

 private:
  struct worker {
    explicit worker(const connect_settings& s) : conn(s) {}
    connection conn;
    std::thread thread;
    bool connected = false;
    bool priority_only = false;
    bool later = false;  // does not connect immediately at startup
    bool idle = false;  // waits for `wake`; priority_only workers use priority_wake_ instead
    std::condition_variable wake;
  };
  void loop(worker& w);
  std::condition_variable* next_idle();
  void wake(std::unique_lock<std::mutex>& lock, std::condition_variable* worker_wake);
  // Waits up to a second for work. Returns an empty vector if there is none or the pool stops.
  std::vector<task_ptr> take(worker& w, kind& k);
  void put_back(std::vector<task_ptr> tasks, kind k);
  void execute(worker& w, std::vector<task_ptr>& tasks);
  bool connect(worker& w);
  // Delays the connection of a `later` worker until work waits, or for a short time.
  void wait_for_need();
  // Records the task's queueing time. Requires mutex_.
  void note_wait(const task& t);
  void set_connected(worker& w, bool yes, const std::string& why);
  // Waits while there is no connection, and runs the queued work, which then fails, once the grace period is over.
  void wait_disconnected(worker& w, std::chrono::milliseconds pause);
  bool empty() const { return normal_.empty() && priority_.empty() && transactions_.empty(); }

  const settings settings_;
  std::vector<std::unique_ptr<worker>> workers_;

  mutable std::mutex mutex_;
  std::condition_variable priority_wake_, stop_wake_, exited_;
  mutable std::condition_variable health_;
  std::deque<task_ptr> normal_, priority_, transactions_;
  std::size_t idle_ = 0, running_workers_ = 0, open_transactions_ = 0, max_transactions_ = 0;
  bool priority_idle_ = false;
  std::string last_error_;
  pool_stats counts_;  // except the fields that stats() fills in
  failure_counters failures_;
  shortage_record shortages_;
  std::atomic<std::size_t> busy_{0};
  std::atomic<std::size_t> connected_{0};
  std::atomic<std::int64_t> unavailable_since_ms_{0};  // 0: connected
  std::atomic<bool> stopping_{false}, aborting_{false};
};

}  // namespace ry::db
