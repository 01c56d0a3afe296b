/* A transport in C99 with a built-in server: each session produces its own responses. FAULT_* turns it into a module
 * that violates one rule, for `runyard module check`; each is off unless CMakeLists.txt sets it. */
#include <pthread.h>
#include <ry/ext/mcp_transport.h>
#include <ry/if/core.h>
#include <ry/if/registrar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

#ifdef FAULT_FACTS
#define SECTION_VERSION "9.9.9"
#else
#define SECTION_VERSION "1.0.0"
#endif
__attribute__((section(".ry.module"), used)) static const char manifest[] =
    "{\"name\":\"" ABI_NAME "\",\"version\":\"" SECTION_VERSION
    "\",\"abi_major\":1,\"abi_minor\":0,"
    "\"min_host_minor\":0,\"flags\":0,\"needs\":[{\"id\":\"ry.core/1\",\"optional\":false},"
    "{\"id\":\"mcp.transport/1\",\"optional\":false}],\"provides\":[]}";

struct driver {
  const ry_host* host;
  const ry_core_v1* core;
};
enum what { MESSAGE, SENT, CLOSED };
struct event {
  struct event* next;
  enum what what;
  ry_status status;
  uint64_t token;
  char text[200];
};
struct session {
  struct driver* driver;
  ry_exec* exec;
  ry_mcp_sink sink;
  void* ctx;
  uint64_t most;
  int posted, paused, closed, over;
  struct event *first, *last;
};

#ifdef FAULT_EXPORTS
RY_EXPORT int one_symbol_too_many(void);
int one_symbol_too_many(void) {
  return 1;
}
#endif

static void post(struct session* s);

static void report(struct session* s, struct event* e) {
  ry_mcp_outcome fine;
  ry_error_view error;
  ry_str text;
  text.ptr = e->text;
  text.len = strlen(e->text);
  memset(&fine, 0, sizeof fine);
  fine.struct_size = sizeof fine;
  memset(&error, 0, sizeof error);
  error.struct_size = sizeof error;
  error.status = e->status;
  error.message = text;
  if (e->what == SENT) {
    s->sink.on_sent(s->ctx, e->token, RY_OK, &fine, NULL);
#ifdef FAULT_TWICE
    s->sink.on_sent(s->ctx, e->token, RY_OK, &fine, NULL);
#endif
  } else if (e->what == CLOSED) {
    s->sink.on_closed(s->ctx, e->status, &error);
  } else {
    const ry_status st = s->sink.on_message(s->ctx, 0, text);
#ifndef FAULT_PRESSURE
    s->paused = st == RY_RESOURCE_EXHAUSTED;
#endif
    if (st != RY_OK && st != RY_RESOURCE_EXHAUSTED && !s->closed) {
      s->over = 1;
      error.status = st;
      s->sink.on_closed(s->ctx, st, &error);
    }
  }
}

static void deliver(void* p) {
  struct session* s = (struct session*)p;
  s->posted = 0;
  while (s->first != NULL && !s->paused && !s->closed && !s->over) {
    struct event* e = s->first;
    s->first = e->next;
    if (s->first == NULL) s->last = NULL;
    if (e->what == CLOSED) s->over = 1;
    report(s, e);
    free(e);
  }
  if (!s->closed) return;
#ifdef FAULT_LATE
  {
    struct event late;
    memset(&late, 0, sizeof late);
    late.what = CLOSED;
    report(s, &late);
  }
#endif
  while (s->first != NULL) {
    struct event* e = s->first;
    s->first = e->next;
    free(e);
  }
#ifndef FAULT_LATE
  free(s);
#endif
}

static void post(struct session* s) {
  if (s->posted) return;
  s->posted = 1;
  if (s->driver->core->exec_post(s->driver->host, s->exec, deliver, s) != RY_OK) s->posted = 0;
}

static void add(struct session* s, enum what what, uint64_t token, ry_status status, const char* text) {
  struct event* e = (struct event*)calloc(1, sizeof *e);
  if (e == NULL) return;
  e->what = what;
  e->token = token;
  e->status = status;
  snprintf(e->text, sizeof e->text, "%s", text);
  if (s->last != NULL)
    s->last->next = e;
  else
    s->first = e;
  s->last = e;
  post(s);
}

/* ---- the driver ---- */

static ry_status check(void* self, const ry_mcp_target* t, ry_errbuf* err) {
  static const char inside[] = "{\"url\":\"inside:\"}";
  (void)self;
  if (t->config_json.len == sizeof inside - 1 && memcmp(t->config_json.ptr, inside, sizeof inside - 1) == 0)
    return RY_OK;
#ifndef FAULT_DUMB
  err->len = (size_t)snprintf(err->ptr, err->cap, "no such address");
  if (err->len > err->cap) err->len = err->cap;
#else
  (void)err;
#endif
  return RY_INVALID_ARGUMENT;
}

static ry_status open_session(void* self, const ry_mcp_target* t, ry_exec* exec, const ry_mcp_sink* sink, void* ctx,
                              void** out, ry_errbuf* err) {
  struct session* s;
  const ry_status st = check(self, t, err);
  if (st != RY_OK) return st;
#ifdef FAULT_CRASH
  abort();
#endif
#ifdef FAULT_LEAK
  if (dup(0) < 0) return RY_RESOURCE_EXHAUSTED;
#endif
  s = (struct session*)calloc(1, sizeof *s);
  if (s == NULL) return RY_RESOURCE_EXHAUSTED;
  s->driver = (struct driver*)self;
  s->exec = exec;
  s->sink = *sink;
  s->ctx = ctx;
  s->most = t->max_message_bytes;
  *out = s;
  return RY_OK;
}

