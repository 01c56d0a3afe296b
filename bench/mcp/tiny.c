/* A minimal MCP server over standard input and output, for the revisions before 2026-07-28: one tool, echo. It searches the
 * text instead of parsing it and starts in a fraction of a millisecond, so the measurement is that of its client. */
#include <stdio.h>
#include <string.h>

/* Copies the text after `mark` in `line` up to one of `ends`; returns 0 if there is no mark. */
static int copy_value(const char* line, const char* mark, const char* ends, char* out, size_t cap) {
  const char* at = strstr(line, mark);
  size_t n;
  if (at == NULL) return 0;
  at += strlen(mark);
  n = strcspn(at, ends);
  if (n >= cap) n = cap - 1;
  memcpy(out, at, n);
  out[n] = '\0';
  return 1;
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char id[64], revision[16] = "2025-11-25", message[1024] = "";
    if (!copy_value(line, "\"id\":", ",}", id, sizeof id)) continue;
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,", id);
    if (strstr(line, "\"initialize\"") != NULL) {
      copy_value(line, "\"protocolVersion\":\"", "\"", revision, sizeof revision);
      printf(
          "\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},"
          "\"serverInfo\":{\"name\":\"tiny\",\"version\":\"1\"}}}\n",
          revision);
    } else if (strstr(line, "\"tools/list\"") != NULL) {
      puts(
          "\"result\":{\"tools\":[{\"name\":\"echo\",\"description\":\"Echoes\",\"inputSchema\":{\"type\":\"object\","
          "\"properties\":{\"message\":{\"type\":\"string\"}},\"required\":[\"message\"]}}]}}");
    } else if (strstr(line, "\"tools/call\"") != NULL) {
      copy_value(line, "\"message\":\"", "\"", message, sizeof message);
      printf("\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"Echo: %s\"}]}}\n", message);
    } else {
      puts("\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
    }
    fflush(stdout);
  }
  return 0;
}
