/* ry.http_client/1 - outgoing HTTP(S) with an address guard, streamed responses and pooled connections.
 *
 * The guard (off only in deployment.mode = local, or for a request whose URL is flagged as the operator's) allows only
 * http and https, checks every resolved address, connects to the address that was checked, checks redirects again and
 * never follows them to another host.
 *
 * A proxy resolves the name and connects, so the client cannot check the address. Therefore only a request with
 * RY_CLIENT_OPERATOR_URL may use one; any other request with a proxy is rejected with "http_client.proxy".
 */
#ifndef RY_IF_HTTP_CLIENT_H
#define RY_IF_HTTP_CLIENT_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_HTTP_CLIENT_1 "ry.http_client/1"

#define RY_CLIENT_OPERATOR_URL 1u /* the URL is from the operator's configuration: no address guard */
#define RY_CLIENT_FOLLOW_REDIRECTS 2u /* same host, at most 5, GET and HEAD or 307/308 */
#define RY_CLIENT_FRESH_CONNECTION 4u /* neither uses a pooled connection nor returns one */
#define RY_CLIENT_LAST 8u /* may use a pooled connection, but returns none */
/* idempotent regardless of the method: retried once if a pooled connection breaks before the response */
#define RY_CLIENT_REPEATABLE 16u
/* use the proxy in HTTPS_PROXY or HTTP_PROXY of the server's environment for this URL, unless NO_PROXY excludes it
   or `proxy` is set */
#define RY_CLIENT_ENVIRONMENT_PROXY 32u

typedef struct ry_client_request {
  uint32_t struct_size;
  uint32_t flags;
  ry_str method;
  ry_str url;
  const ry_header* headers; /* the host sets Host, Content-Length and Connection; User-Agent has a default */
  size_t n_headers;
  ry_bytes body; /* copied */
  uint64_t connect_timeout_ms; /* name lookup, TCP and TLS together; 0 = 10 s */
  uint64_t idle_timeout_ms; /* between two pieces of the response; 0 = 60 s */
  uint64_t total_timeout_ms; /* of the whole request; 0 = none */
  uint64_t max_response_bytes; /* 0 = 64 MiB; UINT64_MAX = none; a larger one: RY_RESOURCE_EXHAUSTED */
  ry_str pool_key; /* connections are shared only within one key, e.g. an identity */
  /* The members below may be missing if struct_size is smaller. Connections are shared only between requests with
   * the same proxy, credentials included, and the same `trust`. */
  ry_str proxy; /* "http://[user:password@]host[:port]": CONNECT for https URLs, the absolute form of
                                  the URL for http; empty: none. Never shown */
  uint64_t trust; /* additional certificates, see trust(); 0: none */
  ry_str account; /* id of the account that the request is made for. Its name lookups take turns with those of other
                                  accounts and are limited in number. Set it for URLs of users; empty: the operator */
} ry_client_request;

typedef struct ry_client_response {
  uint32_t struct_size;
  uint32_t status;
  const ry_header* headers;
  size_t n_headers;
  ry_str url; /* after redirects */
  ry_str peer_address; /* the proxy's address if one is used */
} ry_client_response;

/* Called on the request's executor, in order: head once, then data, then done exactly once. Data is
 * already de-chunked. `on_data` returning RY_RESOURCE_EXHAUSTED pauses reading until resume();
 * any other non-zero status aborts the request with that status. */
typedef struct ry_client_handler {
  uint32_t struct_size;
  uint32_t reserved0;
  void (*on_head)(void* ctx, const ry_client_response* response) RY_NOEXCEPT;
  ry_status (*on_data)(void* ctx, ry_bytes chunk) RY_NOEXCEPT;
  /* Failures: RY_PERMISSION_DENIED "http_client.address_refused", RY_UNAVAILABLE
   * "http_client.resolve" | "lookup_limit" (too many name lookups wait) | "connect" | "tls" | "reset" | "proxy",
   * RY_DEADLINE_EXCEEDED "http_client.connect_timeout" | "idle_timeout" | "total_timeout", RY_INVALID_ARGUMENT
   * "http_client.url" | "proxy" (unusable, or it rejected the request: a retry does not help), RY_DATA_LOSS
   * "http_client.malformed" | "truncated", RY_CANCELLED. */
  ry_done_fn on_done;
} ry_client_handler;

typedef struct ry_http_client_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Starts a request. `handler` is copied. On cancel the socket is closed before on_done. [any] */
  ry_status (*request)(const ry_host* host, ry_exec* exec, const ry_client_request* request,
                       const ry_client_handler* handler, void* ctx, ry_op_id* op) RY_NOEXCEPT;
  /* Continues reading after a pause. [any] */
  void (*resume)(const ry_host* host, ry_op_id op) RY_NOEXCEPT;
  /* Whether the guard allows the literal form of this URL (scheme, address literal, names that are always refused).
   * No name lookup. RY_OK, RY_INVALID_ARGUMENT or RY_PERMISSION_DENIED. [any] */
  ry_status (*check_url)(const ry_host* host, ry_str url) RY_NOEXCEPT;
  /* Soon closes the idle connections of requests on this executor with this pool_key. [any] */
  void (*drop_idle)(const ry_host* host, ry_exec* exec, ry_str pool_key) RY_NOEXCEPT;
  /* CA certificates (PEM, at most 4 MiB) that requests with this number trust in addition to the system's. The same
   * text has the same number while the server runs. Slow: call it on a blocking thread. RY_INVALID_ARGUMENT: the text
   * is invalid, see `err`; RY_RESOURCE_EXHAUSTED: too many. In `runyard check`, which makes no requests, the text is
   * only checked and *number is 0. [any] */
  ry_status (*trust)(const ry_host* host, ry_str pem, uint64_t* number, ry_errbuf* err) RY_NOEXCEPT;
} ry_http_client_v1;

#ifdef __cplusplus
}
#endif
#endif
