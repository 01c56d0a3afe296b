/* llm.provider/1 - one driver per wire protocol of language models. Extension point of the module `runs`.
 *
 * The neutral form, JSON text:
 * request_json {
 *   "model": "gpt-4o-mini",                      -- the provider's own name
 *   "system": "...",                             -- optional
 *   "messages": [
 *     {"role":"user","content":"..." | [{"type":"text","text":"..."},
 *                                       {"type":"image","media_type":"image/png","data":"<base64>"}]},
 *     {"role":"assistant","content":"...","tool_calls":[{"id":"c1","name":"shell","arguments":{...}}],
 *      "reasoning":[{"driver":"anthropic","model":"...", ...}]},
 *                                              -- optional: the blocks of on_reasoning_block of that message;
 *                                                 a driver omits blocks of other drivers
 *     {"role":"tool","tool_call_id":"c1","name":"shell","content":"...","is_error":false}],
 *   "tools": [{"name":"shell","description":"...","parameters":{JSON Schema}}],
 *   "max_output_tokens": 4096, "temperature": 0.2, "top_p": 0.9, "stop": ["..."],   -- each optional
 *   "reasoning_effort": "none" | "minimal" | "low" | "medium" | "high",              -- optional
 *   "tool_choice": "auto" | "none" | "required" | {"name":"shell"},                  -- optional
 *   "output_schema": {JSON Schema}           -- optional: of the text of the final answer; only for drivers that set
 *                                               output_schema in ry_llm_limits. The caller checks the answer.
 * }
 * A driver omits or changes what its provider rejects: schemas, ids, empty texts, the order of roles. A tool that it
 * cannot express is omitted from the request and reported with on_notice.
 * config_json, from runs.providers.<name>: {"kind", "base_url", "api_key", "headers":{}, "timeout_seconds",
 * "idle_timeout_seconds", "proxy", "ca_file", ...driver's own keys}; defaults are the driver's.
 */
#ifndef RY_EXT_LLM_PROVIDER_H
#define RY_EXT_LLM_PROVIDER_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_LLM_PROVIDER_1 "llm.provider/1"

typedef struct ry_llm_usage {
  uint32_t struct_size;
  uint32_t estimated; /* 1: the provider did not report all counts; some are estimated from the text */
  int64_t input_tokens; /* all of them, cached ones included */
  int64_t output_tokens;
  int64_t cached_tokens; /* read from the provider's cache */
  int64_t cache_write_tokens; /* written to the provider's cache; part of input_tokens; 0 if struct_size is smaller */
} ry_llm_usage;

#define RY_LLM_FINISH_STOP 1 /* the model ended its answer itself */
#define RY_LLM_FINISH_TOOL_CALLS 2 /* the model waits for the results of its calls */
#define RY_LLM_FINISH_LENGTH 3 /* truncated at a token limit; the arguments of the last call may be incomplete */
#define RY_LLM_FINISH_FILTER 4 /* the provider withheld the answer or the rest of it */
#define RY_LLM_FINISH_REFUSAL 5 /* the model declined to answer */
#define RY_LLM_FINISH_PAUSE 6 /* the provider paused a long turn; ask again with the text so far */
#define RY_LLM_FINISH_ERROR 7 /* the provider reports a failed answer without an error message */

typedef struct ry_llm_end {
  uint32_t struct_size;
  int32_t finish; /* RY_LLM_FINISH_*, 0 if it failed */
  ry_llm_usage usage; /* the known part, even after failure and cancellation */
} ry_llm_end;

