#include "core/auth/jwks.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "core/auth/base64url.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

constexpr std::size_t max_document = 1024 * 1024;
constexpr std::size_t max_keys = 64;
constexpr std::size_t max_waiting = 4096;

std::string_view text_of(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  if (!v || !v->is_string()) return {};
  return {v->get_string().data(), v->get_string().size()};
}

bool meant_for_verification(const json::object& jwk) {
  if (jwk.contains("use") && text_of(jwk, "use") != "sig") return false;
  const auto* ops = jwk.if_contains("key_ops");
  if (!ops) return true;
  if (!ops->is_array()) return false;
  const auto& all = ops->get_array();
  return std::any_of(all.begin(), all.end(),
                     [](const json::value& op) { return op.is_string() && op.get_string() == "verify"; });
}

std::optional<verification_key> first_certificate(const json::object& jwk) {
  const auto* chain = jwk.if_contains("x5c");
  if (!chain || !chain->is_array() || chain->get_array().empty()) return std::nullopt;
  const auto& first = chain->get_array().front();
  if (!first.is_string()) return std::nullopt;
  // Unlike the other members, certificates are in base64, not in base64url (RFC 7517 section 4.7).
  const auto der = base64_decode({first.get_string().data(), first.get_string().size()}, base64_alphabet::standard,
                                 base64_padding::optional);
  return der ? verification_key::from_certificate_der(*der) : std::nullopt;
}

std::optional<verification_key> read_numbers(const json::object& jwk) {
  const auto kty = text_of(jwk, "kty"), curve = text_of(jwk, "crv");
  if (kty == "RSA") {
    const auto n = base64url_decode(text_of(jwk, "n")), e = base64url_decode(text_of(jwk, "e"));
    if (n && e) return verification_key::from_rsa(*n, *e);
  } else if (kty == "EC") {
    const auto x = base64url_decode(text_of(jwk, "x")), y = base64url_decode(text_of(jwk, "y"));
    if (x && y) return verification_key::from_ec(curve, *x, *y);
  } else if (kty == "OKP") {
    if (const auto x = base64url_decode(text_of(jwk, "x"))) return verification_key::from_edwards(curve, *x);
  }
  return std::nullopt;
}

std::optional<verification_key> read_key(const json::object& jwk) {
  if (!meant_for_verification(jwk) || text_of(jwk, "kty") == "oct") return std::nullopt;
  const bool has_numbers = jwk.contains("n") || jwk.contains("x");
  auto key = has_numbers ? read_numbers(jwk) : first_certificate(jwk);
  if (!key || !jwk.contains("alg")) return key;
  const auto alg = algorithm_by_name(text_of(jwk, "alg"));
  if (!alg || !key->restrict_to(*alg)) return std::nullopt;
  return key;
}

// {"kid": "-----BEGIN CERTIFICATE-----..."}, as Google publishes the keys of Firebase.
bool is_certificate_map(const json::object& doc) {
  return !doc.empty() && std::all_of(doc.begin(), doc.end(), [](const auto& member) {
    return member.value().is_string() && member.value().get_string().starts_with("-----BEGIN CERTIFICATE-----");
  });
}

void read_certificates(const json::object& doc, key_set& set) {
  for (const auto& [kid, pem] : doc) {
    if (set.keys.size() == max_keys) return;
    if (auto key = verification_key::from_certificate_pem({pem.get_string().data(), pem.get_string().size()}))
      set.keys.push_back({std::string(kid.data(), kid.size()), *std::move(key)});
  }
}

// The algorithms of the skipped keys, for the operator: "ES256K, RSA-OAEP".
std::string kinds_of(const json::array& keys) {
  constexpr std::size_t max_named = 5;
  std::vector<std::string> kinds;
  for (const auto& item : keys) {
    const auto* jwk = item.if_object();
    if (!jwk) continue;
    std::string kind;
    for (const char* name : {"alg", "crv", "kty"})
      if (kind.empty()) kind = text_of(*jwk, name).substr(0, 24);
    std::erase_if(kind, [](char c) { return c < 0x20 || c > 0x7e; });
    if (!kind.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    if (kinds.size() == max_named) break;
  }
  std::string out;
  for (const auto& k : kinds) out += (out.empty() ? "" : ", ") + k;
  return out;
}

}  // namespace

