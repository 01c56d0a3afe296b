#include "account_cache.hpp"

#include <algorithm>

namespace accounts {
namespace {

constexpr std::size_t max_entries = 100'000;
constexpr std::int64_t max_age_us = 60'000'000;

// A cheap test before parsing: most tokens lack these claims.
bool may_claim_verified(const ry_principal& principal) {
  const auto claims = ry::view(principal.claims_json);
  return claims.find("email_verified") != std::string_view::npos || claims.find("xms_edov") != std::string_view::npos;
}
bool claims_verified(const ry_principal& principal) {
  return may_claim_verified(principal) && read_identity(principal).verified;
}

// A cheap test before parsing: most tokens lack such a claim.
bool may_be_anonymous(const ry_principal& principal) {
  return ry::view(principal.claims_json).find("anonymous") != std::string_view::npos;
}

ry::error anonymous_not_allowed() {
  return ry::http_error(
      403, RY_PERMISSION_DENIED, "accounts.anonymous", "Anonymous users are not allowed here: log in first",
      R"({"message":"Anonymous users are not allowed here: log in first","error_code":"ANONYMOUS_NOT_ALLOWED"})");
}

}  // namespace

// Checks only JWTs. API keys of a closed account are revoked one by one, and the host rejects older query tokens
// (revoke_session), because only the host has their time of issue.
bool account_cache::issued_before_closure(const ry_principal& principal) const {
  std::int64_t closed_us = 0;
  {
    std::lock_guard lock(mutex_);
    const auto it = closures_.find(ry::view(principal.subject));
    if (it == closures_.end() || it->second.until_us < ctx_.mono_us()) return false;
    closed_us = it->second.at_unix_us;
  }
  if (ry::view(principal.auth_kind) != "jwt") return false;
  return read_identity(principal).issued_unix_us.value_or(0) <= closed_us;
}

void account_cache::record_closure(const std::string& subject, std::int64_t closed_unix_us, std::int64_t life_us) {
  const auto now = ctx_.mono_us();
  std::lock_guard lock(mutex_);
  std::erase_if(closures_, [now](const auto& c) { return c.second.until_us < now; });
  auto& c = closures_[subject];
  c.at_unix_us = std::max(c.at_unix_us, closed_unix_us);
  c.until_us = now + life_us;
}

bool account_cache::is_current(const cache_entry& k, const ry_principal& principal) const {
  const account& a = *k.account;
  if (ctx_.mono_us() - a.read_us > max_age_us) return false;
  // Store a role immediately: it decides whether an admin may delete the account. The role in a token of a local
  // session is a copy of the account's role, possibly from before a demotion, and is not stored.
  const auto recorded_role = std::max(a.role, k.token_role);
  if (principal.role > recorded_role && ry::view(principal.auth_kind) == "jwt" &&
      read_identity(principal).role > recorded_role)
    return false;
  // A verified address takes effect immediately, and is written at most once.
  if (!a.verified && !k.by_verified && claims_verified(principal)) return false;
  // The token has new data about the user. Check it at most every few seconds, so that two contradicting tokens cannot
  // turn each request into a write.
  if (ctx_.mono_us() - a.read_us < max_age_us / 10) return true;
  if (principal.email.len != 0 && ry::view(principal.email) != a.email) return false;
  return a.verified || !may_claim_verified(principal);
}

ry_status account_cache::ensure(const ry_principal* principal, ry_exec* exec, ry_account_fn fn, void* ctx) {
  return ensure_account(principal, {}, exec, fn, ctx);
}

ry_status account_cache::ensure_account(const ry_principal* principal, const std::string& network, ry_exec* exec,
                                        ry_account_fn fn, void* ctx) {
  if (principal == nullptr || principal->struct_size < sizeof(ry_principal) || principal->subject.len == 0) {
    return RY_INVALID_ARGUMENT;
  }
  const waiter w{exec, fn, ctx, principal->role};
  if (!cfg_.allow_anonymous && may_be_anonymous(*principal) && read_identity(*principal).anonymous == true) {
    deliver(w, nullptr, anonymous_not_allowed());
    return RY_OK;
  }
  const auto subject = ry::view(principal->subject);
  account_ptr hit;
  if (issued_before_closure(*principal)) {
    deliver(w, nullptr, ry::unauthenticated("auth.required", "Not authenticated"));
    return RY_OK;
  }
  {
    std::lock_guard lock(mutex_);
    if (const auto it = entries_.find(subject); it != entries_.end()) {
      if (is_current(it->second, *principal)) {
        hit = it->second.account;
      } else {
        entries_.erase(it);
      }
    }
    if (!hit) {
      if (const auto it = waiting_.find(subject); it != waiting_.end()) {
        it->second.push_back(w);
        return RY_OK;
      }
      waiting_.emplace(subject, std::vector<waiter>{w});
    }
  }
  if (hit) {
    deliver(w, std::move(hit), ry::error(RY_OK));
    return RY_OK;
  }
  auto user = read_identity(*principal);
  user.network = network;
  const bool started = ctx_.spawn(provision_and_complete(std::move(user)), exec);
  if (started) return RY_OK;

  std::vector<waiter> others;
  {
    std::lock_guard lock(mutex_);
    if (auto it = waiting_.find(subject); it != waiting_.end()) {
      others = std::move(it->second);
      waiting_.erase(it);
    }
  }
  // This caller gets the status instead of a callback.
  for (const auto& o : others) {
    if (o.ctx != w.ctx || o.fn != w.fn) deliver(o, nullptr, ry::error(RY_CANCELLED));
  }
  return RY_UNAVAILABLE;
}

ry::task<account_ptr> account_cache::provision(identity user) {
  const auto token_role = user.role;
  auto found = co_await repo_.provision(std::move(user), cfg_.default_tier);
  if (token_role > found->role) co_await repo_.record_token_role(found->id, token_role);
  co_return std::move(found);
}

ry::task<void> account_cache::provision_and_complete(identity user) {
  const std::string subject = user.subject;
  const bool by_verified = user.verified;
  const auto token_role = user.role;
  std::uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  account_ptr found;
  ry::error failure(RY_OK);
  try {
    // Continues even if the first caller is cancelled, because others wait for the same result.
    found = co_await ry::shield(provision(std::move(user)));
  } catch (...) {
    failure = ry::current_error();
  }
  if (found) {
    std::lock_guard lock(mutex_);
    if (entries_.size() >= max_entries) entries_.clear();
    if (epoch == epoch_) entries_.insert_or_assign(subject, cache_entry{found, token_role, by_verified});
  }
  complete_waiters(subject, found, failure);
}

void account_cache::complete_waiters(const std::string& subject, const account_ptr& found, const ry::error& failure) {
  std::vector<waiter> all;
  {
    std::lock_guard lock(mutex_);
    if (auto it = waiting_.find(subject); it != waiting_.end()) {
      all = std::move(it->second);
      waiting_.erase(it);
    }
  }
  for (const auto& w : all) deliver(w, found, failure);
}

void account_cache::deliver(waiter w, account_ptr found, ry::error failure) const noexcept {
  try {
    ctx_.post(w.exec, [this, w, found = std::move(found), failure] {
      if (!found) {
        const auto v = failure.view();
        w.fn(w.ctx, failure.status() == RY_OK ? RY_INTERNAL : failure.status(), nullptr, &v);
        return;
      }
      ry_account_view view{};
      view.struct_size = sizeof view;
      view.role = std::max(w.role, found->role);
      view.account_id = found->id;
      view.account_id_text = ry::str(found->id_text);
      view.email = ry::str(found->email);
      view.display_name = ry::str(found->display_name);
      view.tier = &cfg_.find(found->tier).view;
      w.fn(w.ctx, RY_OK, &view, nullptr);
    });
  } catch (...) {
    ctx_.log_error("the result of an account lookup could not be delivered", ry::current_error());
  }
}

ry_status account_cache::find(const ry_uuid* id, ry_exec* exec, ry_account_fn fn, void* ctx) {
  if (id == nullptr) return RY_INVALID_ARGUMENT;
  const auto body = [](account_cache* self, ry::uuid id, waiter w) -> ry::task<void> {
    account_ptr found;
    ry::error failure = ry::not_found("accounts.not_found", "Account not found");
    try {
      found = co_await self->repo_.find(id);
    } catch (...) {
      failure = ry::current_error();
    }
    self->deliver(w, std::move(found), failure);
  };
  return ctx_.spawn(body(this, *id, {exec, fn, ctx, RY_ROLE_USER}), exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<account_ptr> account_cache::account_of(const ry_principal* principal, std::string network) {
  if (principal == nullptr) throw ry::unauthenticated("auth.required", "Not authenticated");
  auto got = co_await ry::call<account_ptr, const ry_account_view*>(
      [this, principal, &network](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return ensure_account(principal, network, exec, fn, ctx);
      },
      [](const ry_account_view* v) {
        auto a = std::make_shared<account>();
        a->id = v->account_id;
        a->id_text = ry::text(v->account_id_text);
        a->email = ry::text(v->email);
        a->display_name = ry::text(v->display_name);
        a->tier = ry::text(v->tier->name);
        a->role = v->role;
        return account_ptr(std::move(a));
      });
  co_return std::move(got).value();
}

void account_cache::invalidate(std::string_view subject) {
  std::lock_guard lock(mutex_);
  ++epoch_;
  if (const auto it = entries_.find(subject); it != entries_.end()) entries_.erase(it);
}

const ry_accounts_v1* account_cache::table() noexcept {
  static constexpr ry_accounts_v1 t{
      sizeof(ry_accounts_v1), 0,
      [](void* self, const ry_principal* principal, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
        return ry::guard([&] { return static_cast<account_cache*>(self)->ensure(principal, exec, fn, ctx); });
      },
      [](void* self, ry_str name) noexcept { return static_cast<const account_cache*>(self)->tier(ry::view(name)); },
      [](void* self, const ry_uuid* id, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
        return ry::guard([&] { return static_cast<account_cache*>(self)->find(id, exec, fn, ctx); });
      }};
  return &t;
}

}  // namespace accounts
