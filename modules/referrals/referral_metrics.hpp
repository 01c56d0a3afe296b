// The module's metrics. Counters cover the work of this node. Gauges describe the database: each node counts all
// referrals, so that revocations, refreshes and deleted accounts need no separate counters.
#pragma once

#include <ry/ry.hpp>

#include <string>
#include <vector>

#include "repository.hpp"

namespace referrals {

class referral_metrics {
 public:
  referral_metrics(const ry::context& ctx, const repository& repo);

  // Starts the loop that updates the gauges until the module stops.
  void start();

  // Counts an invitation. outcome: one of invitation_outcomes.
  void invitation(const std::string& outcome) const;
  // Counts a sign-up with a code. outcome: the result of referrals.attach().
  void sign_up(const std::string& outcome) const;

 private:
  ry::task<void> update_gauges();
  void set_gauges(const std::vector<referral_count>& all) const;

  const ry::context& ctx_;
  const repository& repo_;
};

}  // namespace referrals
