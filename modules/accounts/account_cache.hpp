// Caches accounts by subject, for the service accounts/1: a request of a cached account needs no SQL. Concurrent first
// requests of a subject share one query (single-flight).
#pragma once

#include <ry/cpp/op.hpp>

#include <mutex>
#include <unordered_map>

#include "repository.hpp"

namespace accounts {

class account_cache {
 public:
  account_cache(const ry::context& ctx, const repository& repo, const config& cfg)
      : ctx_(ctx), repo_(repo), cfg_(cfg) {}
  account_cache(const account_cache&) = delete;
  account_cache& operator=(const account_cache&) = delete;

  // As in ry_accounts_v1. [any]
  ry_status ensure(const ry_principal* principal, ry_exec* exec, ry_account_fn fn, void* ctx);
  ry_status find(const ry_uuid* id, ry_exec* exec, ry_account_fn fn, void* ctx);
  const ry_tier_view* tier(std::string_view name) const { return &cfg_.find(name).view; }

  // For this module's own routes; the same as ensure(). `network`: as in identity. Throws ry::error.
  ry::task<account_ptr> account_of(const ry_principal* principal, std::string network = {});

  // Removes the subject from the cache: its next ensure() queries the database. [any]
  void invalidate(std::string_view subject);

  // The account of the subject was closed. Tokens issued before that are rejected for `life_us`, even if the
  // subject gets a new account. [any]
  void record_closure(const std::string& subject, std::int64_t closed_unix_us, std::int64_t life_us);

  // The table of accounts/1; its `self` is an account_cache.
  static const ry_accounts_v1* table() noexcept;

 private:
  struct waiter {
    ry_exec* exec;
    ry_account_fn fn;
    void* ctx;
    std::uint32_t role;  // of the token
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };
  template <class V>
  using by_subject = std::unordered_map<std::string, V, text_hash, std::equal_to<>>;

  struct cache_entry {
    account_ptr account;
    std::uint32_t token_role = RY_ROLE_USER;  // last stored value
    bool by_verified = false;  // the token of the request that read it has a verified address
  };

  struct closure {
    std::int64_t at_unix_us, until_us;  // until: monotonic
  };

  bool issued_before_closure(const ry_principal& principal) const;
  bool is_current(const cache_entry& k, const ry_principal& principal) const;
  ry_status ensure_account(const ry_principal* principal, const std::string& network, ry_exec* exec, ry_account_fn fn,
                           void* ctx);
  ry::task<account_ptr> provision(identity user);
  ry::task<void> provision_and_complete(identity user);
  void complete_waiters(const std::string& subject, const account_ptr& found, const ry::error& failure);
  void deliver(waiter w, account_ptr found, ry::error failure) const noexcept;

  const ry::context& ctx_;
  const repository& repo_;
  const config& cfg_;
  mutable std::mutex mutex_;
  by_subject<cache_entry> entries_;
  by_subject<std::vector<waiter>> waiting_;
  by_subject<closure> closures_;
  std::uint64_t epoch_ = 0;  // incremented by every invalidate()
};

}  // namespace accounts
