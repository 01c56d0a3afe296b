// JSON Web Key Sets (RFC 7517): parsing, and a cached source of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/jwt.hpp"

namespace ry::auth {

struct key_set {
  struct entry {
    std::string kid;  // may be empty
    verification_key key;
  };
  std::vector<entry> keys;
};

enum class signature_check { valid, invalid, unknown_key };

// A token without a kid is tried on every key that accepts its algorithm; a key without a kid is tried on every token.
// [any]
signature_check check_signature(const key_set& keys, const unverified_token& token);

// Reads {"keys":[...]}, keys given as numbers or only as certificates (x5c), or a map of names to PEM certificates.
// Symmetric keys and keys of other algorithms are skipped, at most 64 are kept. Returns nullptr with a message in `why`
// if the text is not a key set or has no usable key. [any]
std::shared_ptr<const key_set> parse_jwks(std::string_view text, std::string* why);

struct fetched {
  bool ok() const noexcept { return error.empty(); }
  std::string body;
  std::string error;  // a message without secrets; set: there is no body
};
// Starts a GET of a key set document (200 expected, at most 1 MiB, with a total deadline) and calls
// the function exactly once, on any thread, also inside the call.
using fetch_fn = std::function<void(const std::string& url, std::function<void(fetched)>)>;

// The current key set of one document. Fetched on first use, when it is older than `max_age_us`, and when a token names
// an unknown key, but at most once per `min_interval_us`. A failed fetch keeps the old keys. [any]
class jwks_source : public std::enable_shared_from_this<jwks_source> {
 public:
  struct settings {
    std::string url;
    std::int64_t max_age_us = 600'000'000;
    std::int64_t min_interval_us = 10'000'000;
  };
  // `changed` runs after each fetch that returned different keys, on the fetch's thread.
  jwks_source(settings s, fetch_fn fetch, std::function<void()> changed);

  std::shared_ptr<const key_set> keys() const;
  // Starts a fetch if the set is missing or old; does not wait for it.
  void freshen(std::int64_t now_us);

  enum class wait { queued, fresh, too_many };
  // `retry` runs once, on any thread, after the current fetch or the one begun here has ended. fresh: no fetch now
  // (rate limit), and `retry` is dropped. `seen` is the set that did not have the key.
  wait refetch(std::int64_t now_us, const std::shared_ptr<const key_set>& seen, std::function<void()> retry);

 private:
  void begin(std::unique_lock<std::mutex>& lock, std::int64_t now_us);
  void ended(fetched result);

  const settings settings_;
  const fetch_fn fetch_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::shared_ptr<const key_set> keys_;
  std::string body_;  // that keys_ were read from
  std::int64_t begun_us_ = 0;  // of the last fetch; 0 = never
  bool fetching_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace ry::auth
