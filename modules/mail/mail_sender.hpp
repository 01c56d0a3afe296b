// The workers of the outbox: the jobs mail.send and mail.send_account {id} send one message each.
#pragma once

#include <ry/cpp/jobs.hpp>
#include <ry/cpp/metrics.hpp>

#include "layout.hpp"
#include "repository.hpp"
#include "smtp.hpp"

namespace mail {

class mail_sender {
 public:
  // `links`: the base URL of unsubscribe links; empty: e-mails have no such links.
  mail_sender(const ry::context& ctx, const repository& repo, const settings& s, const brand& b, std::string links);

  ry::task<ry::job_outcome> deliver(ry::job job);
  // Encrypts bodies that the previous release, or a module without encryption, enqueued in plain text.
  ry::task<void> seal_plain_bodies() const;
  void stop() noexcept { smtp_.stop(); }

 private:
  ry::task<ry::job_outcome> record_result(ry::uuid id, const ry::job& job, attempt a);
  email compose(ry::uuid id, attempt_start t) const;
  // Milliseconds until the next attempt to reach the relay; 0: now.
  std::uint64_t remaining_pause_ms() const noexcept;
  std::uint64_t pause_after_relay_error(std::uint64_t max_ms) noexcept;

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const brand& brand_;
  const std::string links_;
  smtp smtp_;
  std::atomic<std::int64_t> paused_until_us_{0};
  std::atomic<std::uint32_t> consecutive_relay_errors_{0};
  ry::metric sent_, retried_, refused_, dead_, relay_errors_, unreadable_;
};

}  // namespace mail
