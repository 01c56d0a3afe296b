// Erases the runs, threads, messages and files of a deleted account. Handles the event account.deleted.
#pragma once
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "api/run_routes.hpp"

namespace runs {

class deleted_accounts {
 public:
  deleted_accounts(const ry::context& ctx, thread_routes& threads) : ctx_(ctx), threads_(threads) {}
  void add_to(ry::registrar& reg) {
    reg.subscribe("deleted_accounts", "account.deleted", this, &deleted_accounts::erase_account);
  }

 private:
  ry::task<void> erase_account(ry::event e);
  // Some of the account's threads; empty: none remain.
  ry::task<std::vector<std::string>> some_threads(std::string account) const;

  const ry::context& ctx_;
  thread_routes& threads_;
};

}  // namespace runs
