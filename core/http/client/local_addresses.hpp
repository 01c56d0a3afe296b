// The addresses of this machine's network interfaces. Requests of users must not reach services that listen on them,
// even if the addresses are public. [any]
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

namespace ry::http {

class local_addresses {
 public:
  using addresses = std::vector<boost::asio::ip::address>;
  using list_fn = std::function<addresses()>;

  explicit local_addresses(list_fn list = read_interfaces) : list_(std::move(list)) {}
  // Reloads the list of interfaces every ten seconds, because interfaces change.
  bool contain(const boost::asio::ip::address& a) const;

  // Empty if the system call fails.
  static addresses read_interfaces();

 private:
  using clock = std::chrono::steady_clock;
  const list_fn list_;
  mutable std::mutex mutex_;
  mutable addresses known_;
  mutable clock::time_point read_{};
};

}  // namespace ry::http
