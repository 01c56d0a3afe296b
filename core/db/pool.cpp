#include "core/db/pool.hpp"

#include <algorithm>

#include "core/db/clock.hpp"
#include "core/exec/resource_limits.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

using namespace std::chrono_literals;

// Maximum of ordinary calls that one worker pipelines when more wait than workers are free. With 64 callers on 16
// workers, one-row selects rise from 66k to 114k/s; single inserts stay the same, as commits bound them.
constexpr std::size_t max_batch = 8;

// One connection commits one transaction at a time, so commits per second grow with connections until the cores are
// busy. With 64 callers on two cores, 8 connections reach 45 % of pgbench's rate, 16 reach 75 to 90 %, and 32 reach
// 87 %.
std::size_t default_workers() {
  return std::clamp<std::size_t>(8 * exec::usable_cores(), 8, 32);
}

// Ordinary workers that connect immediately, in addition to the priority worker. The others connect when work waits or after
// late_connections_after, because each connection costs PostgreSQL a new process.
constexpr std::size_t first_connections = 2;
constexpr auto late_connections_after = 500ms;

}  // namespace

pool::pool(settings s) : settings_(std::move(s)) {
  const auto n = settings_.workers ? settings_.workers : default_workers();
  max_transactions_ = settings_.max_transactions ? settings_.max_transactions : std::max<std::size_t>(1, n / 2);
  if (n > 1) max_transactions_ = std::min(max_transactions_, n - 1);
  unavailable_since_ms_ = now_ms();
  for (std::size_t i = 0; i <= n; ++i) {
    workers_.push_back(std::make_unique<worker>(settings_.connect));
    workers_.back()->priority_only = i == 0;
    workers_.back()->later = i > first_connections;
  }
  running_workers_ = workers_.size();
  for (auto& w : workers_) w->thread = std::thread([this, &w = *w] { loop(w); });
}

pool::~pool() {
  stop();
}

bool pool::push(task_ptr t, kind k) {
  std::unique_lock lock(mutex_);
  if (stopping()) return false;
  t->pushed = steady::now();
  if (k == kind::priority) {
    priority_.push_back(std::move(t));
    wake(lock, priority_idle_ ? &priority_wake_ : next_idle());
    return true;
  }
  const bool of_a_module = t->unit() || k == kind::transaction;
  if (of_a_module && normal_.size() + transactions_.size() >= settings_.max_queue) {
    failures_.add(RY_RESOURCE_EXHAUSTED);
    return false;
  }
  (k == kind::normal ? normal_ : transactions_).push_back(std::move(t));
  if (idle_ == 0) stop_wake_.notify_all();  // wakes wait_for_need()
  wake(lock, next_idle());
  return true;
}

// Returns the first idle worker, so that work stays with few sessions, whose plans and pages are cached, as long as
// few suffice. Null: none is idle. Requires mutex_.
std::condition_variable* pool::next_idle() {
  for (auto& w : workers_) {
    if (!w->idle) continue;
    w->idle = false;
    --idle_;
    return &w->wake;
  }
  return nullptr;
}

// Notifies without the mutex: on one core the woken worker runs immediately and would block on it.
void pool::wake(std::unique_lock<std::mutex>& lock, std::condition_variable* worker_wake) {
  lock.unlock();
  if (worker_wake) worker_wake->notify_one();
}

bool pool::remove(const task* t) {
  std::lock_guard lock(mutex_);
  for (auto* q : {&normal_, &priority_, &transactions_})
    for (auto it = q->begin(); it != q->end(); ++it)
      if (it->get() == t) {
        q->erase(it);
        return true;
      }
  return false;
}

void pool::cancel_running(const void* tag) noexcept {
  for (auto& w : workers_) w->conn.cancel_if(tag);
}

bool pool::wait_healthy(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  return health_.wait_for(lock, timeout, [&] { return healthy(); });
}

