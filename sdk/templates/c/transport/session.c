#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define MAX_UNSENT 64 /* messages that have not been written */
#define MAX_UNDELIVERED (1u << 20) /* bytes that wait for the executor */
#define CLOSE_TIMEOUT_MS 1000 /* for messages that were sent before close() */

enum event_type { MESSAGE, SENT, CLOSED };
struct event {
  struct event* next;
  enum event_type type;
  ry_status status; /* of CLOSED */
  uint64_t token; /* of SENT */
  size_t len; /* of the text */
  char text[]; /* the message of MESSAGE, or the reason of CLOSED */
};
struct outgoing {
  struct outgoing* next;
  uint64_t token; /* 0: no report requested */
  size_t len, done;
  char bytes[];
};

struct session {
  struct io_thread* io;
  struct session* next;
  ry_exec* exec;
  ry_mcp_sink sink;
  void* ctx;
  uint64_t max_message;
  int fd;
  int refs; /* of the thread, the opener, and a pending callback */
  int posted, paused, closed, ended; /* closed: by the opener; ended: CLOSED was added or reported */
  int64_t close_deadline_ms; /* for unsent messages, after close */
  size_t poll_index; /* of its pollfd; 0: none */
  struct event *first, *last;
  size_t undelivered;
  struct outgoing *out_first, *out_last;
  size_t unsent;
  char* line; /* received after the last line break */
  size_t line_len, line_cap;
};

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wake(struct io_thread* io) {
  const char byte = 0;
  if (write(io->wake[1], &byte, 1) < 0) return; /* the pipe is full: a wake-up is already pending */
}

static void release(struct session* s) { /* with the mutex held */
  if (--s->refs != 0) return;
  while (s->first != NULL) {
    struct event* e = s->first;
    s->first = e->next;
    free(e);
  }
  while (s->out_first != NULL) {
    struct outgoing* o = s->out_first;
    s->out_first = o->next;
    free(o);
  }
  free(s->line);
  free(s);
}

/* ---- on the executor ---- */

static void deliver(void* p) {
  struct session* s = (struct session*)p;
  struct io_thread* io = s->io;
  pthread_mutex_lock(&io->mutex);
  s->posted = 0;
  while (s->first != NULL && !s->closed && !s->paused) {
    struct event* e = s->first;
    ry_mcp_outcome outcome;
    ry_error_view error;
    ry_status st = RY_OK;
    const ry_str text = {e->text, e->len};
    s->first = e->next;
    if (s->first == NULL) s->last = NULL;
    s->undelivered -= e->len;
    pthread_mutex_unlock(&io->mutex);
    memset(&outcome, 0, sizeof outcome);
    outcome.struct_size = sizeof outcome;
    memset(&error, 0, sizeof error);
    error.struct_size = sizeof error;
    error.status = e->status;
    error.message = text;
    if (e->type == MESSAGE) st = s->sink.on_message(s->ctx, 0, text);
    if (e->type == SENT) s->sink.on_sent(s->ctx, e->token, RY_OK, &outcome, NULL);
    if (e->type == CLOSED) s->sink.on_closed(s->ctx, e->status, &error);
    pthread_mutex_lock(&io->mutex);
    free(e);
    if (st == RY_RESOURCE_EXHAUSTED) {
      s->paused = 1;
    } else if (st != RY_OK && !s->closed && !s->ended) {
      s->ended = 1;
      error.status = st;
      error.message.ptr = "a message could not be processed";
      error.message.len = strlen(error.message.ptr);
      pthread_mutex_unlock(&io->mutex);
      s->sink.on_closed(s->ctx, st, &error);
      pthread_mutex_lock(&io->mutex);
    }
  }
  wake(io); /* it may continue to read */
  release(s);
  pthread_mutex_unlock(&io->mutex);
}

static void post(struct session* s) { /* with the mutex held */
  if (s->posted || s->closed || s->paused || s->first == NULL) return;
  s->posted = 1;
  ++s->refs;
  if (s->io->core->exec_post(s->io->host, s->exec, deliver, s) != RY_OK) {
    s->posted = 0;
    release(s);
  }
}

/* ---- on the thread, with the mutex held ---- */

static void add_event(struct session* s, enum event_type type, ry_status status, uint64_t token, const char* text,
                      size_t len) {
  struct event* e;
  if (s->closed || s->ended) return;
  e = (struct event*)malloc(sizeof *e + len + 1);
  if (e == NULL) return;
  memset(e, 0, sizeof *e);
  e->type = type;
  e->status = status;
  e->token = token;
  e->len = len;
  memcpy(e->text, text, len);
  if (s->last != NULL)
    s->last->next = e;
  else
    s->first = e;
  s->last = e;
  s->undelivered += len;
  if (type == CLOSED) s->ended = 1;
  post(s);
}

static void end(struct session* s, ry_status status, const char* reason) {
  add_event(s, CLOSED, status, 0, reason, strlen(reason));
  if (s->fd >= 0) close(s->fd);
  s->fd = -1;
}

