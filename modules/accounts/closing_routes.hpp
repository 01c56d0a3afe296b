// Routes that close accounts, and the route with which administrators publish events about accounts.
#pragma once

#include <ry/cpp/registrar.hpp>

#include "account_cache.hpp"
#include "login/logins.hpp"

namespace accounts {

class closing_routes {
 public:
  closing_routes(const ry::context& ctx, const repository& repo, account_cache& cache, logins& l)
      : ctx_(ctx), repo_(repo), cache_(cache), logins_(l) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> close_own(ry::request r);
  ry::task<ry::response> close_any(ry::request r);
  ry::task<ry::response> publish_event(ry::request r);
  // Closes the account. This node rejects its tokens from now on; the other nodes follow.
  ry::task<bool> close(std::string actor, account_ptr account, std::string detail_json);

  const ry::context& ctx_;
  const repository& repo_;
  account_cache& cache_;
  logins& logins_;
};

}  // namespace accounts
