// The workers of the outbox: jobs that deliver notifications, track them, and update the orchestrator's data about
// accounts.
#pragma once

#include <random>

#include "delivery/outcome.hpp"
#include "module_context.hpp"

namespace notifications {

class delivery_worker {
 public:
  explicit delivery_worker(const module_context& o);
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::job_outcome> deliver(ry::job job);
  ry::task<ry::job_outcome> settle(ry::uuid id, ry::uuid account, lease by, verdict v);
  ry::task<ry::job_outcome> update_subscriber(ry::job job);
  ry::task<ry::job_outcome> follow(ry::job job);
  ry::task<ry::job_outcome> tidy(ry::job job);

  // One call of the driver, cancelled together with the job.
  ry::task<ry::result<ry::notify::results>> trigger(orchestrators::entry driver, turn t, ry::cancel_token off) const;
  ry::task<ry::result<ry::notify::results>> trigger_part(orchestrators::entry driver, turn t,
                                                         ry::cancel_token off) const;
  void mark_devices(const device_list& devices, bool push, ry::notify::results& said) const;
  std::uint64_t paused_ms() const noexcept;
  // The driver's result for each requested channel.
  void count(std::uint32_t asked, const ry::result<ry::notify::results>& said) const;

  const module_context& context_;
  std::atomic<std::int64_t> paused_until_us_{0};
  ry::metric sent_, retried_, failed_, suppressed_, dead_, throttled_, unreadable_;
};

}  // namespace notifications
