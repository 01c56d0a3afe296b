// The workers of the outbox: jobs that deliver notifications, poll the driver for the outcome of accepted ones, and
// update the orchestrator's data about accounts.
#pragma once

#include <random>

#include "module_context.hpp"
#include "types/outcome.hpp"

namespace notifications {

class delivery_worker {
 public:
  explicit delivery_worker(const module_context& context);
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::job_outcome> deliver(ry::job job);
  ry::task<void> add_decision_links(delivery_start& t) const;
  ry::task<ry::job_outcome> record_result(ry::uuid id, ry::uuid account, lease owner, attempt_verdict v);
  ry::task<ry::job_outcome> update_subscriber(ry::job job);
  ry::task<ry::job_outcome> follow(ry::job job);
  ry::task<ry::job_outcome> clean_up(ry::job job);

  // Makes one call of the driver, which is cancelled with the job.
  ry::task<ry::result<ry::notify::results>> trigger(orchestrators::entry driver, delivery_start t,
                                                    ry::cancel_token cancel) const;
  ry::task<ry::result<ry::notify::results>> trigger_supported_channels(orchestrators::entry driver, delivery_start t,
                                                                       ry::cancel_token cancel) const;
  void mask_devices(const device_list& devices, bool push, ry::notify::results& results) const;
  std::uint64_t remaining_pause_ms() const noexcept;
  // Counts the driver's results by requested channel.
  void count(std::uint32_t requested, const ry::result<ry::notify::results>& results) const;

  const module_context& context_;
  std::atomic<std::int64_t> paused_until_us_{0};
  ry::metric sent_, retried_, failed_, suppressed_, dead_, throttled_, unreadable_;
};

}  // namespace notifications
