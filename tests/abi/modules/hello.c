/* A module in plain C99: a route that responds after a timer. The macros turn it into modules that a
 * host must reject; each is off unless CMakeLists.txt sets it. */
#include <ry/if/core.h>
#include <ry/if/http.h>
#include <ry/if/registrar.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ABI_MAGIC
#define ABI_MAGIC RY_ABI_MAGIC
#endif
#ifndef ABI_MAJOR
#define ABI_MAJOR 1
#endif
#ifndef ABI_MINOR
#define ABI_MINOR 0
#endif
#ifndef ABI_MIN_HOST_MINOR
#define ABI_MIN_HOST_MINOR 0
#endif
#ifndef ABI_ROUTE
#define ABI_ROUTE "/abi/" ABI_NAME
#endif

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }
#define QUOTED_(x) #x
#define QUOTED(x) QUOTED_(x)

/* A module of a later minor version: requires the old part of the table and probes for the new one. */
#ifdef ABI_LATER
#define CORE_SIZE (offsetof(ry_core_v1, tomorrow))
#define HTTP_SIZE (offsetof(ry_http_v1, tomorrow))
#else
#define CORE_SIZE sizeof(ry_core_v1)
#define HTTP_SIZE sizeof(ry_http_v1)
#endif
#ifndef ABI_CORE_NEED
#define ABI_CORE_NEED 0
#endif

#ifdef ABI_NEED
#define NEED_JSON ",{\"id\":\"" ABI_NEED "\",\"optional\":false}"
#else
#define NEED_JSON ""
#endif
#ifdef ABI_PROVIDE
#define PROVIDE_JSON "\"" ABI_PROVIDE "\""
#else
#define PROVIDE_JSON ""
#endif
__attribute__((section(".ry.module"), used)) static const char manifest[] =
    "{\"name\":\"" ABI_NAME
    "\",\"version\":\"1.0.0\",\"abi_major\":" QUOTED(ABI_MAJOR) ",\"abi_minor\":" QUOTED(ABI_MINOR) ",\"min_host_minor\":" QUOTED(ABI_MIN_HOST_MINOR) ",\"flags\":0,\"needs\":[{\"id\":\"ry.http/1\",\"optional\":false},{\"id\":\"ry.core/1\",\"optional\":false,\"min_size\":" QUOTED(
        ABI_CORE_NEED) "}" NEED_JSON "],\"provides\":[" PROVIDE_JSON "]}";

struct self {
  const ry_host* host;
  const ry_core_v1* core;
  const ry_http_v1* http;
};
struct waiting {
  struct self* self;
  ry_request* request;
};

#if defined(ABI_CONSTRUCTOR) || defined(ABI_CREATE)
static inline void wait_for_ever(void) {
  for (;;) pause();
}
#endif
#ifdef ABI_ABORTS
/* Runs when the library is loaded: an inspection of the file must not run it. */
__attribute__((constructor)) static void aborts(void) {
  abort();
}
#endif
#ifdef ABI_EXITS
__attribute__((constructor)) static void exits(void) {
  _exit(ABI_EXITS);
}
#endif
#ifdef ABI_CONSTRUCTOR
__attribute__((constructor)) static void constructed(void) {
  ABI_CONSTRUCTOR;
}
#endif
#ifdef ABI_UNRESOLVED
void ABI_UNRESOLVED(void);
void (*const unresolved)(void);
void (*const unresolved)(void) = ABI_UNRESOLVED;
#endif

static void after(void* ctx, ry_status st, const ry_error_view* err) {
  struct waiting* w = (struct waiting*)ctx;
  static const char body[] = "{\"lang\":\"" ABI_NAME "\"}";
  const ry_header head = {TEXT("Content-Type"), TEXT("application/json")};
  const ry_bytes bytes = {(const uint8_t*)body, sizeof body - 1};
  (void)err;
  w->self->http->respond(w->request, st == RY_OK ? 200 : 503, &head, 1, bytes);
  free(w);
}

static ry_status handle(void* ctx, const ry_request_view* view, ry_request* request) {
  struct self* s = (struct self*)ctx;
  struct waiting* w = (struct waiting*)malloc(sizeof *w);
  ry_done done = {after, NULL};
  ry_status st;
  if (w == NULL) return RY_RESOURCE_EXHAUSTED;
  w->self = s;
  w->request = request;
  done.ctx = w;
  st = s->core->sleep_ms(s->host, view->exec, 5, done, NULL);
  if (st != RY_OK) free(w);
  return st;
}

