#include "core/app/boot/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

namespace ry::app {
namespace {

TEST(descriptors, some_are_reserved_for_other_uses_than_connections) {
  EXPECT_EQ(20'000u, max_client_connections(20'000, 1'048'576));
  EXPECT_EQ(768u, max_client_connections(20'000, 1024));
  EXPECT_EQ(15'904u, max_client_connections(20'000, 20'000));
  EXPECT_EQ(100u, max_client_connections(100, 1024));
  EXPECT_EQ(1u, max_client_connections(20'000, 0));
  EXPECT_EQ(20'000u, max_client_connections(20'000, std::numeric_limits<std::size_t>::max()));
}

TEST(descriptors, the_soft_limit_is_raised_to_the_hard_limit) {
  rlimit old{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &old));
  rlimit low = old;
  low.rlim_cur = old.rlim_max / 2;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &low));
  EXPECT_EQ(low.rlim_cur, descriptor_limit());
  raise_descriptor_limit();
  EXPECT_EQ(old.rlim_max, descriptor_limit());
  ::setrlimit(RLIMIT_NOFILE, &old);
}

}  // namespace
}  // namespace ry::app
