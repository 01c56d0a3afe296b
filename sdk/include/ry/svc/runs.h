/* runs/1 - starts, follows and stops agent runs (provided by the module `runs`).
 *
 * The functions have the effect, the limits and the error responses of the corresponding routes: an error has the
 * http_status and detail_json of the route's response. The caller must have authenticated the account.
 * ry/cpp/runs.hpp wraps them for C++.
 *
 * SQL functions for use inside another module's statements: sdk/sql/runs.v1.sql.
 *
 * Domain events: run.completed and run.failed {run_id, thread_id, project_id, account_id, agent_id, status, reason, error,
 * title, charged_micro, duration_ms, result, viewed}. A stopped run publishes no event.
 */
#ifndef RY_SVC_RUNS_H
#define RY_SVC_RUNS_H
#include "../abi.h"
#include "../if/db.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_RUNS_1 "runs/1"

/* The reason of the 409 of a start whose idempotency key was used before with different fields. */
#define RY_RUNS_KEY_REUSED "runs.idempotency_key_reused"

/* A field of the form of POST /agent/start, or a parameter of a query. */
typedef struct ry_run_field {
  ry_str name;
  ry_str value;
} ry_run_field;

typedef struct ry_run_file {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_str name; /* the user's name for the file; the module sanitizes it */
  ry_str media_type; /* may be empty */
  ry_bytes content;
} ry_run_file;

/* A start; borrowed-in. */
typedef struct ry_run_start {
  uint32_t struct_size;
  uint32_t reserved0;
  ry_uuid account_id;
  const ry_run_field* fields; /* the fields of POST /agent/start, and those of RY_RUN_FIELD_* */
  size_t n_fields;
  const ry_run_file* files; /* NULL: none */
  size_t n_files;
  size_t file_stride; /* sizeof(ry_run_file) of the caller */
  ry_str idempotency_key; /* as in the header Idempotency-Key; empty: none */
  /* NULL: the start commits itself, and the run begins at once on this node if it has capacity. Otherwise the run is part
   * of this transaction, in which the account's row stays locked, and waits in the queue of all nodes; call wake() after
   * the commit. After an error the transaction must be rolled back. The prompt counts towards the account's limit of
   * prompts even if the transaction is rolled back later, because the service does not learn its outcome. */
  ry_tx* tx;
} ry_run_start;

/* Fields that only modules can use. */
/* JSON array of earlier messages for a new thread, oldest first; ignored if the thread exists. At most 1 MiB and 1000
 * messages: {"role":"user","content":"..."}, {"role":"assistant","content":"...","tool_calls":[{"id","name","arguments":{}}]}
 * (tool_calls is optional), {"role":"tool","tool_call_id":"...","name":"...","content":"...","is_error":false}.
 * The field prompt is optional if the last message does not have the role assistant. */
#define RY_RUN_FIELD_HISTORY "history"
/* A text that replaces the agent's system prompt in this run; at most 64 KiB. */
#define RY_RUN_FIELD_SYSTEM "system"
/* A text that follows the system prompt in this run; at most 64 KiB. */
#define RY_RUN_FIELD_INSTRUCTIONS "instructions"
/* "false": an answer that reaches the output limit is not continued; the run fails with the reason "length". */
#define RY_RUN_FIELD_CONTINUE_TRUNCATED "continue_truncated"
/* Tools that the client executes, as in the form of POST /agent/start. */
#define RY_RUN_FIELD_CLIENT_TOOLS "client_tools"
/* "wait": a run that calls a tool of the client waits for its result, see tool_results() below. "end" (default): the run
 * executes the other calls of the answer, and then ends with the status completed and the reason "tool_calls"; to
 * continue, start a run on the thread with the field tool_results. The `tool_call` events of these calls have the source
 * "client". */
#define RY_RUN_FIELD_CLIENT_CALLS "client_calls"
/* Results of such calls, on an existing thread: JSON array of {"tool_call_id","content":"...","is_error":false}. A result
 * whose call the thread's last answer does not contain, or that has a result, is refused: 409 with the error_code
 * TOOL_RESULT_NOT_PENDING. The field prompt is optional then. */
#define RY_RUN_FIELD_TOOL_RESULTS "tool_results"

