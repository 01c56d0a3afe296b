#include "core/auth/authenticator.hpp"

#include <sodium.h>

#include <algorithm>
#include <atomic>
#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "core/auth/base64url.hpp"
#include "core/auth/contributors.hpp"
#include "core/auth/jwt.hpp"
#include "core/auth/key_file.hpp"
#include "core/auth/token_path.hpp"
#include "core/auth/verdict_cache.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

constexpr std::string_view query_typ = "query+jwt";
// A verdict on a key set's token is not remembered longer, however long the token lives.
constexpr std::int64_t max_remembered_us = 300'000'000;
constexpr auto max_query_ttl = std::chrono::hours(1);
constexpr const char* session_ended = "its session has ended";

std::int64_t system_now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A kept key: the text of 32 random bytes; white space around it does not count.
std::string own_secret(const std::filesystem::path& data_dir) {
  const auto path = data_dir / "auth.key";
  auto text = load_or_make_key_file(path, [] {
    std::string raw(32, '\0');
    randombytes_buf(raw.data(), raw.size());
    return base64url_encode(raw) + "\n";
  });
  const auto space = " \t\r\n";
  const auto from = text.find_first_not_of(space);
  text = from == text.npos ? "" : text.substr(from, text.find_last_not_of(space) - from + 1);
  if (text.size() < 32) throw std::runtime_error("key file " + path.string() + ": is too short");
  return text;
}

fetched read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return {{}, "the file cannot be read"};
  return {std::move(text), {}};
}

std::string derived(std::string_view secret, std::string_view purpose) {
  crypto_auth_hmacsha256_state st;
  crypto_auth_hmacsha256_init(&st, reinterpret_cast<const unsigned char*>(secret.data()),
                              secret.size());
  crypto_auth_hmacsha256_update(&st, reinterpret_cast<const unsigned char*>(purpose.data()),
                                purpose.size());
  std::string key(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&st, reinterpret_cast<unsigned char*>(key.data()));
  return key;
}

issued refusal(ry_status st, const char* message) {
  return {{}, core::error{st, "auth.invalid_claims", message, {}, 0, 0}};
}

}  // namespace

struct authenticator::state : std::enable_shared_from_this<authenticator::state> {
  state(settings s, std::string secret)
      : cfg(std::move(s)),
        own(std::move(secret)),
        own_key(verification_key::from_secret(own)),
        query_secret(derived(own, "runyard query token/1")),
        query_key(verification_key::from_secret(query_secret)),
        cache(cfg.cache_entries),
        drivers(std::make_shared<contributors>()) {}

  const settings cfg;
  const std::string own;
  const verification_key own_key;
  const std::string query_secret;
  const verification_key query_key;
  verdict_cache cache;
  const std::shared_ptr<contributors> drivers;
  std::shared_ptr<jwks_source> source;

  std::int64_t now() const { return cfg.now_unix_us ? cfg.now_unix_us() : system_now_us(); }

  // Sessions that ended before their tokens did, and until when that matters.
  std::mutex ended_mutex;
  std::map<std::string, std::int64_t, std::less<>> ended;
  std::atomic<std::uint64_t> ended_sessions{0};

  void end_session(std::string_view session, std::int64_t until) {
    const auto at = now();
    std::lock_guard lock(ended_mutex);
    for (auto it = ended.begin(); it != ended.end();) {
      it = it->second < at ? ended.erase(it) : std::next(it);
    }
    const auto [kept, fresh] = ended.try_emplace(std::string(session), until);
    kept->second = std::max(kept->second, until);
    if (fresh) ended_sessions.fetch_add(1, std::memory_order_release);
  }
  bool has_ended(std::string_view session) {
    if (session.empty()) return false;
    std::lock_guard lock(ended_mutex);
    const auto it = ended.find(session);
    return it != ended.end() && it->second >= now();
  }

