// Sessions of local log-ins: access tokens of the host that are valid for minutes, and refresh tokens that are valid
// for one use.
#pragma once

#include <ry/cpp/auth.hpp>

#include <mutex>
#include <set>

#include "../repository.hpp"
#include "account_cache.hpp"
#include "repository.hpp"
#include "settings.hpp"

namespace accounts {

struct session_tokens {
  std::string access, refresh;
  std::int64_t expires_in = 0;  // seconds, of `access`
  owner who;
};

class sessions {
 public:
  sessions(const ry::context& ctx, const repository& accounts, account_cache& cache, const login_repository& repo,
           const login_settings& cfg)
      : ctx_(ctx), accounts_(accounts), cache_(cache), repo_(repo), cfg_(cfg) {}

  ry::task<session_tokens> open(ry::uuid account, std::string user_agent);
  // Returns nullopt if the token is unknown or used, or its session has ended. Reuse after the grace period means that
  // the token was stolen, so it ends the session.
  ry::task<std::optional<session_tokens>> refresh(std::string token);
  ry::task<void> end(ry::uuid account, std::optional<ry::uuid> only, std::optional<ry::uuid> except);
  ry::task<void> end_all(ry::uuid account, bool revoke_api_keys);
  ry::task<void> end_by_token(std::string refresh_token);

  // Makes this node reject the access tokens of sessions that ended since the last call, tokens created with API keys
  // that were revoked, and all tokens of closed accounts.
  ry::task<void> refuse_ended();
  // Call this after an SQL statement ended sessions: runs refuse_ended() here and on all other nodes.
  ry::task<void> propagate_ended();

 private:
  ry::task<session_tokens> tokens(ry::uuid account, ry::uuid session, std::string refresh);

  const ry::context& ctx_;
  const repository& accounts_;
  account_cache& cache_;
  const login_repository& repo_;
  const login_settings& cfg_;
  std::mutex mutex_;
  std::set<std::int64_t> handled_closures_;  // ids of audit entries; each closure is applied once
  std::int64_t last_check_us_ = 0;  // monotonic time of the last refuse_ended(); 0: never
};

// A token of 256 random bits in base64url.
std::string make_token();

}  // namespace accounts
