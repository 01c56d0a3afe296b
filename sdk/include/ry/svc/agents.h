/* agents/1 - agents and their versions (provided by the module `agents`).
 *
 * SQL functions for use inside another module's statements and transactions: sdk/sql/agents.v1.sql. A module that
 * provides agents/1 must define all of them.
 */
#ifndef RY_SVC_AGENTS_H
#define RY_SVC_AGENTS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_SVC_AGENTS_1 "agents/1"

typedef struct ry_agent_view {
  uint32_t struct_size;
  int32_t version;
  ry_str agent_id;
  ry_str account_id;
  ry_str name;
  ry_str system_prompt; /* may be empty */
  ry_str model_name; /* may be empty */
  ry_str custom_mcps_json; /* JSON array of MCP configurations of this version, secrets sealed */
  uint32_t is_default; /* when this version was last read; may be out of date */
  uint32_t reserved0;
  ry_str description; /* may be empty */
  /* Rules that make the operator's policy for tool calls stricter: JSON array of {"match":"...","when":{},"action":"ask"},
   * as in the setting runs.tool_policy; "[]": none. See docs/approvals.md. */
  ry_str tool_policy_json;
} ry_agent_view;

typedef void (*ry_agent_fn)(void* ctx, ry_status st, const ry_agent_view* agent, const ry_error_view* err) RY_NOEXCEPT;

/* agents: borrowed-out, n of them, `stride` bytes apart; NULL unless st == RY_OK. more: 1 if there are more agents. */
typedef void (*ry_agent_list_fn)(void* ctx, ry_status st, const ry_agent_view* agents, size_t n, size_t stride,
                                 int32_t more, const ry_error_view* err) RY_NOEXCEPT;

typedef struct ry_agents_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* An agent of an account at a version (0 = the current one). RY_NOT_FOUND if it is unknown or belongs to another
   * account. Versions are immutable, so results are cached. Completion on exec, never inside the call. [any] */
  ry_status (*get)(void* self, ry_str account_id, ry_str agent_id, int32_t version, ry_exec* exec, ry_agent_fn fn,
                   void* ctx) RY_NOEXCEPT;
  /* Replaces the MCP configurations of the current version with a new version. expected_version 0 = any; otherwise
   * RY_ABORTED if another change was made first. RY_RESOURCE_EXHAUSTED (402, with the contract's
   * CUSTOM_WORKER_LIMIT_EXCEEDED as detail) if the account would have more servers than its plan allows; this check is
   * free of races, so callers need none. [any] */
  ry_status (*set_custom_mcps)(void* self, ry_str account_id, ry_str agent_id, int32_t expected_version,
                               ry_str custom_mcps_json, ry_exec* exec, ry_agent_fn fn, void* ctx) RY_NOEXCEPT;
  /* Like the function above, with a list as a client writes it: it is validated (RY_INVALID_ARGUMENT names the
   * position), its secrets are sealed, and masked ones keep their current value. [any] */
  ry_status (*put_custom_mcps)(void* self, ry_str account_id, ry_str agent_id, int32_t expected_version,
                               ry_str custom_mcps_json, ry_exec* exec, ry_agent_fn fn, void* ctx) RY_NOEXCEPT;
  /* The agents of an account in their current versions, newest first: at most `limit` (1 to 100) of those that are older
   * than the agent `before` (NULL: all). An account without agents gets its default agent. Completion on exec, never
   * inside the call. [any] */
  ry_status (*list)(void* self, const ry_uuid* account_id, const ry_uuid* before, uint32_t limit, ry_exec* exec,
                    ry_agent_list_fn fn, void* ctx) RY_NOEXCEPT;
} ry_agents_v1;

#ifdef __cplusplus
}
#endif
#endif
