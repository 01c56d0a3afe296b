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

#define MOST_UNSENT 64 /* messages that wait to be written */
#define MOST_UNREAD (1u << 20) /* bytes that wait for the executor */
#define CLOSE_TIMEOUT_MS 1000 /* for messages that were sent before close() */

enum what { MESSAGE, SENT, CLOSED };
struct event {
  struct event* next;
  enum what what;
  ry_status status; /* of CLOSED */
  uint64_t token; /* of SENT */
  size_t len; /* of the text */
  char text[]; /* MESSAGE, or the sentence of CLOSED */
};
struct outgoing {
  struct outgoing* next;
  uint64_t token; /* 0: no longer awaited */
  size_t len, done;
  char bytes[];
};

struct session {
  struct mover* mover;
  struct session* next;
  ry_exec* exec;
  ry_mcp_sink sink;
  void* ctx;
  uint64_t max_message;
  int fd;
  int holders; /* the thread, the opener, and a pending post */
  int posted, paused, closed, over; /* closed: by the opener; over: CLOSED is in the list */
  int64_t until_ms; /* of last words, once closed */
  size_t place; /* index of its pollfd; 0: none */
  struct event *first, *last;
  size_t unread;
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

static void wake(struct mover* m) {
  const char byte = 0;
  if (write(m->wake[1], &byte, 1) < 0) return; /* full: it is awake already */
}

static void release(struct session* s) { /* with the mutex held */
  if (--s->holders != 0) return;
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
  struct mover* m = s->mover;
  pthread_mutex_lock(&m->mutex);
  s->posted = 0;
  while (s->first != NULL && !s->closed && !s->paused) {
    struct event* e = s->first;
    ry_mcp_outcome fine;
    ry_error_view why;
    ry_status st = RY_OK;
    const ry_str text = {e->text, e->len};
    s->first = e->next;
    if (s->first == NULL) s->last = NULL;
    s->unread -= e->len;
    pthread_mutex_unlock(&m->mutex);
    memset(&fine, 0, sizeof fine);
    fine.struct_size = sizeof fine;
    memset(&why, 0, sizeof why);
    why.struct_size = sizeof why;
    why.status = e->status;
    why.message = text;
    if (e->what == MESSAGE) st = s->sink.on_message(s->ctx, 0, text);
    if (e->what == SENT) s->sink.on_sent(s->ctx, e->token, RY_OK, &fine, NULL);
    if (e->what == CLOSED) s->sink.on_closed(s->ctx, e->status, &why);
    pthread_mutex_lock(&m->mutex);
    free(e);
    if (st == RY_RESOURCE_EXHAUSTED) {
      s->paused = 1;
    } else if (st != RY_OK && !s->closed && !s->over) {
      s->over = 1;
      why.status = st;
      why.message.ptr = "a message could not be taken";
      why.message.len = strlen(why.message.ptr);
      pthread_mutex_unlock(&m->mutex);
      s->sink.on_closed(s->ctx, st, &why);
      pthread_mutex_lock(&m->mutex);
    }
  }
  wake(m); /* it may read on */
  release(s);
  pthread_mutex_unlock(&m->mutex);
}

static void post(struct session* s) { /* with the mutex held */
  if (s->posted || s->closed || s->paused || s->first == NULL) return;
  s->posted = 1;
  ++s->holders;
  if (s->mover->core->exec_post(s->mover->host, s->exec, deliver, s) != RY_OK) {
    s->posted = 0;
    release(s);
  }
}

/* ---- of the thread, with the mutex held ---- */

static void add_event(struct session* s, enum what what, ry_status status, uint64_t token, const char* text,
                      size_t len) {
  struct event* e;
  if (s->closed || s->over) return;
  e = (struct event*)malloc(sizeof *e + len + 1);
  if (e == NULL) return;
  memset(e, 0, sizeof *e);
  e->what = what;
  e->status = status;
  e->token = token;
  e->len = len;
  memcpy(e->text, text, len);
  if (s->last != NULL)
    s->last->next = e;
  else
    s->first = e;
  s->last = e;
  s->unread += len;
  if (what == CLOSED) s->over = 1;
  post(s);
}

static void end(struct session* s, ry_status status, const char* why) {
  add_event(s, CLOSED, status, 0, why, strlen(why));
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
      /* What the server said before it went is still to be read. */
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

/* Delivers the lines in the buffer; the rest moves to its beginning. */
static void split(struct session* s, size_t fresh) {
  size_t begin = 0, at = s->line_len - fresh;
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
    char* more = (char*)realloc(s->line, s->line_cap * 2 + 65536);
    if (more == NULL) {
      end(s, RY_RESOURCE_EXHAUSTED, "there is no memory for a message");
      return;
    }
    s->line = more;
    s->line_cap = s->line_cap * 2 + 65536;
  }
  n = recv(s->fd, s->line + s->line_len, s->line_cap - s->line_len, 0);
  if (n > 0) {
    s->line_len += (size_t)n;
    split(s, (size_t)n);
  } else if (n == 0) {
    end(s, RY_OK, "the server closed the connection");
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    end(s, RY_UNAVAILABLE, "the connection broke");
  }
}

/* Removes ended sessions; returns the number of sockets to watch. */
static size_t sweep(struct mover* m, int64_t now) {
  struct session** at = &m->sessions;
  size_t n = 0;
  while (*at != NULL) {
    struct session* s = *at;
    if (s->closed && (s->out_first == NULL || s->until_ms <= now || m->quit)) end(s, RY_OK, "");
    if (m->quit) end(s, RY_CANCELLED, "the server of this transport stops");
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

static void* move(void* p) {
  struct mover* m = (struct mover*)p;
  struct pollfd* fds = NULL;
  size_t cap = 0;
  pthread_mutex_lock(&m->mutex);
  for (;;) {
    size_t n = sweep(m, now_ms()), i = 1;
    struct session* s;
    int wait_ms = -1;
    if (m->quit) break;
    if (n + 1 > cap) {
      struct pollfd* more = (struct pollfd*)realloc(fds, 2 * (n + 1) * sizeof *fds);
      if (more != NULL) {
        fds = more;
        cap = 2 * (n + 1);
      } else if (cap == 0) {
        break;
      }
    }
    fds[0].fd = m->wake[0];
    fds[0].events = POLLIN;
    for (s = m->sessions; s != NULL && i < cap; s = s->next, ++i) {
      const int reads = !s->closed && !s->paused && s->unread < MOST_UNREAD;
      s->place = i;
      fds[i].fd = s->fd;
      fds[i].events = (short)((reads ? POLLIN : 0) | (s->out_first != NULL ? POLLOUT : 0));
      /* A dead socket reports itself whatever it is asked, which would keep this thread busy. */
      if (fds[i].events == 0) fds[i].fd = -1;
      if (s->closed) wait_ms = 100;
    }
    pthread_mutex_unlock(&m->mutex);
    if (poll(fds, i, wait_ms) < 0) {
      size_t k;
      for (k = 0; k < i; ++k) fds[k].revents = 0;
    }
    pthread_mutex_lock(&m->mutex);
    if (fds[0].revents != 0) {
      char bytes[64];
      while (read(m->wake[0], bytes, sizeof bytes) > 0) {
      }
    }
    for (s = m->sessions; s != NULL; s = s->next) {
      const short seen = s->place != 0 ? fds[s->place].revents : 0;
      s->place = 0;
      if ((seen & (POLLOUT | POLLERR)) != 0) write_some(s);
      if (s->fd >= 0 && !s->closed && (seen & (POLLIN | POLLHUP)) != 0) read_some(s);
    }
  }
  pthread_mutex_unlock(&m->mutex);
  free(fds);
  return NULL;
}

/* ---- life ---- */

int mover_start(struct mover* m) {
  if (pipe(m->wake) != 0) return -1;
  fcntl(m->wake[0], F_SETFL, O_NONBLOCK);
  fcntl(m->wake[1], F_SETFL, O_NONBLOCK);
  fcntl(m->wake[0], F_SETFD, FD_CLOEXEC);
  fcntl(m->wake[1], F_SETFD, FD_CLOEXEC);
  pthread_mutex_init(&m->mutex, NULL);
  errno = pthread_create(&m->thread, NULL, move, m);
  if (errno != 0) return -1;
  m->running = 1;
  return 0;
}

void mover_stop(struct mover* m) {
  if (!m->running) return;
  pthread_mutex_lock(&m->mutex);
  m->quit = 1;
  wake(m);
  pthread_mutex_unlock(&m->mutex);
  pthread_join(m->thread, NULL);
  m->running = 0;
}

void mover_end(struct mover* m) {
  if (m->wake[1] == 0) return;
  close(m->wake[0]);
  close(m->wake[1]);
  pthread_mutex_destroy(&m->mutex);
}

ry_status session_open(struct mover* m, const char* path, const ry_mcp_target* target, ry_exec* exec,
                       const ry_mcp_sink* sink, void* ctx, struct session** out, ry_errbuf* err) {
  struct sockaddr_un address;
  struct session* s;
  int fd;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) {
    say(err, "the path of the socket is too long");
    return RY_INVALID_ARGUMENT;
  }
  strcpy(address.sun_path, path);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) {
    say(err, "there are no more descriptors");
    return RY_RESOURCE_EXHAUSTED;
  }
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) {
    const int why = errno;
    close(fd);
    if (why == EAGAIN)
      say(err, "the server at %s is overrun", path);
    else
      say(err, "the server at %s cannot be reached: %s", path, strerror(why));
    return RY_UNAVAILABLE;
  }
  s = (struct session*)calloc(1, sizeof *s);
  if (s == NULL) {
    close(fd);
    return RY_RESOURCE_EXHAUSTED;
  }
  s->mover = m;
  s->exec = exec;
  s->sink = *sink;
  s->ctx = ctx;
  s->max_message = target->max_message_bytes != 0 ? target->max_message_bytes : UINT64_MAX;
  s->fd = fd;
  s->holders = 2;
  pthread_mutex_lock(&m->mutex);
  s->next = m->sessions;
  m->sessions = s;
  wake(m);
  pthread_mutex_unlock(&m->mutex);
  *out = s;
  return RY_OK;
}

