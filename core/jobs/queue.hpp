// The durable job queue of one node. It claims jobs in batches (SKIP LOCKED), runs them on the loops under the node's
// lease, writes their outcomes in batches, claims the jobs of vanished nodes, and turns cron ticks into jobs.
// Tables: core/schema/migrations/0001_jobs.sql.
#pragma once

#include <ry/if/jobs.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/exec/error.hpp"
#include "core/jobs/cron.hpp"
#include "core/module/host.hpp"
#include "core/module/registration.hpp"
#include "core/observe/open_span.hpp"
#include "core/observe/trace.hpp"

namespace ry::db {
class connection;
}

namespace ry::jobs {

class queue;

struct queue_settings {
  std::string node_id;  // UUID of this process
  std::string previous_node_id;  // of the previous process in this data directory, certainly dead; may be empty
  std::chrono::milliseconds lease{6'000};  // without a heartbeat for this long, other nodes take the node's jobs
  std::chrono::milliseconds hold{60'000};  // a node without the database cancels its jobs this long after its lease
  std::chrono::milliseconds heartbeat{1'500};
  std::chrono::milliseconds poll{1'000};
  int batch = 100;  // maximum per claim
  std::chrono::milliseconds sample{10'000};  // interval of the depth queries, which cover all nodes
  int weight = 100;  // percentage of the batch and of each kind's concurrency that this node takes
  std::string node_name;  // of the machine, for people
};

// Counts over all nodes.
struct job_counts {
  std::int64_t ready = 0, scheduled = 0, running = 0, dead = 0;
};
struct queue_depth : job_counts {
  std::string queue;
  double oldest_ready_seconds = 0;
};

// Counters of one kind on this node.
struct kind_stats {
  std::uint64_t done = 0, retried = 0, dead = 0;
};

struct queue_stats {
  std::uint64_t started = 0, done = 0, retried = 0, dead = 0, rescued = 0, leases_lost = 0;
  std::size_t running = 0;
  std::map<std::string, kind_stats> kinds;  // includes removed kinds
  bool connected = false;  // a heartbeat reached the database within the lease time
  // As of the latest query. Includes this node's kinds, and their queues, that have no jobs.
  std::vector<queue_depth> depths;
  std::map<std::string, job_counts> kind_depths;
};

// Runs a job. RY_OK means that finish() will be called for it.
using runner = std::function<ry_status(const ry_job_view*, ry_job*)>;

}  // namespace ry::jobs

// One running job of this node. Shared by the queue's tables, until finish(), and by its posted handlers.
struct ry_job : std::enable_shared_from_this<ry_job> {
  ry_job(ry::jobs::queue& q, ry::module::hold owner) : q(q), owner(std::move(owner)) {}

  ry::jobs::queue& q;
  ry::module::hold owner;  // empty for the host's own kinds
  std::string kind, args;
  ry_job_view view{};
  ry::observe::trace_ref trace;  // the trace in which its module is called
  ry::observe::open_span span;  // guarded by the mutex
  std::string trace_text;  // stored in the row, so that a later attempt continues it
  bool trace_kept = true;  // the row has trace_text; guarded by the queue
  int missed = 0;  // consecutive heartbeats at which the row was not ours; guarded by the queue
  bool adopted = false;  // created leased to this node; guarded by the queue
  std::uint64_t backoff_ms = 1000;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::chrono::milliseconds timeout{};
  bool late = false;  // cancelled at its deadline; guarded by the queue

  std::mutex mutex;  // guards the rest
  ry_cancel_fn on_cancel = nullptr;
  void* on_cancel_ctx = nullptr;
  std::int32_t why = 0;  // RY_REASON_* once it is cancelled, else 0
  bool cancel_notified = false, finished = false;
};

namespace ry::jobs {

class queue {
 public:
  queue(module::runtime& rt, queue_settings settings);
  ~queue();
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  // For validation: the error if the kind's cron text is invalid; empty if it is valid.
  static std::string check(const module::job_kind& kind);

  // Before start(), and again when a module is hot-swapped (replaces kinds of the same name). [any]
  void add(module::job_kind kind, runner run = {});
  void remove(std::string_view kind);
  // Adds a periodic job of the host that runs `work` on a database connection. [any]
  void add_maintenance(const char* kind, const char* cron, std::function<void(db::connection&)> work);
  // Adds the hourly job that deletes expired jobs and dead letters. [any]
  void add_trim();

  // Waits for the running jobs of these owners and cancels them with RY_REASON_SHUTDOWN from `ask_at` on. Their kinds
  // must already be removed or belong to other owners. Returns true when none runs any more, false if time_is_up()
  // returns true first. Blocks; not from a loop.
  bool end_jobs_of(const std::vector<ry_host*>& owners, std::chrono::steady_clock::time_point ask_at,
                   const std::function<bool()>& time_is_up);

  // Registers the node and starts to claim jobs. The database must be migrated.
  void start();
  // Stops claiming, cancels all running jobs with RY_REASON_SHUTDOWN, waits until they have finished or the deadline
  // has passed, writes the pending outcomes and releases the leases. Blocks; not from a loop.
  void stop(std::chrono::steady_clock::time_point deadline);

  // See ry.jobs/1.
  // caller: the instance that created the job, if it expects to run the job itself. RY_CANCELLED: the instance that has
  // replaced the caller in a module swap runs the job.
  ry_status adopt(std::string_view kind, std::int64_t id, std::int64_t fence, std::string_view args,
                  const ry_host* caller = nullptr);
  // Claims jobs now, or shortly after if it has just done so: many wake-ups (run completions, for example) cost one
  // query.
  void wake();
  void notify_nodes();  // wakes the other nodes
  void finish(ry_job* job, std::int32_t outcome, std::uint64_t delay_ms, const ry_error_view* error);
  ry_status on_cancel(ry_job* job, ry_cancel_fn fn, void* ctx);
  // Cancels a job on any node. `done` runs on a database worker or a loop.
  void cancel(std::int64_t id, std::function<void(ry_status)> done);
  // The settings of a kind that is registered on this node.
  std::optional<module::job_kind> find(std::string_view kind) const;

  queue_stats stats() const;
  // Whether this node is asked to drain: to claim no more jobs. As of the latest heartbeat.
  bool draining() const noexcept { return draining_.load(std::memory_order_relaxed); }
  const std::string& node_id() const noexcept { return settings_.node_id; }
  // Number of other registered nodes, as of the latest heartbeat.
  int other_nodes() const noexcept { return other_nodes_.load(std::memory_order_relaxed); }
  std::vector<std::string> peers() const;  // their ids
  module::runtime& rt() noexcept { return rt_; }

 private:
  struct kind_entry {
    module::job_kind spec;
    runner run;
    std::optional<cron> schedule;
    std::optional<cron::time> next_tick;
    std::uint32_t running = 0;
    std::uint32_t adopted = 0;  // how many of these were created leased to this node
    bool more = false;  // the latest claim was full: more jobs may wait
  };
  struct ended {
    std::int64_t id, fence;
    std::int32_t outcome;
    std::uint64_t delay_ms;
    std::string error, trace;
  };
  struct claimed {
    std::string kind, args;
    std::int64_t id, fence, enqueued_us;
    std::uint32_t attempt, max_attempts, crashes;
    std::string trace;  // from the row, or of the adopter
    bool adopted = false;
  };

  std::int64_t at_once() const noexcept {
    return std::max<std::int64_t>(1, std::int64_t{settings_.batch} * settings_.weight / 100);
  }
  // How many more waiting jobs of a kind this node may claim. The weight limits claims only: adopted jobs, which did
  // not wait, must not reduce this node's share of waiting jobs.
  std::int64_t free_places(const kind_entry& k) const noexcept {
    const auto all = std::int64_t{k.spec.concurrency};
    const auto share = std::max<std::int64_t>(1, all * settings_.weight / 100);
    return std::min(share - (std::int64_t{k.running} - k.adopted), all - k.running);
  }
  void note_draining(bool wanted);

  // Called on loop 0.
  void tick();
  void arm(std::chrono::milliseconds delay);
  void heartbeat();
  void fetch();
  void flush();
  void run_crons();
  void reconcile();
  void sample();
  void check_deadlines();
  // Ends a job in the queue although its module still runs it after the deadline and the grace period.
  void abandon(const std::shared_ptr<ry_job>& job);

  void heartbeat_on(db::connection& c);
  struct held {
    std::vector<std::int64_t> ids, fences;
  };
  held held_jobs() const;  // running jobs that were not cancelled as lost
  void look_for_cancels(db::connection& c);
  void look_for_lost(db::connection& c);
  void keep_traces(db::connection& c);
  std::vector<claimed> fetch_on(db::connection& c, const std::vector<std::string>& kinds,
                                const std::vector<std::int64_t>& slots);
  void flush_on(db::connection& c, const std::vector<ended>& batch);
  // Returns the owner of the kind, which is null for kinds of the host; nullopt: the job was not started.
  std::optional<const ry_host*> launch(claimed job);
  void begin_trace(ry_job& job, const std::string& text);
  void notify_cancelled(const std::shared_ptr<ry_job>& job, std::int32_t why);
  void cancel_all(std::int32_t why);
  void submit(std::function<void(db::connection&)> work, const char* what, std::function<void()> after = {});

  module::runtime& rt_;
  const queue_settings settings_;
  exec::loop& loop_;
  boost::asio::steady_timer timer_, flush_timer_, wake_timer_;
  std::chrono::steady_clock::time_point last_wake_{};  // loop 0
  bool wake_armed_ = false;  // loop 0

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::map<std::string, kind_entry, std::less<>> kinds_;
  std::unordered_map<std::int64_t, std::shared_ptr<ry_job>> running_;
  // Jobs whose lease was lost and whose rows this node has claimed again before they ended.
  std::unordered_set<std::shared_ptr<ry_job>> outlived_;
  // Jobs that their modules have not finished long after the deadline; the queue continues without them. Kept until
  // their modules finish them.
  std::unordered_set<std::shared_ptr<ry_job>> abandoned_;
  std::vector<ended> ended_;
  std::unordered_map<std::int64_t, std::int64_t> writing_;  // id -> fence of outcomes not yet written
  queue_stats stats_;
  bool fetching_ = false, fetch_again_ = false, flushing_ = false, flush_armed_ = false;
  bool gave_up_ = false;  // cancelled its jobs after `hold` without the database; guarded by mutex_
  bool beating_ = false, reconciling_ = false, sampling_ = false;
  bool started_ = false, stopping_ = false, leaving_ = false;
  int in_flight_ = 0;  // submitted database work that uses this object
  std::chrono::steady_clock::time_point last_heartbeat_{}, last_heartbeat_ok_{}, last_reconcile_{}, last_sample_{},
      rescue_from_{};  // nodes with an expired lease keep their jobs until then
  std::atomic<int> other_nodes_{0};
  std::vector<std::string> peers_;  // guarded by mutex_
  std::atomic<bool> draining_{false};
  std::vector<std::uint64_t> subscriptions_;  // LISTEN subscriptions
};

}  // namespace ry::jobs
