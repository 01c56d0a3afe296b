/* ry.http/1 - requests to a module's routes, responses, forms on disk, and streams.
 *
 * A request handle is ended by exactly one of respond, respond_file, fail or stream_open (then the
 * stream handle by stream_close). A handler may end it inside the call or later from any thread.
 * If the handler returns an error status, the host responds with it and the handle is ended. The handle may still be
 * ended after the client has disconnected: the response is dropped.
 */
#ifndef RY_IF_HTTP_H
#define RY_IF_HTTP_H
#include "../abi.h"
#ifdef __cplusplus
extern "C" {
#endif

#define RY_HTTP_1 "ry.http/1"

typedef struct ry_request ry_request;
typedef struct ry_stream ry_stream;
typedef struct ry_buffer ry_buffer; /* immutable shared bytes, for one event to many streams */

/* Valid until the request handle is ended (even after the handler has returned). */
typedef struct ry_request_view {
  uint32_t struct_size;
  uint32_t n_headers;
  ry_str method;
  ry_str path; /* as on the wire, without http.base_path and query */
  ry_str query; /* raw, without '?' ; a `token` parameter is removed on RY_ROUTE_QUERY_TOKEN routes */
  ry_str route; /* the pattern that matched */
  const ry_header* headers;
  const ry_header* params; /* path parameters, percent-decoded */
  size_t n_params;
  ry_bytes body; /* whole body; empty on RY_ROUTE_STREAM_BODY routes */
  const ry_principal* principal; /* NULL on public routes without a valid token */
  ry_str request_id; /* also sent as X-Request-Id */
  ry_str remote_address; /* of the client, after trusted proxies */
  ry_str traceparent; /* W3C trace context, may be empty */
  int64_t received_unix_us;
  int64_t deadline_unix_us; /* 0 = none */
  ry_exec* exec; /* the request's executor: use it for what belongs to this request */
} ry_request_view;

/* RY_OK: the handler has ended the request or will end it. Otherwise the host responds. [exec] */
typedef ry_status (*ry_handler_fn)(void* ctx, const ry_request_view* view, ry_request* request) RY_NOEXCEPT;

/* Limits for read_form; 0 = the host's default. Over a limit: RY_RESOURCE_EXHAUSTED with reason
 * "http.form_file_too_large", "http.form_too_many_files", "http.form_too_large" or
 * "http.form_too_many_parts" and detail_json {"limit": n, "field": "..."}; a malformed form: RY_INVALID_ARGUMENT
 * "http.form_malformed". */
typedef struct ry_form_limits {
  uint32_t struct_size;
  uint32_t max_files;
  uint64_t max_file_bytes;
  uint64_t max_total_bytes;
  uint64_t max_value_bytes; /* of one field that is not a file; default 1 MiB */
  uint32_t max_parts; /* default 1000 */
  uint32_t reserved0;
} ry_form_limits;

typedef struct ry_form_part {
  uint32_t struct_size;
  uint32_t is_file; /* 1 if the part had a filename */
  ry_str name;
  ry_str filename; /* as sent, unsanitised */
  ry_str content_type;
  ry_str value; /* of a field; empty for a file */
  ry_str path; /* of a file: a spool file that the host deletes with the request; rename or
                           link it to keep it */
  uint64_t size; /* bytes */
} ry_form_part;

typedef struct ry_form {
  uint32_t struct_size;
  uint32_t part_stride;
  const ry_form_part* parts;
  size_t n_parts;
} ry_form;

/* `form` is NULL unless st == RY_OK; it stays valid until the request ends. */
typedef void (*ry_form_fn)(void* ctx, ry_status st, const ry_form* form, const ry_error_view* err) RY_NOEXCEPT;
/* `chunk` empty with RY_OK: end of the body. Borrowed-out. */
typedef void (*ry_body_fn)(void* ctx, ry_status st, ry_bytes chunk) RY_NOEXCEPT;

typedef struct ry_http_v1 {
  uint32_t struct_size;
  uint32_t reserved0;
  /* Responds with a copy of body. The host sets Content-Length, Date and X-Request-Id. [any] ends it */
  ry_status (*respond)(ry_request* request, uint32_t status, const ry_header* headers, size_t n,
                       ry_bytes body) RY_NOEXCEPT;
  /* Responds with a byte range of a file, streamed from disk; len = UINT64_MAX: up to its end. The file is opened
   * before this returns. RY_NOT_FOUND leaves the request open. [blocking-ok][any] ends it */
  ry_status (*respond_file)(ry_request* request, uint32_t status, const ry_header* headers, size_t n, ry_str path,
                            uint64_t offset, uint64_t len) RY_NOEXCEPT;
  /* Responds with {"detail": ...} from the error, with its http_status and Retry-After. [any] ends it */
  ry_status (*fail)(ry_request* request, const ry_error_view* error) RY_NOEXCEPT;
  /* fn runs once, on the request's executor, if the client disconnects, the deadline passes or the host drains before
   * the request is ended; never after. One per request: a second call replaces it. [exec] */
  ry_status (*on_cancel)(ry_request* request, ry_cancel_fn fn, void* ctx) RY_NOEXCEPT;

  /* RY_ROUTE_STREAM_BODY: the next piece of the body. One at a time. [exec] */
  ry_status (*read_body)(ry_request* request, ry_body_fn fn, void* ctx) RY_NOEXCEPT;
  /* RY_ROUTE_STREAM_BODY: reads multipart/form-data (files to spool files; the rest in memory, 2 MiB at
   * most, or max_value_bytes if more) or urlencoded. Once. limits may be NULL. [exec] */
  ry_status (*read_form)(ry_request* request, const ry_form_limits* limits, ry_form_fn fn, void* ctx) RY_NOEXCEPT;

  /* Sends the head immediately; the body follows with stream_write. Chunked unless the headers contain Content-Length.
   * [any] ends the request; *out is valid until stream_close */
  ry_status (*stream_open)(ry_request* request, uint32_t status, const ry_header* headers, size_t n,
                           ry_stream** out) RY_NOEXCEPT;
  /* Queues a copy. RY_RESOURCE_EXHAUSTED: the client reads too slowly, the limit of the queue (1 MiB or 1024 pieces by
   * default) is reached and the connection will be closed; RY_CANCELLED: it is closed. The pieces that are queued when
   * the socket becomes writable are sent in one gather write. [any] */
  ry_status (*stream_write)(ry_stream* stream, ry_bytes bytes) RY_NOEXCEPT;
  /* Like stream_write, with shared bytes; the stream takes its own reference. [any] */
  ry_status (*stream_write_buffer)(ry_stream* stream, ry_buffer* buffer) RY_NOEXCEPT;
  /* Completes when less than a quarter of the queue's limit is queued; RY_CANCELLED if the client has disconnected. For
   * replays: write until the queue is half full, then wait. [any] */
  ry_status (*stream_ready)(ry_stream* stream, ry_exec* exec, ry_done done) RY_NOEXCEPT;
  /* From now on the connection sends `bytes` after every interval without a write. A zero interval stops this. [any] */
  ry_status (*stream_keepalive)(ry_stream* stream, uint64_t interval_ms, ry_bytes bytes) RY_NOEXCEPT;
  /* fn runs once on exec when the client has disconnected or was disconnected, or when the host drains
   * (RY_REASON_SHUTDOWN: send a last message and close). It does not start after stream_close has returned; a call on
   * another thread may still be running, so close on exec where that matters. [any] */
  ry_status (*stream_on_close)(ry_stream* stream, ry_exec* exec, ry_cancel_fn fn, void* ctx) RY_NOEXCEPT;
  /* Sends the queued pieces, ends the body, and ends the handle. [any] */
  void (*stream_close)(ry_stream* stream) RY_NOEXCEPT;

  /* Creates a buffer with one reference. NULL if out of memory. [any] */
  ry_buffer* (*buffer_new)(ry_bytes bytes)RY_NOEXCEPT;
  /* Releases the caller's reference. [any] */
  void (*buffer_release)(ry_buffer* buffer) RY_NOEXCEPT;
} ry_http_v1;

#ifdef __cplusplus
}
#endif
#endif
