#include "account_cache.hpp"

#include <algorithm>

namespace accounts {
namespace {

constexpr std::size_t max_known = 100'000;
constexpr std::int64_t max_age_us = 60'000'000;

// Most tokens lack this claim, so they are not parsed.
bool may_say_verified(const ry_principal& who) {
  const auto claims = ry::view(who.claims_json);
  return claims.find("email_verified") != std::string_view::npos || claims.find("xms_edov") != std::string_view::npos;
}
bool says_verified(const ry_principal& who) {
  return may_say_verified(who) && read_identity(who).verified;
}

// A cheap test first: most tokens contain nothing like it.
bool may_be_anonymous(const ry_principal& who) {
  return ry::view(who.claims_json).find("anonymous") != std::string_view::npos;
}

ry::error anonymous_refused() {
  return ry::http_error(
      403, RY_PERMISSION_DENIED, "accounts.anonymous", "Anonymous users are not allowed here: sign in first",
      R"({"message":"Anonymous users are not allowed here: sign in first","error_code":"ANONYMOUS_NOT_ALLOWED"})");
}

}  // namespace

// Only JWTs. API keys of a closed account are revoked one by one, and the host refuses older query tokens
// (refuse_session), because only it knows their time of issue.
bool account_cache::ended_with_account(const ry_principal& who) const {
  std::int64_t closed_us = 0;
  {
    std::lock_guard lock(mutex_);
    const auto it = closings_.find(ry::view(who.subject));
    if (it == closings_.end() || it->second.until_us < ctx_.mono_us()) return false;
    closed_us = it->second.at_unix_us;
  }
  if (ry::view(who.auth_kind) != "jwt") return false;
  return read_identity(who).issued_unix_us.value_or(0) <= closed_us;
}

void account_cache::note_closing(const std::string& subject, std::int64_t closed_unix_us, std::int64_t life_us) {
  const auto now = ctx_.mono_us();
  std::lock_guard lock(mutex_);
  std::erase_if(closings_, [now](const auto& c) { return c.second.until_us < now; });
  auto& c = closings_[subject];
  c.at_unix_us = std::max(c.at_unix_us, closed_unix_us);
  c.until_us = now + life_us;
}

bool account_cache::is_current(const known& k, const ry_principal& who) const {
  const account& a = *k.who;
  if (ctx_.mono_us() - a.read_us > max_age_us) return false;
  // Store a role at once: it decides who may delete the account. The role in a token of a local session is a copy of
  // the account's role, possibly from before a demotion, and is not stored.
  const auto noted = std::max(a.role, k.token_role);
  if (who.role > noted && ry::view(who.auth_kind) == "jwt" && read_identity(who).role > noted) return false;
  // A verified address counts at once, and is written at most once.
  if (!a.verified && !k.by_verified && says_verified(who)) return false;
  // The token has new data about the user. Check it at most every few seconds, so that two contradicting tokens cannot
  // turn each request into a write.
  if (ctx_.mono_us() - a.read_us < max_age_us / 10) return true;
  if (who.email.len != 0 && ry::view(who.email) != a.email) return false;
  return a.verified || !may_say_verified(who);
}

ry_status account_cache::ensure(const ry_principal* who, ry_exec* exec, ry_account_fn fn, void* ctx) {
  return ask(who, {}, exec, fn, ctx);
}

ry_status account_cache::ask(const ry_principal* who, const std::string& network, ry_exec* exec, ry_account_fn fn,
                             void* ctx) {
  if (who == nullptr || who->struct_size < sizeof(ry_principal) || who->subject.len == 0) {
    return RY_INVALID_ARGUMENT;
  }
  const waiter w{exec, fn, ctx, who->role};
  if (!cfg_.allow_anonymous && may_be_anonymous(*who) && read_identity(*who).anonymous == true) {
    answer(w, nullptr, anonymous_refused());
    return RY_OK;
  }
  const auto subject = ry::view(who->subject);
  account_ptr hit;
  if (ended_with_account(*who)) {
    answer(w, nullptr, ry::unauthenticated("auth.required", "Not authenticated"));
    return RY_OK;
  }
  {
    std::lock_guard lock(mutex_);
    if (const auto it = known_.find(subject); it != known_.end()) {
      if (is_current(it->second, *who)) {
        hit = it->second.who;
      } else {
        known_.erase(it);
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
    answer(w, std::move(hit), ry::error(RY_OK));
    return RY_OK;
  }
  auto claimed = read_identity(*who);
  claimed.network = network;
  const bool started = ctx_.spawn(look_up(std::move(claimed)), exec);
  if (started) return RY_OK;

  std::vector<waiter> others;
  {
    std::lock_guard lock(mutex_);
    if (auto it = waiting_.find(subject); it != waiting_.end()) {
      others = std::move(it->second);
      waiting_.erase(it);
    }
  }
  // All but this caller's, which learns from the status that nothing was started.
  for (const auto& o : others) {
    if (o.ctx != w.ctx || o.fn != w.fn) answer(o, nullptr, ry::error(RY_CANCELLED));
  }
  return RY_UNAVAILABLE;
}

ry::task<account_ptr> account_cache::provision(identity who) {
  const auto token_role = who.role;
  auto found = co_await repo_.provision(std::move(who), cfg_.default_tier);
  if (token_role > found->role) co_await repo_.note_token_role(found->id, token_role);
  co_return std::move(found);
}

ry::task<void> account_cache::look_up(identity who) {
  const std::string subject = who.subject;
  const bool by_verified = who.verified;
  const auto token_role = who.role;
  std::uint64_t epoch = 0;
  {
    std::lock_guard lock(mutex_);
    epoch = epoch_;
  }
  account_ptr found;
  ry::error why(RY_OK);
  try {
    // Continues if the first caller leaves: others wait for the same result.
    found = co_await ry::shield(provision(std::move(who)));
  } catch (...) {
    why = ry::current_error();
  }
  if (found) {
    std::lock_guard lock(mutex_);
    if (known_.size() >= max_known) known_.clear();
    if (epoch == epoch_) known_.insert_or_assign(subject, known{found, token_role, by_verified});
  }
  settle(subject, found, why);
}

void account_cache::settle(const std::string& subject, const account_ptr& found, const ry::error& why) {
  std::vector<waiter> all;
  {
    std::lock_guard lock(mutex_);
    if (auto it = waiting_.find(subject); it != waiting_.end()) {
      all = std::move(it->second);
      waiting_.erase(it);
    }
  }
  for (const auto& w : all) answer(w, found, why);
}

void account_cache::answer(waiter w, account_ptr found, ry::error why) const noexcept {
  try {
    ctx_.post(w.exec, [this, w, found = std::move(found), why] {
      if (!found) {
        const auto v = why.view();
        w.fn(w.ctx, why.status() == RY_OK ? RY_INTERNAL : why.status(), nullptr, &v);
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
    ry::error why = ry::not_found("accounts.not_found", "Account not found");
    try {
      found = co_await self->repo_.find(id);
    } catch (...) {
      why = ry::current_error();
    }
    self->answer(w, std::move(found), why);
  };
  return ctx_.spawn(body(this, *id, {exec, fn, ctx, RY_ROLE_USER}), exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<account_ptr> account_cache::of(const ry_principal* who, std::string network) {
  if (who == nullptr) throw ry::unauthenticated("auth.required", "Not authenticated");
  auto got = co_await ry::call<account_ptr, const ry_account_view*>(
      [this, who, &network](ry_exec* exec, ry_account_fn fn, void* ctx) { return ask(who, network, exec, fn, ctx); },
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

void account_cache::forget(std::string_view subject) {
  std::lock_guard lock(mutex_);
  ++epoch_;
  if (const auto it = known_.find(subject); it != known_.end()) known_.erase(it);
}

const ry_accounts_v1* account_cache::table() noexcept {
  static constexpr ry_accounts_v1 t{
      sizeof(ry_accounts_v1), 0,
      [](void* self, const ry_principal* who, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
        return ry::guard([&] { return static_cast<account_cache*>(self)->ensure(who, exec, fn, ctx); });
      },
      [](void* self, ry_str name) noexcept { return static_cast<const account_cache*>(self)->tier(ry::view(name)); },
      [](void* self, const ry_uuid* id, ry_exec* exec, ry_account_fn fn, void* ctx) noexcept {
        return ry::guard([&] { return static_cast<account_cache*>(self)->find(id, exec, fn, ctx); });
      }};
  return &t;
}

}  // namespace accounts