ry_status session_send(struct session* s, const ry_mcp_message* message) {
  struct mover* m = s->mover;
  ry_status st = RY_OK;
  struct outgoing* o;
  pthread_mutex_lock(&m->mutex);
  if (s->over || s->closed)
    st = RY_CANCELLED;
  else if (s->unsent >= MOST_UNSENT)
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
    wake(m);
  }
  pthread_mutex_unlock(&m->mutex);
  return st;
}

void session_finish(struct session* s, uint64_t token) {
  struct event *e, *before = NULL;
  struct outgoing* o;
  pthread_mutex_lock(&s->mover->mutex);
  for (o = s->out_first; o != NULL; o = o->next) {
    if (o->token == token) o->token = 0;
  }
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
  pthread_mutex_unlock(&s->mover->mutex);
}

void session_resume(struct session* s) {
  pthread_mutex_lock(&s->mover->mutex);
  s->paused = 0;
  post(s);
  wake(s->mover);
  pthread_mutex_unlock(&s->mover->mutex);
}

void session_close(struct session* s) {
  struct mover* m = s->mover;
  pthread_mutex_lock(&m->mutex);
  s->closed = 1;
  s->until_ms = now_ms() + CLOSE_TIMEOUT_MS;
  wake(m);
  release(s);
  pthread_mutex_unlock(&m->mutex);
}