/* "true": the caller expects that a start with on_busy=steer may join a run in progress, see message_id of
 * ry_run_started; otherwise on_busy=steer is refused. Such a start may have none of the fields history, system, instructions,
 * client_tools, client_calls, tool_results and tool_policy, and no files. */
#define RY_RUN_FIELD_JOINS "joins"

/* borrowed-out */
typedef struct ry_run_started {
  uint32_t struct_size;
  uint32_t replayed; /* 1: an earlier start with this idempotency_key created the run */
  int64_t queue_position; /* 0: the run does not wait */
  ry_str run_id;
  ry_str thread_id;
  ry_str project_id;
  /* Empty: the start began a run. Otherwise its prompt has joined the run `run_id`, which was in progress, and this is the id
   * of the message that the prompt becomes. The run announces it with an event `message` with this message_id. */
  ry_str message_id;
} ry_run_started;

/* started: NULL unless st == RY_OK. */
typedef void (*ry_run_started_fn)(void* ctx, ry_status st, const ry_run_started* started,
                                  const ry_error_view* err) RY_NOEXCEPT;
/* json: borrowed-out, empty unless st == RY_OK. */
typedef void (*ry_run_json_fn)(void* ctx, ry_status st, ry_str json, const ry_error_view* err) RY_NOEXCEPT;

/* An event of a run; borrowed-out. */
typedef struct ry_run_event {
  uint64_t sequence; /* starts at 1, without gaps */
  ry_str json; /* the object of the stream's data line: {"type": "...", "sequence": n, ...} */
} ry_run_event;

/* Both functions are called on the exec of follow(), in order. */
typedef struct ry_run_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  /* All events that are available, n of them, `stride` bytes apart. RY_OK: the next batch may follow at once;
   * RY_RESOURCE_EXHAUSTED: this batch is accepted, but the next one comes only after resume(). Any other status ends
   * the delivery: on_end follows with this status. */
  ry_status (*on_events)(void* ctx, const ry_run_event* events, size_t n, size_t stride) RY_NOEXCEPT;
  /* The last call, exactly once, unless close() was called before. RY_OK: the terminal event was delivered. RY_NOT_FOUND:
   * the run is unknown or belongs to another account. RY_CANCELLED: the module or the node stops;
   * follow again, after the last event, from another instance or node. Others: RY_UNAVAILABLE, RY_INTERNAL. */
  void (*on_end)(void* ctx, ry_status st, const ry_error_view* err) RY_NOEXCEPT;
} ry_run_sink;

/* The reader is a program, so the run's thread does not count as being viewed (see the event run.completed). */
#define RY_RUN_BACKGROUND 1u
/* Begins with one event `snapshot` that summarizes all events so far, if there is more than one. */
#define RY_RUN_SNAPSHOT 2u

typedef struct ry_run_follow {
  uint32_t struct_size;
  uint32_t flags; /* RY_RUN_* */
  ry_uuid account_id;
  ry_uuid run_id;
  uint64_t after; /* number of the last event that is known; 0: from the beginning */
  uint64_t merge_ms; /* merges the chunks of this time span into one event; 0: no merging; at most 10 000 */
} ry_run_follow;

/* A call of a tool outside of runs; borrowed-in. */
typedef struct ry_run_tool_call {
  uint32_t struct_size;
  uint32_t flags; /* RY_RUN_TOOL_* */
  ry_str name; /* as agents see the tool */
  ry_str arguments_json; /* the JSON object that the tool gets */
} ry_run_tool_call;

/* Asks about the tool instead of one call: returns the mildest action that any of its calls can get, and ignores
 * arguments_json. */
#define RY_RUN_TOOL_ANY_CALL 1u

/* What the operator's policy for tool calls requires. Treat unknown values as RY_RUN_TOOL_DENY. */
#define RY_RUN_TOOL_RUN 1 /* the call is made */
#define RY_RUN_TOOL_ASK 2 /* the call is made only if a person approves it */
#define RY_RUN_TOOL_DENY 3 /* the call is not made */

