// The module's metrics. Counters cover what this node did. Gauges cover the database: each node counts all referrals, so that
// revocations, refreshes and deleted accounts need no counters of their own.
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

  // outcome: one of invitation_outcomes.
  void invitation(const std::string& outcome) const;
  // An account signed up with a code; outcome: as referrals.attach() returns it.
  void sign_up(const std::string& outcome) const;

 private:
  ry::task<void> watch();
  void show(const std::vector<tally>& all) const;

  const ry::context& ctx_;
  const repository& repo_;
};

}  // namespace referrals
