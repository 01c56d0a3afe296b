/* A module that loads correctly and then violates the contract, in a different way in each of its routes: GET
 * /NAME/FAULT. With ABI_STAYS it never stops; ABI_BLOCKS names the lifecycle call that does not return. */
#include <pthread.h>
#include <ry/if/http.h>
#include <ry/if/registrar.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

__attribute__((section(".ry.module"), used)) static const char manifest[] =
    "{\"name\":\"" ABI_NAME
    "\",\"version\":\"1.0.0\",\"abi_major\":1,\"abi_minor\":0,\"min_host_minor\":0,"
    "\"flags\":0,\"needs\":[{\"id\":\"ry.http/1\",\"optional\":false}],\"provides\":[]}";

static const ry_host* host;
static const ry_http_v1* http;

static ry_status answer(ry_request* request) {
  static const char body[] = "{\"answered\":true}";
  const ry_header head = {TEXT("Content-Type"), TEXT("application/json")};
  const ry_bytes bytes = {(const uint8_t*)body, sizeof body - 1};
  return http->respond(request, 200, &head, 1, bytes);
}
static void wait_ms(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

/* Blocks forever if ABI_BLOCKS names this call. */
enum { in_stop = 1, in_destroy = 2 };
#ifndef ABI_BLOCKS
#define ABI_BLOCKS 0
#endif
static void stay(int where) {
  while (ABI_BLOCKS == where) wait_ms(1000);
}

static ry_status twice(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  (void)answer(request);
  (void)answer(request);
  return RY_OK;
}
static ry_status twice_and_error(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  (void)answer(request);
  return RY_INTERNAL;
}
static ry_status never(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  (void)request;
  return RY_OK;
}
static void* from_thread(void* request) {
  wait_ms(300);
  (void)answer((ry_request*)request);
  (void)answer((ry_request*)request);
  return NULL;
}
/* Responds late and twice, possibly after the client has disconnected, from a thread that the host did not create. */
static ry_status late(void* ctx, const ry_request_view* view, ry_request* request) {
  pthread_t thread;
  (void)ctx;
  (void)view;
  if (pthread_create(&thread, NULL, from_thread, request) != 0) return RY_RESOURCE_EXHAUSTED;
  pthread_detach(thread);
  return RY_OK;
}
static ry_status garbage(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  (void)request;
  return (ry_status)-12345;
}
static ry_status splits(void* ctx, const ry_request_view* view, ry_request* request) {
  const ry_header head = {TEXT("X-One"), TEXT("1\r\nSet-Cookie: stolen=1")};
  const ry_bytes none = {NULL, 0};
  (void)ctx;
  (void)view;
  return http->respond(request, 200, &head, 1, none);
}
static ry_status blocks(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  wait_ms(200);
  return answer(request);
}
/* Opens a stream and never closes it. */
static ry_status forgets(void* ctx, const ry_request_view* view, ry_request* request) {
  ry_stream* out = NULL;
  (void)ctx;
  (void)view;
  return http->stream_open(request, 200, NULL, 0, &out);
}

static ry_status crashes(void* ctx, const ry_request_view* view, ry_request* request) {
  (void)ctx;
  (void)view;
  (void)request;
  abort();
}
static void* abort_thread(void* none) {
  (void)none;
  abort();
}
static ry_status crashes_alone(void* ctx, const ry_request_view* view, ry_request* request) {
  pthread_t thread;
  (void)ctx;
  (void)view;
  (void)request;
  if (pthread_create(&thread, NULL, abort_thread, NULL) != 0) return RY_RESOURCE_EXHAUSTED;
  pthread_detach(thread);
  return RY_OK;
}

#ifdef ABI_CONSTRUCTOR
__attribute__((constructor)) static void constructed(void) {
  ABI_CONSTRUCTOR;
}
#endif

static ry_status create(const ry_host* its_host, ry_get_interface_fn get_interface, ry_registrar* registrar,
                        ry_str config_json, void** self, ry_errbuf* err) {
  static const struct {
    const char* pattern;
    ry_handler_fn handle;
  } routes[] = {{"/" ABI_NAME "/twice", twice},     {"/" ABI_NAME "/twice_and_error", twice_and_error},
                {"/" ABI_NAME "/never", never},     {"/" ABI_NAME "/late", late},
                {"/" ABI_NAME "/garbage", garbage}, {"/" ABI_NAME "/splits", splits},
                {"/" ABI_NAME "/blocks", blocks},   {"/" ABI_NAME "/forgets", forgets},
                {"/" ABI_NAME "/crashes", crashes}, {"/" ABI_NAME "/crashes_alone", crashes_alone}};
  const ry_str http_id = TEXT(RY_HTTP_1), reg_id = TEXT(RY_REGISTRAR_1);
  const ry_registrar_v1* reg;
  size_t i;
  (void)config_json;
  (void)err;
#ifdef ABI_CREATE
  ABI_CREATE;
#endif
  host = its_host;
  http = (const ry_http_v1*)get_interface(host, http_id, sizeof(ry_http_v1));
  reg = (const ry_registrar_v1*)get_interface(host, reg_id, sizeof(ry_registrar_v1));
  if (http == NULL || reg == NULL) return RY_UNAVAILABLE;
  for (i = 0; i < sizeof routes / sizeof routes[0]; ++i) {
    ry_route route;
    memset(&route, 0, sizeof route);
    route.struct_size = sizeof route;
    route.flags = RY_ROUTE_PUBLIC;
    route.method.ptr = "GET";
    route.method.len = 3;
    route.pattern.ptr = routes[i].pattern;
    route.pattern.len = strlen(routes[i].pattern);
    route.handle = routes[i].handle;
    route.timeout_ms = 1000;
    if (reg->route(registrar, &route) != RY_OK) return RY_INTERNAL;
  }
  *self = &host;
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
  stay(in_stop);
#ifdef ABI_STAYS
  (void)done;
#else
  done.fn(done.ctx, RY_OK, NULL);
#endif
}
static void destroy(void* self) {
  (void)self;
  stay(in_destroy);
#ifdef ABI_DESTROY
  ABI_DESTROY;
#endif
}
static ry_status health(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
  return RY_OK;
}

static const ry_need needs[] = {{sizeof(ry_need), 0, TEXT(RY_HTTP_1), 0, 0}};
static const ry_module_v1 module = {RY_ABI_MAGIC,
                                    sizeof(ry_module_v1),
                                    RY_ABI_MAJOR,
                                    RY_ABI_MINOR,
                                    0,
                                    0,
                                    TEXT(ABI_NAME),
                                    TEXT("1.0.0"),
                                    {NULL, 0},
                                    needs,
                                    1,
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
