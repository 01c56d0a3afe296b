/* mcp.transport/1 - carries messages to an MCP server and back. Extension point of the module `mcp`.
 *
 * A driver carries complete messages: one JSON text each, in UTF-8. JSON-RPC, protocol revisions, paging,
 * caching, tools and limits are the module's task. A configuration selects a driver by name with its
 * `customType` or, if it has none, with its `type`.
 *
 * A session is one connection to one server; the driver decides what a connection is. It is opened with
 * the configuration, carries messages in both directions, and ends when the module closes it or the
 * driver calls on_closed.
 *
 *   open -> session      the driver connects; the module may send before the connection is established
 *   send(token 1) ...    on_message ... on_sent(1)
 *   send(token 2) ...    on_sent(2) ... on_message
 *   close                the driver cleans up in the background; the module does not wait for it
 *
 * There are two kinds of drivers. If messages share one channel (a pipe, a socket), on_sent reports that
 * the message was written, and answers arrive at any time. If each message is a separate exchange (RY_MCP_EXCHANGES:
 * HTTP), on_sent reports the end of the exchange: a request that has no answer by then gets none.
 *
 * Users see the message of a driver's error. It states the cause in the driver's own words, without secrets of the
 * configuration, addresses that are not visible to the user, and text of the server or its program. Put those into the
 * error's detail_json as {"cause": "..."}: the module writes it to the log and does not show it to clients.
 */
#ifndef RY_EXT_MCP_TRANSPORT_H
#define RY_EXT_MCP_TRANSPORT_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_MCP_TRANSPORT_1 "mcp.transport/1"

/* Capabilities. Unknown bits are ignored. */
#define RY_MCP_EXCHANGES 1u /* see above */
#define RY_MCP_HEADERS 2u /* the headers of a message reach the server */
#define RY_MCP_MODERN 4u /* may carry revision 2026-07-28; without: revisions with `initialize` only */
#define RY_MCP_LOCAL 8u /* runs a program on this machine */
#define RY_MCP_RESOLVES 16u /* not a transport itself: resolve() returns the configuration to use */
#define RY_MCP_AUTHORIZES 32u /* with RY_MCP_RESOLVES: authorize() may obtain better credentials */

#define RY_MCP_OPERATOR 1u /* the configuration is the operator's own: neither address guard nor allow-list */
#define RY_MCP_UNSANDBOXED 2u /* only with RY_MCP_OPERATOR: the operator tries a program out, without a sandbox */

/* The server to connect to, and the account that it is for; borrowed-in. */
typedef struct ry_mcp_target {
  uint32_t struct_size;
  uint32_t flags; /* RY_MCP_OPERATOR, RY_MCP_UNSANDBOXED */
  ry_str server; /* the configuration's name, for messages */
  ry_str config_json; /* its `config` object, secrets in the clear */
  ry_str account_id; /* may be empty */
  ry_str identity; /* connections are shared only within one identity */
  uint64_t connect_timeout_ms; /* until the session can carry messages; 0 = the driver's default */
  uint64_t max_message_bytes; /* of one decoded message from the server; a longer one ends the session */
} ry_mcp_target;

/* Kinds of messages; they affect framing only. */
#define RY_MCP_REQUEST 1u /* the server will answer it */
#define RY_MCP_NOTIFICATION 2u
#define RY_MCP_ANSWER 3u /* to a request of the server */
#define RY_MCP_RESUMABLE 256u /* the driver may resume the exchange if it breaks */
#define RY_MCP_LAST 512u /* only close() follows: the connection need not be kept */

typedef struct ry_mcp_message {
  uint32_t struct_size;
  uint32_t kind; /* one of the three kinds, and RY_MCP_RESUMABLE, RY_MCP_LAST */
  uint64_t token; /* identifies it in on_sent, on_message and finish; unique, not 0 */
  ry_str json; /* one JSON text without line breaks; copied */
  const ry_header* headers; /* added to the configuration's headers, which they override; copied */
  size_t n_headers;
  uint64_t timeout_ms; /* of an exchange, from its start to its end; 0 = none */
} ry_mcp_message;

/* The outcome of a message in addition to its status; borrowed-out. */
#define RY_MCP_IN_SESSION 1u /* it was sent within a session that the server keeps */
typedef struct ry_mcp_outcome {
  uint32_t struct_size;
  uint32_t flags; /* RY_MCP_IN_SESSION */
  uint32_t http_status; /* of the exchange's answer; 0 = none */
  uint32_t retry_after_s; /* 0 = none */
  ry_str body; /* the first 64 KiB of a response that is not a message */
  ry_str authenticate; /* the answer's WWW-Authenticate fields, joined by ", "; may be empty */
} ry_mcp_outcome;