#ifdef FAULT_THREAD
static void* elsewhere(void* p) {
  struct session* s = (struct session*)p;
  struct event e;
  memset(&e, 0, sizeof e);
  e.what = MESSAGE;
  snprintf(e.text, sizeof e.text, "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
  report(s, &e);
  return NULL;
}
#endif

static ry_status send_message(void* self, void* p, const ry_mcp_message* m) {
  struct session* s = (struct session*)p;
  char text[200] = "";
  (void)self;
  if (s->over) return RY_CANCELLED;
#ifdef FAULT_INLINE
  {
    struct event e;
    memset(&e, 0, sizeof e);
    e.what = SENT;
    e.token = m->token;
    report(s, &e);
  }
#elif !defined(FAULT_NEVER)
  add(s, SENT, m->token, RY_OK, "");
#endif
  if ((m->kind & 0xff) != RY_MCP_REQUEST) return RY_OK;
#ifdef FAULT_THREAD
  {
    pthread_t t;
    if (pthread_create(&t, NULL, elsewhere, s) == 0) pthread_join(t, NULL);
  }
#endif
  snprintf(text, sizeof text,
           "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{\"protocolVersion\":\"2025-11-25\",\"tools\":[]}}",
           (unsigned long long)m->token);
#ifndef FAULT_LARGE
  if (s->most != 0 && strlen(text) > s->most) {
    add(s, CLOSED, 0, RY_RESOURCE_EXHAUSTED, "a message is larger than allowed");
    return RY_OK;
  }
#endif
  add(s, MESSAGE, 0, RY_OK, text);
  return RY_OK;
}

static void finish(void* self, void* p, uint64_t token, int32_t error) {
  (void)self;
  (void)error;
#ifndef FAULT_FINISH
  {
    struct session* s = (struct session*)p;
    struct event *e, *before = NULL;
    for (e = s->first; e != NULL; before = e, e = e->next) {
      if (e->what != SENT || e->token != token) continue;
      if (before != NULL)
        before->next = e->next;
      else
        s->first = e->next;
      if (s->last == e) s->last = before;
      free(e);
      break;
    }
  }
#else
  (void)p;
  (void)token;
#endif
}
static void resume(void* self, void* p) {
  (void)self;
  ((struct session*)p)->paused = 0;
  post((struct session*)p);
}
static void close_session(void* self, void* p) {
  struct session* s = (struct session*)p;
  (void)self;
  s->closed = 1;
  post(s); /* the rest is freed there */
}
static ry_status resolve(void* self, const ry_mcp_target* t, ry_exec* exec, ry_mcp_resolved_fn fn, void* ctx) {
  (void)self, (void)t, (void)exec, (void)fn, (void)ctx;
  return RY_UNIMPLEMENTED;
}
static ry_status authorize(void* self, const ry_mcp_target* t, const ry_mcp_refusal* r, ry_exec* exec,
                           ry_mcp_resolved_fn fn, void* ctx) {
  (void)self, (void)t, (void)r, (void)exec, (void)fn, (void)ctx;
  return RY_UNIMPLEMENTED;
}
#ifdef FAULT_NULL
#define RESUME NULL
#else
#define RESUME resume
#endif
static const ry_mcp_transport_v1 transport = {sizeof transport, 0,      check,         open_session, send_message,
                                              finish,           RESUME, close_session, resolve,      authorize};

/* ---- the module ---- */

static ry_status create(const ry_host* host, ry_get_interface_fn get, ry_registrar* registrar, ry_str config_json,
                        void** self, ry_errbuf* err) {
  const ry_str core_id = TEXT(RY_CORE_1), reg_id = TEXT(RY_REGISTRAR_1);
  const ry_str point = TEXT(RY_MCP_TRANSPORT_1), name = TEXT(ABI_NAME);
  const ry_registrar_v1* reg = (const ry_registrar_v1*)get(host, reg_id, sizeof *reg);
  struct driver* d = (struct driver*)calloc(1, sizeof *d);
  (void)config_json;
  (void)resume;
  if (d == NULL) return RY_RESOURCE_EXHAUSTED;
  d->host = host;
  d->core = (const ry_core_v1*)get(host, core_id, sizeof *d->core);
#ifdef FAULT_UNDECLARED
  {
    const ry_str metrics_id = TEXT("ry.metrics/1");
    (void)get(host, metrics_id, 0);
  }
#endif
#ifndef FAULT_TRUSTS
  if (reg == NULL || d->core == NULL) {
    err->len = (size_t)snprintf(err->ptr, err->cap, "an interface is missing");
    free(d);
    return RY_UNAVAILABLE;
  }
#else
  (void)err;
#endif
  *self = d;
  return reg->contribute(registrar, point, name, &transport, d);
}
static ry_status start(void* self, ry_errbuf* err) {
  (void)self;
  (void)err;
#ifdef FAULT_OPEN
  return dup(0) < 0 ? RY_RESOURCE_EXHAUSTED : RY_OK;
#endif
  return RY_OK;
}
static void stop(void* self, int64_t deadline_unix_us, ry_done done) {
  (void)self;
  (void)deadline_unix_us;
#ifndef FAULT_STAYS
  done.fn(done.ctx, RY_OK, NULL);
#else
  (void)done;
#endif
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
                                {sizeof(ry_need), 0, TEXT(RY_MCP_TRANSPORT_1), 0, 0}};
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
