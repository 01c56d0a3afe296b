/* A module in C99 with one route, which responds with the module's settings after a timer. */
#include <ry/if/core.h>
#include <ry/if/http.h>
#include <ry/if/registrar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* The module's manifest, which tools read without executing the file. It must match the descriptor
 * below. */
__attribute__((section(".ry.module"), used)) static const char manifest[] =
    "{\"name\":\"ry_sample\",\"version\":\"0.1.0\",\"abi_major\":1,\"abi_minor\":0,"
    "\"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},"
    "{\"id\":\"ry.http/1\",\"optional\":false}],\"provides\":[]}";

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"greeting\":{\"type\":\"string\",\"default\":\"Hello\","
    "\"description\":\"Shown in every response\"}}}";

struct sample {
  const ry_host* host;
  const ry_core_v1* core;
  const ry_http_v1* http;
  size_t settings_len;
  char settings[]; /* JSON, defaults filled in */
};
/* A request that waits for its response. */
struct pending {
  struct sample* sample;
  ry_request* request;
};

/* Called once, on the request's executor. */
static void timer_expired(void* ctx, ry_status st, const ry_error_view* err) {
  struct pending* p = (struct pending*)ctx;
  const ry_header header = {TEXT("Content-Type"), TEXT("application/json")};
  const ry_bytes body = {(const uint8_t*)p->sample->settings, p->sample->settings_len};
  const ry_bytes empty = {NULL, 0};
  (void)err;
  p->sample->http->respond(p->request, st == RY_OK ? 200 : 503, &header, 1, st == RY_OK ? body : empty);
  free(p);
}

static ry_status greet(void* ctx, const ry_request_view* view, ry_request* request) {
  struct sample* s = (struct sample*)ctx;
  struct pending* p = (struct pending*)malloc(sizeof *p);
  ry_done done = {timer_expired, NULL};
  ry_status st;
  if (p == NULL) return RY_RESOURCE_EXHAUSTED; /* the host sends the error response */
  p->sample = s;
  p->request = request;
  done.ctx = p;
  st = s->core->sleep_ms(s->host, view->exec, 1, done, NULL);
  if (st != RY_OK) free(p);
  return st;
}

/* Registers the route. No I/O and no threads here. */
static ry_status create(const ry_host* host, ry_get_interface_fn get, ry_registrar* registrar, ry_str config_json,
                        void** self, ry_errbuf* err) {
  const ry_str core_id = TEXT(RY_CORE_1), http_id = TEXT(RY_HTTP_1);
  const ry_str registrar_id = TEXT(RY_REGISTRAR_1);
  const ry_str method = TEXT("GET"), pattern = TEXT("/ry_sample/{name}");
  const ry_registrar_v1* reg = (const ry_registrar_v1*)get(host, registrar_id, sizeof(ry_registrar_v1));
  struct sample* s = (struct sample*)malloc(sizeof *s + config_json.len);
  ry_route route;
  ry_status st;
  if (s == NULL) return RY_RESOURCE_EXHAUSTED;
  s->host = host;
  s->core = (const ry_core_v1*)get(host, core_id, sizeof(ry_core_v1));
  s->http = (const ry_http_v1*)get(host, http_id, sizeof(ry_http_v1));
  s->settings_len = config_json.len;
  memcpy(s->settings, config_json.ptr, config_json.len);
  if (s->core == NULL || s->http == NULL || reg == NULL) {
    err->len = (size_t)snprintf(err->ptr, err->cap, "the host lacks a required interface");
    free(s);
    return RY_UNAVAILABLE;
  }
  memset(&route, 0, sizeof route);
  route.struct_size = sizeof route;
  route.flags = RY_ROUTE_PUBLIC;
  route.method = method;
  route.pattern = pattern;
  route.handle = greet;
  route.ctx = s;
  st = reg->route(registrar, &route);
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
  free(self);
}
static ry_status health(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
  return RY_OK;
}

static const ry_need needs[] = {{sizeof(ry_need), 0, TEXT(RY_CORE_1), 0, 0},
                                {sizeof(ry_need), 0, TEXT(RY_HTTP_1), 0, 0}};
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
