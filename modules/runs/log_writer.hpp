// One per executor: appends what its runs have produced to the log in batches, every 25 ms while there is
// something (up to 250 when the database is slow), at once when a run's delivery waits for a reservation; and
// looks once a second whether a run is over its time. Runs need no timer of their own.
//
// Thread: all members on the executor. Lifetime: as long as the module; its loops keep themselves alive
// in the module's task group and end by themselves when there is nothing to do.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "live_run.hpp"
#include "repository.hpp"

namespace runs {

class log_writer {
 public:
  log_writer(const ry::context& ctx, const repository& repo, ry_exec* exec, std::int64_t drain_us)
      : ctx_(ctx), repo_(repo), exec_(exec), drain_us_(drain_us) {}

  // The run has text that is not in the log.
  void touch(const std::shared_ptr<live_run>& run);
  // Watches the run's deadline and shutdown while it is enlisted.
  void enlist(const std::shared_ptr<live_run>& run);
  void dismiss(const std::shared_ptr<live_run>& run) { watched_.erase(run); }

 private:
  ry::task<void> write_loop();
  ry::task<void> write_now();
  ry::task<bool> write_once();  // false: there was nothing
  ry::task<void> watch_loop();
  bool spawn(ry::task<void> t);

  const ry::context& ctx_;
  const repository& repo_;
  ry_exec* exec_;
  std::int64_t drain_us_;
  std::vector<std::shared_ptr<live_run>> dirty_;
  std::set<std::shared_ptr<live_run>> watched_;
  static constexpr std::uint64_t batch_ms_ = 25, most_batch_ms_ = 250;
  std::uint64_t pause_ms_ = batch_ms_;
  bool writing_ = false, watching_ = false, urgent_ = false;
};

// The log writers of all executors. Any thread.
class log_writers {
 public:
  log_writers(const ry::context& ctx, const repository& repo, std::int64_t drain_us)
      : ctx_(ctx), repo_(repo), drain_us_(drain_us) {}
  log_writer& of(ry_exec* exec) {
    std::lock_guard lock(mutex_);
    auto& slot = all_[exec];
    if (!slot) slot = std::make_unique<log_writer>(ctx_, repo_, exec, drain_us_);
    return *slot;
  }

 private:
  const ry::context& ctx_;
  const repository& repo_;
  std::int64_t drain_us_;
  std::mutex mutex_;
  std::map<ry_exec*, std::unique_ptr<log_writer>> all_;
};

// The live topic of a run: other nodes' readers get hints on it.
std::string topic_of(const ry::uuid& run);

}  // namespace runs
