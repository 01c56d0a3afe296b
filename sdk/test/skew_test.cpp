// Tests the current wrapper in an older host (shorter or missing tables) and in a newer one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <ry/cpp/trace.hpp>
#include <ry/ry.hpp>
#include <string>
#include <vector>

namespace {

// A host that consists of tables of given lengths. Members beyond a table's length must not be called.
struct old_host {
  std::map<std::string, std::vector<unsigned char>, std::less<>> tables;

  template <class Table>
  void offer(const char* id, const Table& table, std::size_t size = sizeof(Table)) {
    std::vector<unsigned char> bytes(2 * sizeof(Table), 0xff);
    std::memcpy(bytes.data(), &table, std::min(size, sizeof(Table)));
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(bytes.data(), &length, sizeof length);
    tables[id] = std::move(bytes);
  }
  const ry_host* c_host() const { return reinterpret_cast<const ry_host*>(this); }

  static const void* get(const ry_host* host, ry_str id, std::uint32_t min_size) noexcept {
    const auto& all = reinterpret_cast<const old_host*>(host)->tables;
    const auto at = all.find(ry::view(id));
    if (at == all.end()) return nullptr;
    std::uint32_t size = 0;
    std::memcpy(&size, at->second.data(), sizeof size);
    return size < min_size ? nullptr : at->second.data();
  }
};

ry_core_v1 core() {
  ry_core_v1 t{};
  t.now_unix_us = [](const ry_host*) noexcept -> std::int64_t { return 42; };
  return t;
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const ry::error& e) {
    EXPECT_EQ(e.status(), RY_UNAVAILABLE);
    EXPECT_EQ(e.reason(), "host.interface_missing");
    return std::string(e.message());
  }
  return "it was taken";
}

TEST(skew, the_error_for_a_short_table_names_the_interface) {
  old_host host;
  host.offer(RY_CORE_1, core(), offsetof(ry_core_v1, run_blocking));
  EXPECT_THAT(refusal([&] { ry::context ctx(host.c_host(), &old_host::get, "{}"); }), testing::HasSubstr(RY_CORE_1));
  host.offer(RY_CORE_1, core());
  const ry::context ctx(host.c_host(), &old_host::get, "{}");
  EXPECT_EQ(ctx.now_unix_us(), 42);
  host.offer(RY_JOBS_1, ry_jobs_v1{}, offsetof(ry_jobs_v1, finish));
  EXPECT_THAT(refusal([&] { (void)ctx.jobs(); }), testing::HasSubstr(RY_JOBS_1));
  EXPECT_THAT(refusal([&] { (void)ctx.db(); }), testing::HasSubstr(RY_DB_1));
  host.offer(RY_JOBS_1, ry_jobs_v1{});
  (void)ctx.jobs();
}

TEST(skew, a_host_with_longer_tables_is_compatible) {
  old_host host;
  host.offer(RY_CORE_1, core(), sizeof(ry_core_v1) + 64);
  const ry::context ctx(host.c_host(), &old_host::get, "{}");
  EXPECT_EQ(ctx.now_unix_us(), 42);
}

TEST(skew, a_member_exists_if_the_struct_size_covers_it) {
  ry_core_v1 t = core();
  t.struct_size = offsetof(ry_core_v1, run_blocking);
  const ry_core_v1* p = &t;
  EXPECT_TRUE(RY_HAS(p, ry_core_v1, op_cancel));
  EXPECT_FALSE(RY_HAS(p, ry_core_v1, run_blocking));
  p = nullptr;
  EXPECT_FALSE(RY_HAS(p, ry_core_v1, struct_size));
}

TEST(skew, a_host_without_traces_is_supported) {
  old_host host;
  host.offer(RY_CORE_1, core());
  const ry::context ctx(host.c_host(), &old_host::get, "{}");
  const auto mine = ry::trace::current(ctx);
  mine.enter();
  const ry::trace_switch during(ctx, ry::trace::none(ctx));
}

int handles = 0;
const ry_trace* entered = nullptr;

TEST(skew, trace_handles_are_released_once) {
  old_host host;
  host.offer(RY_CORE_1, core());
  ry_trace_v1 t{};
  t.current = [](const ry_host*) noexcept { return reinterpret_cast<ry_trace*>(std::uintptr_t{8} * ++handles); };
  t.enter = [](const ry_host*, const ry_trace* what) noexcept { entered = what; };
  t.release = [](ry_trace*) noexcept { --handles; };
  host.offer(RY_TRACE_1, t);
  const ry::context ctx(host.c_host(), &old_host::get, "{}");
  {
    auto mine = ry::trace::current(ctx);
    auto moved = std::move(mine);
    EXPECT_EQ(handles, 1);
    {
      const ry::trace_switch during(ctx, ry::trace::none(ctx));
      EXPECT_EQ(entered, nullptr);
      EXPECT_EQ(handles, 2);
    }
    EXPECT_NE(entered, nullptr) << "the previous trace is restored";
    moved = ry::trace::none(ctx);
    EXPECT_EQ(handles, 0);
  }
  EXPECT_EQ(handles, 0);
}

}  // namespace
