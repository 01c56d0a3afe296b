#include "sessions.hpp"

#include <sodium.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "../routes.hpp"
#include "../throttle.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::size_t max_agent_bytes = 200;
// Allows for clock differences between nodes and for transactions that commit later than their timestamp.
constexpr std::int64_t clock_margin_s = 20;
// Limits on the refreshes of one session, each of which stores a token.
constexpr std::int64_t refreshes_per_minute = 60, refreshes_per_hour = 900;

std::string printable(std::string_view s) {
  std::string out;
  for (const char c : s.substr(0, max_agent_bytes)) {
    if (c >= 0x20 && c < 0x7f) out += c;
  }
  return out;
}

}  // namespace

std::string make_token() {
  if (sodium_init() < 0) throw ry::internal("accounts.sodium", "libsodium cannot be initialised");
  unsigned char raw[32];
  randombytes_buf(raw, sizeof raw);
  char text[sodium_base64_ENCODED_LEN(sizeof raw, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
  sodium_bin2base64(text, sizeof text, raw, sizeof raw, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  sodium_memzero(raw, sizeof raw);
  return text;
}

ry::task<session_tokens> sessions::tokens(ry::uuid account, ry::uuid session, std::string refresh) {
  session_tokens out;
  out.who = co_await repo_.owner_of(account);
  out.refresh = std::move(refresh);
  out.expires_in = cfg_.access_seconds;
  json::object claims;
  claims["sub"] = out.who.subject;
  claims["sid"] = session.to_string();
  claims["email"] = out.who.email;
  claims["email_verified"] = out.who.verified;
  if (!out.who.name.empty()) claims["name"] = out.who.name;
  if (out.who.role >= RY_ROLE_SUPER_ADMIN) {
    claims["role"] = "super_admin";
  } else if (out.who.role == RY_ROLE_ADMIN) {
    claims["role"] = "admin";
  }
  out.access = ry::auth(ctx_).mint(json::serialize(claims), static_cast<std::uint64_t>(out.expires_in) * 1000).value();
  co_return out;
}

ry::task<session_tokens> sessions::open(ry::uuid account, std::string user_agent) {
  const auto id = ctx_.new_uuid();
  auto refresh = make_token();
  co_await repo_.open_session(account, id, hash_secret(refresh), printable(user_agent), cfg_.session_days);
  co_return co_await tokens(account, id, std::move(refresh));
}

ry::task<std::optional<session_tokens>> sessions::refresh(std::string token) {
  const auto current = co_await repo_.session_of(hash_secret(token));
  if (!current) co_return std::nullopt;
  const auto session = current->session.to_string();
  std::vector<bucket> limits{{"refresh/minute/" + session, refreshes_per_minute, 60},
                             {"refresh/hour/" + session, refreshes_per_hour, 3600}};
  co_await throttle(ctx_, std::move(limits));
  auto next = make_token();
  const auto r = co_await repo_.refresh(hash_secret(token), hash_secret(next), cfg_.session_days);
  if (!r) co_return std::nullopt;
  if (r->reused) {
    ctx_.warn("a refresh token was reused; its session was ended", {{"account", r->account}, {"session", r->session}});
    co_await propagate_ended();
    co_return std::nullopt;
  }
  auto tokens_of_session = co_await tokens(r->account, r->session, std::move(next));
  co_return std::move(tokens_of_session);
}

ry::task<void> sessions::end(ry::uuid account, std::optional<ry::uuid> only, std::optional<ry::uuid> except) {
  co_await repo_.end_sessions(account, only, except);
  co_await propagate_ended();
}

ry::task<void> sessions::end_all(ry::uuid account, bool revoke_api_keys) {
  co_await repo_.end_all_sessions(account, revoke_api_keys);
  co_await propagate_ended();
}

ry::task<void> sessions::end_by_token(std::string refresh_token) {
  const auto s = co_await repo_.session_of(hash_secret(refresh_token));
  if (s) co_await end(s->account, s->session, std::nullopt);
}

ry::task<void> sessions::refuse_ended() {
  const auto now = ctx_.mono_us();
  const auto lifetime = std::max(cfg_.access_seconds, query_token_lifetime_s);
  std::int64_t window = lifetime;
  {
    std::lock_guard lock(mutex_);
    if (last_check_us_ != 0) window = std::min(window, (now - last_check_us_) / 1'000'000);
  }
  const auto ended_sessions = co_await repo_.recently_ended_sessions(window + clock_margin_s);
  for (const auto& s : ended_sessions) {
    ry::auth(ctx_).revoke_session(s.subject, s.session, s.ended_unix_us + (lifetime + clock_margin_s) * 1'000'000);
  }
  const auto closures = co_await accounts_.recent_closures(window + clock_margin_s);
  for (const auto& c : closures) {
    {
      std::lock_guard lock(mutex_);
      if (!handled_closures_.insert(c.id).second) continue;
    }
    // Reject tokens of any issuer that were issued before the account was closed.
    cache_.record_closure(c.subject, c.closed_unix_us, (lifetime + clock_margin_s) * 1'000'000);
    // A time in the future rejects all tokens issued until this call, possibly including those of the subject's new
    // account; a time in the past rejects those issued until then. The database's clock may be ahead of this node's.
    const auto until = c.returned ? std::min(c.closed_unix_us, ctx_.now_unix_us() - 1)
                                  : c.closed_unix_us + (lifetime + clock_margin_s) * 1'000'000;
    ry::auth(ctx_).revoke_session(c.subject, {}, until);
  }
  std::lock_guard lock(mutex_);
  last_check_us_ = std::max(last_check_us_, now);
}

ry::task<void> sessions::propagate_ended() {
  ctx_.db().notify(changed_channel);
  co_await refuse_ended();
}

}  // namespace accounts
