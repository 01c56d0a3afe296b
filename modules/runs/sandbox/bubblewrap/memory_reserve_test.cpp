#include "memory_reserve.hpp"

#include <gtest/gtest.h>

using namespace bubblewrap;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::string meminfo(std::uint64_t available_mb) {
  return "MemTotal:       16265172 kB\nMemFree:          812344 kB\nMemAvailable:   " +
         std::to_string(available_mb << 10) + " kB\nBuffers:          123456 kB\n";
}

TEST(memory_reserve_test, available_memory_is_read_from_meminfo) {
  EXPECT_EQ(available_memory(meminfo(300)), 300 * mib);
  EXPECT_EQ(available_memory("MemAvailable:          0 kB"), 0u);
  EXPECT_EQ(available_memory("MemTotal: 1 kB\nMemFree: 2 kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("NoMemAvailable: 1 kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("MemAvailable: much kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("MemAvailable:"), std::nullopt);
  EXPECT_EQ(available_memory(""), std::nullopt);
}

TEST(memory_reserve_test, this_kernel_reports_available_memory) {
  const memory_state now = memory_reserve(1).current_state();
  EXPECT_GT(now.available_bytes, 0u);
  EXPECT_LT(now.available_bytes, UINT64_MAX);
  EXPECT_TRUE(now.enough);
}

TEST(memory_reserve_test, the_state_depends_on_the_available_memory) {
  std::string text;
  const memory_reserve reserve(256 * mib, [&] { return text; });
  const auto state_at = [&](std::uint64_t available_mb) {
    text = meminfo(available_mb);
    return reserve.current_state();
  };
  EXPECT_TRUE(state_at(256).enough);
  EXPECT_FALSE(state_at(256).urgent);
  EXPECT_FALSE(state_at(255).enough);
  EXPECT_FALSE(state_at(128).urgent);
  EXPECT_TRUE(state_at(127).urgent);
  EXPECT_FALSE(state_at(0).enough);
  EXPECT_EQ(state_at(127).available_bytes, 127 * mib);
}

TEST(memory_reserve_test, without_a_reserve_or_a_value_there_is_always_enough) {
  EXPECT_FALSE(memory_reserve(0).enabled());
  EXPECT_TRUE(memory_reserve(0, [] { return meminfo(0); }).current_state().enough);
  const memory_state unknown = memory_reserve(mib, [] { return std::string(); }).current_state();
  EXPECT_TRUE(unknown.enough);
  EXPECT_FALSE(unknown.urgent);
  EXPECT_EQ(unknown.available_bytes, UINT64_MAX);
}

}  // namespace