static void write_some(struct session* s) {
  while (s->fd >= 0 && s->out_first != NULL) {
    struct outgoing* o = s->out_first;
    const ssize_t n = send(s->fd, o->bytes + o->done, o->len - o->done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (n < 0) {
      /* The server's last messages are still to be read. */
      if (s->closed) end(s, RY_OK, "");
      while (s->out_first != NULL) {
        o = s->out_first;
        s->out_first = o->next;
        free(o);
      }
      s->out_last = NULL;
      s->unsent = 0;
      return;
    }
    o->done += (size_t)n;
    if (o->done < o->len) continue;
    s->out_first = o->next;
    if (s->out_first == NULL) s->out_last = NULL;
    --s->unsent;
    if (o->token != 0) add_event(s, SENT, RY_OK, o->token, "", 0);
    free(o);
  }
}

/* Adds an event for each complete line; the rest of the buffer moves to its beginning. */
static void split_lines(struct session* s, size_t received) {
  size_t begin = 0, at = s->line_len - received;
  for (; at < s->line_len; ++at) {
    size_t len = at - begin;
    if (s->line[at] != '\n') continue;
    if (len > 0 && s->line[begin + len - 1] == '\r') --len;
    if (len > s->max_message) break;
    if (len > 0) add_event(s, MESSAGE, RY_OK, 0, s->line + begin, len);
    begin = at + 1;
  }
  s->line_len -= begin;
  memmove(s->line, s->line + begin, s->line_len);
  if (s->line_len > s->max_message) end(s, RY_RESOURCE_EXHAUSTED, "a line is longer than allowed");
}

static void read_some(struct session* s) {
  ssize_t n;
  if (s->line_cap - s->line_len < 65536) {
    char* grown = (char*)realloc(s->line, s->line_cap * 2 + 65536);
    if (grown == NULL) {
      end(s, RY_RESOURCE_EXHAUSTED, "out of memory for a message");
      return;
    }
    s->line = grown;
    s->line_cap = s->line_cap * 2 + 65536;
  }
  n = recv(s->fd, s->line + s->line_len, s->line_cap - s->line_len, 0);
  if (n > 0) {
    s->line_len += (size_t)n;
    split_lines(s, (size_t)n);
  } else if (n == 0) {
    end(s, RY_OK, "the server closed the connection");
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    end(s, RY_UNAVAILABLE, "the connection broke");
  }
}

/* Removes closed sessions; returns the number of sockets to poll. */
static size_t sweep(struct io_thread* io, int64_t now) {
  struct session** at = &io->sessions;
  size_t n = 0;
  while (*at != NULL) {
    struct session* s = *at;
    if (s->closed && (s->out_first == NULL || s->close_deadline_ms <= now || io->quit)) end(s, RY_OK, "");
    if (io->quit) end(s, RY_CANCELLED, "the transport is shutting down");
    if (s->fd < 0) {
      *at = s->next;
      release(s);
      continue;
    }
    ++n;
    at = &s->next;
  }
  return n;
}

static void* run(void* p) {
  struct io_thread* io = (struct io_thread*)p;
  struct pollfd* fds = NULL;
  size_t cap = 0;
  pthread_mutex_lock(&io->mutex);
  for (;;) {
    size_t n = sweep(io, now_ms()), i = 1;
    struct session* s;
    int wait_ms = -1;
    if (io->quit) break;
    if (n + 1 > cap) {
      struct pollfd* grown = (struct pollfd*)realloc(fds, 2 * (n + 1) * sizeof *fds);
      if (grown != NULL) {
        fds = grown;
        cap = 2 * (n + 1);
      } else if (cap == 0) {
        break;
      }
    }
    fds[0].fd = io->wake[0];
    fds[0].events = POLLIN;
    for (s = io->sessions; s != NULL && i < cap; s = s->next, ++i) {
      const int reads = !s->closed && !s->paused && s->undelivered < MAX_UNDELIVERED;
      s->poll_index = i;
      fds[i].fd = s->fd;
      fds[i].events = (short)((reads ? POLLIN : 0) | (s->out_first != NULL ? POLLOUT : 0));
      /* poll() always reports a disconnected socket, even with no events, which would make this loop spin. */
      if (fds[i].events == 0) fds[i].fd = -1;
      if (s->closed) wait_ms = 100;
    }
    pthread_mutex_unlock(&io->mutex);
    if (poll(fds, i, wait_ms) < 0) {
      size_t k;
      for (k = 0; k < i; ++k) fds[k].revents = 0;
    }
    pthread_mutex_lock(&io->mutex);
    if (fds[0].revents != 0) {
      char bytes[64];
      while (read(io->wake[0], bytes, sizeof bytes) > 0) {
      }
    }
    for (s = io->sessions; s != NULL; s = s->next) {
      const short revents = s->poll_index != 0 ? fds[s->poll_index].revents : 0;
      s->poll_index = 0;
      if ((revents & (POLLOUT | POLLERR)) != 0) write_some(s);
      if (s->fd >= 0 && !s->closed && (revents & (POLLIN | POLLHUP)) != 0) read_some(s);
    }
  }
  pthread_mutex_unlock(&io->mutex);
  free(fds);
  return NULL;
}

/* ---- lifecycle ---- */

int io_thread_start(struct io_thread* io) {
  if (pipe(io->wake) != 0) return -1;
  fcntl(io->wake[0], F_SETFL, O_NONBLOCK);
  fcntl(io->wake[1], F_SETFL, O_NONBLOCK);
  fcntl(io->wake[0], F_SETFD, FD_CLOEXEC);
  fcntl(io->wake[1], F_SETFD, FD_CLOEXEC);
  pthread_mutex_init(&io->mutex, NULL);
  errno = pthread_create(&io->thread, NULL, run, io);
  if (errno != 0) return -1;
  io->running = 1;
  return 0;
}

void io_thread_stop(struct io_thread* io) {
  if (!io->running) return;
  pthread_mutex_lock(&io->mutex);
  io->quit = 1;
  wake(io);
  pthread_mutex_unlock(&io->mutex);
  pthread_join(io->thread, NULL);
  io->running = 0;
}

void io_thread_destroy(struct io_thread* io) {
  if (io->wake[1] == 0) return;
  close(io->wake[0]);
  close(io->wake[1]);
  pthread_mutex_destroy(&io->mutex);
}

ry_status session_open(struct io_thread* io, const char* path, const ry_mcp_target* target, ry_exec* exec,
                       const ry_mcp_sink* sink, void* ctx, struct session** out, ry_errbuf* err) {
  struct sockaddr_un address;
  struct session* s;
  int fd;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    set_error(err, "the path of the socket is too long");
    return RY_INVALID_ARGUMENT;
  }
  strcpy(address.sun_path, path);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) {
    set_error(err, "no file descriptors are available");
    return RY_RESOURCE_EXHAUSTED;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
    const int error = errno;
    close(fd);
    if (error == EAGAIN)
      set_error(err, "the server at %s is overloaded", path);
    else
      set_error(err, "the server at %s cannot be reached: %s", path, strerror(error));
    return RY_UNAVAILABLE;
  }
  s = (struct session*)calloc(1, sizeof *s);
  if (s == NULL) {
    close(fd);
    return RY_RESOURCE_EXHAUSTED;
  }
  s->io = io;
  s->exec = exec;
  s->sink = *sink;
  s->ctx = ctx;
  s->max_message = target->max_message_bytes != 0 ? target->max_message_bytes : UINT64_MAX;
  s->fd = fd;
  s->refs = 2;
  pthread_mutex_lock(&io->mutex);
  s->next = io->sessions;
  io->sessions = s;
  wake(io);
  pthread_mutex_unlock(&io->mutex);
  *out = s;
  return RY_OK;
}

