/* If preloaded, shifts a program's wall clock CLOCK_SHIFT seconds ahead; with CLOCK_SHIFT_FILE, only once that file
 * exists. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t shift(void) {
  const char* text = getenv("CLOCK_SHIFT");
  const char* file = getenv("CLOCK_SHIFT_FILE");
  if (!text || (file && syscall(SYS_faccessat, AT_FDCWD, file, F_OK) != 0)) return 0;
  return atol(text);
}

int clock_gettime(clockid_t id, struct timespec* now) {
  const int failed = (int)syscall(SYS_clock_gettime, id, now);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
  return failed;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