  verdict claims(const unverified_token& token, std::string_view bearer, std::uint64_t epoch) {
    claim_rules rules{cfg.issuer, cfg.audiences, cfg.leeway_s};
    checked_claims c;
    if (token.alg == algorithm::hs256) {
      c = check_claims(token.payload, {{}, {}, cfg.leeway_s}, now());
      if (!c.refused && c.who.issuer != own_issuer) {
        if (cfg.hs256_secret.empty()) return {RY_UNAUTHENTICATED, nullptr, "another issuer"};
        c = check_claims(token.payload, rules, now());
      } else if (!c.refused) {
        c.who.session = session_of(c.claims);
        if (has_ended(c.who.session)) return {RY_UNAUTHENTICATED, nullptr, session_ended};
      }
    } else {
      c = check_claims(token.payload, rules, now());
    }
    if (c.refused) return {RY_UNAUTHENTICATED, nullptr, c.refused};
    const auto until =
        std::min(c.who.expires_unix_us + cfg.leeway_s * 1'000'000, now() + max_remembered_us);
    auto who = std::make_shared<const principal>(std::move(c.who));
    cache.insert(bearer, who, until, epoch);
    return {RY_OK, std::move(who), ""};
  }

  // nullopt: the token's key is not in `keys`.
  std::optional<verdict> decide(std::string_view bearer,
                                const std::shared_ptr<const key_set>& keys) {
    const auto epoch = cache.epoch();
    const auto token = parse_token(bearer, cfg.max_token_bytes);
    if (token.refused) return verdict{RY_UNAUTHENTICATED, nullptr, token.refused};
    if (token.alg == algorithm::hs256) {
      if (!own_key.verify(token)) return verdict{RY_UNAUTHENTICATED, nullptr, "wrong signature"};
      return claims(token, bearer, epoch);
    }
    if (!source) return verdict{RY_UNAUTHENTICATED, nullptr, "no key set is configured"};
    if (!keys) return std::nullopt;
    switch (check_signature(*keys, token)) {
      case signature_check::valid:
        return claims(token, bearer, epoch);
      case signature_check::invalid:
        return verdict{RY_UNAUTHENTICATED, nullptr, "wrong signature"};
      case signature_check::unknown_key:
        break;
    }
    return std::nullopt;
  }

  std::optional<verdict> jwt(std::string_view bearer, ry_exec* exec, verdict_fn later) {
    const auto keys = source ? source->keys() : nullptr;
    if (auto v = decide(bearer, keys)) {
      if (source) source->freshen(now());
      return v;
    }
    auto retry = [self = shared_from_this(), bearer = std::string(bearer), exec,
                  later = std::move(later)] {
      exec->post([self, bearer, later] { later(self->decide_finally(bearer)); });
    };
    switch (source->refetch(now(), keys, std::move(retry))) {
      case jwks_source::wait::queued:
        return std::nullopt;
      case jwks_source::wait::fresh:
        return undecided(keys);
      case jwks_source::wait::too_many:
        break;
    }
    return verdict{RY_UNAVAILABLE, nullptr, "too many tokens wait for the key set"};
  }

  verdict decide_finally(std::string_view bearer) {
    const auto keys = source->keys();
    if (auto v = decide(bearer, keys)) return *std::move(v);
    return undecided(keys);
  }

  static verdict undecided(const std::shared_ptr<const key_set>& keys) {
    if (keys) return {RY_UNAUTHENTICATED, nullptr, "the key set has no such key"};
    return {RY_UNAVAILABLE, nullptr, "the key set is not known yet"};
  }

