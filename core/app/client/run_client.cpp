#include "core/app/client/run_client.hpp"

#include <curl/curl.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <ry/cpp/sse_parser.hpp>
#include <string_view>
#include <thread>

#include "core/app/client/api_call.hpp"
#include "core/app/client/curl_handle.hpp"
#include "core/app/client/run_view.hpp"

namespace ry::app::client {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr auto longest_outage = 60s;  // without progress while the server is unreachable
constexpr auto first_pause = 200ms;  // between attempts; doubled each time
constexpr auto longest_pause = 5'000ms;
constexpr std::size_t max_event = 64 * 1024 * 1024;
constexpr long silence_limit_s = 45;  // the server sends a ping every 10 s
constexpr int decision_check_ms = 3'000;  // of the check whether another client has decided
constexpr std::size_t max_line = 2000;  // bytes of a reason

volatile sig_atomic_t g_interrupted = 0;
void on_interrupt(int) {
  g_interrupted = 1;
}

using handle = std::unique_ptr<CURL, curl_deleter>;
using headers = std::unique_ptr<curl_slist, curl_deleter>;

void add(headers& list, const std::string& line) {
  auto* grown = curl_slist_append(list.get(), line.c_str());
  if (!grown) throw std::bad_alloc();
  (void)list.release();
  list.reset(grown);
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

std::string new_key() {
  std::random_device source;
  std::string out;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", source());
    out += part;
  }
  return out;
}

// The server's {"detail": ...}, or the body itself.
std::string detail_of(const std::string& body) {
  boost::system::error_code ec;
  const auto v = json::parse(body, ec);
  const auto* o = ec ? nullptr : v.if_object();
  const auto* detail = o ? o->if_contains("detail") : nullptr;
  if (!detail) return printable(body.substr(0, 500));
  if (detail->is_string()) return printable(detail->get_string());
  if (const auto* d = detail->if_object()) {
    std::string out;
    if (const auto* m = d->if_contains("message"); m && m->is_string()) out = m->get_string();
    if (const auto* c = d->if_contains("error_code"); c && c->is_string())
      out += (out.empty() ? "" : " (") + std::string(c->get_string()) + (out.empty() ? "" : ")");
    if (!out.empty()) return printable(out);
  }
  return json::serialize(*detail);
}

struct reply {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string body, reason;  // reason: human-readable, when code is not CURLE_OK
};

class session {
 public:
  explicit session(run_request request)
      : request_(std::move(request)),
        view_(
            [this](std::string_view s) {
              if (as_text()) print(stdout, s);
            },
            [this](std::string_view s) {
              if (as_text()) print(stderr, s);
            },
            isatty(STDERR_FILENO) ? style::color : style::plain) {
    while (base_.ends_with('/')) base_.pop_back();
    view_.expect_decisions(asks(), base_);
  }

  exit_code run() {
    if (const auto failure = start()) return *failure;
    if (as_text()) say("run " + run_id_ + (thread_id_.empty() ? "" : ", thread " + thread_id_));
    return follow();
  }

 private:
  using clock = std::chrono::steady_clock;

  bool as_text() const noexcept { return request_.as == output::text; }
  // Whether a person at the terminal can decide about approvals.
  bool asks() const noexcept { return as_text() && can_ask_ && isatty(STDIN_FILENO) && isatty(STDERR_FILENO); }

