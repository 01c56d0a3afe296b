#include "core/app/boot/span_exporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <condition_variable>
#include <mutex>

#include "core/http/client/test_client.hpp"
#include "core/http/client/test_server.hpp"
#include "core/observe/open_span.hpp"

namespace ry::app {
namespace {

using namespace std::chrono_literals;
using http::test::peer;

std::string answer(const std::string& status, const std::string& more = {}, const std::string& body = "{}") {
  return "HTTP/1.1 " + status + "\r\n" + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A collector with scripted responses: one text per request, the last one for all further requests.
struct collector {
  explicit collector(std::vector<std::string> script) : answers(std::move(script)) {}

  std::vector<std::string> answers;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> requests;
  http::test::server server{[this](peer& p) {
    for (;;) {
      const auto request = p.request();
      if (request.empty()) return;
      std::string reply;
      {
        std::lock_guard lock(mutex);
        reply = answers[std::min(requests.size(), answers.size() - 1)];
        requests.push_back(request);
        changed.notify_all();
      }
      if (reply.empty()) return;  // sends no response
      p.send(reply);
    }
  }};

  bool wait(std::size_t n) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 20s, [&] { return requests.size() >= n; });
  }
  std::string body(std::size_t i) {
    std::lock_guard lock(mutex);
    return requests[i].substr(requests[i].find("\r\n\r\n") + 4);
  }
  std::size_t spans(std::size_t i) {
    return boost::json::parse(body(i)).at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array().size();
  }
};

class span_exporter_test : public testing::Test {
 protected:
  span_exporter_test() {
    settings.record = observe::recording::on;
    settings.batch = 4;
    settings.max_queue = 8;
    how.interval = 20ms;
    how.first_retry = 20ms;
    how.last_retry = 50ms;
    how.timeout = 5s;
  }
  void begin(collector& c) {
    how.url = c.server.url("/v1/traces");
    tracer = std::make_unique<observe::tracer>(settings);
    node = tracer->begin(std::nullopt, "");
    w = std::make_unique<http::test::client_fixture>();
    exporter = std::make_unique<span_exporter>(*tracer, w->http, w->loops.at(0), how);
    exporter->start();
  }
  void spans(int n) {
    for (int i = 0; i < n; ++i) observe::open_span(node, observe::span_kind::internal, "work").end();
  }
  bool eventually(const std::function<bool(const observe::tracer::counts&)>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what(tracer->stats())) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  observe::trace_settings settings;
  exporter_settings how;
  std::unique_ptr<observe::tracer> tracer;
  observe::trace_ref node;
  std::unique_ptr<http::test::client_fixture> w;
  std::unique_ptr<span_exporter> exporter;
};

TEST_F(span_exporter_test, sends_batches_to_the_collector) {
  collector c({answer("200 OK")});
  how.headers = {{"Authorization", "Bearer of-the-collector"}};
  how.resource = {{"service.name", "here"}};
  begin(c);
  spans(3);
  ASSERT_TRUE(c.wait(1));
  EXPECT_TRUE(eventually([](auto& s) { return s.exported == 3 && s.waiting == 0; }));
  EXPECT_EQ(c.spans(0), 3u);
  std::lock_guard lock(c.mutex);
  EXPECT_THAT(c.requests[0], testing::StartsWith("POST /v1/traces HTTP/1.1"));
  EXPECT_THAT(c.requests[0], testing::HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(c.requests[0], testing::HasSubstr("Authorization: Bearer of-the-collector\r\n"));
  EXPECT_THAT(c.requests[0], testing::Not(testing::HasSubstr("traceparent"))) << "an export belongs to no trace";
}

TEST_F(span_exporter_test, a_full_batch_does_not_wait_for_the_interval) {
  collector c({answer("200 OK")});
  how.interval = 1h;
  begin(c);
  spans(4);
  EXPECT_TRUE(c.wait(1));
  EXPECT_TRUE(eventually([](auto& s) { return s.exported == 4; }));
}

TEST_F(span_exporter_test, a_temporarily_rejected_batch_is_retried) {
  collector c(
      {answer("503 Service Unavailable"), "", answer("429 Too Many Requests", "Retry-After: 1\r\n"), answer("200 OK")});
  how.timeout = 300ms;
  begin(c);
  spans(2);
  ASSERT_TRUE(c.wait(3));
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(c.wait(4));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 800ms) << "the collector asked for a second";
  EXPECT_TRUE(eventually([](auto& s) { return s.exported == 2 && s.failed_requests == 3 && s.failed == 0; }));
  EXPECT_EQ(c.body(0), c.body(3));
}

TEST_F(span_exporter_test, a_permanently_rejected_batch_is_dropped) {
  collector c({answer("400 Bad Request"), answer("200 OK")});
  begin(c);
  spans(2);
  ASSERT_TRUE(c.wait(1));
  EXPECT_TRUE(eventually([](auto& s) { return s.failed == 2; }));
  spans(1);
  EXPECT_TRUE(eventually([](auto& s) { return s.exported == 1; }));
}

TEST_F(span_exporter_test, a_batch_is_dropped_after_its_last_attempt) {
  collector c({answer("503 Service Unavailable")});
  how.attempts = 3;
  begin(c);
  spans(2);
  EXPECT_TRUE(eventually([](auto& s) { return s.failed == 2 && s.failed_requests == 3; }));
}

TEST_F(span_exporter_test, spans_rejected_by_the_collector_are_counted) {
  collector c({answer("200 OK", {}, R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})")});
  begin(c);
  spans(3);
  EXPECT_TRUE(eventually([](auto& s) { return s.exported == 1 && s.failed == 2; }));
}

TEST_F(span_exporter_test, an_unreachable_collector_neither_grows_the_queue_nor_blocks) {
  collector c({""});
  how.first_retry = how.last_retry = 1h;
  begin(c);
  spans(4);
  ASSERT_TRUE(c.wait(1));
  const auto begun = std::chrono::steady_clock::now();
  spans(1000);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s);
  const auto s = tracer->stats();
  EXPECT_EQ(s.waiting, 8u);
  EXPECT_EQ(s.dropped, 992u);
}

TEST_F(span_exporter_test, stop_sends_the_queued_spans) {
  collector c({answer("200 OK")});
  how.interval = 1h;
  settings.batch = 3;
  begin(c);
  spans(2);
  exporter->stop(std::chrono::steady_clock::now() + 10s);
  EXPECT_EQ(tracer->stats().exported, 2u);
}

TEST_F(span_exporter_test, stop_does_not_wait_for_an_unreachable_collector) {
  collector c({""});
  how.interval = 1h;
  how.timeout = 60s;
  begin(c);
  spans(2);
  const auto begun = std::chrono::steady_clock::now();
  exporter->stop(begun + 200ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST_F(span_exporter_test, without_a_collector_it_does_nothing) {
  tracer = std::make_unique<observe::tracer>(observe::trace_settings{});
  w = std::make_unique<http::test::client_fixture>();
  span_exporter none(*tracer, w->http, w->loops.at(0), {});
  none.start();
  none.stop(std::chrono::steady_clock::now() + 10s);
  EXPECT_EQ(w->http.stats().requests.load(), 0u);
}

}  // namespace
}  // namespace ry::app