  issued sign(std::string_view secret, std::string_view typ, json::object claims,
              std::chrono::milliseconds ttl) const {
    if (ttl <= std::chrono::milliseconds::zero() || ttl > std::chrono::hours(24 * 3660)) {
      return refusal(RY_INVALID_ARGUMENT, "the time to live must be positive and below ten years");
    }
    const auto at = now();
    claims["iss"] = json::string_view(own_issuer.data(), own_issuer.size());
    claims["iat"] = at / 1'000'000;
    // Rounded up: a token is never shorter-lived than asked for.
    claims["exp"] = (at + ttl.count() * 1000 + 999'999) / 1'000'000;
    auto token = sign_hs256(secret, typ, claims);
    if (token.size() > cfg.max_token_bytes) {
      return refusal(RY_INVALID_ARGUMENT, "the claims make the token too long");
    }
    return {std::move(token), std::nullopt};
  }
};

authenticator::authenticator(settings s, fetch_fn fetch) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised");
  if (!s.jwks_url.empty() && !s.jwks_file.empty()) {
    throw std::runtime_error("auth.jwt.jwks_url and auth.jwt.jwks_file exclude each other");
  }
  if (!s.jwks_url.empty() && !fetch) {
    throw std::runtime_error("auth.jwt.jwks_url needs an HTTP client");
  }
  if (!s.hs256_secret.empty() && s.hs256_secret.size() < 32) {
    observe::log(observe::level::warn, "auth",
                 "auth.jwt.hs256_secret is shorter than 32 bytes: it can be guessed");
  }
  auto secret = s.hs256_secret.empty() ? own_secret(s.data_dir) : s.hs256_secret;
  observe::redact(secret);
  state_ = std::make_shared<state>(std::move(s), std::move(secret));

  const auto& cfg = state_->cfg;
  if (cfg.jwks_url.empty() && cfg.jwks_file.empty()) return;
  const auto from = cfg.jwks_url.empty() ? cfg.jwks_file.string() : cfg.jwks_url;
  if (!cfg.jwks_file.empty()) {
    fetch = [](const std::string& path, const std::function<void(fetched)>& done) {
      done(read_file(path));
    };
    const auto first = read_file(from);
    std::string why = first.error;
    if (why.empty()) parse_jwks(first.body, &why);
    if (!why.empty()) throw std::runtime_error("auth.jwt.jwks_file " + from + ": " + why);
  }
  state_->source = std::make_shared<jwks_source>(
      jwks_source::settings{from, cfg.jwks_max_age_us, cfg.jwks_min_interval_us}, std::move(fetch),
      [weak = std::weak_ptr(state_)] {
        if (const auto st = weak.lock()) st->cache.clear();
      });
}

authenticator::~authenticator() = default;

void authenticator::warm_up() {
  if (state_->source) state_->source->freshen(state_->now());
}

principal_ptr authenticator::remembered(std::string_view bearer) {
  return state_->cache.find(bearer, state_->now());
}

std::optional<verdict> authenticator::authenticate(std::string_view bearer, ry_exec* exec,
                                                   verdict_fn later) {
  if (bearer.empty()) return verdict{RY_UNAUTHENTICATED, nullptr, "no token"};
  if (bearer.size() > state_->cfg.max_token_bytes) {
    return verdict{RY_UNAUTHENTICATED, nullptr, "token too long"};
  }
  if (auto who = remembered(bearer)) return verdict{RY_OK, std::move(who), ""};
  if (looks_like_jwt(bearer)) return state_->jwt(bearer, exec, std::move(later));
  if (state_->drivers->empty()) return verdict{RY_UNAUTHENTICATED, nullptr, "not a JWT"};

  state_->drivers->ask(std::string(bearer), exec,
                       [st = state_, bearer = std::string(bearer), epoch = state_->cache.epoch(),
                        later = std::move(later)](verdict v) {
                         if (v.status == RY_OK && st->has_ended(v.who->session)) {
                           v = {RY_UNAUTHENTICATED, nullptr, session_ended};
                         } else if (v.status == RY_OK) {
                           auto until = st->now() + st->cfg.contributed_ttl_us;
                           if (v.who->expires_unix_us != 0)
                             until = std::min(until, v.who->expires_unix_us);
                           st->cache.insert(bearer, v.who, until, epoch);
                         }
                         later(std::move(v));
                       });
  return std::nullopt;
}

