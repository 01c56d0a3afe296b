#include "core/observe/metrics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

namespace ry::observe {
namespace {

using testing::HasSubstr;
using enum metric_kind;

TEST(metrics, same_name_and_labels_give_the_same_handle) {
  metrics m;
  auto* a = m.get(counter, "runs_total", "Runs", {{"tier", "free"}, {"b", "1"}});
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(m.get(counter, "runs_total", "Runs", {{"b", "1"}, {"tier", "free"}}), a);
  EXPECT_NE(m.get(counter, "runs_total", "Runs", {{"tier", "pro"}, {"b", "1"}}), a);
  EXPECT_EQ(m.get(gauge, "runs_total", "Runs"), nullptr);
}

TEST(metrics, renders_all_kinds) {
  metrics m;
  m.get(counter, "c_total", "A counter", {{"k", "va\"l"}})->add(2);
  m.get(gauge, "g", "A gauge")->set(1.5);
  const double bounds[] = {1, 2};
  auto* h = m.get(histogram, "h_seconds", "A histogram", {}, bounds);
  h->observe(0.5);
  h->observe(1.5);
  h->observe(99);
  const auto text = m.render();
  EXPECT_THAT(text, HasSubstr("# TYPE c_total counter"));
  EXPECT_THAT(text, HasSubstr("c_total{k=\"va\\\"l\"} 2"));
  EXPECT_THAT(text, HasSubstr("g 1.5"));
  EXPECT_THAT(text, HasSubstr("h_seconds_bucket{le=\"2\"} 2"));
  EXPECT_THAT(text, HasSubstr("h_seconds_count 3"));
}

TEST(metrics, refuses_names_and_labels_that_would_corrupt_the_exposition) {
  metrics m;
  for (const char* bad : {"", "1a", "a-b", "a b", "a\n", "ä"}) EXPECT_EQ(m.get(counter, bad, ""), nullptr) << bad;
  EXPECT_EQ(m.get(counter, "a", "", {{"__x", "1"}}), nullptr);
  EXPECT_EQ(m.get(counter, "a", "", {{"x", "1"}, {"x", "2"}}), nullptr);
  EXPECT_EQ(m.get(counter, "a", "", {{"x", "1\n# HELP"}}), nullptr);
  EXPECT_EQ(m.get(counter, "a", "", {{"x", std::string(201, 'v')}}), nullptr);
  EXPECT_EQ(m.get(histogram, "a", "", {{"le", "1"}}), nullptr);
  const double falling[] = {2, 1};
  EXPECT_EQ(m.get(histogram, "a", "", {}, falling), nullptr);
  EXPECT_NE(m.get(counter, "a", ""), nullptr);
}

TEST(metrics, wrong_use_of_a_handle_changes_nothing) {
  metrics m;
  auto* c = m.get(counter, "c", "");
  c->add(-1);
  c->add(std::nan(""));
  c->set(7);
  c->observe(7);
  auto* g = m.get(gauge, "g", "");
  g->set(std::numeric_limits<double>::infinity());
  EXPECT_THAT(m.render(), HasSubstr("\nc 0\n"));
  EXPECT_THAT(m.render(), HasSubstr("\ng 0\n"));
}

TEST(metrics, the_number_of_label_values_is_limited) {
  metrics m;
  for (std::size_t i = 0; i < metrics::max_series_per_name; ++i)
    ASSERT_NE(m.get(counter, "c", "", {{"id", std::to_string(i)}}), nullptr);
  EXPECT_EQ(m.get(counter, "c", "", {{"id", "more"}}), nullptr);
  EXPECT_NE(m.get(counter, "d", "", {{"id", "more"}}), nullptr);
}

TEST(metrics, gauges_increase_and_decrease) {
  metrics m;
  auto* g = m.get(gauge, "g", "");
  g->add(3);
  g->add(-2);
  EXPECT_THAT(m.render(), HasSubstr("\ng 1\n"));
}

TEST(metrics, counts_from_many_threads) {
  metrics m;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      auto* c = m.get(counter, "c", "");
      auto* h = m.get(histogram, "h", "");
      for (int i = 0; i < 1000; ++i) {
        c->add();
        h->observe(0.1);
      }
    });
  for (int i = 0; i < 10; ++i) m.render();
  for (auto& t : threads) t.join();
  EXPECT_THAT(m.render(), HasSubstr("\nc 4000\n"));
  EXPECT_THAT(m.render(), HasSubstr("h_count 4000"));
}

}  // namespace
}  // namespace ry::observe
