#include "core/app/client/run_client.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <thread>

namespace ry::app::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Answers each connection with prepared bytes, closes it, and records the request.
class scripted_server {
 public:
  explicit scripted_server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (bind(fd_, reinterpret_cast<sockaddr*>(&at), size) != 0 || listen(fd_, 8) != 0 ||
        getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("no listening socket");
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~scripted_server() {
    shutdown(fd_, SHUT_RDWR);
    thread_.join();
    close(fd_);
  }
  const std::string& url() const { return url_; }
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static bool complete(const std::string& request) {
    const auto head = request.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const auto length = request.find("Content-Length: ");
    if (length == std::string::npos || length > head) return true;
    return request.size() >= head + 4 + std::stoul(request.substr(length + 16));
  }
  void serve() {
    for (const auto& answer : answers_) {
      const int c = accept(fd_, nullptr, nullptr);
      if (c < 0) return;
      std::string request;
      char buffer[4096];
      while (!complete(request)) {
        const auto n = read(c, buffer, sizeof buffer);
        if (n <= 0) break;
        request.append(buffer, static_cast<std::size_t>(n));
      }
      {
        std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      if (write(c, answer.data(), answer.size()) < 0) ADD_FAILURE() << "the client has disconnected";
      shutdown(c, SHUT_WR);
      while (read(c, buffer, sizeof buffer) > 0) {
      }
      close(c);
    }
  }

  const std::vector<std::string> answers_;
  int fd_ = -1;
  std::string url_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string json_answer(const char* status, const std::string& body) {
  return std::string("HTTP/1.1 ") + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string stream(const std::string& events) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\nretry: "
         "20\n\n" +
         events;
}

const std::string started = json_answer(
    "200 OK",
    R"({"thread_id":"aaaaaaaa-0000-0000-0000-000000000000","agent_run_id":"bbbbbbbb-0000-0000-0000-000000000000","status":"running"})");

struct outcome {
  exit_code code;
  std::string out, err;
};

outcome run_at(const scripted_server& server, output as = output::text, std::vector<std::string> files = {}) {
  run_request request;
  request.url = server.url() + "/";
  request.token = "secret-token";
  request.prompt = "Do it.";
  request.files = std::move(files);
  request.model = "runyard/basic";
  request.as = as;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto code = run(request);
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::string header(const std::string& request, const std::string& name) {
  const auto at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const auto from = at + name.size() + 4;
  return request.substr(from, request.find("\r\n", from) - from);
}

TEST(run_client, resumes_after_a_disconnect) {
  scripted_server server({started,
                          stream("id: 1\ndata: {\"type\": \"llm_response_chunk\", \"content\": \"Hel\"}\n\n"
                                 "id: 2\ndata: {\"type\": \"llm_response_chunk\", \"content\": \"lo\"}\n\n"
                                 "id: 3\ndata: {\"type\": \"llm_resp"),
                          "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                          stream("id: 3\ndata: {\"type\": \"llm_response_chunk\", \"content\": \" world\"}\n\n"
                                 "id: 4\ndata: {\"type\": \"status\", \"status\": \"completed\"}\n\n")});
  const auto r = run_at(server);
  EXPECT_EQ(r.code, exit_code::ok) << r.err;
  EXPECT_EQ(r.out, "Hello world\n");
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(4));
  EXPECT_THAT(requests[0], HasSubstr("POST /agent/start HTTP/1.1\r\n"));
  EXPECT_EQ(header(requests[0], "Authorization"), "Bearer secret-token");
  EXPECT_THAT(requests[0], HasSubstr("name=\"prompt\"\r\n\r\nDo it.\r\n"));
  EXPECT_THAT(requests[0], HasSubstr("name=\"model_name\"\r\n\r\nrunyard/basic\r\n"));
  EXPECT_THAT(requests[1], HasSubstr("GET /agent-run/bbbbbbbb-0000-0000-0000-000000000000/stream "));
  EXPECT_EQ(header(requests[1], "Last-Event-ID"), "");
  EXPECT_EQ(header(requests[2], "Last-Event-ID"), "2");
  EXPECT_EQ(header(requests[3], "Last-Event-ID"), "2");
}

TEST(run_client, a_start_without_a_response_is_retried_with_the_same_idempotency_key) {
  scripted_server server({"", started, stream("id: 1\ndata: {\"type\": \"status\", \"status\": \"completed\"}\n\n")});
  const auto r = run_at(server);
  EXPECT_EQ(r.code, exit_code::ok) << r.err;
  const auto requests = server.requests();
  ASSERT_THAT(requests, SizeIs(3));
  const auto key = header(requests[0], "Idempotency-Key");
  EXPECT_THAT(key, SizeIs(32));
  EXPECT_EQ(header(requests[1], "Idempotency-Key"), key);
}

TEST(run_client, the_exit_code_reflects_the_outcome_of_the_run) {
  {
    scripted_server server({started, stream("id: 1\ndata: {\"type\":\"status\",\"status\":\"failed\",\"error\":\"No "
                                            "credits\"}\n\n")});
    const auto r = run_at(server);
    EXPECT_EQ(r.code, exit_code::run_failed);
    EXPECT_THAT(r.err, HasSubstr("the run failed: No credits"));
  }
  {
    scripted_server server({started, stream("id: 1\ndata: {\"type\":\"status\",\"status\":\"stopped\"}\n\n")});
    EXPECT_EQ(run_at(server).code, exit_code::run_stopped);
  }
  {
    scripted_server server({started, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
                            json_answer("200 OK", R"({"status":"completed"})")});
    EXPECT_EQ(run_at(server).code, exit_code::ok);
    EXPECT_THAT(server.requests().at(2), HasSubstr("GET /agent-run/bbbbbbbb-0000-0000-0000-000000000000 "));
  }
}

TEST(run_client, an_error_response_shows_the_message_of_the_server) {
  {
    scripted_server server({json_answer(
        "402 Payment Required", R"({"detail":{"message":"Too many runs","error_code":"AGENT_RUN_LIMIT_EXCEEDED"}})")});
    const auto r = run_at(server);
    EXPECT_EQ(r.code, exit_code::failed);
    EXPECT_THAT(r.err, HasSubstr("(402): Too many runs (AGENT_RUN_LIMIT_EXCEEDED)"));
  }
  {
    scripted_server server({json_answer("401 Unauthorized", R"({"detail":"Not authenticated"})")});
    const auto r = run_at(server);
    EXPECT_THAT(r.err, HasSubstr("(401): Not authenticated"));
    EXPECT_THAT(r.err, Not(HasSubstr("secret-token")));
  }
  {
    scripted_server server({started, json_answer("404 Not Found", R"({"detail":"Run not found"})")});
    EXPECT_THAT(run_at(server).err, HasSubstr("(404): Run not found"));
  }
  {
    scripted_server server({json_answer("200 OK", R"({"agent_run_id":"../../x"})")});
    EXPECT_THAT(run_at(server).err, HasSubstr("is not a Runyard server: unexpected response"));
  }
}

TEST(run_client, a_thread_is_continued_with_the_agent_and_model_of_its_last_run) {
  const std::string thread =
      json_answer("200 OK", R"({"thread_id":"aaaaaaaa-0000-0000-0000-000000000000",)"
                            R"("agent_id":"cccccccc-0000-0000-0000-000000000000","model_name":"x/big"})");
  const std::string ended = stream("id: 1\ndata: {\"type\": \"status\", \"status\": \"completed\"}\n\n");
  run_request request;
  request.token = "secret-token";
  request.prompt = "Go on.";
  request.thread = "aaaaaaaa-0000-0000-0000-000000000000";
  request.as = output::json_lines;
  const auto start_of = [&](std::vector<std::string> answers) {
    scripted_server server(std::move(answers));
    request.url = server.url();
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(request), exit_code::ok);
    (void)testing::internal::GetCapturedStdout();
    std::string sent;
    for (const std::string& one : server.requests())
      if (one.starts_with("POST /agent/start ")) sent = one;
    return sent;
  };
  const std::string sent = start_of({thread, json_answer("200 OK", "{}"), started, ended});
  EXPECT_THAT(sent, HasSubstr("name=\"agent_id\"\r\n\r\ncccccccc-0000-0000-0000-000000000000\r\n"));
  EXPECT_THAT(sent, HasSubstr("name=\"model_name\"\r\n\r\nx/big\r\n"));
  const std::string agent_gone =
      start_of({thread, json_answer("404 Not Found", R"({"detail":"Worker not found"})"), started, ended});
  EXPECT_THAT(agent_gone, Not(HasSubstr("agent_id")));
  EXPECT_THAT(agent_gone, Not(HasSubstr("model_name")));
  request.model = "x/small";
  EXPECT_THAT(start_of({thread, json_answer("200 OK", "{}"), started, ended}), HasSubstr("\r\n\r\nx/small\r\n"));
  request.agent = "dddddddd-0000-0000-0000-000000000000";
  EXPECT_THAT(start_of({started, ended}), HasSubstr("\r\n\r\ndddddddd-0000-0000-0000-000000000000\r\n"));
}

TEST(run_client, files_are_sent_with_their_names) {
  char name[] = "/tmp/ry-upload-XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_EQ(write(fd, "a,b\n1,2\n", 8), 8);
  close(fd);
  scripted_server server({started, stream("id: 1\ndata: {\"type\": \"status\", \"status\": \"completed\"}\n\n")});
  EXPECT_EQ(run_at(server, output::text, {name}).code, exit_code::ok);
  unlink(name);
  const auto sent = server.requests().at(0);
  EXPECT_THAT(sent, HasSubstr("name=\"files\"; filename=\"" + std::string(name + 5) + "\""));
  EXPECT_THAT(sent, HasSubstr("\r\n\r\na,b\n1,2\n\r\n"));
}

TEST(run_client, json_output_passes_events_through_unchanged) {
  const std::string end = R"({"type": "status", "status": "completed", "sequence": 2})";
  scripted_server server({started, stream("id: 1\ndata: {\"type\": \"ping\"}\n\nid: 2\ndata: " + end + "\n\n")});
  const auto r = run_at(server, output::json_lines);
  EXPECT_EQ(r.code, exit_code::ok);
  EXPECT_THAT(r.out, ::testing::StartsWith("{\"thread_id\":"));
  EXPECT_THAT(r.out, ::testing::EndsWith("\n{\"type\": \"ping\"}\n" + end + "\n"));
  EXPECT_EQ(r.err, "");
}

}  // namespace
}  // namespace ry::app::client
