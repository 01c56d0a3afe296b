/* Connections to MCP servers over Unix sockets: one JSON text a line.
 *
 * One thread does all I/O. It adds events to the session's list; a post to the session's executor
 * delivers them, because the sink may only be called there. The thread and the opener share a
 * session; the last of them frees it.
 */
#ifndef RY_SAMPLE_SESSION_H
#define RY_SAMPLE_SESSION_H
#include <pthread.h>
#include <ry/ext/mcp_transport.h>
#include <ry/if/core.h>

struct session;

/* The thread and its sessions. */
struct mover {
  const ry_host* host;
  const ry_core_v1* core;
  pthread_t thread;
  pthread_mutex_t mutex; /* of all sessions, too */
  struct session* sessions;
  int wake[2];
  int running, quit;
};

/* 0, or -1 with errno. */
int mover_start(struct mover* m);
/* Ends the thread and the remaining sessions, with an event for each. */
void mover_stop(struct mover* m);
/* Once no session is left. */
void mover_end(struct mover* m);

/* Connects. RY_UNAVAILABLE with a sentence: it cannot be reached. [any] */
ry_status session_open(struct mover* m, const char* path, const ry_mcp_target* target, ry_exec* exec,
                       const ry_mcp_sink* sink, void* ctx, struct session** out, ry_errbuf* err);
/* As in ry_mcp_transport_v1. [exec] */
ry_status session_send(struct session* s, const ry_mcp_message* message);
void session_finish(struct session* s, uint64_t token);
void session_resume(struct session* s);
void session_close(struct session* s);

#endif
