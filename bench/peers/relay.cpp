// The upper bound of this machine: start -> model -> stream with one thread and epoll. No database,
// no accounts, no JSON library; runs are forgotten once they have been read. Only a baseline for the benchmarks.
//   relay PORT MODEL_PORT [POSTGRES]
// With the address of a PostgreSQL it is the minimum for durability: it stores what fastapi does with STORE=pg, the
// start in one prepared statement that is committed before the response, the end in another. It blocks on each commit,
// so use it for one run at a time.
#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct peer;

struct run {
  std::string id, wire;  // events as HTTP chunks
  std::uint64_t events = 0;
  bool finished = false;
  std::vector<peer*> readers;
};
using run_ptr = std::shared_ptr<run>;

struct peer {
  int fd = -1;
  bool is_model = false, waits_for_write = false, gone = false;
  std::string in, out;
  run_ptr attached;
};

int poll_fd = -1;
sockaddr_in model_address{};
std::unordered_map<std::string, run_ptr> runs;
std::vector<peer*> idle_models, graveyard;
PGconn* pg = nullptr;  // null: no store

void check(PGresult* r) {
  if (const auto st = PQresultStatus(r); st != PGRES_COMMAND_OK && st != PGRES_TUPLES_OK) {
    std::fputs(PQerrorMessage(pg), stderr);
    std::exit(1);
  }
  PQclear(r);
}

void open_database(const char* address) {
  pg = PQconnectdb(address);
  check(PQexec(
      pg,
      "set client_min_messages = warning;"
      "create table if not exists threads (id uuid primary key, account text, created_at timestamptz default now());"
      "create table if not exists messages (id bigserial primary key, thread_id uuid, role text, body jsonb);"
      "create table if not exists runs (id uuid primary key, thread_id uuid, status text,"
      "  started_at timestamptz default now(), completed_at timestamptz);"
      "create index if not exists runs_of_thread on runs (thread_id)"));
  check(PQprepare(pg, "start",
                  "with t as (insert into threads (id, account) values ($1, 'bench')),"
                  "     m as (insert into messages (thread_id, role, body) values ($1, 'user', to_jsonb($2::text))) "
                  "insert into runs (id, thread_id, status) values ($1, $1, 'running')",
                  0, nullptr));
  check(PQprepare(pg, "end",
                  "with m as (insert into messages (thread_id, role, body) values ($1, 'assistant', '\"\"')) "
                  "update runs set status = 'completed', completed_at = now() where id = $1",
                  0, nullptr));
}

void store(const char* statement, const std::vector<const char*>& values) {
  if (pg != nullptr)
    check(PQexecPrepared(pg, statement, static_cast<int>(values.size()), values.data(), nullptr, nullptr, 0));
}

peer* add(int fd, bool is_model) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  auto* p = new peer;
  p->fd = fd;
  p->is_model = is_model;
  epoll_event e{EPOLLIN, {.ptr = p}};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &e);
  return p;
}

void drop(peer* p) {
  if (p->gone) return;
  p->gone = true;
  close(p->fd);
  if (p->attached) std::erase(p->attached->readers, p);
  std::erase(idle_models, p);
  graveyard.push_back(p);
}

void flush(peer* p) {
  while (!p->out.empty()) {
    const ssize_t n = write(p->fd, p->out.data(), p->out.size());
    if (n < 0 && errno != EAGAIN) return drop(p);
    if (n <= 0) break;
    p->out.erase(0, static_cast<std::size_t>(n));
  }
  if (p->waits_for_write == !p->out.empty()) return;
  p->waits_for_write = !p->out.empty();
  epoll_event e{EPOLLIN | (p->waits_for_write ? EPOLLOUT : 0u), {.ptr = p}};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, p->fd, &e);
}

void send(peer* p, std::string_view bytes) {
  p->out += bytes;
  if (!p->waits_for_write) flush(p);
}

void chunk(std::string& to, std::string_view bytes) {
  char head[24];
  to.append(head, static_cast<std::size_t>(std::snprintf(head, sizeof head, "%zx\r\n", bytes.size())));
  to.append(bytes).append("\r\n");
}

std::string event(run& r, std::string_view type, std::string_view key, std::string_view value) {
  const std::string n = std::to_string(++r.events);
  return "id: " + n + "\ndata: {\"type\": \"" + std::string(type) + "\", \"sequence\": " + n + ", \"" +
         std::string(key) + "\": \"" + std::string(value) + "\"}\n\n";
}

void publish(run& r, std::string_view events) {
  const std::size_t from = r.wire.size();
  chunk(r.wire, events);
  if (r.finished) r.wire += "0\r\n\r\n";
  const std::vector<peer*> readers = r.readers;
  for (peer* p : readers) {
    if (r.finished) p->attached.reset();
    send(p, std::string_view(r.wire).substr(from));
  }
  if (r.finished && !readers.empty()) runs.erase(r.id);
}

