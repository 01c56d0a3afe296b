#include "api/run_reader.hpp"

#include <gtest/gtest.h>

#include <ry/testing.hpp>
#include <string>
#include <vector>

#include "stream/event_text.hpp"

namespace runs {
namespace {

struct consumer {
  std::shared_ptr<run_reader> reader;
  std::vector<std::uint64_t> seen;
  bool resumes_inside = false;

  static ry_status on_events(void* ctx, const ry_run_event* events, std::size_t n, std::size_t) noexcept {
    auto* c = static_cast<consumer*>(ctx);
    for (std::size_t i = 0; i < n; ++i) c->seen.push_back(events[i].sequence);
    if (c->resumes_inside) c->reader->resume();
    return RY_RESOURCE_EXHAUSTED;
  }
  static void on_end(void*, ry_status, const ry_error_view*) noexcept {}
};

std::string event(std::uint64_t sequence) {
  std::string out;
  event_text(out, sequence, "notice").text("message", "x");
  return out;
}

struct run_reader_test : testing::Test {
  ry::testing::fake_host host;
  consumer at;
  run_reader_test() {
    static constexpr ry_run_sink sink{sizeof(ry_run_sink), 0, &consumer::on_events, &consumer::on_end};
    at.reader = std::make_shared<run_reader>(host.ctx(), host.exec(), sink, &at);
  }
  ~run_reader_test() override { at.reader->release(); }
  void write(std::uint64_t sequence) {
    ASSERT_EQ(at.reader->write(event(sequence)), RY_OK);
    host.run_ready();
  }
};

TEST_F(run_reader_test, pauses_after_a_batch_until_it_is_resumed) {
  write(1);
  write(2);
  EXPECT_EQ(at.seen, (std::vector<std::uint64_t>{1}));
  at.reader->resume();
  host.run_ready();
  EXPECT_EQ(at.seen, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(run_reader_test, a_consumer_that_resumes_inside_the_delivery_is_not_paused) {
  at.resumes_inside = true;
  write(1);
  write(2);
  EXPECT_EQ(at.seen, (std::vector<std::uint64_t>{1, 2}));
}

}  // namespace
}  // namespace runs
