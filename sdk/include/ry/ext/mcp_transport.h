/* mcp.transport/1 - how messages travel to an MCP server and back (point of the module `mcp`).
 *
 * A driver moves whole messages: one JSON text each, as UTF-8. JSON-RPC, protocol revisions, paging,
 * caching, tools and limits are the module's. The name under which a driver is contributed is the
 * `customType` of a configuration, or its `type` when there is none.
 *
 * A session is one connection to one server, whatever the driver understands by that. It is opened
 * with the configuration, carries messages both ways and ends when the module closes it or when the
 * driver has said on_closed.
 *
 *   open -> session      the driver connects by itself; messages may be sent at once and wait
 *   send(token 1) ...    on_message ... on_sent(1)
 *   send(token 2) ...    on_sent(2) ... on_message
 *   close                the driver cleans up afterwards; the module does not wait for it
 *
 * Two kinds of drivers. Where messages share one channel (a pipe, a socket), on_sent says that the
 * message is on its way, and answers come when they come. Where each message is an exchange of its own
 * (RY_MCP_EXCHANGES: HTTP), on_sent says that the exchange ended: a request that has no answer by then
 * gets none.
 *
 * Users see the message of a driver's error. It states the cause in the driver's own words, without secrets of the
 * configuration, addresses that the user does not know, and text of the server or its program. Put those into the error's
 * detail_json as {"cause": "..."}: the module writes it to the log and shows it to no client.
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
#define RY_MCP_RESOLVES 16u /* no transport of its own: resolve() names the configuration to be used */
#define RY_MCP_AUTHORIZES 32u /* with RY_MCP_RESOLVES: authorize() may find better credentials */

#define RY_MCP_OPERATOR 1u /* the configuration is the operator's own: neither address guard nor allow-list */

/* The server to connect to, and the account that it is for; borrowed-in. */
typedef struct ry_mcp_target {
  uint32_t struct_size;
  uint32_t flags; /* RY_MCP_OPERATOR */
  ry_str server; /* the configuration's name, for messages */
  ry_str config_json; /* its `config` object, secrets in the clear */
  ry_str account_id; /* may be empty */
  ry_str identity; /* connections are shared only within one identity */
  uint64_t connect_timeout_ms; /* until messages can flow; 0 = the driver's default */
  uint64_t max_message_bytes; /* of one message from the server, decoded; over it RY_RESOURCE_EXHAUSTED */
} ry_mcp_target;

/* What a message is; decides about framing only. */
#define RY_MCP_REQUEST 1u /* the server will answer it */
#define RY_MCP_NOTIFICATION 2u
#define RY_MCP_ANSWER 3u /* to a request of the server */
#define RY_MCP_RESUMABLE 256u /* an exchange that breaks may be taken up again by the driver's own means */
#define RY_MCP_LAST 512u /* only close() follows: what carried it need not be kept */

typedef struct ry_mcp_message {
  uint32_t struct_size;
  uint32_t kind; /* one of the three, and bits */
  uint64_t token; /* names it in on_sent, on_message and finish; not 0, new for each message */
  ry_str json; /* one JSON text without line breaks; copied */
  const ry_header* headers; /* beside the configuration's, which they replace; copied */
  size_t n_headers;
  uint64_t timeout_ms; /* of an exchange, from its start to its end; 0 = none */
} ry_mcp_message;

/* How a message fared beyond its status; borrowed-out. */
#define RY_MCP_IN_SESSION 1u /* it was sent within a session that the server keeps */
typedef struct ry_mcp_outcome {
  uint32_t struct_size;
  uint32_t flags; /* RY_MCP_IN_SESSION */
  uint32_t http_status; /* of the exchange's answer; 0 = none */
  uint32_t retry_after_s; /* 0 = none */
  ry_str body; /* of an answer that is no message: its beginning, at most 64 KiB */
  ry_str authenticate; /* the answer's WWW-Authenticate fields, joined by ", "; may be empty */
} ry_mcp_outcome;

/* All on the exec of open(), in order. */
typedef struct ry_mcp_sink {
  uint32_t struct_size;
  uint32_t reserved0;
  /* One message from the server, borrowed-out; token: of the exchange it came on, else 0. Returning
   * RY_RESOURCE_EXHAUSTED takes it and asks the driver to read no further until resume(); any other
   * non-zero status ends the session with that status. */
  ry_status (*on_message)(void* ctx, uint64_t token, ry_str json) RY_NOEXCEPT;
  /* Once for each message, unless finish() or on_closed came first. outcome: never NULL.
   * st: RY_OK also when the server refused by an HTTP status, see outcome; RY_UNAVAILABLE,
   * RY_DEADLINE_EXCEEDED, RY_PERMISSION_DENIED (a refused address), RY_DATA_LOSS (not the protocol),
   * RY_RESOURCE_EXHAUSTED (a limit). */
  void (*on_sent)(void* ctx, uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                  const ry_error_view* err) RY_NOEXCEPT;
  /* Last, unless close() came first: the connection is gone, or could not be made. RY_OK: the server
   * ended it. RY_UNAUTHENTICATED: it refused the credentials, with err's http_status and a detail_json of
   * {"authenticate": "..."}, see ry_mcp_outcome. err names the cause, such as an exit code; the standard
   * error of a program is the "cause" in its detail_json. */
  void (*on_closed)(void* ctx, ry_status st, const ry_error_view* err) RY_NOEXCEPT;
} ry_mcp_sink;

