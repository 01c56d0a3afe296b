// Routes that close accounts, and that publish events about accounts for administrators.
#pragma once

#include <ry/cpp/registrar.hpp>

#include "account_cache.hpp"
#include "login/logins.hpp"

namespace accounts {

class closing_routes {
 public:
  closing_routes(const ry::context& ctx, const repository& repo, account_cache& people, logins& all)
      : ctx_(ctx), repo_(repo), people_(people), logins_(all) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> close_own(ry::request r);
  ry::task<ry::response> close_any(ry::request r);
  ry::task<ry::response> publish_event(ry::request r);
  // Closes the account. This node refuses its tokens from now on; the other nodes follow.
  ry::task<bool> close(std::string actor, account_ptr who, std::string detail_json);

  const ry::context& ctx_;
  const repository& repo_;
  account_cache& people_;
  logins& logins_;
};

}  // namespace accounts
