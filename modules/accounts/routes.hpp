// The HTTP routes of this module.
#pragma once

#include <ry/cpp/limits.hpp>
#include <ry/cpp/registrar.hpp>

#include "account_cache.hpp"

namespace accounts {

// The channel on which nodes notify each other of changes to accounts; they read the changes from the audit log.
inline constexpr std::string_view changed_channel = "accounts_changed";

class routes {
 public:
  routes(const ry::context& ctx, const repository& repo, account_cache& cache, const config& cfg)
      : ctx_(ctx), repo_(repo), cache_(cache), cfg_(cfg), key_limit_reached_(ry::account_limit(ctx, "api_keys")) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> own_account(ry::request r);
  ry::task<ry::response> list_keys(ry::request r);
  ry::task<ry::response> create_key(ry::request r);
  ry::task<ry::response> revoke_key(ry::request r);
  ry::task<ry::response> show_account(ry::request r);
  ry::task<ry::response> change_account(ry::request r);
  ry::task<ry::response> grant(ry::request r);
  ry::task<ry::response> revoke(ry::request r);
  ry::task<ry::response> ledger(ry::request r);
  ry::task<ry::response> audit(ry::request r);

  ry::task<ry::response> account_response(ry::uuid id, std::uint32_t min_role);
  ry::task<ry::response> move_balance(ry::request r, std::string action, std::int64_t sign);
  // Every route that changes an account calls this after the commit.
  ry::task<void> on_changed(ry::uuid id);

  const ry::context& ctx_;
  const repository& repo_;
  account_cache& cache_;
  const config& cfg_;
  const ry::metric key_limit_reached_;
};

}  // namespace accounts