/* type, config_json: the configuration to be used instead, borrowed-out; only when st == RY_OK.
 * Two members of config_json are for the module and do not reach the transport:
 *   "authorization"  value of the header Authorization. Connections are not shared between two of them,
 *                    what is remembered of the server is: it may change as often as it likes.
 *   "expired": true  the credentials are known to be old; authorize() is asked before the first use. */
typedef void (*ry_mcp_resolved_fn)(void* ctx, ry_status st, ry_str type, ry_str config_json,
                                   const ry_error_view* err) RY_NOEXCEPT;

/* A configuration that was named, and how the server took it; borrowed-in. */
typedef struct ry_mcp_refusal {
  uint32_t struct_size;
  uint32_t http_status; /* 401 or 403; 0: it was not tried, see "expired" */
  ry_str config_json; /* as it was named */
  ry_str authenticate; /* as in ry_mcp_outcome */
} ry_mcp_refusal;

typedef struct ry_mcp_transport_v1 {
  uint32_t struct_size;
  uint32_t capabilities;
  /* Is this configuration one that open() would try? Looks at the text only: no look-ups, no I/O.
   * RY_OK; RY_INVALID_ARGUMENT; RY_PERMISSION_DENIED (an address or a command that is refused), with
   * a sentence for the caller of the interface. [any] */
  ry_status (*check)(void* self, const ry_mcp_target* target, ry_errbuf* err) RY_NOEXCEPT;
  /* The sink is copied. *session is a handle until close(). Statuses besides those of check():
   * RY_RESOURCE_EXHAUSTED: the account has too many sessions of this driver; RY_ABORTED: the node has too many. The module
   * closes idle sessions (of the account; with RY_ABORTED also of others) and calls open() again for a few seconds.
   * RY_UNAVAILABLE and others: the server cannot be reached, or its program cannot be started. [any] */
  ry_status (*open)(void* self, const ry_mcp_target* target, ry_exec* exec, const ry_mcp_sink* sink, void* ctx,
                    void** session, ry_errbuf* err) RY_NOEXCEPT;
  /* RY_RESOURCE_EXHAUSTED: too many messages (at least 16) wait for their on_sent; RY_CANCELLED: the
   * session is over. [exec] */
  ry_status (*send)(void* self, void* session, const ry_mcp_message* message) RY_NOEXCEPT;
  /* No more calls for this message. why 0: its answer has come, what is left of its exchange is of no
   * interest; RY_REASON_*: it is called off, and an exchange of its own is broken off at once. Unknown
   * tokens: no effect. [exec] */
  void (*finish)(void* self, void* session, uint64_t token, int32_t why) RY_NOEXCEPT;
  /* Reads on. [exec] */
  void (*resume)(void* self, void* session) RY_NOEXCEPT;
  /* Ends the handle; no call of the sink starts after this returned. What the peer is owed (a
   * good-bye, the end of a child and of all it started) is done behind it within a few seconds. [exec] */
  void (*close)(void* self, void* session) RY_NOEXCEPT;
  /* Of a driver with RY_MCP_RESOLVES; the others answer RY_UNIMPLEMENTED. RY_NOT_FOUND: the account has
   * no such thing. [any] */
  ry_status (*resolve)(void* self, const ry_mcp_target* target, ry_exec* exec, ry_mcp_resolved_fn fn,
                       void* ctx) RY_NOEXCEPT;
  /* Of a driver with RY_MCP_AUTHORIZES; the others answer RY_UNIMPLEMENTED. The server wants other
   * credentials than those that were named for this target: names the configuration for another try.
   * RY_UNAUTHENTICATED: there are none without somebody's doing, and the error's sentence says whose.
   * The module calls off nothing: an operation under way is finished for those that come later. [any] */
  ry_status (*authorize)(void* self, const ry_mcp_target* target, const ry_mcp_refusal* refusal, ry_exec* exec,
                         ry_mcp_resolved_fn fn, void* ctx) RY_NOEXCEPT;
} ry_mcp_transport_v1;

#ifdef __cplusplus
}
#endif
#endif
