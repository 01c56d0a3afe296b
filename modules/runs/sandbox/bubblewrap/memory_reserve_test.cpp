#include "memory_reserve.hpp"

#include <gtest/gtest.h>

using namespace bubblewrap;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::string meminfo(std::uint64_t available_mb) {
  return "MemTotal:       16265172 kB\nMemFree:          812344 kB\nMemAvailable:   " +
         std::to_string(available_mb << 10) + " kB\nBuffers:          123456 kB\n";
}

TEST(memory_reserve_test, the_kernels_figure_is_read) {
  EXPECT_EQ(available_memory(meminfo(300)), 300 * mib);
  EXPECT_EQ(available_memory("MemAvailable:          0 kB"), 0u);
  EXPECT_EQ(available_memory("MemTotal: 1 kB\nMemFree: 2 kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("NoMemAvailable: 1 kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("MemAvailable: much kB\n"), std::nullopt);
  EXPECT_EQ(available_memory("MemAvailable:"), std::nullopt);
  EXPECT_EQ(available_memory(""), std::nullopt);
}

TEST(memory_reserve_test, this_kernel_has_it) {
  const memory_state now = memory_reserve(1).look();
  EXPECT_GT(now.available_bytes, 0u);
  EXPECT_LT(now.available_bytes, UINT64_MAX);
  EXPECT_TRUE(now.enough);
}

TEST(memory_reserve_test, states) {
  std::string text;
  const memory_reserve reserve(256 * mib, [&] { return text; });
  const auto look = [&](std::uint64_t available_mb) {
    text = meminfo(available_mb);
    return reserve.look();
  };
  EXPECT_TRUE(look(256).enough);
  EXPECT_FALSE(look(256).urgent);
  EXPECT_FALSE(look(255).enough);
  EXPECT_FALSE(look(128).urgent);
  EXPECT_TRUE(look(127).urgent);
  EXPECT_FALSE(look(0).enough);
  EXPECT_EQ(look(127).available_bytes, 127 * mib);
}

TEST(memory_reserve_test, no_reserve_and_no_figure_refuse_nothing) {
  EXPECT_FALSE(memory_reserve(0).enabled());
  EXPECT_TRUE(memory_reserve(0, [] { return meminfo(0); }).look().enough);
  const memory_state unknown = memory_reserve(mib, [] { return std::string(); }).look();
  EXPECT_TRUE(unknown.enough);
  EXPECT_FALSE(unknown.urgent);
  EXPECT_EQ(unknown.available_bytes, UINT64_MAX);
}

}  // namespace
