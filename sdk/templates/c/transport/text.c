#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* skip_space(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) ++p;
  return p;
}

/* Returns the position after the closing quote of the string that begins at p. */
static const char* skip_string(const char* p, const char* end) {
  for (++p; p < end && *p != '"'; ++p) {
    if (*p == '\\') ++p;
  }
  return p < end ? p + 1 : end;
}

static const char* skip_value(const char* p, const char* end) {
  int depth = 0;
  while (p < end) {
    if (*p == '"') {
      p = skip_string(p, end);
    } else {
      if (depth == 0 && (*p == ',' || *p == '}')) return p;
      if (*p == '{' || *p == '[') ++depth;
      if (*p == '}' || *p == ']') --depth;
      ++p;
    }
    if (depth == 0 && p < end && (*p == ',' || *p == '}')) return p;
  }
  return end;
}

static unsigned parse_hex4(const char* p) {
  char digits[5] = {0};
  memcpy(digits, p, 4);
  return (unsigned)strtoul(digits, NULL, 16);
}

static char* append_utf8(char* out, unsigned c) {
  if (c < 0x80) {
    *out++ = (char)c;
  } else if (c < 0x800) {
    *out++ = (char)(0xc0 | c >> 6);
    *out++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *out++ = (char)(0xe0 | c >> 12);
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  } else {
    *out++ = (char)(0xf0 | c >> 18);
    *out++ = (char)(0x80 | (c >> 12 & 0x3f));
    *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    *out++ = (char)(0x80 | (c & 0x3f));
  }
  return out;
}

/* Unescapes a string literal including its quotes; no escape is shorter than its character. */
static char* unescape(const char* p, const char* end) {
  char *text, *out;
  if (end - p < 2) return NULL;
  text = out = (char*)malloc((size_t)(end - p));
  if (text == NULL) return NULL;
  for (++p, --end; p < end; ++p) {
    static const char escapes[] = "b\bf\fn\nr\rt\t";
    const char* known;
    unsigned c;
    if (*p != '\\' || p + 1 == end) {
      *out++ = *p;
      continue;
    }
    if (*++p != 'u') {
      known = strchr(escapes, *p);
      *out++ = known != NULL && (known - escapes) % 2 == 0 ? known[1] : *p;
      continue;
    }
    if (end - p < 5) break;
    c = parse_hex4(p + 1);
    p += 4;
    if (c >= 0xd800 && c < 0xdc00 && end - p > 6 && p[1] == '\\' && p[2] == 'u') {
      c = 0x10000 + ((c - 0xd800) << 10) + (parse_hex4(p + 3) - 0xdc00);
      p += 6;
    }
    if (c == 0) {
      free(text);
      return NULL;
    }
    out = append_utf8(out, c);
  }
  *out = '\0';
  return text;
}

char* text_member(ry_str object, const char* name) {
  const char *p = object.ptr, *end = p + object.len;
  if (object.len == 0) return NULL;
  p = skip_space(p, end);
  if (p == end || *p != '{') return NULL;
  for (++p; p < end;) {
    const char *key, *value;
    int found;
    p = skip_space(p, end);
    if (p == end || *p != '"') return NULL;
    key = p + 1;
    p = skip_string(p, end);
    found = (size_t)(p - 1 - key) == strlen(name) && memcmp(key, name, strlen(name)) == 0;
    p = skip_space(p, end);
    if (p == end || *p != ':') return NULL;
    value = p = skip_space(p + 1, end);
    if (p < end && *p == '"') {
      p = skip_string(p, end);
      if (found) return unescape(value, p);
    } else {
      p = skip_value(p, end);
      if (found) return NULL;
    }
    p = skip_space(p, end);
    if (p == end || *p != ',') return NULL;
    ++p;
  }
  return NULL;
}

void set_error(ry_errbuf* err, const char* format, ...) {
  va_list args;
  int n;
  if (err == NULL || err->ptr == NULL || err->cap == 0) return;
  va_start(args, format);
  n = vsnprintf(err->ptr, err->cap, format, args);
  va_end(args);
  err->len = n < 0 ? 0 : (size_t)n < err->cap ? (size_t)n : err->cap - 1;
}
