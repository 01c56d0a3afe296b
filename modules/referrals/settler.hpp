// What happens without a request: codes and referrals of new accounts, awards of those that qualify.
#pragma once

#include <ry/cpp/durable.hpp>
#include <ry/cpp/registrar.hpp>

#include "repository.hpp"

namespace referrals {

class settler {
 public:
  settler(const ry::context& ctx, const repository& repo, const settings& s)
      : ctx_(ctx), repo_(repo), settings_(s) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<void> heard(ry::event e);
  ry::task<void> welcome(ry::uuid account, std::string payload);
  ry::task<ry::job_outcome> settle(ry::job job);

  const ry::context& ctx_;
  const repository& repo_;
  const settings& settings_;
};

}  // namespace referrals
