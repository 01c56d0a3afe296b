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
  return std::any_of(all.begin(), all.end(), [](const json::value& op) {
    return op.is_string() && op.get_string() == "verify";
  });
}

std::optional<verification_key> read_key(const json::object& jwk) {
  if (!meant_for_verification(jwk)) return std::nullopt;
  const auto kty = text_of(jwk, "kty");
  const auto alg = text_of(jwk, "alg");
  const bool any_alg = !jwk.contains("alg");
  if (kty == "RSA" && (any_alg || alg == "RS256")) {
    const auto n = base64url_decode(text_of(jwk, "n"));
    const auto e = base64url_decode(text_of(jwk, "e"));
    if (n && e) return verification_key::from_rsa(*n, *e);
  } else if (kty == "EC" && text_of(jwk, "crv") == "P-256" && (any_alg || alg == "ES256")) {
    const auto x = base64url_decode(text_of(jwk, "x"));
    const auto y = base64url_decode(text_of(jwk, "y"));
    if (x && y) return verification_key::from_p256(*x, *y);
  }
  return std::nullopt;
}

}  // namespace

signature_check check_signature(const key_set& keys, const unverified_token& token) {
  auto outcome = signature_check::unknown_key;
  for (const auto& [kid, key] : keys.keys) {
    if (key.alg() != token.alg) continue;
    if (!token.kid.empty() && kid != token.kid) continue;
    if (key.verify(token)) return signature_check::valid;
    outcome = signature_check::invalid;
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
  if (!list || !list->is_array()) {
    *why = "the key set is not a JSON object with an array \"keys\"";
    return nullptr;
  }
  auto set = std::make_shared<key_set>();
  for (const auto& item : list->get_array()) {
    if (set->keys.size() == max_keys) break;
    if (!item.is_object()) continue;
    if (auto key = read_key(item.get_object())) {
      set->keys.push_back({std::string(text_of(item.get_object(), "kid")), *std::move(key)});
    }
  }
  if (set->keys.empty()) {
    *why = "the key set holds no RSA or P-256 signature key";
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

jwks_source::wait jwks_source::refetch(std::int64_t now_us,
                                       const std::shared_ptr<const key_set>& seen,
                                       std::function<void()> retry) {
  std::unique_lock lock(mutex_);
  if (!fetching_ && keys_ == seen && begun_us_ != 0 &&
      now_us - begun_us_ < settings_.min_interval_us) {
    return wait::fresh;
  }
  if (waiting_.size() >= max_waiting) return wait::too_many;
  if (!fetching_ && keys_ != seen) {
    // Another set has arrived between the look-up and this call.
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
  fetch_(settings_.url,
         [self = shared_from_this()](fetched result) { self->ended(std::move(result)); });
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
