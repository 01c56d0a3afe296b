/* The little of JSON that a transport needs. Any thread. */
#ifndef RY_SAMPLE_TEXT_H
#define RY_SAMPLE_TEXT_H
#include <ry/abi.h>

/* The text of the member `name` of a JSON object, unescaped, as a NUL-terminated string for free().
 * NULL: no such member, no text, a text with a NUL inside, or no memory. The object must be well
 * formed, as settings and configurations are. */
char* text_member(ry_str object, const char* name);

/* Writes a sentence about the error; truncated if it is too long. */
void say(ry_errbuf* err, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