  static void print(FILE* to, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), to);
    std::fflush(to);
  }

  handle open(const std::string& path, headers& list) {
    handle c(curl_easy_init());
    if (!c) throw std::bad_alloc();
    curl_easy_setopt(c.get(), CURLOPT_URL, (base_ + path).c_str());
    curl_easy_setopt(c.get(), CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c.get(), CURLOPT_CONNECTTIMEOUT, 10L);
    apply(request_.trust, c.get());
    curl_easy_setopt(c.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c.get(), CURLOPT_XFERINFODATA, &pause_stream_);
    curl_easy_setopt(
        c.get(), CURLOPT_XFERINFOFUNCTION, +[](void* pause, curl_off_t, curl_off_t, curl_off_t, curl_off_t) -> int {
          return g_interrupted || *static_cast<const bool*>(pause) ? 1 : 0;
        });
    add(list, "Authorization: Bearer " + request_.token);
    add(list, "Expect:");  // avoids the round trip of 100-continue
    curl_easy_setopt(c.get(), CURLOPT_USERAGENT, "runyard");
    return c;
  }

  reply perform(CURL* c, headers& list, const std::function<void(std::string_view, long)>& on_bytes) {
    struct context {
      CURL* c;
      const std::function<void(std::string_view, long)>& on_bytes;
    } ctx{c, on_bytes};
    char message[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, list.get());
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, message);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &ctx);
    curl_easy_setopt(
        c, CURLOPT_WRITEFUNCTION, +[](char* data, size_t, size_t n, void* p) -> size_t {
          auto& ctx = *static_cast<context*>(p);
          long status = 0;
          curl_easy_getinfo(ctx.c, CURLINFO_RESPONSE_CODE, &status);
          ctx.on_bytes({data, n}, status);
          return n;
        });
    reply r;
    r.code = curl_easy_perform(c);
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &r.status);
    if (r.code != CURLE_OK)
      r.reason = (*message ? message : curl_easy_strerror(r.code)) + advice(request_.trust, r.code);
    return r;
  }

  reply fetch(CURL* c, headers& list) {
    std::string body;
    auto r = perform(c, list, [&](std::string_view bytes, long) { body += bytes; });
    r.body = std::move(body);
    return r;
  }

  // All attempts use the same idempotency key, so the server starts one run only.
  std::optional<exit_code> start() {
    const auto key = new_key();
    const auto begun = clock::now();
    auto pause = first_pause;
    while (true) {
      headers list;
      auto c = open("/agent/start", list);
      add(list, "Idempotency-Key: " + key);
      std::unique_ptr<curl_mime, curl_deleter> form(curl_mime_init(c.get()));
      const auto field = [&](const char* name, const std::string& value) {
        auto* part = curl_mime_addpart(form.get());
        curl_mime_name(part, name);
        curl_mime_data(part, value.data(), value.size());
      };
      if (!request_.prompt.empty()) field("prompt", request_.prompt);
      if (!request_.model.empty()) field("model_name", request_.model);
      if (!request_.thread.empty()) field("thread_id", request_.thread);
      if (!request_.agent.empty()) field("agent_id", request_.agent);
      for (const auto& file : request_.files) {
        auto* part = curl_mime_addpart(form.get());
        curl_mime_name(part, "files");
        if (curl_mime_filedata(part, file.c_str()) != CURLE_OK) {
          say("runyard: " + file + " cannot be read");
          return exit_code::refused;
        }
      }
      curl_easy_setopt(c.get(), CURLOPT_MIMEPOST, form.get());
      const auto r = fetch(c.get(), list);
      if (g_interrupted) return exit_code::interrupted;
      const bool busy = r.code == CURLE_OK && r.status == 503;
      // A refused connection at the first attempt is final; a broken connection is retried.
      const bool broke = r.code == CURLE_RECV_ERROR || r.code == CURLE_SEND_ERROR || r.code == CURLE_GOT_NOTHING ||
                         r.code == CURLE_PARTIAL_FILE;
      if ((busy || broke) && clock::now() - begun < longest_outage) {
        wait(pause);
        if (g_interrupted) return exit_code::interrupted;
        continue;
      }
      if (r.code != CURLE_OK) {
        say("runyard: no answer from " + base_ + ": " + r.reason);
        return exit_code::failed;
      }
      if (r.status < 200 || r.status > 299) {
        say("runyard: the server refused the run (" + std::to_string(r.status) + "): " + detail_of(r.body));
        return exit_code::failed;
      }
      return accepted(r.body);
    }
  }

  std::optional<exit_code> accepted(const std::string& body) {
    boost::system::error_code ec;
    const auto v = json::parse(body, ec);
    const auto* o = ec ? nullptr : v.if_object();
    const auto get = [&](const char* name) {
      const auto* s = o ? o->if_contains(name) : nullptr;
      return s && s->is_string() ? std::string(s->get_string()) : std::string();
    };
    run_id_ = get("agent_run_id");
    thread_id_ = get("thread_id");
    const bool plain = !run_id_.empty() && run_id_.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
    if (!plain) {
      say("runyard: " + base_ + " is not a Runyard server: unexpected response");
      return exit_code::failed;
    }
    if (!as_text()) print(stdout, json::serialize(v) + "\n");
    return std::nullopt;
  }

  exit_code follow() {
    ry::sse_parser reader(max_event);
    auto progress = clock::now();
    auto pause = first_pause;
    while (true) {
      headers list;
      auto c = open("/agent-run/" + run_id_ + "/stream", list);
      if (!reader.last_id().empty()) add(list, "Last-Event-ID: " + reader.last_id());
      add(list, "Accept: text/event-stream");
      curl_easy_setopt(c.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
      curl_easy_setopt(c.get(), CURLOPT_LOW_SPEED_TIME, silence_limit_s);
      reader.restart();
      std::string refusal;
      bool readable = true;
      auto r = perform(c.get(), list, [&](std::string_view bytes, long status) {
        if (status != 200) {
          if (refusal.size() < 4096) refusal += bytes;
          return;
        }
        progress = clock::now();
        pause = first_pause;
        readable = readable && reader.feed(bytes, [&](std::string_view, std::string_view data) { show(data); });
        pause_stream_ = asks() && !view_.waiting().empty();
      });
      if (view_.ended()) return outcome();
      if (pause_stream_ && !g_interrupted) {
        pause_stream_ = false;
        decide_approvals();
        progress = clock::now();
        if (!g_interrupted) continue;
      }
      if (g_interrupted) {
        say("\nrunyard: stopped watching; run " + run_id_ + " continues on the server");
        return exit_code::interrupted;
      }
      if (!readable) {
        say("runyard: the stream contains an event that is too large");
        return exit_code::failed;
      }
      if (r.status == 204) return ended_elsewhere();
      if (r.status >= 400 && r.status < 500 && r.status != 429) {
        say("runyard: the stream was refused (" + std::to_string(r.status) + "): " + detail_of(refusal));
        return exit_code::failed;
      }
      if (clock::now() - progress > longest_outage) {
        say("runyard: the stream was lost and could not be resumed; run " + run_id_ + " may still be in progress" +
            (r.reason.empty() ? "" : " (" + r.reason + ")"));
        return exit_code::failed;
      }
      // The server's value is bounded before the conversion, which could overflow.
      if (const auto ms = reader.retry_ms())
        pause = std::max<std::chrono::milliseconds>(20ms, std::chrono::milliseconds(std::min<std::uint64_t>(
                                                              *ms, std::chrono::milliseconds(longest_pause).count())));
      wait(pause);
    }
  }

  void show(std::string_view event) {
    if (!as_text()) print(stdout, std::string(event) + "\n");
    view_.show(event);
  }

  // Asks about all approvals that the run waits for. The stream is resumed afterwards.
  void decide_approvals() {
    while (asks() && !g_interrupted && !view_.waiting().empty()) {
      const std::string id = view_.waiting().front();
      const std::optional<std::string> body = ask(id);
      if (!body) continue;  // the approval was decided elsewhere, or nothing can be asked any more
      const api_answer sent = client::post({.url = request_.url,
                                            .path = "/approvals/" + id,
                                            .token = request_.token,
                                            .body = *body,
                                            .trust = request_.trust});
      if (!sent.ok()) say("runyard: the decision was not accepted: " + printable(sent.reason()));
      if (sent.ok() || (sent.status >= 400 && sent.status < 500)) view_.forget_approval(id);
    }
    if (!can_ask_ && !view_.waiting().empty()) {
      for (const std::string& id : view_.waiting())
        say("runyard: decide with POST " + base_ + "/approvals/" + id +
            " {\"decision\": \"approve\"} or {\"decision\": \"deny\"}");
    }
  }

  // The body of the decision that the person makes; nullopt: none.
  std::optional<std::string> ask(const std::string& id) {
    tcflush(STDIN_FILENO, TCIFLUSH);  // what was typed before the question is no answer
    while (true) {
      print(stderr, "Approve the call? [y]es / [n]o / [a]lways for this run: ");
      const std::optional<std::string> line = read_line(id);
      if (!line) return std::nullopt;
      const auto made = read_decision(*line);
      if (!made) continue;
      if (*made != decision::deny) return decision_body(*made, "");
      print(stderr, "Reason for the agent (optional): ");
      const std::optional<std::string> reason = read_line(id);
      if (!reason) return std::nullopt;
      return decision_body(*made, printable(*reason));
    }
  }

  // A line of the terminal. nullopt: SIGINT, the end of the input, or the approval was decided elsewhere.
  std::optional<std::string> read_line(const std::string& approval) {
    std::string line;
    while (!g_interrupted) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, decision_check_ms);
      if (ready < 0) continue;  // SIGINT
      if (ready == 0) {
        if (!is_decided(approval)) continue;
        say("\nrunyard: the decision was made elsewhere");
        view_.forget_approval(approval);
        return std::nullopt;
      }
      char c = 0;
      const ssize_t n = read(STDIN_FILENO, &c, 1);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        can_ask_ = false;
        view_.expect_decisions(false, base_);
        say("");
        return std::nullopt;
      }
      if (c == '\n') return line;
      if (line.size() < max_line) line += c;
    }
    return std::nullopt;
  }

  // Whether the run no longer waits for the approval. False if the server does not answer.
  bool is_decided(const std::string& id) const {
    const api_answer pending = client::get({.url = request_.url,
                                            .path = "/agent-run/" + run_id_ + "/approvals?status=pending&limit=100",
                                            .token = request_.token,
                                            .body = {},
                                            .trust = request_.trust});
    const json::value v = parsed(pending.body);
    if (!pending.ok() || !v.is_object()) return false;
    const auto* list = v.get_object().if_contains("approvals");
    const auto* all = list != nullptr ? list->if_array() : nullptr;
    return all != nullptr && std::none_of(all->begin(), all->end(), [&](const json::value& a) {
             return a.is_object() && text_of(a.get_object(), "approval_id") == id;
           });
  }

  // The terminal event was already delivered to this account, so the outcome is read from the run's record.
  exit_code ended_elsewhere() {
    headers list;
    auto c = open("/agent-run/" + run_id_, list);
    const auto r = fetch(c.get(), list);
    boost::system::error_code ec;
    auto v = json::parse(r.body, ec);
    if (!ec && v.is_object()) {
      v.as_object()["type"] = "status";
      view_.show(json::serialize(v));
    }
    if (view_.ended()) return outcome();
    say("runyard: the stream ended without the terminal event");
    return exit_code::failed;
  }

  exit_code outcome() {
    if (view_.status() == "completed") return exit_code::ok;
    if (view_.status() == "stopped") {
      say("runyard: the run was stopped");
      return exit_code::run_stopped;
    }
    say("runyard: the run failed" + (view_.error().empty() ? "" : ": " + view_.error()));
    return exit_code::run_failed;
  }

  static void wait(std::chrono::milliseconds& pause) {
    for (auto left = pause; left > 0ms && !g_interrupted; left -= 20ms)
      std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(left, 20ms));
    pause = std::min<std::chrono::milliseconds>(pause * 2, longest_pause);
  }

  const run_request request_;
  std::string base_ = request_.url;
  std::string run_id_, thread_id_;
  bool can_ask_ = true;  // the input has not ended
  bool pause_stream_ = false;  // ends the transfer, to ask about an approval
  run_view view_;
};

