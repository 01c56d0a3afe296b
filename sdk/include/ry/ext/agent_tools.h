/* agent.tools/1 - sources of tools for agents. Extension point of the module `runs`. The tools of the sandbox are built
 * in; the module `mcp` provides those of MCP servers.
 *
 * tools_json: [{"name":"files__read","description":"...","parameters":{JSON Schema},
 *               "source":"mcp:files","read_only":false,"idempotent":false,"own_time_limit":false,
 *               "source_instructions":"for the system prompt"}]
 *   own_time_limit: the source ends each call of the tool by itself, so the limit of `runs` does not apply; optional.
 *   source_instructions: instructions of the source, once, with any of its tools; optional.
 * result_json: {"content":"text for the model","is_error":false,
 *               "images":[{"media_type":"image/png","data":"<base64>"}],"structured":{...},
 *               "files":[{"name":"a.wav","media_type":"audio/wav","data":"<base64>"}]}
 *   files: stored in the run's workspace; the text gets a line that names each; optional.
 *
 * Input from the person: only if the scope of the call has RY_TOOLS_INPUT, a call can return, instead of a result,
 *   {"input_required":{"requests":[{"key":"a","kind":"form","message":"...","schema":{JSON Schema}},
 *                                  {"key":"b","kind":"url","message":"...","url":"https://..."}],"state":"opaque"}}
 *   requests: 1 to 32, with different keys of 1 to 200 bytes. schema: of the type object; its properties are strings,
 *   numbers, integers, booleans, or choices, as in MCP elicitation. state: UTF-8 without NUL, at most 512 KiB; it is
 *   stored. The caller puts the requests to the person and then repeats the call, maybe on another node and days later,
 *   with input_json in the scope. It does so at most 8 times per call.
 * input_json: {"answers":[{"key":"a","action":"accept","content":{...}},{"key":"b","action":"decline"}],
 *              "state":"opaque"}
 *   action: accept, decline, or cancel (the person did not answer, or the request was not valid). content: of an
 *   accepted form; it matches the schema.
 * A call that cannot be repeated uses on_input and answer instead, and stays open.
 */
#ifndef RY_EXT_AGENT_TOOLS_H
#define RY_EXT_AGENT_TOOLS_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_AGENT_TOOLS_1 "agent.tools/1"

/* Flags of a scope. */
/* another worker executed this run before; state that a source kept there is not available */
#define RY_TOOLS_RESUMED 1u
/* a call may request input from the person */
#define RY_TOOLS_INPUT 2u

/* The agent, account and run of a call; borrowed-in. */
typedef struct ry_tools_scope {
  uint32_t struct_size;
  int32_t agent_version;
  ry_str account_id;
  ry_str agent_id;
  ry_str project_id;
  ry_str thread_id;
  ry_str run_id;
  uint32_t flags; /* RY_TOOLS_* */
  uint32_t reserved0;
  ry_str input_json; /* of a call that continues with the person's answers; empty: the call begins */
} ry_tools_scope;

typedef void (*ry_tools_list_fn)(void* ctx, ry_status st, ry_str tools_json, const ry_error_view* err) RY_NOEXCEPT;

/* Called on the exec of call(), in order. A source copies it by its struct_size. */
typedef struct ry_tool_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  void (*on_output)(void* ctx, ry_str text) RY_NOEXCEPT; /* progress, any number of times */
  /* Last, exactly once. RY_OK with is_error: the tool failed; other statuses: it could not be called. */
  void (*on_result)(void* ctx, ry_status st, ry_str result_json, const ry_error_view* err) RY_NOEXCEPT;
  /* The open call requests input: the array "requests" of input_required. answer() of the source follows, unless
   * on_result is called first. Any number of times, also before the answer to an earlier one. May be NULL; only with
   * RY_TOOLS_INPUT. */
  void (*on_input)(void* ctx, ry_str requests_json) RY_NOEXCEPT;
} ry_tool_sink;

typedef struct ry_agent_tools_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* The tools of this agent. Must not wait for an unreachable server: return the cached list. RY_NOT_FOUND: the agent
   * was deleted and has no tools. RY_UNAVAILABLE, RY_DEADLINE_EXCEEDED, RY_ABORTED: retried for half a second. After
   * any other error the run continues without this source and reports it in its stream. [any] */
  ry_status (*list)(void* self, const ry_tools_scope* scope, ry_exec* exec, ry_tools_list_fn fn, void* ctx) RY_NOEXCEPT;
  /* *call is valid until on_result has returned. [any] */
  ry_status (*call)(void* self, const ry_tools_scope* scope, ry_str tool_call_id, ry_str name, ry_str arguments_json,
                    ry_exec* exec, const ry_tool_sink* sink, void* ctx, void** call) RY_NOEXCEPT;
  void (*cancel)(void* self, void* call) RY_NOEXCEPT; /* on_result follows. [exec] */
  /* Like call, for a call of a worker that no longer executes the run: waits for the work that the call started, and
   * starts none. on_result with RY_NOT_FOUND: the outcome of that call is unknown. May be NULL. [any] */
  ry_status (*resume)(void* self, const ry_tools_scope* scope, ry_str tool_call_id, ry_str name, ry_str arguments_json,
                      ry_exec* exec, const ry_tool_sink* sink, void* ctx, void** call) RY_NOEXCEPT;
  /* This worker no longer executes the run, so the source can free what it keeps for the run in memory. finished: 1 if
   * the run has ended, so work that was started for it can be cancelled; 0 if another worker continues it. No call of
   * the run is pending. May be NULL. [any] */
  void (*ended)(void* self, const ry_tools_scope* scope, int32_t finished) RY_NOEXCEPT;
  /* The answers to an on_input of the call: the array "answers" of input_json, with the same keys. Not called after
   * on_result. May be NULL: the source does not use on_input. [exec] */
  void (*answer)(void* self, void* call, ry_str answers_json) RY_NOEXCEPT;
} ry_agent_tools_v1;

#ifdef __cplusplus
}
#endif
#endif
