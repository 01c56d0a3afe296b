#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/module/abi.hpp"
#include "core/module/staging.hpp"
#include "core/module/test_host.hpp"

namespace ry::module {
namespace {

using core::view;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ry_status on_request(void*, const ry_request_view*, ry_request*) noexcept {
  return RY_OK;
}
ry_status on_job(void*, const ry_job_view*, ry_job*) noexcept {
  return RY_OK;
}
ry_status on_event(void*, const ry_event_view*, ry_event*) noexcept {
  return RY_OK;
}

struct registrar_test : testing::Test {
  registrar_test() {
    manifest.name = "runs";
    manifest.provides = {"runs/1", "llm.provider/1"};
    manifest.needs = {{"agent.tools/1", false, 0}};
  }
  // Checks the error message and that nothing was staged.
  void expect_refused(ry_status st, const std::string& sentence, ry_status expected = RY_INVALID_ARGUMENT) {
    EXPECT_EQ(st, expected);
    EXPECT_THAT(r.problem, HasSubstr(sentence));
    r.problem.clear();
  }
  static ry_route route(std::string_view method, std::string_view pattern) {
    ry_route v{};
    v.struct_size = sizeof v;
    v.method = view(method);
    v.pattern = view(pattern);
    v.handle = on_request;
    return v;
  }

