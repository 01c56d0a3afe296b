/* accounts/1 - accounts, tiers and the credit ledger (provided by the module `accounts`).
 *
 * Money: 1 platform credit = 1 cent = 1 000 000 micro-credits, always integers.
 *
 * SQL functions for use inside another module's statements and transactions: sdk/sql/accounts.v1.sql. A module that
 * provides accounts/1 must define all of them.
 *
 * Domain events: account.created {account_id, email, name, referral_code?}, account.verified {account_id},
 * credits.low {account_id, balance_micro, threshold_percent}.
 */
#ifndef RY_SVC_ACCOUNTS_H
#define RY_SVC_ACCOUNTS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_ACCOUNTS_1 "accounts/1"
#define RY_MICRO_PER_CREDIT INT64_C(1000000)

/* Limits of a tier, from configuration; valid until the provider's destroy(). */
typedef struct ry_tier_view {
  uint32_t struct_size;
  uint32_t all_models; /* 1: all models; `models` is ignored */
  ry_str name; /* "free", "pro", "enterprise", ... */
  const ry_str* models; /* aliases or provider/model names it may use */
  size_t n_models;
  int64_t concurrent_runs;
  int64_t threads;
  int64_t custom_mcps;
  int64_t upload_file_bytes;
  int64_t upload_files;
} ry_tier_view;

typedef struct ry_account_view {
  uint32_t struct_size;
  uint32_t role; /* RY_ROLE_*: the higher of the token's and the account's */
  ry_uuid account_id;
  ry_str account_id_text;
  ry_str email; /* may be empty */
  ry_str display_name;
  const ry_tier_view* tier; /* as of the query; use the tier of lock_account to decide about limits */
} ry_account_view;

/* account: borrowed-out, NULL unless st == RY_OK. */
typedef void (*ry_account_fn)(void* ctx, ry_status st, const ry_account_view* account,
                              const ry_error_view* err) RY_NOEXCEPT;

typedef struct ry_accounts_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* The principal's account; it is created at the first call, with its starting grant. Usually cached. Completion on
   * exec, never inside the call. [any] */
  ry_status (*ensure)(void* self, const ry_principal* principal, ry_exec* exec, ry_account_fn fn,
                      void* ctx) RY_NOEXCEPT;
  /* Limits of a tier by name; the default tier for an unknown name. [any] */
  const ry_tier_view* (*tier)(void* self, ry_str name)RY_NOEXCEPT;
  /* The account by id. RY_NOT_FOUND. [any] */
  ry_status (*find)(void* self, const ry_uuid* account_id, ry_exec* exec, ry_account_fn fn, void* ctx) RY_NOEXCEPT;
} ry_accounts_v1;

#ifdef __cplusplus
}
#endif
#endif