// A start without an agent uses the account's default agent. A thread is continued with the agent and model of its last
// run instead, if the agent still exists and the caller names no other.
run_request with_agent_of_thread(run_request request) {
  if (request.thread.empty() || !request.agent.empty()) return request;
  const auto ask = [&](const std::string& path) {
    return get({.url = request.url, .path = path, .token = request.token, .body = {}});
  };
  const api_answer thread = ask("/threads/" + request.thread);
  const json::value v = parsed(thread.body);
  if (!thread.ok() || !v.is_object()) return request;
  const std::string agent = text_of(v.get_object(), "agent_id");
  if (agent.empty() || !ask("/agents/" + agent).ok()) return request;
  request.agent = agent;
  if (request.model.empty()) request.model = text_of(v.get_object(), "model_name");
  return request;
}

}  // namespace

exit_code run(const run_request& request) {
  for (const auto& file : request.files) {
    std::error_code ec;
    if (!std::filesystem::is_regular_file(file, ec) || access(file.c_str(), R_OK) != 0) {
      say("runyard: " + file + " cannot be read");
      return exit_code::refused;
    }
  }
  if (request.token.find_first_of("\r\n") != std::string::npos) {
    say("runyard: the token is malformed");
    return exit_code::refused;
  }
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  return session(with_agent_of_thread(request)).run();
}

}  // namespace ry::app::client