bool pool::away() const noexcept {
  const auto since = unavailable_since_ms_.load(std::memory_order_relaxed);
  return since && now_ms() - since > settings_.unavailable_grace.count();
}

std::vector<connection*> pool::connections() const {
  std::vector<connection*> out;
  for (const auto& w : workers_) out.push_back(&w->conn);
  return out;
}

std::string pool::last_error() const {
  std::lock_guard lock(mutex_);
  return last_error_;
}

// ---- workers
// -----------------------------------------------------------------------------------------

std::vector<task_ptr> pool::take(worker& w, kind& k) {
  std::vector<task_ptr> out;
  const auto pop = [&](std::deque<task_ptr>& q) {
    out.push_back(std::move(q.front()));
    q.pop_front();
    if (&q != &priority_) note_wait(*out.back());
  };
  std::unique_lock lock(mutex_);
  const auto something = [&] {
    return !priority_.empty() ||
           (!w.priority_only &&
            (!normal_.empty() || (!transactions_.empty() && open_transactions_ < max_transactions_)));
  };
  if (!something()) {
    if (stopping()) return out;
    if (w.priority_only) {
      priority_idle_ = true;
      priority_wake_.wait_for(lock, 1s, [&] { return something() || stopping(); });
      priority_idle_ = false;
    } else {
      w.idle = true;
      ++idle_;
      w.wake.wait_for(lock, 1s, [&] { return !w.idle || stopping(); });
      if (w.idle) --idle_;
      w.idle = false;
    }
    if (!something()) return out;
  }
  if (!priority_.empty()) {
    k = kind::priority;
    pop(priority_);
  } else if (!transactions_.empty() && open_transactions_ < max_transactions_) {
    k = kind::transaction;
    ++open_transactions_;
    pop(transactions_);
  } else {
    k = kind::normal;
    pop(normal_);
    const std::size_t ordinary = workers_.size() - 1;
    const auto share = idle_ ? 1 : std::min(max_batch, 1 + normal_.size() / ordinary);
    while (out.front()->unit() && out.size() < share && !normal_.empty() && normal_.front()->unit()) pop(normal_);
  }
  return out;
}

void pool::note_wait(const task& t) {
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - t.pushed).count();
  const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(waited, 0));
  std::size_t i = 0;
  while (i < wait_bounds_us.size() && us > wait_bounds_us[i]) ++i;
  ++counts_.waits[i];
  counts_.wait_sum_us += us;
}

pool_stats pool::stats() const {
  std::lock_guard lock(mutex_);
  pool_stats out = counts_;
  out.connections = connected_;
  out.in_use = std::min<std::size_t>(busy_, out.connections);
  out.waiting = normal_.size() + priority_.size() + transactions_.size();
  failures_.read(out.failures);
  return out;
}

void pool::put_back(std::vector<task_ptr> tasks, kind k) {
  std::unique_lock lock(mutex_);
  auto& q = k == kind::priority ? priority_ : k == kind::normal ? normal_ : transactions_;
  if (k == kind::transaction) --open_transactions_;
  for (auto it = tasks.rbegin(); it != tasks.rend(); ++it) q.push_front(std::move(*it));
  wake(lock, next_idle());
}

void pool::execute(worker& w, std::vector<task_ptr>& tasks) {
  if (!tasks.front()->unit()) return tasks.front()->run(w.conn);
  std::vector<connection::unit*> units;
  units.reserve(tasks.size());
  for (auto& t : tasks)
    if (t->begin()) units.push_back(t->unit());
  w.conn.run(units);
  for (auto* u : units)
    if (u->error) w.conn.retry_failed(*u);
  for (auto& t : tasks) t->done();
}