typedef struct ry_runs_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Starts a run. [any] */
  ry_status (*start)(void* self, const ry_run_start* start, ry_exec* exec, ry_run_started_fn fn, void* ctx) RY_NOEXCEPT;
  /* Call it after the commit of a transaction with a start: a node then claims the run at once instead of at its next
   * poll. [any] */
  void (*wake)(void* self) RY_NOEXCEPT;
  /* Delivers the events of a run from the beginning or after a number, then live, on any node. The sink is copied; its
   * first call never happens inside follow(). While a consumer is paused, its events stay in the log and are read from
   * there, so a slow consumer uses no memory and loses no events. *reader is a handle until close(). [any] */
  ry_status (*follow)(void* self, const ry_run_follow* what, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                      void** reader) RY_NOEXCEPT;
  /* Continues after RY_RESOURCE_EXHAUSTED. If it is called inside on_events, the reader does not pause after this batch.
   * [exec] */
  void (*resume)(void* self, void* reader) RY_NOEXCEPT;
  /* Frees the handle. Required also after on_end. No call of the sink starts after close() has returned. [exec] */
  void (*close)(void* self, void* reader) RY_NOEXCEPT;
  /* Stops a run and waits until it has ended: {"status": "stopped"}, or the final status of a run that had already
   * ended. [any] */
  ry_status (*stop)(void* self, const ry_uuid* account_id, const ry_uuid* run_id, ry_exec* exec, ry_run_json_fn fn,
                    void* ctx) RY_NOEXCEPT;
  /* The object of GET /agent-run/{id}. [any] */
  ry_status (*get)(void* self, const ry_uuid* account_id, const ry_uuid* run_id, ry_exec* exec, ry_run_json_fn fn,
                   void* ctx) RY_NOEXCEPT;
  /* The page of GET /agent-runs, or of GET /threads/{id}/agent-runs if the query has a `thread_id`; the other query
   * parameters are those of the routes. [any] */
  ry_status (*list)(void* self, const ry_uuid* account_id, const ry_run_field* query, size_t n, ry_exec* exec,
                    ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* The page of GET /threads/{id}/messages; with the query parameter `run_id`, only the messages of this run. [any] */
  ry_status (*messages)(void* self, const ry_uuid* account_id, const ry_uuid* thread_id, const ry_run_field* query,
                        size_t n, ry_exec* exec, ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* Stops the runs of a thread and deletes it, as DELETE /threads/{id} does; the text is "{}". [any] */
  ry_status (*delete_thread)(void* self, const ry_uuid* account_id, const ry_uuid* thread_id, ry_exec* exec,
                             ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* The models that the account's plan allows, by the names that a start accepts:
   * {"models":[{"id":"runyard/basic","default":true,"context_tokens":128000,"vision":true}, ...]}. [any] */
  ry_status (*models)(void* self, const ry_uuid* account_id, ry_exec* exec, ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* The page of GET /approvals, or of one run if the query has a `run_id`. [any] */
  ry_status (*approvals)(void* self, const ry_uuid* account_id, const ry_run_field* query, size_t n, ry_exec* exec,
                         ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* Decides on an approval; decision_json: the body of POST /approvals/{id}. Repeating a decision succeeds;
   * RY_FAILED_PRECONDITION with http_status 409: a different decision was made before. Returns the approval. [any] */
  ry_status (*decide)(void* self, const ry_uuid* account_id, const ry_uuid* approval_id, ry_str decision_json,
                      ry_exec* exec, ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* Stores the results of the client's tool calls for which a run waits; json: the body of
   * POST /agent-run/{id}/tool-results. [any] */
  ry_status (*tool_results)(void* self, const ry_uuid* account_id, const ry_uuid* run_id, ry_str json, ry_exec* exec,
                            ry_run_json_fn fn, void* ctx) RY_NOEXCEPT;
  /* Decides about a call by the settings runs.tool_policy and runs.tool_default, as for a call of a run, and returns
   * RY_RUN_TOOL_RUN, _ASK or _DENY. The call must be made with exactly these arguments. Does not block; takes up to
   * about 10 ms for large arguments. May be missing if struct_size is smaller. [any] */
  int32_t (*tool_action)(void* self, const ry_run_tool_call* call) RY_NOEXCEPT;
} ry_runs_v1;

#ifdef __cplusplus
}
#endif
#endif
