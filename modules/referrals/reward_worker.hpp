// Work without a request: codes and referrals of new accounts, and awards for referees that qualify.
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
  reward_worker(const ry::context& ctx, const repository& repo, const settings& s, const referral_metrics& counted)
      : ctx_(ctx), repo_(repo), settings_(s), metrics_(counted), exec_(ctx.pick_exec()) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<void> on_event(ry::event e);
  // Many events arrive at once: those that arrive while a batch is awarded form the next batch. Returns when this
  // account's award is committed.
  ry::task<void> qualified(ry::uuid account);
  ry::task<void> work();
  // The error, if there was one.
  ry::task<std::optional<ry::error>> one_by_one(std::vector<std::string> accounts);
  ry::task<void> welcome(ry::uuid account, std::string payload);
  ry::task<ry::job_outcome> settle(ry::job job);
  ry::task<ry::job_outcome> tidy(ry::job job);
  ry::task<ry::job_outcome> check(ry::job job);

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
  const referral_metrics& metrics_;
  struct gathering {
    std::vector<std::string> accounts;
    ry::signal written;
    std::optional<ry::error> failed;
  };
  ry_exec* const exec_;  // runs work() and owns the following members
  std::shared_ptr<gathering> next_;
  bool working_ = false;
};

}  // namespace referrals