void ask_model(const run_ptr& r, std::string_view prompt) {
  peer* model;
  if (!idle_models.empty()) {
    model = idle_models.back();
    idle_models.pop_back();
  } else {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&model_address), sizeof model_address) != 0) std::exit(1);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    model = add(fd, true);
  }
  model->attached = r;
  const std::string body = "{\"model\":\"mock\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"" +
                           std::string(prompt) + "\"}]}";
  send(model,
       "POST /v1/chat/completions HTTP/1.1\r\nHost: model\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body);
}

// Reads lines of the provider's stream; the sizes of HTTP chunks between them are skipped.
void on_model_data(peer* model) {
  std::string events;
  std::size_t at = 0;
  for (std::size_t end; model->attached && (end = model->in.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string_view line = std::string_view(model->in).substr(at, end - at);
    if (!line.starts_with("data: ")) continue;
    run& r = *model->attached;
    if (line.starts_with("data: [DONE]")) {
      if (pg != nullptr) {  // publish the chunks before the blocking commit
        if (!events.empty()) publish(r, std::exchange(events, {}));
        store("end", {r.id.c_str()});
      }
      events += event(r, "status", "status", "completed");
      r.finished = true;
      publish(r, events);
      events.clear();
      model->attached.reset();
    } else if (const std::size_t from = line.find("\"content\":\""); from != std::string_view::npos) {
      const std::string_view rest = line.substr(from + 11);
      events += event(r, "llm_response_chunk", "content", rest.substr(0, rest.find('"')));
    }
  }
  if (!events.empty()) publish(*model->attached, events);
  model->in.erase(0, at);
  if (!model->attached && model->in.ends_with("0\r\n\r\n")) {
    model->in.clear();
    idle_models.push_back(model);
  }
}

std::string json_response(std::string_view json) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(json.size()) +
         "\r\n\r\n" + std::string(json);
}

void serve(peer* client, std::string_view head, std::string_view body) {
  // Starts at the clock, so that ids differ from those of an earlier process.
  static std::uint64_t last =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count() / 1000);
  if (head.starts_with("POST /agent/start")) {
    auto r = std::make_shared<run>();
    char id[40];
    std::snprintf(id, sizeof id, "00000000-0000-7000-8000-%012lx",
                  static_cast<unsigned long>(++last & 0xffff'ffff'ffff));
    r->id = id;
    runs[r->id] = r;
    const std::size_t from = body.find("\r\n\r\n") + 4;
    const std::string_view prompt = body.substr(from, body.find("\r\n", from) - from);
    store("start", {r->id.c_str(), std::string(prompt).c_str()});
    send(client, json_response("{\"thread_id\":\"" + r->id + "\",\"agent_run_id\":\"" + r->id + "\",\"project_id\":\"" +
                               r->id + "\",\"status\":\"running\"}"));
    ask_model(r, prompt);
  } else if (head.starts_with("GET /agent-run/")) {
    const auto found = runs.find(std::string(head.substr(15, 36)));
    if (found == runs.end()) return send(client, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    const run_ptr r = found->second;
    client->out += "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    if (r->finished) {
      runs.erase(found);
    } else {
      client->attached = r;
      r->readers.push_back(client);
    }
    send(client, r->wire);
  } else {
    send(client, json_response("{\"ok\":true}"));
  }
}

void on_client_data(peer* client) {
  for (;;) {
    const std::size_t end = client->in.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::string head = client->in.substr(0, end);
    std::string lower = head;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t field = lower.find("content-length:");
    const std::size_t length = field == std::string::npos ? 0 : std::strtoul(lower.c_str() + field + 15, nullptr, 10);
    if (client->in.size() < end + 4 + length) return;
    const std::string body = client->in.substr(end + 4, length);
    client->in.erase(0, end + 4 + length);
    serve(client, head, body);
    if (client->gone) return;
  }
}

void readable(peer* p) {
  static char buffer[256 * 1024];
  bool closed = false;
  for (;;) {
    const ssize_t n = read(p->fd, buffer, sizeof buffer);
    if (n > 0) p->in.append(buffer, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EAGAIN)) closed = true;
    if (n < static_cast<ssize_t>(sizeof buffer)) break;
  }
  if (p->is_model)
    on_model_data(p);
  else
    on_client_data(p);
  if (closed) drop(p);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return 2;
  if (argc == 4) open_database(argv[3]);
  signal(SIGPIPE, SIG_IGN);
  poll_fd = epoll_create1(0);
  sockaddr_in address{};
  address.sin_family = model_address.sin_family = AF_INET;
  address.sin_addr.s_addr = model_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
  model_address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[2])));
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 4096) != 0)
    return 1;
  epoll_event e{EPOLLIN, {.ptr = nullptr}};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &e);
  std::vector<epoll_event> events(1024);
  for (;;) {
    const int n = epoll_wait(poll_fd, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      auto* p = static_cast<peer*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (p == nullptr) {
        for (int fd; (fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) add(fd, false);
        continue;
      }
      if (!p->gone && (events[static_cast<std::size_t>(i)].events & EPOLLOUT)) flush(p);
      if (!p->gone && (events[static_cast<std::size_t>(i)].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) readable(p);
    }
    for (peer* p : graveyard) delete p;
    graveyard.clear();
  }
}
