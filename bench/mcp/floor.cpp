// mcp_floor MODE PORT list|call N WARM; MODE http, http-delete (which ends its session), modern or sse
// mcp_floor stdio list|call N WARM COMMAND...
// The lower bound for any client: the same exchanges with the same server, with blocking system calls on one thread,
// which searches the responses for a few bytes instead of parsing JSON. Prints one line of JSON.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace {

const std::string legacy = "2025-11-25", modern = "2026-07-28";

std::string initialize() {
  return R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + legacy +
         R"(","capabilities":{},"clientInfo":{"name":"floor","version":"1"}}})";
}
const std::string initialized = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
std::string request_body(bool call, bool is_modern) {
  const std::string meta = is_modern ? R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + modern +
                                           R"(","io.modelcontextprotocol/clientCapabilities":{}})"
                                     : std::string();
  if (!call) return R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{)" + meta + "}}";
  return R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"})" +
         (meta.empty() ? "" : "," + meta) + "}}";
}
const char* expected_text(bool call) {
  return call ? "Echo: hi" : "\"echo\"";
}

// A file descriptor with a buffer of received bytes.
struct source {
  int fd;
  std::string buffer;
  void fill() {
    char chunk[65536];
    const auto n = read(fd, chunk, sizeof chunk);
    if (n <= 0) throw std::runtime_error("the server closed the connection: " + buffer);
    buffer.append(chunk, static_cast<std::size_t>(n));
  }
  // Returns the bytes up to and including `mark`.
  std::string until(const std::string& mark) {
    std::size_t at;
    while ((at = buffer.find(mark)) == std::string::npos) fill();
    const auto out = buffer.substr(0, at + mark.size());
    buffer.erase(0, out.size());
    return out;
  }
  std::string take(std::size_t n) {
    while (buffer.size() < n) fill();
    const auto out = buffer.substr(0, n);
    buffer.erase(0, n);
    return out;
  }
};
void write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n <= 0) throw std::runtime_error("write");
    done += static_cast<std::size_t>(n);
  }
}
int dial(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) throw std::runtime_error("connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}
std::string field(const std::string& head, const std::string& name) {
  for (auto at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
    if (strncasecmp(head.c_str() + at + 2, name.c_str(), name.size()) != 0 || head[at + 2 + name.size()] != ':')
      continue;
    const auto from = head.find_first_not_of(' ', at + 3 + name.size());
    return head.substr(from, head.find("\r\n", from) - from);
  }
  return {};
}
struct http_response {
  std::string head, body;
};
http_response exchange(source& s, const std::string& method, const std::string& path, const std::string& fields,
                       const std::string& body) {
  write_all(s.fd, method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
                      "Accept: application/json, text/event-stream\r\n" + fields +
                      "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  http_response a{s.until("\r\n\r\n"), {}};
  if (const auto length = field(a.head, "content-length"); !length.empty()) {
    a.body = s.take(std::stoul(length));
  } else if (field(a.head, "transfer-encoding") == "chunked") {
    while (const auto n = std::stoul(s.until("\r\n"), nullptr, 16)) a.body += s.take(n + 2).substr(0, n);
    s.take(2);
  }
  return a;
}
void expect(const std::string& text, const char* part) {
  if (text.find(part) == std::string::npos) throw std::runtime_error("unexpected: " + text);
}

void over_http(int port, bool call, bool end_session) {
  source s{dial(port), {}};
  const auto hello = exchange(s, "POST", "/mcp", "", initialize());
  const auto fields =
      "mcp-session-id: " + field(hello.head, "mcp-session-id") + "\r\nmcp-protocol-version: " + legacy + "\r\n";
  exchange(s, "POST", "/mcp", fields, initialized);
  expect(exchange(s, "POST", "/mcp", fields, request_body(call, false)).body, expected_text(call));
  if (end_session)
    write_all(s.fd, "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields + "Connection: close\r\n\r\n");
  close(s.fd);
}
void over_modern(int port, bool call) {
  source s{dial(port), {}};
  const auto fields =
      "MCP-Protocol-Version: " + modern + "\r\nMcp-Method: tools/" + (call ? "call\r\nMcp-Name: echo\r\n" : "list\r\n");
  expect(exchange(s, "POST", "/mcp", fields, request_body(call, true)).body, expected_text(call));
  close(s.fd);
}
void over_sse(int port, bool call) {
  source events{dial(port), {}}, posts{dial(port), {}};
  write_all(events.fd, "GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n");
  const auto begin = events.until("data: /");
  auto path = "/" + events.until("\n");
  path.erase(path.find_first_of("\r\n"));
  exchange(posts, "POST", path, "", initialize());
  events.until("\"serverInfo\"");
  exchange(posts, "POST", path, "", initialized);
  exchange(posts, "POST", path, "", request_body(call, false));
  events.until(expected_text(call));
  close(posts.fd);
  close(events.fd);
}
void over_stdio(char** command, bool call) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  if (posix_spawnp(&child, command[0], &actions, nullptr, command, environ) != 0) throw std::runtime_error("spawn");
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  source s{out[0], {}};
  write_all(in[1], initialize() + "\n");
  s.until("\"serverInfo\"");
  write_all(in[1], initialized + "\n" + request_body(call, false) + "\n");
  s.until(expected_text(call));
  close(in[1]);
  waitpid(child, nullptr, 0);
  close(out[0]);
}

double cpu_ms(int usage) {
  rusage u{};
  getrusage(usage, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool local = mode == "stdio";
  char** rest = argv + (local ? 2 : 3);
  if (argc < 6)
    throw std::runtime_error(
        "usage: mcp_floor http|http-delete|modern|sse PORT list|call N WARM, or stdio list|call N WARM COMMAND...");
  const int port = local ? 0 : std::atoi(argv[2]);
  const bool call = std::string(rest[0]) == "call";
  const auto n = static_cast<std::size_t>(std::atoi(rest[1]));
  const auto once = [&] {
    if (mode.starts_with("http"))
      over_http(port, call, mode == "http-delete");
    else if (mode == "modern")
      over_modern(port, call);
    else if (mode == "sse")
      over_sse(port, call);
    else
      over_stdio(rest + 3, call);
  };
  for (int i = std::atoi(rest[2]); i > 0; --i) once();
  std::vector<double> times;
  const double own = cpu_ms(RUSAGE_SELF), children = cpu_ms(RUSAGE_CHILDREN);
  for (std::size_t i = 0; i < n; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    once();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count());
  }
  const auto per_op = [&](double since, int usage) { return (cpu_ms(usage) - since) / static_cast<double>(n); };
  const double self = per_op(own, RUSAGE_SELF), kids = per_op(children, RUSAGE_CHILDREN);
  std::sort(times.begin(), times.end());
  const auto quantile = [&](double q) {
    return times[static_cast<std::size_t>(std::ceil(q * static_cast<double>(n))) - 1];
  };
  std::printf(
      "{\"name\":\"floor %s %s\",\"n\":%zu,\"median_ms\":%.3f,\"p95_ms\":%.3f,\"min_ms\":%.3f,"
      "\"client_cpu_ms_per_op\":%.3f,\"child_cpu_ms_per_op\":%.3f}\n",
      mode.c_str(), call ? "call" : "list", n, quantile(.5), quantile(.95), times[0], self, kids);
} catch (const std::exception& e) {
  std::fprintf(stderr, "mcp_floor: %s\n", e.what());
  return 1;
}
