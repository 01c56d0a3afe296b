#include "core/auth/authenticator.hpp"

#include <sodium.h>

#include <algorithm>
#include <atomic>
#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <ry/cpp/text.hpp>
#include <stdexcept>
#include <utility>

#include "core/auth/authenticator_drivers.hpp"
#include "core/auth/base64url.hpp"
#include "core/auth/jwt.hpp"
#include "core/auth/key_file.hpp"
#include "core/auth/rejection_log.hpp"
#include "core/auth/token_path.hpp"
#include "core/auth/verdict_cache.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

constexpr std::string_view query_typ = "query+jwt";
// Maximum cache time of a verdict on a key set's token, regardless of the token's lifetime.
constexpr std::int64_t max_remembered_us = 300'000'000;
// The maximum duration of a run (runs.run_timeout) and a day: browsers reconnect to a stream with the same URL.
constexpr auto max_query_ttl = std::chrono::hours(8 * 24);
constexpr const char* session_ended = "its session has ended";

std::int64_t system_now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The content of a key file: the text of 32 random bytes; surrounding white space is ignored.
std::string own_secret(const std::filesystem::path& data_dir) {
  const auto path = data_dir / "auth.key";
  auto text = load_or_make_key_file(path, [] {
    std::string raw(32, '\0');
    randombytes_buf(raw.data(), raw.size());
    return base64url_encode(raw) + "\n";
  });
  text = std::string(trimmed(text));
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
  crypto_auth_hmacsha256_init(&st, reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  crypto_auth_hmacsha256_update(&st, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  std::string key(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&st, reinterpret_cast<unsigned char*>(key.data()));
  return key;
}

// An identity provider and the keys of its tokens.
struct trusted_issuer {
  const issuer_settings* cfg;
  std::optional<verification_key> secret;
  std::shared_ptr<jwks_source> source;

  claim_rules rules() const { return {cfg->issuer, cfg->audiences, cfg->leeway_s, cfg->roles, cfg->subject_prefix}; }
};

issued refusal(ry_status st, const char* message) {
  return {{}, core::error{st, "auth.invalid_claims", message, {}, 0, 0}};
}

}  // namespace

struct authenticator::state : std::enable_shared_from_this<authenticator::state> {
  state(settings s, std::string secret)
      : cfg(std::move(s)),
        own(std::move(secret)),
        query_secret(derived(own, "runyard query token/1")),
        query_key(verification_key::from_secret(query_secret)),
        cache(cfg.cache_entries),
        drivers(std::make_shared<authenticator_drivers>()) {
    issuers.push_back({&cfg.main, verification_key::from_secret(own), nullptr});
    for (const auto& i : cfg.issuers) {
      issuers.push_back({&i, std::nullopt, nullptr});
      if (!i.hs256_secret.empty()) issuers.back().secret = verification_key::from_secret(i.hs256_secret);
    }
  }

  const settings cfg;
  const std::string own;
  const std::string query_secret;
  const verification_key query_key;
  verdict_cache cache;
  rejection_log rejections;
  const std::shared_ptr<authenticator_drivers> drivers;
  std::vector<trusted_issuer> issuers;  // the first one is auth.jwt; not changed after the constructor

  std::int64_t now() const { return cfg.now_unix_us ? cfg.now_unix_us() : system_now_us(); }

  // Revoked sessions whose tokens have not expired, with the time of expiry. Also subjects whose tokens were all
  // revoked, with the time from which new tokens are valid.
  struct ending {
    std::int64_t until_us;
    std::int64_t issued_before_us;
  };
  std::mutex ended_mutex;
  std::map<std::string, ending, std::less<>> ended;
  std::atomic<std::uint64_t> revocation_count{0};

  static constexpr std::int64_t any_issue_time = std::numeric_limits<std::int64_t>::max();
  // No "sid" begins with a zero byte: session_of() omits those.
  static std::string all_of(std::string_view subject) { return std::string(1, '\0').append(subject); }

  void end_session(std::string session, std::int64_t until, std::int64_t issued_before) {
    const auto at = now();
    std::lock_guard lock(ended_mutex);
    std::erase_if(ended, [at](const auto& e) { return e.second.until_us < at; });
    const auto [kept, fresh] = ended.try_emplace(std::move(session), ending{until, issued_before});
    kept->second.until_us = std::max(kept->second.until_us, until);
    const bool grown = kept->second.issued_before_us < issued_before;
    if (grown) kept->second.issued_before_us = issued_before;
    if (fresh || grown) revocation_count.fetch_add(1, std::memory_order_release);
  }
  bool is_revoked(const principal& who) {
    std::lock_guard lock(ended_mutex);
    if (ended.empty()) return false;
    const auto at = now();
    const auto session = who.session.empty() ? ended.end() : ended.find(who.session);
    if (session != ended.end() && session->second.until_us >= at) return true;
    // API keys have no time of issue and are revoked one by one.
    if (who.auth_kind != "jwt" && who.auth_kind != "query_token") return false;
    const auto all = ended.find(all_of(who.subject));
    return all != ended.end() && all->second.until_us >= at && who.issued_unix_us <= all->second.issued_before_us;
  }

  // The provider whose keys a token must be signed with.
  const trusted_issuer& issuer_of(const unverified_token& token) const {
    if (issuers.size() > 1) {
      const auto name = unverified_issuer(token);
      for (std::size_t i = 1; i < issuers.size(); ++i)
        if (issuers[i].cfg->issuer == name) return issuers[i];
    }
    return issuers.front();
  }

  static verdict refused(const char* why) { return {RY_UNAUTHENTICATED, nullptr, why}; }

  verdict accept(checked_claims c, const trusted_issuer& from, std::string_view bearer, std::uint64_t epoch) {
    if (is_revoked(c.who)) return refused(session_ended);
    const auto until = std::min(c.who.expires_unix_us + from.cfg->leeway_s * 1'000'000, now() + max_remembered_us);
    auto who = std::make_shared<const principal>(std::move(c.who));
    cache.insert(bearer, who, until, epoch);
    return {RY_OK, std::move(who), ""};
  }

  verdict claims(const unverified_token& token, const trusted_issuer& from, std::string_view bearer,
                 std::uint64_t epoch) {
    auto c = check_claims(token.payload, from.rules(), now());
    if (c.refused) return refused(c.refused);
    return accept(std::move(c), from, bearer, epoch);
  }

  // The verdict on a token signed with the key of auth.jwt: the host's own, or one of a provider that shares the key.
  verdict own_claims(const unverified_token& token, std::string_view bearer, std::uint64_t epoch) {
    const auto& from = issuers.front();
    if (unverified_issuer(token) != own_issuer) {
      if (from.cfg->hs256_secret.empty()) return refused("no shared secret is configured for this issuer");
      return claims(token, from, bearer, epoch);
    }
    if (token.alg != algorithm::hs256) return refused("tokens of the server's own issuer must be signed with HS256");
    auto c = check_claims(token.payload, {{}, {}, from.cfg->leeway_s, {}, {}}, now());
    if (c.refused) return refused(c.refused);
    c.who.session = session_of(c.claims);
    return accept(std::move(c), from, bearer, epoch);
  }

  verdict by_secret(const unverified_token& token, const trusted_issuer& from, std::string_view bearer,
                    std::uint64_t epoch) {
    if (!from.secret) return refused("no shared secret is configured for this issuer");
    if (!verify(*from.secret, token)) return refused("wrong signature");
    if (&from == &issuers.front()) return own_claims(token, bearer, epoch);
    return claims(token, from, bearer, epoch);
  }

  // nullopt: the token's key is not in `keys`.
  std::optional<verdict> decide(std::string_view bearer, const unverified_token& token, const trusted_issuer& from,
                                const std::shared_ptr<const key_set>& keys, std::uint64_t epoch) {
    if (is_hmac(token.alg)) return by_secret(token, from, bearer, epoch);
    if (!from.source) return refused("no key set is configured for this issuer");
    if (!keys) return std::nullopt;
    switch (check_signature(*keys, token)) {
      case signature_check::valid:
        return claims(token, from, bearer, epoch);
      case signature_check::invalid:
        return refused("wrong signature");
      case signature_check::unknown_key:
        break;
    }
    return std::nullopt;
  }

  std::optional<verdict> jwt(std::string_view bearer, ry_exec* exec, verdict_fn later) {
    const auto epoch = cache.epoch();
    const auto token = parse_token(bearer, cfg.max_token_bytes);
    if (token.refused) return refused(token.refused);
    const auto& from = issuer_of(token);
    const auto keys = from.source ? from.source->keys() : nullptr;
    if (auto v = decide(bearer, token, from, keys, epoch)) {
      if (from.source) from.source->freshen(now());
      return v;
    }
    auto retry = [self = shared_from_this(), bearer = std::string(bearer), exec, later = std::move(later)] {
      exec->post([self, bearer, later] {
        auto v = self->decide_finally(bearer);
        self->note(v, bearer);
        later(std::move(v));
      });
    };
    switch (from.source->refetch(now(), keys, std::move(retry))) {
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
    const auto epoch = cache.epoch();
    const auto token = parse_token(bearer, cfg.max_token_bytes);
    if (token.refused) return refused(token.refused);
    const auto& from = issuer_of(token);
    const auto keys = from.source ? from.source->keys() : nullptr;
    if (auto v = decide(bearer, token, from, keys, epoch)) return *std::move(v);
    return undecided(keys);
  }

  static verdict undecided(const std::shared_ptr<const key_set>& keys) {
    if (keys) return refused("the key set has no such key");
    return {RY_UNAVAILABLE, nullptr, "the key set has not been fetched yet"};
  }

  // Logs a rejected token.
  void note(const verdict& v, std::string_view bearer) {
    const auto at = now();
    if (v.status == RY_OK || !rejections.admit(at)) return;
    rejection_log::expectation wanted;
    const auto token = looks_like_jwt(bearer) ? parse_token(bearer, cfg.max_token_bytes) : unverified_token{};
    if (!token.payload.empty() && unverified_issuer(token) != own_issuer) {
      const auto& from = *issuer_of(token).cfg;
      wanted = {from.name, from.issuer, {}};
      for (const auto& a : from.audiences) wanted.audience += (wanted.audience.empty() ? "" : ", ") + a;
    }
    rejections.write(bearer, v.why, wanted, at);
  }

  // Reads the key file of a provider, or prepares the fetch of its key set.
  void prepare_keys(trusted_issuer& i, const fetch_fn& by_url) {
    const auto& c = *i.cfg;
    if (!c.jwks_url.empty() && !c.jwks_file.empty())
      throw std::runtime_error(c.name + ".jwks_url and " + c.name + ".jwks_file are mutually exclusive");
    if (!c.jwks_url.empty() && !by_url) throw std::runtime_error(c.name + ".jwks_url needs an HTTP client");
    if (c.jwks_url.empty() && c.jwks_file.empty()) return;
    const auto from = c.jwks_url.empty() ? c.jwks_file.string() : c.jwks_url;
    auto fetch = by_url;
    if (!c.jwks_file.empty()) {
      fetch = [](const std::string& path, const std::function<void(fetched)>& done) { done(read_file(path)); };
      const auto first = read_file(from);
      std::string why = first.error;
      if (why.empty()) parse_jwks(first.body, &why);
      if (!why.empty()) throw std::runtime_error(c.name + ".jwks_file " + from + ": " + why);
    }
    i.source = std::make_shared<jwks_source>(jwks_source::settings{from, cfg.jwks_max_age_us, cfg.jwks_min_interval_us},
                                             std::move(fetch), [weak = weak_from_this()] {
                                               if (const auto st = weak.lock()) st->cache.clear();
                                             });
  }

  verdict query_token(std::string_view text, std::string_view path) {
    const auto token = parse_token(text, cfg.max_token_bytes);
    if (token.refused) return refused(token.refused);
    if (token.typ != query_typ || token.alg != algorithm::hs256 || !verify(query_key, token)) {
      return refused("not a query token");
    }
    auto c = check_claims(token.payload, {std::string(own_issuer), {}, 0, {}, {}}, now());
    if (c.refused) return refused(c.refused);
    const auto* bound = c.claims.if_contains("path");
    if (!bound || !bound->is_string() || !same_path({bound->get_string().data(), bound->get_string().size()}, path)) {
      return refused("the query token is for a different path");
    }
    c.who.session = session_of(c.claims);
    if (is_revoked(c.who)) return refused(session_ended);
    c.who.auth_kind = "query_token";
    c.who.claims_json = "{}";
    return {RY_OK, std::make_shared<const principal>(std::move(c.who)), ""};
  }

  issued sign(std::string_view secret, std::string_view typ, json::object claims, std::chrono::milliseconds ttl) const {
    if (ttl <= std::chrono::milliseconds::zero() || ttl > std::chrono::hours(24 * 3660)) {
      return refusal(RY_INVALID_ARGUMENT, "the time to live must be positive and below ten years");
    }
    const auto at = now();
    claims["iss"] = json::string_view(own_issuer.data(), own_issuer.size());
    claims["iat"] = at / 1'000'000;
    // Rounded up, so that a token never lives shorter than requested.
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
  if (!s.main.hs256_secret.empty() && s.main.hs256_secret.size() < 32) {
    observe::log(observe::level::warn, "auth", "auth.jwt.hs256_secret is shorter than 32 bytes: it can be guessed");
  }
  auto secret = s.main.hs256_secret.empty() ? own_secret(s.data_dir) : s.main.hs256_secret;
  observe::redact(secret);
  for (const auto& i : s.issuers) observe::redact(i.hs256_secret);
  state_ = std::make_shared<state>(std::move(s), std::move(secret));
  for (auto& i : state_->issuers) state_->prepare_keys(i, fetch);
}

authenticator::~authenticator() = default;

void authenticator::warm_up() {
  for (const auto& i : state_->issuers)
    if (i.source) i.source->freshen(state_->now());
}

principal_ptr authenticator::cached(std::string_view bearer) {
  return state_->cache.find(bearer, state_->now());
}

std::optional<verdict> authenticator::authenticate(std::string_view bearer, ry_exec* exec, verdict_fn later) {
  if (bearer.empty()) return state::refused("no token");
  const auto noted = [this, bearer](verdict v) {
    state_->note(v, bearer);
    return v;
  };
  if (bearer.size() > state_->cfg.max_token_bytes) return noted(state::refused("token too long"));
  if (auto who = cached(bearer)) return verdict{RY_OK, std::move(who), ""};
  if (looks_like_jwt(bearer)) {
    auto v = state_->jwt(bearer, exec, std::move(later));
    if (v) state_->note(*v, bearer);
    return v;
  }
  if (state_->drivers->empty()) return noted(state::refused("not a JWT"));

  state_->drivers->ask(
      std::string(bearer), exec,
      [st = state_, bearer = std::string(bearer), epoch = state_->cache.epoch(), later = std::move(later)](verdict v) {
        if (v.status == RY_OK && st->is_revoked(*v.who)) {
          v = state::refused(session_ended);
        } else if (v.status == RY_OK) {
          auto until = st->now() + st->cfg.driver_verdict_ttl_us;
          if (v.who->expires_unix_us != 0) until = std::min(until, v.who->expires_unix_us);
          st->cache.insert(bearer, v.who, until, epoch);
        }
        st->note(v, bearer);
        later(std::move(v));
      });
  return std::nullopt;
}

verdict authenticator::authenticate_query(std::string_view text, std::string_view path) const {
  auto v = state_->query_token(text, path);
  state_->note(v, text);
  return v;
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

void authenticator::revoke_session(std::string_view subject, std::string_view session, std::int64_t until_unix_us) {
  // In this order, so that a decision made after the cache was cleared sees the revocation.
  const auto until = until_unix_us + state_->cfg.main.leeway_s * 1'000'000;
  if (session.empty()) {
    const auto at = state_->now();
    if (until_unix_us < at) {
      const auto longest = std::chrono::duration_cast<std::chrono::microseconds>(max_query_ttl).count();
      state_->end_session(state::all_of(subject), until + longest, until_unix_us);
    } else {
      state_->end_session(state::all_of(subject), until, at);
    }
  } else {
    state_->end_session(std::string(session), until, state::any_issue_time);
  }
  state_->cache.forget(subject);
}

bool authenticator::is_revoked(const principal& who) const {
  return state_->is_revoked(who);
}

std::uint64_t authenticator::revocation_count() const noexcept {
  return state_->revocation_count.load(std::memory_order_acquire);
}

void authenticator::add_driver(authenticator_driver c) {
  state_->drivers->add(std::move(c));
}

void authenticator::remove_driver(std::string_view name, std::function<void()> on_removed) {
  state_->drivers->remove(name, std::move(on_removed));
}

}  // namespace ry::auth
