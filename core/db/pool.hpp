// The worker threads behind db::database. Internal to the room.
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
#include "core/db/database.hpp"
#include "core/db/pool_stats.hpp"
#include "core/db/shortage.hpp"

namespace ry::db {

using steady = std::chrono::steady_clock;

// Something a worker does. Runs exactly once.
struct task : std::enable_shared_from_this<task> {
  virtual ~task() = default;
  // With a connection that is open unless the database is away. noexcept: reports by itself.
  virtual void run(connection& c) noexcept = 0;
  // Not nullptr: the task is this one unit, and may be sent together with others; then done()
  // follows.
  virtual connection::unit* unit() noexcept { return nullptr; }
  // Called just before the unit is sent. False: not wanted any more, run nothing; done() still
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
  // False: not accepted (stopped, or the queue is full), the task was not and will not be run.
  bool push(task_ptr t, kind k);
  // Takes a task out that has not been started. False: it runs or ran.
  bool remove(const task* t);
  // Cancels the statement of the unit with this tag if it runs now. May block.
  void cancel_running(const void* tag) noexcept;

  bool healthy() const noexcept { return connected_.load(std::memory_order_relaxed) > 0; }
  bool wait_healthy(std::chrono::milliseconds timeout) const;
  // Away for longer than the grace: calls need not be queued.
  bool away() const noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  bool aborting() const noexcept { return aborting_.load(std::memory_order_relaxed); }
  std::string last_error() const;
  const settings& config() const noexcept { return settings_; }
  pool_stats stats() const;
  // What a caller was told instead of a result.
  void count_failure(const failure& f) noexcept {
    failures_.add(f.error.status);
    shortages_.note(f);
  }
  const shortage_record& shortages() const noexcept { return shortages_; }
  // Of all workers; as long as this object.
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
    bool later = false;  // not among the first to connect
    bool idle = false;   // waits to be called; priority_only is told by priority_wake_ instead
    std::condition_variable wake;
  };
  void loop(worker& w);
  std::condition_variable* next_idle();
  void wake(std::unique_lock<std::mutex>& lock, std::condition_variable* whom);
  // Waits for work, at most a second. Empty: nothing came, or the pool stops.
  std::vector<task_ptr> take(worker& w, kind& k);
  void put_back(std::vector<task_ptr> tasks, kind k);
  void execute(worker& w, std::vector<task_ptr>& tasks);
  bool connect(worker& w);
  // For a worker that is not needed at once: until work waits, or a while.
  void wait_for_need();
  // How long it waited. mutex_ is held.
  void note_wait(const task& t);
  void set_connected(worker& w, bool yes, const std::string& why);
  // While there is no connection: waits, and lets work fail once the grace is over.
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
  pool_stats counts_;  // but for what stats() adds
  failure_counters failures_;
  shortage_record shortages_;
  std::atomic<std::size_t> busy_{0};
  std::atomic<std::size_t> connected_{0};
  std::atomic<std::int64_t> away_since_ms_{0};  // 0: not away
  std::atomic<bool> stopping_{false}, aborting_{false};
};

}  // namespace ry::db