/* Called on the exec of complete(), in order; on_end last and exactly once. Strings borrowed-out. */
typedef struct ry_llm_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  void (*on_text)(void* ctx, ry_str text) RY_NOEXCEPT;
  void (*on_reasoning)(void* ctx, ry_str text) RY_NOEXCEPT;
  /* A complete tool call. arguments_json is the model's text: it may be invalid JSON. */
  void (*on_tool_call)(void* ctx, ry_str id, ry_str name, ry_str arguments_json) RY_NOEXCEPT;
  /* st: RY_OK; RY_CANCELLED; RY_RESOURCE_EXHAUSTED (429, err->retry_after_s), RY_UNAVAILABLE (5xx,
   * network, truncated stream), RY_DEADLINE_EXCEEDED: worth a retry; RY_DATA_LOSS (violates the protocol):
   * worth one; RY_UNAUTHENTICATED, RY_INVALID_ARGUMENT, RY_NOT_FOUND (no such model): not;
   * RY_OUT_OF_RANGE (context too long): with less. Clients see err->message: it is the driver's own message, without
   * addresses and text of the provider. Put those into err's detail_json as {"cause": "..."}, which is logged and shown
   * to the operator only. Neither contains the API key. */
  void (*on_end)(void* ctx, ry_status st, const ry_llm_end* end, const ry_error_view* err) RY_NOEXCEPT;
  /* May be NULL, or missing if struct_size is smaller. A JSON object on one line that later requests contain
   * as an element of the message's "reasoning"; its members "driver" and "model" name its origin. */
  void (*on_reasoning_block)(void* ctx, ry_str block_json) RY_NOEXCEPT;
  /* May be NULL, or missing if struct_size is smaller. Part of the request was omitted or changed to meet the
   * provider's limits; `code` is "tool_skipped", "image_skipped" or "parameter_skipped", `message` names the part.
   * Called before the first on_text. */
  void (*on_notice)(void* ctx, ry_str code, ry_str message) RY_NOEXCEPT;
} ry_llm_sink;

/* Limits and abilities of a provider for requests to one model; 0: no limit is known. */
#define RY_LLM_GIF_STILL 1u /* no animated GIF */
#define RY_LLM_GIF_NONE 2u /* no GIF at all */
typedef struct ry_llm_limits {
  uint32_t struct_size;
  uint32_t tools; /* of one request */
  uint32_t image_side; /* pixels of the longer side of an image */
  uint32_t many_images; /* in a request with more images than this ... */
  uint32_t image_side_of_many; /* ... pixels of the longer side of each */
  uint32_t gifs; /* RY_LLM_GIF_*, or 0 */
  uint64_t image_bytes; /* of one image, as base64 */
  /* 1: the driver gives the output_schema of a request to the provider, or states it in the prompt if the provider or the
   * model does not support it. 0, or missing if struct_size is smaller: the caller states it in the prompt. */
  uint32_t output_schema;
  uint32_t reserved0;
} ry_llm_limits;

typedef struct ry_llm_provider_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Creates an instance for one configured provider. May read files, but does no other I/O, because `runyard check`
   * calls it too. A message in err about a key of config_json begins with that key. [lifecycle] */
  ry_status (*open)(void* self, ry_str name, ry_str config_json, void** provider, ry_errbuf* err) RY_NOEXCEPT;
  /* No call is in progress. [lifecycle] */
  void (*close)(void* self, void* provider) RY_NOEXCEPT;
  /* Starts one model answer. The sink is copied. *call is valid until on_end has returned. [any] */
  ry_status (*complete)(void* self, void* provider, ry_str request_json, ry_exec* exec, const ry_llm_sink* sink,
                        void* ctx, void** call) RY_NOEXCEPT;
  /* Closes the connection to the model immediately; on_end follows with RY_CANCELLED. [exec] */
  void (*cancel)(void* self, void* call) RY_NOEXCEPT;
  /* May be NULL, or missing if struct_size is smaller: no limits are known. Sets the members of *limits that its
   * struct_size covers; the caller has set them to 0. Without I/O. [any] */
  ry_status (*limits)(void* self, void* provider, ry_str model, ry_llm_limits* limits) RY_NOEXCEPT;
} ry_llm_provider_v1;

#ifdef __cplusplus
}
#endif
#endif
