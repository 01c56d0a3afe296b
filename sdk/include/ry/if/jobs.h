/* ry.jobs/1 - durable background work, stored in PostgreSQL, executed at least once, usually by one worker at a time.
 *
 * A worker holds a lease with a fence token, which the host renews. A worker that lost its lease is notified
 * (on_cancel, RY_REASON_LEASE_LOST) as soon as its node detects it; after an outage of the database this may be late.
 * Its writes with the old fence are rejected: put `select core.job_hold($job_id, $fence)` into each transaction that a
 * stale worker must not commit.
 *
 * SQL functions for use inside a module's own statements and transactions: sdk/sql/core_jobs.v1.sql. core.job_enqueue
 * with the host's own node_id creates a job that is already leased to this node; pass its id and fence to adopt() after
 * the commit.
 */
#ifndef RY_IF_JOBS_H
#define RY_IF_JOBS_H
#include "../abi.h"
#include "db.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_JOBS_1 "ry.jobs/1"

typedef struct ry_job ry_job; /* a job being run; ended by finish */

/* Valid until finish. */
typedef struct ry_job_view {
  uint32_t struct_size;
  uint32_t attempt; /* 1 for the first; increases each time a worker claims the job */
  uint32_t max_attempts;
  uint32_t crashes; /* attempts whose worker died */
  int64_t id;
  int64_t fence;
  ry_str kind;
  ry_str args_json;
  int64_t enqueued_unix_us;
  int64_t deadline_unix_us; /* 0 = none */
  ry_exec* exec;
} ry_job_view;

/* Runs one job. RY_OK: finish will end the job (now or later). Otherwise: a failed attempt. [exec] */
typedef ry_status (*ry_job_fn)(void* ctx, const ry_job_view* view, ry_job* job) RY_NOEXCEPT;

typedef struct ry_job_kind {
  uint32_t struct_size;
  uint32_t flags; /* none yet: 0 */
  ry_str kind; /* "runs.execute": the module's name, a dot, a name */
  ry_str queue; /* empty = "default" */
  /* five fields as in crontab(5), UTC, "@every 30s"; empty = only on demand. Once per tick in the whole cluster */
  ry_str cron;
  ry_job_fn run;
  void* ctx;
  uint32_t max_attempts; /* 0 = 20 */
  uint32_t concurrency; /* concurrent jobs on this node; 0 = 10 */
  uint64_t timeout_ms; /* one attempt; 0 = 10 min; UINT64_MAX = none */
  uint64_t backoff_ms; /* before the second attempt, doubled each time up to an hour, with jitter; 0 = 1 s */
} ry_job_kind;

#define RY_JOB_DONE 0 /* finished; the row is removed */
#define RY_JOB_DONE_IN_TX 1 /* core.job_complete was committed already */
/* a failed attempt: retried after the backoff or delay_ms; dead-lettered after the last attempt */
#define RY_JOB_RETRY 2
#define RY_JOB_SNOOZE 3 /* not counted as an attempt: run again after delay_ms */
#define RY_JOB_RELEASE 4 /* released: another worker may claim it immediately */
#define RY_JOB_DEAD 5 /* dead-lettered now; kept for inspection */

typedef struct ry_job_request {
  uint32_t struct_size;
  int32_t priority; /* smaller first; default 0 */
  ry_str kind;
  ry_str args_json;
  ry_str queue; /* empty = the kind's */
  ry_str unique_key; /* empty = none; while an unfinished job has it, nothing is added: RY_ALREADY_EXISTS */
  int64_t run_at_unix_us; /* 0 = now */
  uint32_t max_attempts; /* 0 = the kind's */
  uint32_t reserved0;
} ry_job_request;

typedef void (*ry_enqueued_fn)(void* ctx, ry_status st, int64_t id, const ry_error_view* err) RY_NOEXCEPT;

typedef struct ry_jobs_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Adds a job, inside tx if given. [any] */
  ry_status (*enqueue)(const ry_host* host, ry_tx* tx, const ry_job_request* request, ry_exec* exec, ry_enqueued_fn fn,
                       void* ctx) RY_NOEXCEPT;
  /* Starts a job that core.job_enqueue(node => ...) created leased to this node; call it after the commit, or the lease
   * expires. RY_CANCELLED: the instance that has replaced the calling one in a module swap runs the job. [any] */
  ry_status (*adopt)(const ry_host* host, ry_str kind, int64_t id, int64_t fence, ry_str args_json) RY_NOEXCEPT;
  /* New work was committed by SQL: polls now instead of at the next interval; also notifies other nodes. [any] */
  void (*wake)(const ry_host* host, ry_str queue) RY_NOEXCEPT;
  /* Cancels a job on the node that runs it (RY_REASON_USER), or removes it if it waits. [any] */
  ry_status (*cancel)(const ry_host* host, int64_t id, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* fn runs once on the job's executor when it should end early (RY_REASON_USER, _DEADLINE, _SHUTDOWN,
   * _LEASE_LOST); the job must still finish. Posted immediately if that has already happened. [any] */
  ry_status (*on_cancel)(ry_job* job, ry_cancel_fn fn, void* ctx) RY_NOEXCEPT;
  /* Ends the handle. outcome: RY_JOB_*; delay_ms for RETRY and SNOOZE (0 = the backoff); error: for
   * the log and the job's row, may be NULL. Completions are written in batches. [any] */
  void (*finish)(ry_job* job, int32_t outcome, uint64_t delay_ms, const ry_error_view* error) RY_NOEXCEPT;
} ry_jobs_v1;

#ifdef __cplusplus
}
#endif
#endif
