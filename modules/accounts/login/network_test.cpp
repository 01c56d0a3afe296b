#include "network.hpp"

#include <gtest/gtest.h>

using namespace accounts;

namespace {

TEST(network_test, the_client_network_is_an_ipv4_address_or_an_ipv6_64) {
  EXPECT_EQ(client_network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(client_network_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(client_network_of("2001:db8::1"), client_network_of("2001:db8:0:0:ffff::9"));
  EXPECT_NE(client_network_of("2001:db8::1"), client_network_of("2001:db8:0:1::1"));
  EXPECT_EQ(client_network_of("nowhere"), "nowhere");
}

TEST(network_test, addresses_of_one_network_share_a_block) {
  EXPECT_EQ(network_block_of("203.0.113.9"), "203.0.113.0/24");
  EXPECT_EQ(network_block_of("::ffff:203.0.113.9"), "203.0.113.0/24");
  EXPECT_EQ(network_block_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_block_of("10.1.2.3"), "10.1.2.0/24");
  for (const char* address :
       {"127.0.0.1", "::1", "::ffff:127.9.9.9", "169.254.1.1", "fe80::1", "", "nowhere", "203.0.113.9 ", "203.0.113"}) {
    EXPECT_EQ(network_block_of(address), "") << address;
  }
}

TEST(network_test, a_private_address_that_forwards_has_no_block) {
  for (const char* proxy : {"10.0.0.1", "172.31.0.1", "192.168.1.1", "100.64.0.1", "fd00::1"}) {
    EXPECT_EQ(network_block_of(caller{proxy, "", true}), "") << proxy;
    EXPECT_NE(network_block_of(caller{proxy, "", false}), "") << proxy;
  }
  EXPECT_EQ(network_block_of(caller{"203.0.113.9", "", true}), "203.0.113.0/24");
  EXPECT_EQ(network_block_of(caller{"172.32.0.1", "", true}), "172.32.0.0/24");
}

TEST(network_test, loopback_addresses_are_this_machine) {
  for (const char* loopback : {"127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_this_machine(loopback)) << loopback;
  }
  for (const char* other : {"128.0.0.1", "::2", "127.evil", "", "12.7.0.0"}) {
    EXPECT_FALSE(is_this_machine(other)) << other;
  }
}

}  // namespace
