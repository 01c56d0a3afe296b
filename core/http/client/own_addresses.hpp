// The addresses of this machine's own interfaces: what listens on them is not for users' requests, also where they are
// public. Any thread.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

namespace ry::http {

class own_addresses {
 public:
  using addresses = std::vector<boost::asio::ip::address>;
  using list_fn = std::function<addresses()>;

  explicit own_addresses(list_fn list = of_interfaces) : list_(std::move(list)) {}
  // As of a few seconds ago: interfaces come and go.
  bool contain(const boost::asio::ip::address& a) const;

  // Empty when the system does not tell.
  static addresses of_interfaces();

 private:
  using clock = std::chrono::steady_clock;
  const list_fn list_;
  mutable std::mutex mutex_;
  mutable addresses known_;
  mutable clock::time_point read_{};
};

}  // namespace ry::http