ry_status session_send(struct session* s, const ry_mcp_message* message) {
  struct io_thread* io = s->io;
  ry_status st = RY_OK;
  struct outgoing* o;
  pthread_mutex_lock(&io->mutex);
  if (s->ended || s->closed)
    st = RY_CANCELLED;
  else if (s->unsent >= MAX_UNSENT)
    st = RY_RESOURCE_EXHAUSTED;
  o = st == RY_OK ? (struct outgoing*)malloc(sizeof *o + message->json.len + 1) : NULL;
  if (st == RY_OK && o == NULL) st = RY_RESOURCE_EXHAUSTED;
  if (o != NULL) {
    o->next = NULL;
    o->token = message->token;
    o->done = 0;
    o->len = message->json.len + 1;
    memcpy(o->bytes, message->json.ptr, message->json.len);
    o->bytes[o->len - 1] = '\n';
    if (s->out_last != NULL)
      s->out_last->next = o;
    else
      s->out_first = o;
    s->out_last = o;
    ++s->unsent;
    wake(io);
  }
  pthread_mutex_unlock(&io->mutex);
  return st;
}

void session_finish(struct session* s, uint64_t token) {
  struct event *e, *previous = NULL;
  struct outgoing* o;
  pthread_mutex_lock(&s->io->mutex);
  for (o = s->out_first; o != NULL; o = o->next) {
    if (o->token == token) o->token = 0;
  }
  for (e = s->first; e != NULL; previous = e, e = e->next) {
    if (e->type != SENT || e->token != token) continue;
    if (previous != NULL)
      previous->next = e->next;
    else
      s->first = e->next;
    if (s->last == e) s->last = previous;
    free(e);
    break;
  }
  pthread_mutex_unlock(&s->io->mutex);
}

void session_resume(struct session* s) {
  pthread_mutex_lock(&s->io->mutex);
  s->paused = 0;
  post(s);
  wake(s->io);
  pthread_mutex_unlock(&s->io->mutex);
}

void session_close(struct session* s) {
  struct io_thread* io = s->io;
  pthread_mutex_lock(&io->mutex);
  s->closed = 1;
  s->close_deadline_ms = now_ms() + CLOSE_TIMEOUT_MS;
  wake(io);
  release(s);
  pthread_mutex_unlock(&io->mutex);
}