verdict authenticator::authenticate_query(std::string_view text, std::string_view path) const {
  const auto token = parse_token(text, state_->cfg.max_token_bytes);
  if (token.refused) return {RY_UNAUTHENTICATED, nullptr, token.refused};
  if (token.typ != query_typ || !state_->query_key.verify(token)) {
    return {RY_UNAUTHENTICATED, nullptr, "not a query token"};
  }
  auto c = check_claims(token.payload, {std::string(own_issuer), {}, 0}, state_->now());
  if (c.refused) return {RY_UNAUTHENTICATED, nullptr, c.refused};
  const auto* bound = c.claims.if_contains("path");
  if (!bound || !bound->is_string() ||
      !same_path({bound->get_string().data(), bound->get_string().size()}, path)) {
    return {RY_UNAUTHENTICATED, nullptr, "a query token for another path"};
  }
  c.who.session = session_of(c.claims);
  if (state_->has_ended(c.who.session)) return {RY_UNAUTHENTICATED, nullptr, session_ended};
  c.who.auth_kind = "query_token";
  c.who.claims_json = "{}";
  return {RY_OK, std::make_shared<const principal>(std::move(c.who)), ""};
}

issued authenticator::mint(std::string_view claims_json, std::chrono::milliseconds ttl) const {
  json::error_code ec;
  auto v = json::parse(json::string_view(claims_json.data(), claims_json.size()), ec);
  if (ec || !v.is_object()) return refusal(RY_INVALID_ARGUMENT, "the claims are not a JSON object");
  auto& claims = v.get_object();
  const auto* sub = claims.if_contains("sub");
  if (!sub || !sub->is_string() || sub->get_string().empty() || sub->get_string().size() > 255) {
    return refusal(RY_INVALID_ARGUMENT, "the claim \"sub\" must be a string of 1 to 255 bytes");
  }
  return state_->sign(state_->own, "JWT", std::move(claims), ttl);
}

issued authenticator::mint_token(const token_request& request) const {
  json::object claims;
  claims["sub"] = request.subject;
  if (!request.email.empty()) claims["email"] = request.email;
  const auto name = to_string(request.role);
  claims["role"] = json::string_view(name.data(), name.size());
  if (request.subject.empty() || request.subject.size() > 255) {
    return refusal(RY_INVALID_ARGUMENT, "the subject must be a string of 1 to 255 bytes");
  }
  return state_->sign(state_->own, "JWT", std::move(claims), request.ttl);
}

issued authenticator::mint_query_token(const ry_principal& who, std::string_view path,
                                       std::chrono::milliseconds ttl) const {
  if (who.subject.len == 0 || path.empty() || who.role > RY_ROLE_SUPER_ADMIN) {
    return refusal(RY_INVALID_ARGUMENT, "a query token needs a principal and a path");
  }
  json::object claims;
  claims["sub"] = json::string_view(who.subject.ptr, who.subject.len);
  const auto name = to_string(static_cast<role>(who.role));
  claims["role"] = json::string_view(name.data(), name.size());
  claims["path"] = json::string_view(path.data(), path.size());
  json::error_code ec;
  const auto own = json::parse(json::string_view(who.claims_json.ptr, who.claims_json.len), ec);
  const auto session = ec || !own.is_object() ? std::string() : session_of(own.get_object());
  if (!session.empty()) claims["sid"] = session;
  return state_->sign(state_->query_secret, query_typ, std::move(claims),
                      std::min<std::chrono::milliseconds>(ttl, max_query_ttl));
}

void authenticator::forget(std::string_view subject) {
  state_->cache.forget(subject);
}

void authenticator::refuse_session(std::string_view subject, std::string_view session,
                                   std::int64_t until_unix_us) {
  // In this order: what is decided after the cache was cleared sees the session's end.
  state_->end_session(session, until_unix_us + state_->cfg.leeway_s * 1'000'000);
  state_->cache.forget(subject);
}

bool authenticator::has_ended(const principal& who) const {
  return state_->has_ended(who.session);
}

std::uint64_t authenticator::ended_sessions() const noexcept {
  return state_->ended_sessions.load(std::memory_order_acquire);
}

void authenticator::add_contributor(contributor c) {
  state_->drivers->add(std::move(c));
}

void authenticator::remove_contributor(std::string_view name, std::function<void()> gone) {
  state_->drivers->remove(name, std::move(gone));
}

}  // namespace ry::auth
