// Turns bearer values into principals: JWTs signed with a shared secret, a key of the identity provider's key set or
// the host's own key. Passes all other values to the drivers of the extension point "ry.authenticator/1". Issues the
// host's own tokens.
#pragma once

#include <ry/if/auth.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/authenticator_drivers.hpp"
#include "core/auth/jwks.hpp"
#include "core/auth/principal.hpp"
#include "core/auth/role_rules.hpp"
#include "core/exec/error.hpp"
#include "core/exec/loop.hpp"
#include "core/module/host.hpp"

namespace ry::auth {

inline constexpr std::string_view own_issuer = "runyard";

// One identity provider whose tokens are accepted.
struct issuer_settings {
  std::string name = "auth.jwt";  // where it is configured, for log lines
  std::string hs256_secret;  // its shared secret, also for HS384 and HS512
  std::string jwks_url;
  std::filesystem::path jwks_file;  // not together with a URL
  std::string issuer;  // the claim "iss"; empty: any
  std::vector<std::string> audiences;  // empty: any
  std::int64_t leeway_s = 30;
  role_rules roles;
  std::string subject_prefix;
};

struct settings {
  // auth.jwt. Its secret also signs the host's own tokens; empty: the key in data_dir/auth.key does. The host's own
  // tokens need not match issuer and audience.
  issuer_settings main;
  // auth.issuers.NAME: each has its own issuer, and only its keys verify tokens that name that issuer.
  std::vector<issuer_settings> issuers;
  std::size_t max_token_bytes = 32 * 1024;
  std::size_t cache_entries = 16384;
  std::int64_t driver_verdict_ttl_us = 5'000'000;  // how long a driver's verdict is cached
  std::int64_t jwks_max_age_us = 600'000'000;
  std::int64_t jwks_min_interval_us = 10'000'000;
  std::filesystem::path data_dir;
  std::function<std::int64_t()> now_unix_us;  // empty: the system's clock
};

struct token_request {
  std::string subject;
  std::string email;  // empty: no such claim
  auth::role role = auth::role::user;
  std::chrono::milliseconds ttl = std::chrono::hours(1);
};

// Either text or an error.
struct issued {
  std::string token;
  std::optional<core::error> error;
};

class authenticator {
 public:
  using verdict_fn = std::function<void(verdict)>;

  // Reads or creates the key and reads the key file of the settings. Throws std::runtime_error with a message for the
  // operator. `fetch` may be empty if there is no jwks_url.
  authenticator(settings s, fetch_fn fetch);
  authenticator(const authenticator&) = delete;
  authenticator& operator=(const authenticator&) = delete;
  // No authenticate() may be in progress; fetches may.
  ~authenticator();

  // Starts the first fetch of the key set, so that the first request need not wait for it. [any]
  void warm_up();

  // The cached verdict, or nullopt; never waits. [any]
  principal_ptr cached(std::string_view bearer);
  // `bearer` is the value after "Bearer ". Returns the verdict if no wait is needed; otherwise returns nullopt, and
  // `later` is called exactly once, on exec, never inside this call. [any]
  std::optional<verdict> authenticate(std::string_view bearer, ry_exec* exec, verdict_fn later);
  // A token of mint_query_token() for this path (without http.base_path and query), compared
  // as same_path() does. [any]
  verdict authenticate_query(std::string_view token, std::string_view path) const;

  // For ry.auth/1 and the command line. `claims_json` is an object with "sub"; iat, exp and iss are
  // set here. [any]
  issued mint(std::string_view claims_json, std::chrono::milliseconds ttl) const;
  issued mint_token(const token_request& request) const;
  // ttl is capped at eight days. [any]
  issued mint_query_token(const ry_principal& who, std::string_view path, std::chrono::milliseconds ttl) const;

  // Removes the cached verdicts about a subject. [any]
  void forget(std::string_view subject);
  // Until `until_unix_us`, rejects the host's own tokens and principals of drivers whose claim "sid" is `session`, and
  // query tokens that were minted from them. An empty session: everything issued to the subject until now; with a time
  // in the past, everything issued until then, for the maximum lifetime of a query token. [any]
  void revoke_session(std::string_view subject, std::string_view session, std::int64_t until_unix_us);
  // Whether the session of this accepted principal was revoked. [any]
  bool is_revoked(const principal& who) const;
  // The number of revocations so far. [any]
  std::uint64_t revocation_count() const noexcept;

  // [any]
  void add_driver(authenticator_driver c);
  // `on_removed` runs once, on any thread and possibly inside this call, as soon as the table is no longer called.
  void remove_driver(std::string_view name, std::function<void()> on_removed);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

// The ABI table of ry.auth/1. Its functions find the authenticator through host->rt. [any]
const ry_auth_v1& auth_v1() noexcept;

}  // namespace ry::auth