  runtime rt;
  ry_host host{rt, "runs", 1};
  module_manifest manifest;
  ry_registrar r{&host, manifest};
  const ry_registrar_v1& to = registrar_v1();
};

TEST_F(registrar_test, stages_copies_of_the_arguments) {
  std::string method = "GET", pattern = "/a/{id}", doc = R"({"summary":"x"})";
  auto v = route(method, pattern);
  v.openapi_json = view(doc);
  v.max_body = 5;
  EXPECT_EQ(to.route(&r, &v), RY_OK);
  method = pattern = doc = "gone";
  ASSERT_THAT(r.staged.routes, SizeIs(1));
  EXPECT_EQ(r.staged.routes[0].method, "GET");
  EXPECT_EQ(r.staged.routes[0].pattern, "/a/{id}");
  EXPECT_EQ(r.staged.routes[0].max_body, 5u);
  EXPECT_EQ(r.staged.routes[0].owner, &host);
  EXPECT_EQ(r.problem, "");
}

TEST_F(registrar_test, structs_of_older_and_newer_headers_are_read_by_their_size) {
  // Newer headers: members after ours are ignored.
  struct {
    ry_route known;
    std::uint64_t later;
  } newer{route("GET", "/newer"), ~0ull};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(to.route(&r, &newer.known), RY_OK);
  // Older headers: missing members count as zero, even if the memory behind them is not.
  auto older = route("GET", "/older");
  older.max_body = 77;
  older.struct_size = offsetof(ry_route, max_body);
  EXPECT_EQ(to.route(&r, &older), RY_OK);
  EXPECT_EQ(r.staged.routes.at(1).max_body, 0u);
  auto tiny = route("GET", "/tiny");
  tiny.struct_size = 8;
  expect_refused(to.route(&r, &tiny), "struct_size of 8");
  tiny.struct_size = 1u << 30;
  expect_refused(to.route(&r, &tiny), "struct_size of 1073741824");
  expect_refused(to.route(&r, nullptr), "a route is NULL");
  EXPECT_THAT(r.staged.routes, SizeIs(2));
}

TEST_F(registrar_test, invalid_routes_are_rejected_immediately) {
  auto v = route("get", "/a");
  expect_refused(to.route(&r, &v), "method \"get\"");
  v = route("GET", "a");
  expect_refused(to.route(&r, &v), "must begin with '/'");
  v = route("GET", "/a");
  v.handle = nullptr;
  expect_refused(to.route(&r, &v), "route GET /a has no handler");
  v = route("GET", "/a");
  v.flags = 1u << 20;
  expect_refused(to.route(&r, &v), "route GET /a sets flags");
  v.flags = RY_ROUTE_PUBLIC | RY_ROUTE_ADMIN;
  expect_refused(to.route(&r, &v), "both public and for admins");
  v = route("GET", "/a");
  v.openapi_json = view("[1]");
  expect_refused(to.route(&r, &v), "not a JSON object");
  v.openapi_json = {nullptr, 9};
  expect_refused(to.route(&r, &v), "a length but no bytes");
  EXPECT_THAT(r.staged.routes, IsEmpty());
  v = route("GET", "/a/{x}");
  EXPECT_EQ(to.route(&r, &v), RY_OK);
  v = route("GET", "/a/{y}");
  expect_refused(to.route(&r, &v), "registered twice (also as /a/{x})", RY_ALREADY_EXISTS);
  v = route("POST", "/a/{y}");
  EXPECT_EQ(to.route(&r, &v), RY_OK);
}

TEST_F(registrar_test, descriptions_are_kept_as_text) {
  EXPECT_EQ(to.describe(&r, view(R"({"paths":{}})")), RY_OK);
  EXPECT_EQ(to.describe(&r, view(R"({"components":{}})")), RY_OK);
  EXPECT_THAT(r.staged.descriptions, SizeIs(2));
  expect_refused(to.describe(&r, view("[]")), "a description is not a JSON object");
  expect_refused(to.describe(&r, view("")), "a description is not a JSON object");
  expect_refused(to.describe(&r, {nullptr, 4}), "a length but no bytes");
  expect_refused(to.describe(&r, view(R"({"paths":{"/a":7}})")), "a path \"/a\"");
  EXPECT_THAT(r.staged.descriptions, SizeIs(2));
  for (int i = 0; i < 98; ++i) EXPECT_EQ(to.describe(&r, view("{}")), RY_OK);
  expect_refused(to.describe(&r, view("{}")), "too many descriptions", RY_RESOURCE_EXHAUSTED);
}

TEST_F(registrar_test, migration_numbers_must_increase) {
  const auto add = [&](std::string_view id, std::string_view sql, std::uint32_t flags = 0) {
    const ry_migration m = {sizeof m, flags, view(id), view(sql)};
    return to.migration(&r, &m);
  };
  EXPECT_EQ(add("0001_init", "select 1"), RY_OK);
  EXPECT_EQ(add("0003_more", "select 1", RY_MIGRATION_NO_TX), RY_OK);
  expect_refused(add("0003_again", "select 1"), "comes after 0003_more");
  expect_refused(add("0002_late", "select 1"), "ids must increase");
  for (const char* bad : {"init", "4_x", "0004", "0004_", "0004-x", "0004_X", "0004_x y"})
    expect_refused(add(bad, "select 1"), "does not look like");
  expect_refused(add("0004_x", " \n"), "has no SQL");
  expect_refused(add("0004_x", std::string_view("a\0b", 3)), "NUL");
  expect_refused(add("0004_x", "select 1", 8), "flags");
  EXPECT_EQ(add("0005_start", "select 1", RY_MIGRATION_REPEATABLE | RY_MIGRATION_COMPATIBLE), RY_OK);
  EXPECT_THAT(r.staged.migrations, SizeIs(3));
}

TEST_F(registrar_test, jobs_get_their_defaults) {
  ry_job_kind v{};
  v.struct_size = sizeof v;
  v.kind = view("runs.execute");
  v.run = on_job;
  EXPECT_EQ(to.job(&r, &v), RY_OK);
  const auto& j = r.staged.jobs.at(0);
  EXPECT_EQ(j.queue, "default");
  EXPECT_EQ(j.max_attempts, 20u);
  EXPECT_EQ(j.concurrency, 10u);
  EXPECT_EQ(j.timeout_ms, 600'000u);
  EXPECT_EQ(j.backoff_ms, 1000u);
  expect_refused(to.job(&r, &v), "registered twice", RY_ALREADY_EXISTS);
  for (const char* bad : {"other.execute", "runs.", "runs", "runs.A b"}) {
    v.kind = view(bad);
    expect_refused(to.job(&r, &v), "is not \"runs.\" and a word");
  }
  v.kind = view("runs.two");
  v.run = nullptr;
  expect_refused(to.job(&r, &v), "has no function");
  v.run = on_job;
  v.flags = 1;
  expect_refused(to.job(&r, &v), "flags");
}

TEST_F(registrar_test, consumers_name_kinds_and_prefixes) {
  ry_event_consumer v{sizeof v, 0, view("credits"), view("run.completed,payment.*"), on_event, nullptr};
  EXPECT_EQ(to.subscribe(&r, &v), RY_OK);
  EXPECT_THAT(r.staged.consumers.at(0).kinds, testing::ElementsAre("run.completed", "payment.*"));
  v.name = view("bad");
  for (const char* bad : {"", "a,", ",a", "*", "a*", "A", "a.*.b", "a b", ".*", "a..*"}) {
    v.kinds = view(bad);
    expect_refused(to.subscribe(&r, &v), "is neither a kind nor a prefix");
  }
}

TEST_F(registrar_test, services_points_and_drivers_must_match_the_descriptor) {
  const std::uint32_t table[2] = {8, 0}, none = 0;
  EXPECT_EQ(to.provide(&r, view("runs/1"), table, nullptr), RY_OK);
  expect_refused(to.provide(&r, view("runs/1"), table, nullptr), "twice", RY_ALREADY_EXISTS);
  expect_refused(to.provide(&r, view("other/1"), table, nullptr), "\"other/1\" is not listed");
  expect_refused(to.provide(&r, view("llm.provider/1"), nullptr, nullptr), "has no table");
  expect_refused(to.provide(&r, view("llm.provider/1"), &none, nullptr), "struct_size");

  ry_point p{sizeof p, 8, view("llm.provider/1"), nullptr, nullptr, nullptr};
  expect_refused(to.define_point(&r, &p), "lacks a function");
  p.added = [](void*, ry_str, const void*, void*) noexcept {};
  p.removed = [](void*, ry_str, ry_done) noexcept {};
  EXPECT_EQ(to.define_point(&r, &p), RY_OK);

  EXPECT_EQ(to.contribute(&r, view("agent.tools/1"), view("a-b"), table, nullptr), RY_OK);
  expect_refused(to.contribute(&r, view("agent.tools/1"), view("a-b"), table, nullptr), "twice", RY_ALREADY_EXISTS);
  expect_refused(to.contribute(&r, view("unlisted/1"), view("x"), table, nullptr),
                 "driver x for unlisted/1: that extension point is not listed");
  expect_refused(to.contribute(&r, view("agent.tools/1"), view("X y"), table, nullptr), "is not a word");
}

TEST_F(registrar_test, the_first_error_is_kept_and_other_threads_are_rejected) {
  auto a = route("get", "/a"), b = route("GET", "b");
  to.route(&r, &a);
  to.route(&r, &b);
  EXPECT_THAT(r.problem, HasSubstr("\"get\""));
  auto good = route("GET", "/good");
  ry_status st = RY_OK;
  std::thread([&] { st = to.route(&r, &good); }).join();
  EXPECT_EQ(st, RY_FAILED_PRECONDITION);
  EXPECT_EQ(to.route(nullptr, &good), RY_INVALID_ARGUMENT);
  EXPECT_THAT(r.staged.routes, IsEmpty());
}

}  // namespace
}  // namespace ry::module
