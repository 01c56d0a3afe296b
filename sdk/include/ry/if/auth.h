/* ry.auth/1 - the host's own tokens, and the extension point through which modules verify other kinds of tokens.
 *
 * The host verifies JWTs as configured. A bearer value that is not a JWT is passed to the drivers of
 * "ry.authenticator/1" in order of their names (API keys). */
#ifndef RY_IF_AUTH_H
#define RY_IF_AUTH_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_AUTH_1 "ry.auth/1"
#define RY_AUTHENTICATOR_1 "ry.authenticator/1"

/* principal: borrowed-out, NULL unless st == RY_OK. */
typedef void (*ry_principal_fn)(void* ctx, ry_status st, const ry_principal* principal) RY_NOEXCEPT;

typedef struct ry_auth_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Signs a JWT with the host's own key; `claims_json` needs "sub"; iat, exp, iss are set here. Accepted
   * like any other token by this deployment. RY_FAILED_PRECONDITION: no signing key is configured. [any] */
  ry_status (*mint)(const ry_host* host, ry_str claims_json, uint64_t ttl_ms, ry_take_fn take, void* ctx) RY_NOEXCEPT;
  /* A token for `?token=` on one RY_ROUTE_QUERY_TOKEN path (exact path, without http.base_path); it carries the
   * principal's subject and role and is not valid for anything else. [any] */
  ry_status (*mint_query_token)(const ry_host* host, const ry_principal* principal, ry_str path, uint64_t ttl_ms,
                                ry_take_fn take, void* ctx) RY_NOEXCEPT;
  /* Removes cached verdicts about a bearer value's subject, e.g. of a revoked API key. [any] */
  void (*forget)(const ry_host* host, ry_str subject) RY_NOEXCEPT;
  /* For a session that ended or a key that was revoked before its tokens expire. Until `until_unix_us` this node
   * rejects the subject's tokens (of mint) and principals of authenticators whose claim "sid" is `session`, and query
   * tokens created with them, and it closes streams opened with them. Empty `session`: all tokens of the subject issued
   * until now; if `until_unix_us` is in the past, those issued until then, for eight days. Neither stored across
   * restarts nor propagated: the module calls it again after a restart and on each node. [any] */
  ry_status (*revoke_session)(const ry_host* host, ry_str subject, ry_str session, int64_t until_unix_us) RY_NOEXCEPT;
} ry_auth_v1;

/* Driver side. */
typedef struct ry_authenticator_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* RY_OK with a principal; RY_NOT_FOUND: not of this kind, the next driver is asked; RY_UNAUTHENTICATED: of this kind,
   * but rejected; others: 503. Must call fn exactly once, on exec, not inside the call. [exec] */
  ry_status (*authenticate)(void* self, ry_str bearer, ry_exec* exec, ry_principal_fn fn, void* ctx) RY_NOEXCEPT;
} ry_authenticator_v1;

#ifdef __cplusplus
}
#endif
#endif
