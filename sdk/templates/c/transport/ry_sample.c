/* mcp.transport/1 over Unix sockets, in C99. A configuration is {"url": "unix:///run/mcp/tools.sock"};
 * the operator's setting `directory` defines which sockets are allowed. */
#include <errno.h>
#include <ry/if/registrar.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "text.h"

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* The module's manifest, which tools read without executing the file. It must match the descriptor
 * below. */
__attribute__((section(".ry.module"), used)) static const char manifest[] =
    "{\"name\":\"ry_sample\",\"version\":\"0.1.0\",\"abi_major\":1,\"abi_minor\":0,"
    "\"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},"
    "{\"id\":\"mcp.transport/1\",\"optional\":false}],\"provides\":[]}";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"directory\":{\"type\":\"string\",\"default\":\"\","
    "\"description\":\"Directory of the sockets that configurations may use. Empty: any socket in "
    "deployment.mode local, none otherwise\"}}}";

struct driver {
  struct io_thread io;
  char* directory;
  int local;
};

/* Returns the socket's path, to be freed with free(), or NULL with a status and an error message. */
static char* allowed_socket(const struct driver* d, const ry_mcp_target* t, ry_status* st, ry_errbuf* err) {
  static const char scheme[] = "unix://";
  const size_t n = strlen(d->directory), skip = sizeof scheme - 1;
  char* path = text_member(t->config_json, "url");
  int in_directory;
  if (path == NULL || strncmp(path, scheme, skip) != 0 || path[skip] != '/') {
    set_error(err, "The configuration requires \"url\" in the form unix:///path/of/a/socket");
    free(path);
    *st = RY_INVALID_ARGUMENT;
    return NULL;
  }
  memmove(path, path + skip, strlen(path + skip) + 1);
  in_directory = n != 0 && strncmp(path, d->directory, n) == 0 && path[n] == '/' && strchr(path + n + 1, '/') == NULL;
  if (in_directory || (t->flags & RY_MCP_OPERATOR) != 0 || (n == 0 && d->local)) return path;
  set_error(err, "The socket is not in the directory of allowed sockets");
  free(path);
  *st = RY_PERMISSION_DENIED;
  return NULL;
}

static ry_status check(void* self, const ry_mcp_target* target, ry_errbuf* err) {
  ry_status st = RY_OK;
  free(allowed_socket((struct driver*)self, target, &st, err));
  return st;
}

static ry_status open_session(void* self, const ry_mcp_target* target, ry_exec* exec, const ry_mcp_sink* sink,
                              void* ctx, void** out, ry_errbuf* err) {
  struct driver* d = (struct driver*)self;
  struct session* s = NULL;
  ry_status st = RY_OK;
  char* path = allowed_socket(d, target, &st, err);
  if (path == NULL) return st;
  st = session_open(&d->io, path, target, exec, sink, ctx, &s, err);
  free(path);
  if (st == RY_OK) *out = s;
  return st;
}
static ry_status send_message(void* self, void* session, const ry_mcp_message* message) {
  (void)self;
  return session_send((struct session*)session, message);
}
static void finish(void* self, void* session, uint64_t token, int32_t reason) {
  (void)self;
  (void)reason;
  session_finish((struct session*)session, token);
}
static void resume(void* self, void* session) {
  (void)self;
  session_resume((struct session*)session);
}
static void close_session(void* self, void* session) {
  (void)self;
  session_close((struct session*)session);
}
static ry_status resolve(void* self, const ry_mcp_target* target, ry_exec* exec, ry_mcp_resolved_fn fn, void* ctx) {
  (void)self, (void)target, (void)exec, (void)fn, (void)ctx;
  return RY_UNIMPLEMENTED;
}
static ry_status authorize(void* self, const ry_mcp_target* target, const ry_mcp_refusal* refusal, ry_exec* exec,
                           ry_mcp_resolved_fn fn, void* ctx) {
  (void)self, (void)target, (void)refusal, (void)exec, (void)fn, (void)ctx;
  return RY_UNIMPLEMENTED;
}
static const ry_mcp_transport_v1 transport = {sizeof transport, RY_MCP_MODERN, check,  open_session,
                                              send_message,     finish,        resume, close_session,
                                              resolve,          authorize};

/* ---- the module ---- */

static ry_status create(const ry_host* host, ry_get_interface_fn get, ry_registrar* registrar, ry_str config_json,
                        void** self, ry_errbuf* err) {
  const ry_str core_id = TEXT(RY_CORE_1), registrar_id = TEXT(RY_REGISTRAR_1);
  const ry_str point = TEXT(RY_MCP_TRANSPORT_1), name = TEXT("ry_sample");
  const ry_str mode_key = TEXT("deployment.mode"), local = TEXT("local");
  const ry_registrar_v1* reg = (const ry_registrar_v1*)get(host, registrar_id, sizeof(ry_registrar_v1));
  struct driver* d = (struct driver*)calloc(1, sizeof *d);
  ry_str mode;
  ry_status st;
  if (d == NULL) return RY_RESOURCE_EXHAUSTED;
  d->io.host = host;
  d->io.core = (const ry_core_v1*)get(host, core_id, sizeof(ry_core_v1));
  d->directory = text_member(config_json, "directory");
  if (d->directory == NULL) d->directory = (char*)calloc(1, 1);
  if (d->io.core == NULL || reg == NULL || d->directory == NULL) {
    set_error(err, "the host lacks a required interface");
    free(d->directory);
    free(d);
    return RY_UNAVAILABLE;
  }
  mode = d->io.core->info(host, mode_key);
  d->local = mode.len == local.len && memcmp(mode.ptr, local.ptr, local.len) == 0;
  st = reg->contribute(registrar, point, name, &transport, d);
  if (st != RY_OK) {
    free(d->directory);
    free(d);
    return st;
  }
  *self = d;
  return RY_OK;
}
static ry_status start(void* self, ry_errbuf* err) {
  if (io_thread_start(&((struct driver*)self)->io) == 0) return RY_OK;
  set_error(err, "the thread could not be started: %s", strerror(errno));
  return RY_RESOURCE_EXHAUSTED;
}
static void stop(void* self, int64_t deadline_unix_us, ry_done done) {
  (void)deadline_unix_us;
  io_thread_stop(&((struct driver*)self)->io);
  done.fn(done.ctx, RY_OK, NULL);
}
static void destroy(void* self) {
  struct driver* d = (struct driver*)self;
  io_thread_destroy(&d->io);
  free(d->directory);
  free(d);
}
static ry_status health(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
  return RY_OK;
}

static const ry_need needs[] = {{sizeof(ry_need), 0, TEXT(RY_CORE_1), 0, 0},
                                {sizeof(ry_need), 0, TEXT(RY_MCP_TRANSPORT_1), 0, 0}};
static const ry_module_v1 module = {RY_ABI_MAGIC,
                                    sizeof(ry_module_v1),
                                    RY_ABI_MAJOR,
                                    RY_ABI_MINOR,
                                    0,
                                    0,
                                    TEXT("ry_sample"),
                                    TEXT("0.1.0"),
                                    TEXT(schema),
                                    needs,
                                    2,
                                    sizeof(ry_need),
                                    NULL,
                                    0,
                                    create,
                                    start,
                                    stop,
                                    destroy,
                                    health};

const ry_module_v1* ry_module_entry(void) {
  return &module;
}
