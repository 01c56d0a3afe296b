// Event log writer, one per executor. Appends the new events of its runs to the log in batches every 25 ms (up to
// 250 ms if the database is slow), and immediately if the delivery of a run waits for a reservation. Also checks once a
// second whether runs have exceeded their deadline, so that each run does not need its own timer.
//
// Thread: all members on the executor. Lifetime: as long as the module; its loops are tasks of the module that end when
// there is nothing to do.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "run/live_run.hpp"
#include "store/repository.hpp"

namespace runs {

class event_log_writer {
 public:
  event_log_writer(const ry::context& ctx, const repository& repo, ry_exec* exec, std::int64_t drain_us)
      : ctx_(ctx), repo_(repo), exec_(exec), drain_us_(drain_us) {}

  // Schedules an append for a run that has events that are not in the log.
  void touch(const std::shared_ptr<live_run>& run);
  // Watches the run's deadline and shutdown until dismiss().
  void enlist(const std::shared_ptr<live_run>& run);
  void dismiss(const std::shared_ptr<live_run>& run) { watched_.erase(run); }

 private:
  ry::task<void> write_loop();
  ry::task<void> write_now();
  ry::task<bool> write_once();  // false: there was nothing to write
  ry::task<void> watch_loop();
  bool spawn(ry::task<void> t);

  const ry::context& ctx_;
  const repository& repo_;
  ry_exec* exec_;
  std::int64_t drain_us_;
  std::vector<std::shared_ptr<live_run>> dirty_;
  std::set<std::shared_ptr<live_run>> watched_;
  static constexpr std::uint64_t batch_ms_ = 25, max_batch_ms_ = 250;
  std::uint64_t pause_ms_ = batch_ms_;
  bool writing_ = false, watching_ = false, urgent_ = false;
};

// The log writers of all executors. Thread: any.
class event_log_writers {
 public:
  event_log_writers(const ry::context& ctx, const repository& repo, std::int64_t drain_us)
      : ctx_(ctx), repo_(repo), drain_us_(drain_us) {}
  event_log_writer& of(ry_exec* exec) {
    std::lock_guard lock(mutex_);
    auto& slot = all_[exec];
    if (!slot) slot = std::make_unique<event_log_writer>(ctx_, repo_, exec, drain_us_);
    return *slot;
  }

 private:
  const ry::context& ctx_;
  const repository& repo_;
  std::int64_t drain_us_;
  std::mutex mutex_;
  std::map<ry_exec*, std::unique_ptr<event_log_writer>> all_;
};

}  // namespace runs