static ry_status create(const ry_host* host, ry_get_interface_fn get_interface, ry_registrar* registrar,
                        ry_str config_json, void** self, ry_errbuf* err) {
  const ry_str core_id = TEXT(RY_CORE_1), http_id = TEXT(RY_HTTP_1), reg_id = TEXT(RY_REGISTRAR_1);
  const ry_registrar_v1* reg;
  ry_route route;
  ry_status st;
  struct self* s;
  (void)config_json;
#ifdef ABI_CREATE
  ABI_CREATE;
#endif
#ifdef ABI_FAIL
  err->len = (size_t)snprintf(err->ptr, err->cap, "%s", ABI_FAIL);
  return RY_FAILED_PRECONDITION;
#endif
  s = (struct self*)calloc(1, sizeof *s);
  if (s == NULL) return RY_RESOURCE_EXHAUSTED;
  s->host = host;
  s->core = (const ry_core_v1*)get_interface(host, core_id, CORE_SIZE);
  s->http = (const ry_http_v1*)get_interface(host, http_id, HTTP_SIZE);
  reg = (const ry_registrar_v1*)get_interface(host, reg_id, sizeof(ry_registrar_v1));
  if (s->core == NULL || s->http == NULL || reg == NULL) {
    err->len = (size_t)snprintf(err->ptr, err->cap, "the host lacks an interface");
    free(s);
    return RY_UNAVAILABLE;
  }
#ifdef ABI_LATER
  if (RY_HAS(s->core, ry_core_v1, tomorrow) || RY_HAS(s->http, ry_http_v1, tomorrow)) {
    err->len = (size_t)snprintf(err->ptr, err->cap, "the host has a function that does not exist yet");
    free(s);
    return RY_FAILED_PRECONDITION;
  }
#endif
  memset(&route, 0, sizeof route);
  route.struct_size = sizeof route;
  route.flags = RY_ROUTE_PUBLIC;
  route.method.ptr = "GET";
  route.method.len = 3;
  route.pattern.ptr = ABI_ROUTE;
  route.pattern.len = strlen(ABI_ROUTE);
  route.handle = handle;
  route.ctx = s;
  st = reg->route(registrar, &route);
#ifdef ABI_PROVIDE
  {
    static const uint32_t table[2] = {sizeof table, 0};
    const ry_str id = TEXT(ABI_PROVIDE);
    if (st == RY_OK) st = reg->provide(registrar, id, table, s);
  }
#endif
  if (st != RY_OK) {
    free(s);
    return st;
  }
  *self = s;
  return RY_OK;
}
static ry_status start(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
  return RY_OK;
}
static void stop(void* self, int64_t deadline_unix_us, ry_done done) {
  (void)self;
  (void)deadline_unix_us;
  done.fn(done.ctx, RY_OK, NULL);
}
static void destroy(void* self) {
#ifdef ABI_DESTROY
  ABI_DESTROY;
#endif
  free(self);
}
static ry_status health(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
  return RY_OK;
}

static const ry_need needs[] = {
    {sizeof(ry_need), 0, TEXT(RY_HTTP_1), 0, 0},
    {sizeof(ry_need), 0, TEXT(RY_CORE_1), ABI_CORE_NEED, 0},
#ifdef ABI_NEED
    {sizeof(ry_need), 0, TEXT(ABI_NEED), 0, 0},
#endif
};
#ifdef ABI_PROVIDE
static const ry_str provides[] = {TEXT(ABI_PROVIDE)};
#define N_PROVIDES 1
#else
#define provides NULL
#define N_PROVIDES 0
#endif
static const ry_module_v1 module = {ABI_MAGIC,
                                    sizeof(ry_module_v1),
                                    ABI_MAJOR,
                                    ABI_MINOR,
                                    ABI_MIN_HOST_MINOR,
                                    0,
                                    TEXT(ABI_NAME),
                                    TEXT("1.0.0"),
                                    {NULL, 0},
                                    needs,
                                    sizeof needs / sizeof needs[0],
                                    sizeof(ry_need),
                                    provides,
                                    N_PROVIDES,
                                    create,
                                    start,
                                    stop,
                                    destroy,
                                    health};

const ry_module_v1* ry_module_entry(void) {
  return &module;
}
