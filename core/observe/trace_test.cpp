#include "core/observe/trace.hpp"
#include "core/observe/open_span.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <thread>

#include "core/observe/log.hpp"
#include "core/observe/otlp.hpp"
#include "core/observe/tracer.hpp"

namespace ry::observe {
namespace {

constexpr const char* known = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

trace_settings recorded(double ratio = 1) {
  trace_settings s;
  s.record = recording::on;
  s.ratio = ratio;
  return s;
}

TEST(traceparent, follows_the_specification) {
  const auto p = parse_traceparent(known);
  ASSERT_TRUE(p);
  EXPECT_EQ(hex(p->trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex(p->span_id), "00f067aa0ba902b7");
  EXPECT_EQ(p->flags, trace_sampled);
  EXPECT_EQ(traceparent_of(p->trace_id, p->span_id, p->flags), known);
  EXPECT_EQ(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")->flags, 0);
  EXPECT_EQ(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff")->flags,
            trace_sampled | trace_random)
      << "unknown flags are not propagated";
}

TEST(traceparent, only_the_known_part_of_a_later_version_is_read) {
  EXPECT_TRUE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_TRUE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes"));
  EXPECT_FALSE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what"));
}

TEST(traceparent, invalid_headers_are_ignored) {
  for (const char* bad : {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
                          " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                          "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                          "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
                          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                          "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
}

TEST(tracestate, only_valid_entries_are_propagated) {
  EXPECT_TRUE(sound_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
  EXPECT_TRUE(sound_tracestate("a=1, ,b=2\t, c_-*/9=x y"));
  EXPECT_TRUE(sound_tracestate("0tenant@vendor=1"));
  std::string many;
  for (int i = 0; i < 33; ++i) many += (i ? ",k" : "k") + std::to_string(i) + "=1";
  EXPECT_FALSE(sound_tracestate(many));
  EXPECT_TRUE(sound_tracestate(many.substr(0, many.rfind(','))));
  for (const std::string& bad :
       {std::string(), std::string(","), std::string("a"), std::string("a="), std::string("=1"), std::string("A=1"),
        std::string("0a=1"), std::string("a=1,a=2"), std::string("a=b=c"), std::string("a=\x7f"),
        std::string("a=\r\nx: y"), std::string("a@=1"), std::string("a@vendor-is-longer=1"),
        "a=" + std::string(257, 'x'), "a=" + std::string(256, 'x') + ",b=" + std::string(256, 'x')})
    EXPECT_FALSE(sound_tracestate(bad)) << bad;
}

TEST(tracer, continues_the_incoming_trace_and_obeys_its_sampled_flag) {
  tracer t(recorded(0));
  const auto on = t.begin(parse_traceparent(known), "a=1");
  ASSERT_TRUE(on);
  EXPECT_TRUE(on->sampled()) << "the ratio applies only to traces that start here";
  EXPECT_EQ(hex(on->trace_id), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(hex(*on->parent_id), "00f067aa0ba902b7");
  EXPECT_NE(on->span_id, *on->parent_id);
  EXPECT_EQ(on->state, "a=1");

  tracer all(recorded(1));
  const auto off = all.begin(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), "");
  ASSERT_TRUE(off);
  EXPECT_FALSE(off->sampled());
  open_span s(off, span_kind::client, "x");
  EXPECT_FALSE(s);
  s.set("k", std::int64_t{1});
  s.end();
  EXPECT_EQ(all.stats().recorded, 0u);
}

TEST(tracer, samples_new_traces_by_the_ratio) {
  for (const double ratio : {0.0, 0.25, 1.0}) {
    tracer t(recorded(ratio));
    int sampled = 0;
    for (int i = 0; i < 4000; ++i) sampled += t.begin(std::nullopt, "")->sampled();
    EXPECT_NEAR(sampled, 4000 * ratio, ratio == 0.25 ? 200 : 0);
  }
  tracer t(recorded());
  EXPECT_NE(t.begin(std::nullopt, "")->trace_id, t.begin(std::nullopt, "")->trace_id);
}

TEST(tracer, without_a_collector_it_only_propagates) {
  tracer t{trace_settings{}};
  EXPECT_FALSE(t.begin(std::nullopt, ""));
  const auto passed = t.begin(parse_traceparent(known), "");
  ASSERT_TRUE(passed);
  EXPECT_EQ(traceparent_of(*passed), known) << "a span that is not exported must not be named as the parent";
  EXPECT_FALSE(open_span::of(passed, span_kind::server));
}

TEST(tracer, the_queue_is_bounded_and_counts_dropped_spans) {
  auto settings = recorded();
  settings.max_queue = 10;
  settings.batch = 4;
  tracer t(settings);
  int wakes = 0;
  t.on_batch([&] { ++wakes; });
  const auto node = t.begin(std::nullopt, "");
  for (int i = 0; i < 25; ++i) open_span(node, span_kind::internal, "x").end();
  auto s = t.stats();
  EXPECT_EQ(s.recorded, 25u);
  EXPECT_EQ(s.waiting, 10u);
  EXPECT_EQ(s.dropped, 15u);
  EXPECT_EQ(wakes, 1) << "one wake until the queue is taken";
  EXPECT_EQ(t.take(4).size(), 4u);
  EXPECT_EQ(t.take(100).size(), 6u);
  EXPECT_TRUE(t.take(1).empty());
  for (int i = 0; i < 4; ++i) open_span(node, span_kind::internal, "x").end();
  EXPECT_EQ(wakes, 2);
}

TEST(trace_scope, is_bound_to_one_thread_and_one_scope) {
  tracer t(recorded());
  const auto a = t.begin(std::nullopt, ""), b = t.begin(std::nullopt, "");
  EXPECT_FALSE(current_trace());
  {
    const trace_scope outer(a);
    EXPECT_EQ(current_trace(), a);
    std::thread([] { EXPECT_FALSE(current_trace()); }).join();
    {
      const trace_scope inner(b);
      EXPECT_EQ(current_trace(), b);
      enter_trace({});
      EXPECT_FALSE(current_trace());
    }
    EXPECT_EQ(current_trace(), a);
  }
  EXPECT_FALSE(current_trace());
}

TEST(trace_scope, work_that_long_outlives_its_request_has_no_trace) {
  tracer t(recorded());
  const auto node = t.begin(std::nullopt, "");
  const trace_scope scope(node);
  node->end();
  EXPECT_EQ(current_trace(), node);
  node->ended_ms = 1;  // long ago
  EXPECT_FALSE(current_trace());
  EXPECT_EQ(trace_of_thread(), node);
}

TEST(kept_text, round_trips) {
  tracer t(recorded());
  const auto node = t.begin(parse_traceparent(known), "a=1,b=2");
  const std::string kept = kept_text(node);
  const auto [parent, state] = parse_kept(kept);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->trace_id, node->trace_id);
  EXPECT_EQ(parent->span_id, node->span_id);
  EXPECT_EQ(state, "a=1,b=2");
  EXPECT_EQ(kept_text({}), "");
  EXPECT_FALSE(parse_kept("").first);
  EXPECT_FALSE(parse_kept("nonsense a=1").first);
  EXPECT_EQ(parse_kept(std::string(known) + " A=1").second, "");
}

TEST(otlp, a_request_follows_the_json_mapping_of_the_protocol) {
  tracer t(recorded());
  const auto node = t.begin(parse_traceparent(known), "a=1");
  auto own = open_span::of(node, span_kind::server);
  own.name("POST /things");
  own.set("http.response.status_code", std::int64_t{503});
  own.fail("503");
  own.fail("twice");
  own.end();
  const auto spans = t.take(10);
  const auto v = boost::json::parse(otlp_request({{"service.name", "runyard"}}, "9.9", spans));
  const auto& resource = v.at("resourceSpans").at(0);
  EXPECT_EQ(resource.at("resource").at("attributes").at(0).at("value").at("stringValue"), "runyard");
  const auto& scope = resource.at("scopeSpans").at(0);
  EXPECT_EQ(scope.at("scope").at("version"), "9.9");
  const auto& s = scope.at("spans").at(0);
  EXPECT_EQ(s.at("traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(s.at("parentSpanId"), "00f067aa0ba902b7");
  EXPECT_EQ(s.at("spanId").as_string().size(), 16u);
  EXPECT_EQ(s.at("kind"), 2);
  EXPECT_EQ(s.at("flags"), 0x301);
  EXPECT_EQ(s.at("traceState"), "a=1");
  EXPECT_EQ(s.at("status").at("code"), 2);
  EXPECT_TRUE(s.at("startTimeUnixNano").is_string());
  EXPECT_LE(s.at("startTimeUnixNano").as_string(), s.at("endTimeUnixNano").as_string());
  ASSERT_EQ(s.at("attributes").as_array().size(), 2u);
  EXPECT_EQ(s.at("attributes").at(0).at("value").at("intValue"), "503");
  EXPECT_EQ(s.at("attributes").at(1).at("key"), "error.type");
}

TEST(otlp, texts_are_masked_truncated_and_valid_utf8) {
  redact("hunter2-hunter2");
  tracer t(recorded());
  const auto node = t.begin(std::nullopt, "");
  open_span s(node, span_kind::client, "GET");
  s.set("server.address", "hunter2-hunter2.example");
  s.set("broken", "\xff\xfe");
  s.set("long", std::string(1023, 'x') + "\xc3\xa9");
  s.end();
  const auto spans = t.take(1);
  const auto text = otlp_request({}, "1", spans);
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("hunter2")));
  const auto v = boost::json::parse(text);
  const auto& attributes = v.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0).at("attributes");
  EXPECT_EQ(attributes.at(0).at("value").at("stringValue"), "[redacted].example");
  EXPECT_EQ(attributes.at(2).at("value").at("stringValue").as_string().size(), 1023u);
}

TEST(otlp, reads_responses_of_a_collector) {
  EXPECT_EQ(otlp_refused("{}").spans, 0u);
  EXPECT_EQ(otlp_refused("").spans, 0u);
  EXPECT_EQ(otlp_refused("[1]").spans, 0u);
  const auto some = otlp_refused(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}})");
  EXPECT_EQ(some.spans, 3u);
  EXPECT_EQ(some.why, "too old");
  EXPECT_EQ(otlp_refused(R"({"partialSuccess":{"rejectedSpans":2}})").spans, 2u);
  EXPECT_EQ(otlp_refused(R"({"partialSuccess":{"rejectedSpans":"-2"}})").spans, 0u);
}

}  // namespace
}  // namespace ry::observe