signature_check check_signature(const key_set& keys, const unverified_token& token) {
  auto outcome = signature_check::unknown_key;
  for (const auto& [kid, key] : keys.keys) {
    if (!key.accepts(token.alg)) continue;
    if (!token.kid.empty() && !kid.empty() && kid != token.kid) continue;
    if (verify(key, token)) return signature_check::valid;
    // A key without an id may differ from the one that the token names; only a newer key set can tell.
    if (token.kid == kid || token.kid.empty()) outcome = signature_check::invalid;
  }
  return outcome;
}

std::shared_ptr<const key_set> parse_jwks(std::string_view text, std::string* why) {
  if (text.size() > max_document) {
    *why = "the key set is longer than 1 MiB";
    return nullptr;
  }
  json::error_code ec;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), ec);
  const json::value* list = !ec && doc.is_object() ? doc.get_object().if_contains("keys") : nullptr;
  auto set = std::make_shared<key_set>();
  if (!ec && !list && doc.is_object() && is_certificate_map(doc.get_object())) {
    read_certificates(doc.get_object(), *set);
    if (!set->keys.empty()) return set;
    *why = "the key set contains no certificate with a usable key";
    return nullptr;
  }
  if (!list || !list->is_array()) {
    *why = "the key set is not a JSON object with an array \"keys\"";
    return nullptr;
  }
  for (const auto& item : list->get_array()) {
    if (set->keys.size() == max_keys) break;
    if (!item.is_object()) continue;
    if (auto key = read_key(item.get_object())) {
      set->keys.push_back({std::string(text_of(item.get_object(), "kid")), *std::move(key)});
    }
  }
  if (set->keys.empty()) {
    const auto kinds = kinds_of(list->get_array());
    *why = "the key set contains no signature key of RSA, P-256, P-384, P-521, Ed25519 or Ed448" +
           (kinds.empty() ? std::string() : "; its keys are for " + kinds);
    return nullptr;
  }
  return set;
}

jwks_source::jwks_source(settings s, fetch_fn fetch, std::function<void()> changed)
    : settings_(std::move(s)), fetch_(std::move(fetch)), changed_(std::move(changed)) {}

std::shared_ptr<const key_set> jwks_source::keys() const {
  std::lock_guard lock(mutex_);
  return keys_;
}

void jwks_source::freshen(std::int64_t now_us) {
  std::unique_lock lock(mutex_);
  if (fetching_) return;
  const auto age = now_us - begun_us_;
  if (begun_us_ == 0 || age >= (keys_ ? settings_.max_age_us : settings_.min_interval_us)) {
    begin(lock, now_us);
  }
}

jwks_source::wait jwks_source::refetch(std::int64_t now_us, const std::shared_ptr<const key_set>& seen,
                                       std::function<void()> retry) {
  std::unique_lock lock(mutex_);
  if (!fetching_ && keys_ == seen && begun_us_ != 0 && now_us - begun_us_ < settings_.min_interval_us) {
    return wait::fresh;
  }
  if (waiting_.size() >= max_waiting) return wait::too_many;
  if (!fetching_ && keys_ != seen) {
    // Another set has arrived between the lookup and this call.
    lock.unlock();
    retry();
    return wait::queued;
  }
  waiting_.push_back(std::move(retry));
  if (!fetching_) begin(lock, now_us);
  return wait::queued;
}

void jwks_source::begin(std::unique_lock<std::mutex>& lock, std::int64_t now_us) {
  fetching_ = true;
  begun_us_ = now_us;
  lock.unlock();
  fetch_(settings_.url, [self = shared_from_this()](fetched result) { self->ended(std::move(result)); });
}

void jwks_source::ended(fetched result) {
  std::string why = std::move(result.error);
  std::shared_ptr<const key_set> set;
  if (why.empty()) set = parse_jwks(result.body, &why);
  if (!set) {
    observe::log(observe::level::warn, "auth", "the key set could not be refreshed",
                 {{"url", settings_.url}, {"error", why}});
  }
  std::vector<std::function<void()>> waiting;
  bool is_new = false;
  {
    std::lock_guard lock(mutex_);
    if (set && result.body != body_) {
      keys_ = std::move(set);
      body_ = std::move(result.body);
      is_new = true;
    }
    fetching_ = false;
    waiting.swap(waiting_);
  }
  if (is_new && changed_) changed_();
  for (auto& retry : waiting) retry();
}

}  // namespace ry::auth
