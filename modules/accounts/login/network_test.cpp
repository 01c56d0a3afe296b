#include "network.hpp"

#include <gtest/gtest.h>

using namespace accounts;

namespace {

TEST(network_test, a_customer_has_an_address_or_a_64) {
  EXPECT_EQ(customer_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(customer_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(customer_of("2001:db8::1"), customer_of("2001:db8:0:0:ffff::9"));
  EXPECT_NE(customer_of("2001:db8::1"), customer_of("2001:db8:0:1::1"));
  EXPECT_EQ(customer_of("nowhere"), "nowhere");
}

TEST(network_test, addresses_of_one_customer_share_a_block) {
  EXPECT_EQ(neighbourhood_of("203.0.113.9"), "203.0.113.0/24");
  EXPECT_EQ(neighbourhood_of("::ffff:203.0.113.9"), "203.0.113.0/24");
  EXPECT_EQ(neighbourhood_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(neighbourhood_of("10.1.2.3"), "10.1.2.0/24");
  for (const char* nothing :
       {"127.0.0.1", "::1", "::ffff:127.9.9.9", "169.254.1.1", "fe80::1", "", "nowhere", "203.0.113.9 ", "203.0.113"}) {
    EXPECT_EQ(neighbourhood_of(nothing), "") << nothing;
  }
}

TEST(network_test, a_private_address_that_forwards_is_a_proxys) {
  for (const char* proxy : {"10.0.0.1", "172.31.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"}) {
    EXPECT_EQ(neighbourhood_of(caller{proxy, "", true}), "") << proxy;
    EXPECT_NE(neighbourhood_of(caller{proxy, "", false}), "") << proxy;
  }
  EXPECT_EQ(neighbourhood_of(caller{"203.0.113.9", "", true}), "203.0.113.0/24");
  EXPECT_EQ(neighbourhood_of(caller{"172.32.0.1", "", true}), "172.32.0.0/24");
}

TEST(network_test, this_machine) {
  for (const char* here : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_this_machine(here)) << here;
  }
  for (const char* not_here : {"128.0.0.1", "::2", "127.evil", "", "12.7.0.0"}) {
    EXPECT_FALSE(is_this_machine(not_here)) << not_here;
  }
}

}  // namespace
