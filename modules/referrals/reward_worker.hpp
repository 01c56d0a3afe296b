// Work outside of requests: codes and referrals of new accounts, and awards for referees that qualify.
#pragma once

#include <ry/cpp/events.hpp>
#include <ry/cpp/jobs.hpp>
#include <ry/cpp/registrar.hpp>

#include <memory>

#include "referral_metrics.hpp"
#include "repository.hpp"

namespace referrals {

class reward_worker {
 public:
  reward_worker(const ry::context& ctx, const repository& repo, const settings& s, const referral_metrics& metrics)
      : ctx_(ctx), repo_(repo), settings_(s), metrics_(metrics), exec_(ctx.pick_exec()) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<void> on_event(ry::event e);
  // Events that arrive while a batch is awarded form the next batch. Returns when the award of this account is
  // committed.
  ry::task<void> award_in_batch(ry::uuid account);
  ry::task<void> award_batches();
  // Returns the error, if there was one.
  ry::task<std::optional<ry::error>> award_individually(std::vector<std::string> accounts);
  ry::task<void> on_account_created(ry::uuid account, std::string payload);
  ry::task<ry::job_outcome> settle(ry::job job);
  ry::task<ry::job_outcome> clean_up(ry::job job);
  ry::task<ry::job_outcome> check(ry::job job);

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const referral_metrics& metrics_;
  struct award_batch {
    std::vector<std::string> accounts;
    ry::signal committed;
    std::optional<ry::error> failure;
  };
  ry_exec* const exec_;  // runs award_batches(); only it may access the following members
  std::shared_ptr<award_batch> next_;
  bool working_ = false;
};

}  // namespace referrals
