#include "core/http/client/guard.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using ry::http::guard::parse_host;
using ry::http::guard::refused_address;
using ry::http::guard::refused_name;

std::string verdict(const std::string& address) {
  const auto why = refused_address(boost::asio::ip::make_address(address));
  return why ? std::string(*why) : "ok";
}

TEST(guard, rejects_every_address_that_is_not_public) {
  const struct {
    const char* address;
    const char* verdict;
  } rows[] = {
      {"0.0.0.0", "unspecified"},
      {"0.255.255.255", "unspecified"},
      {"1.0.0.0", "ok"},
      {"9.255.255.255", "ok"},
      {"10.0.0.0", "private"},
      {"10.255.255.255", "private"},
      {"11.0.0.0", "ok"},
      {"100.63.255.255", "ok"},
      {"100.64.0.0", "shared"},
      {"100.127.255.255", "shared"},
      {"100.128.0.0", "ok"},
      {"127.0.0.1", "loopback"},
      {"127.255.255.254", "loopback"},
      {"168.63.129.15", "ok"},
      {"168.63.129.16", "metadata"},
      {"169.253.255.255", "ok"},
      {"169.254.169.254", "link-local"},
      {"172.15.255.255", "ok"},
      {"172.16.0.0", "private"},
      {"172.31.255.255", "private"},
      {"172.32.0.0", "ok"},
      {"192.0.0.1", "reserved"},
      {"192.0.1.1", "ok"},
      {"192.0.2.1", "documentation"},
      {"192.167.255.255", "ok"},
      {"192.168.0.0", "private"},
      {"192.169.0.0", "ok"},
      {"198.17.255.255", "ok"},
      {"198.18.0.0", "benchmark"},
      {"198.19.255.255", "benchmark"},
      {"198.20.0.0", "ok"},
      {"203.0.113.7", "documentation"},
      {"223.255.255.255", "ok"},
      {"224.0.0.1", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.1", "reserved"},
      {"255.255.255.255", "reserved"},
      {"8.8.8.8", "ok"},
      {"::", "unspecified"},
      {"::1", "loopback"},
      {"::7f00:1", "IPv4-compatible"},
      {"::ffff:127.0.0.1", "IPv4-mapped"},
      {"::ffff:8.8.8.8", "IPv4-mapped"},
      {"::ffff:0:10.0.0.1", "IPv4-mapped"},
      {"64:ff9b::127.0.0.1", "loopback"},
      {"64:ff9b::a9fe:a9fe", "link-local"},
      {"64:ff9b::8.8.8.8", "ok"},
      {"64:ff9b:1::8.8.8.8", "reserved"},
      {"2002:7f00:1::1", "loopback"},
      {"2002:0a00:0001::", "private"},
      {"2002:0808:0808::1", "ok"},
      {"2001:0:1234::1", "tunnel"},
      {"2001:2::1", "benchmark"},
      {"2001:2:1::1", "ok"},
      {"2001:10::1", "reserved"},
      {"2001:2f::1", "reserved"},
      {"2001:db8::1", "documentation"},
      {"3fff:fff::1", "documentation"},
      {"3fff:1000::1", "ok"},
      {"100::1", "reserved"},
      {"fc00::1", "private"},
      {"fdff::1", "private"},
      {"fe00::1", "reserved"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fec0::1", "reserved"},
      {"ff02::1", "multicast"},
      {"2606:4700:4700::1111", "ok"},
      {"2a00:1450::1", "ok"},
      {"4000::1", "reserved"},
  };
  for (const auto& r : rows) EXPECT_EQ(verdict(r.address), r.verdict) << r.address;
}

TEST(guard, rejects_local_and_metadata_names) {
  for (const char* n :
       {"localhost", "a.localhost", "printer.local", "metadata", "metadata.google.internal", "instance-data",
        "x.ec2.internal", "kubernetes.default.svc", "a.svc.cluster.local", "router.home.arpa"})
    EXPECT_TRUE(refused_name(n)) << n;
  for (const char* n : {"example.com", "localhost.example.com", "metadata.example.com", "mylocal", "notlocalhost"})
    EXPECT_FALSE(refused_name(n)) << n;
}

TEST(guard, parses_every_literal_form_of_an_address) {
  const struct {
    const char* text;
    const char* address;  // empty: a name; "-": refused
  } rows[] = {
      {"127.0.0.1", "127.0.0.1"},
      {"127.1", "127.0.0.1"},
      {"127.0.1", "127.0.0.1"},
      {"2130706433", "127.0.0.1"},
      {"0x7f000001", "127.0.0.1"},
      {"0X7F.0.0.1", "127.0.0.1"},
      {"0x7f.1", "127.0.0.1"},
      {"017700000001", "127.0.0.1"},
      {"0177.0.0.01", "127.0.0.1"},
      {"127.0.0.1.", "127.0.0.1"},
      {"0", "0.0.0.0"},
      {"0x", "0.0.0.0"},
      {"4294967295", "255.255.255.255"},
      {"4294967296", "-"},
      {"256.1.1.1", "-"},
      {"1.2.3.256", "-"},
      {"1.2.3.4.5", "-"},
      {"08.1.1.1", "-"},
      {"1.2.3.0x", "1.2.3.0"},
      {"foo.1", "-"},
      {"1..2", "-"},
      {"[::1]", "::1"},
      {"[::ffff:127.0.0.1]", "::ffff:127.0.0.1"},
      {"[fe80::1%25eth0]", "-"},
      {"[127.0.0.1]", "-"},
      {"[", "-"},
      {"::1", "-"},
      {"", "-"},
      {".", "-"},
      {"a..b", "-"},
      {"exa mple.com", "-"},
      {"ex\xc3\xa4mple.com", "-"},
      {"a/b", "-"},
      {"Example.COM.", ""},
      {"xn--bcher-kva.example", ""},
      {"0x7f.example", ""},
  };
  for (const auto& r : rows) {
    const auto h = parse_host(r.text);
    if (std::string(r.address) == "-") {
      EXPECT_FALSE(h) << r.text;
      continue;
    }
    ASSERT_TRUE(h) << r.text;
    EXPECT_EQ(h->literal ? h->literal->to_string() : "", r.address) << r.text;
  }
  EXPECT_EQ(parse_host("Example.COM.")->name, "example.com");
  EXPECT_FALSE(parse_host(std::string(64, 'a') + ".com"));
  EXPECT_FALSE(parse_host(std::string(300, 'a')));
}

}  // namespace
