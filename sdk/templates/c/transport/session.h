/* Connections to MCP servers over Unix sockets: one JSON text per line.
 *
 * One thread does all I/O. It adds events to the session's list; a callback posted to the session's
 * executor delivers them, because the sink may only be called there. The thread, the opener and
 * pending callbacks share a session; the last reference frees it.
 */
#ifndef RY_SAMPLE_SESSION_H
#define RY_SAMPLE_SESSION_H
#include <pthread.h>
#include <ry/ext/mcp_transport.h>
#include <ry/if/core.h>

struct session;

/* The thread and its sessions. */
struct io_thread {
  const ry_host* host;
  const ry_core_v1* core;
  pthread_t thread;
  pthread_mutex_t mutex; /* also protects all sessions */
  struct session* sessions;
  int wake[2]; /* pipe that interrupts poll() */
  int running, quit;
};

/* Returns 0, or -1 with errno. */
int io_thread_start(struct io_thread* io);
/* Stops the thread and closes the remaining sessions, with an event for each. */
void io_thread_stop(struct io_thread* io);
/* Call only when no session is left. */
void io_thread_destroy(struct io_thread* io);

/* Connects. RY_UNAVAILABLE with an error message: the server cannot be reached. [any] */
ry_status session_open(struct io_thread* io, const char* path, const ry_mcp_target* target, ry_exec* exec,
                       const ry_mcp_sink* sink, void* ctx, struct session** out, ry_errbuf* err);
/* As in ry_mcp_transport_v1. [exec] */
ry_status session_send(struct session* s, const ry_mcp_message* message);
void session_finish(struct session* s, uint64_t token);
void session_resume(struct session* s);
void session_close(struct session* s);

#endif