void pool::set_connected(worker& w, bool yes, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (!yes && !why.empty()) {
    if (last_error_.empty() && !healthy() && !stopping())
      observe::log(observe::level::warn, "db", "cannot connect", {{"error", why}});
    last_error_ = why;
  }
  if (yes == w.connected) return;
  w.connected = yes;
  if (yes) {
    ++counts_.opened;
    if (connected_.fetch_add(1) == 0) {
      unavailable_since_ms_ = 0;
      last_error_.clear();
      observe::log(observe::level::info, "db", "connected to the database");
    }
  } else {
    if (!stopping()) ++counts_.lost;
    if (connected_.fetch_sub(1) != 1) return health_.notify_all();
    unavailable_since_ms_ = now_ms();
    if (!stopping()) observe::log(observe::level::warn, "db", "the database is unavailable", {{"error", last_error_}});
  }
  health_.notify_all();
}

bool pool::connect(worker& w) {
  if (w.conn.check_alive()) return true;
  try {
    set_connected(w, false, {});
    w.conn.open();
    set_connected(w, true, {});
    return true;
  } catch (const std::exception& e) {
    set_connected(w, false, e.what());
    return false;
  }
}

void pool::wait_disconnected(worker& w, std::chrono::milliseconds pause) {
  std::vector<task_ptr> hopeless;
  {
    std::unique_lock lock(mutex_);
    stop_wake_.wait_for(lock, pause, [&] { return stopping(); });
    if (healthy()) return;  // other workers serve the queue
    if (!away() && !stopping()) return;
    for (auto* q : {&priority_, &normal_, &transactions_}) {
      for (auto& t : *q) hopeless.push_back(std::move(t));
      q->clear();
    }
  }
  for (auto& t : hopeless) {
    std::vector<task_ptr> one{std::move(t)};
    execute(w, one);
  }
}

void pool::wait_for_need() {
  std::unique_lock lock(mutex_);
  stop_wake_.wait_for(lock, late_connections_after,
                      [&] { return stopping() || (connected_ != 0 && idle_ == 0 && !empty()); });
}

void pool::loop(worker& w) {
  auto pause = 50ms;
  if (w.later) wait_for_need();
  for (;;) {
    if (aborting()) {
      w.conn.close();
      set_connected(w, false, {});
    } else if (w.conn.is_open() || connect(w)) {
      pause = 50ms;
    } else {
      wait_disconnected(w, pause);
      pause = std::min<std::chrono::milliseconds>(pause * 2, 1s);
      std::lock_guard lock(mutex_);
      if (stopping() && empty()) break;
      continue;
    }
    kind k = kind::normal;
    auto tasks = take(w, k);
    if (tasks.empty()) {
      if (stopping()) break;
      connect(w);
      continue;
    }
    if (!aborting() && !connect(w)) {
      put_back(std::move(tasks), k);
      continue;
    }
    busy_.fetch_add(1, std::memory_order_relaxed);
    execute(w, tasks);
    busy_.fetch_sub(1, std::memory_order_relaxed);
    tasks.clear();
    if (k == kind::transaction) {
      std::unique_lock lock(mutex_);
      --open_transactions_;
      wake(lock, next_idle());
    }
  }
  w.conn.close();
  set_connected(w, false, {});
  std::lock_guard lock(mutex_);
  --running_workers_;
  exited_.notify_all();
}

void pool::stop() {
  {
    std::unique_lock lock(mutex_);
    if (stopping_.exchange(true)) return;
    for (auto& w : workers_) w->wake.notify_all();
    priority_wake_.notify_all();
    stop_wake_.notify_all();
    if (!exited_.wait_for(lock, settings_.drain, [&] { return running_workers_ == 0; })) {
      observe::log(observe::level::warn, "db", "statements are still running at the end of the drain; cancelling them");
      aborting_ = true;
    }
    const auto begun = steady::now();
    while (running_workers_) {
      lock.unlock();
      // Statements that ignore their cancellation end when their connection is severed.
      const bool asking = steady::now() - begun < 1s;
      for (auto& w : workers_) asking ? w->conn.cancel_if(nullptr) : w->conn.sever();
      lock.lock();
      exited_.wait_for(lock, 100ms, [&] { return running_workers_ == 0; });
    }
  }
  for (auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
}

}  // namespace ry::db
