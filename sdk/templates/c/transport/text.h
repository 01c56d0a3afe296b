/* Minimal JSON parsing for a transport. Any thread. */
#ifndef RY_SAMPLE_TEXT_H
#define RY_SAMPLE_TEXT_H
#include <ry/abi.h>

/* Returns the string member `name` of a JSON object, unescaped and NUL-terminated, to be freed with
 * free(). NULL: no such member, not a string, a string that contains NUL, or out of memory. The object
 * must be well formed, as settings and configurations are. */
char* text_member(ry_str object, const char* name);

/* Writes an error message; truncated if it is too long. */
void set_error(ry_errbuf* err, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