/* Called on the exec of open(), in order. */
typedef struct ry_mcp_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  /* One message from the server, borrowed-out; token: of the exchange that delivered it, else 0. Returning
   * RY_RESOURCE_EXHAUSTED accepts it and asks the driver to pause reading until resume(); any other
   * non-zero status ends the session with that status. */
  ry_status (*on_message)(void* ctx, uint64_t token, ry_str json) RY_NOEXCEPT;
  /* Called once for each message, unless finish() or on_closed was called before. outcome: never NULL.
   * st: RY_OK even if the server responded with an HTTP error, see outcome; RY_UNAVAILABLE,
   * RY_DEADLINE_EXCEEDED, RY_PERMISSION_DENIED (a rejected address), RY_DATA_LOSS (violates the protocol),
   * RY_RESOURCE_EXHAUSTED (a limit). */
  void (*on_sent)(void* ctx, uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                  const ry_error_view* err) RY_NOEXCEPT;
  /* The last call, unless close() was called before: the connection ended or failed. RY_OK: the server
   * ended it. RY_UNAUTHENTICATED: it refused the credentials, with err's http_status and a detail_json of
   * {"authenticate": "..."}, see ry_mcp_outcome. err names the cause, such as an exit code; the standard
   * error of a program is the "cause" in its detail_json. */
  void (*on_closed)(void* ctx, ry_status st, const ry_error_view* err) RY_NOEXCEPT;
} ry_mcp_sink;

/* type, config_json: the configuration to use instead, borrowed-out; only if st == RY_OK.
 * Two members of config_json are for the module and do not reach the transport:
 *   "authorization"  value of the header Authorization. Connections are not shared between two values,
 *                    but caches about the server are; the value may change at any time.
 *   "expired": true  the credentials have expired; authorize() is called before the first use. */
typedef void (*ry_mcp_resolved_fn)(void* ctx, ry_status st, ry_str type, ry_str config_json,
                                   const ry_error_view* err) RY_NOEXCEPT;

/* A resolved configuration, and the server's response to it; borrowed-in. */
typedef struct ry_mcp_refusal {
  uint32_t struct_size;
  uint32_t http_status; /* 401 or 403; 0: it was not used, see "expired" */
  ry_str config_json; /* as resolve() or authorize() returned it */
  ry_str authenticate; /* as in ry_mcp_outcome */
} ry_mcp_refusal;

typedef struct ry_mcp_transport_v1 {
  uint32_t struct_size;
  uint32_t capabilities;
  /* Whether open() would accept this configuration. Checks only its text: no name lookups, no I/O.
   * RY_OK; RY_INVALID_ARGUMENT; RY_PERMISSION_DENIED (a rejected address or command), with a message for the API
   * client. [any] */
  ry_status (*check)(void* self, const ry_mcp_target* target, ry_errbuf* err) RY_NOEXCEPT;
  /* The sink is copied. *session is a handle until close(). Statuses besides those of check():
   * RY_RESOURCE_EXHAUSTED: the account has too many sessions of this driver; RY_ABORTED: the node has too many. The
   * module closes idle sessions (of the account; with RY_ABORTED also of others) and calls open() again for a few
   * seconds. RY_UNAVAILABLE and others: the server cannot be reached, or its program cannot be started. [any] */
  ry_status (*open)(void* self, const ry_mcp_target* target, ry_exec* exec, const ry_mcp_sink* sink, void* ctx,
                    void** session, ry_errbuf* err) RY_NOEXCEPT;
  /* RY_RESOURCE_EXHAUSTED: too many messages (at least 16) wait for their on_sent; RY_CANCELLED: the
   * session has ended. [exec] */
  ry_status (*send)(void* self, void* session, const ry_mcp_message* message) RY_NOEXCEPT;
  /* No more calls for this message. why 0: its answer has arrived, and the rest of its exchange may be
   * dropped; RY_REASON_*: it is cancelled, and its exchange must be aborted immediately. Unknown
   * tokens have no effect. [exec] */
  void (*finish)(void* self, void* session, uint64_t token, int32_t why) RY_NOEXCEPT;
  /* Continues reading. [exec] */
  void (*resume)(void* self, void* session) RY_NOEXCEPT;
  /* Releases the handle; no call of the sink starts after this has returned. The driver ends the session
   * (a DELETE, a child process and its descendants) in the background, within a few seconds. [exec] */
  void (*close)(void* self, void* session) RY_NOEXCEPT;
  /* For drivers with RY_MCP_RESOLVES; others return RY_UNIMPLEMENTED. RY_NOT_FOUND: the account has no
   * such configuration. [any] */
  ry_status (*resolve)(void* self, const ry_mcp_target* target, ry_exec* exec, ry_mcp_resolved_fn fn,
                       void* ctx) RY_NOEXCEPT;
  /* For drivers with RY_MCP_AUTHORIZES; others return RY_UNIMPLEMENTED. The server refused the current
   * credentials of this target: returns the configuration for another attempt.
   * RY_UNAUTHENTICATED: a user must act first; the error message states who must do what.
   * The module never cancels this call: later callers use the result of a call in progress. [any] */
  ry_status (*authorize)(void* self, const ry_mcp_target* target, const ry_mcp_refusal* refusal, ry_exec* exec,
                         ry_mcp_resolved_fn fn, void* ctx) RY_NOEXCEPT;
} ry_mcp_transport_v1;

#ifdef __cplusplus
}
#endif
#endif
