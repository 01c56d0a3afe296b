// Opens a TCP connection to one of several addresses (Happy Eyeballs): starts the next attempt after 250 ms or when
// an earlier one fails; the first established connection wins. Lives on one loop.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/http/client/transport.hpp"

namespace ry::http {

using loop_timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      boost::asio::io_context::executor_type>;

class connector : public std::enable_shared_from_this<connector> {
 public:
  static constexpr std::size_t max_addresses = 8;
  static constexpr auto stagger = std::chrono::milliseconds(250);

  // Receives a connected socket with its address, or the reason for the failure as readable text.
  using done_fn =
      std::function<void(std::optional<loop_socket>, const boost::asio::ip::address&, const std::string& problem)>;

  connector(boost::asio::io_context& ctx, std::vector<boost::asio::ip::address> addresses, std::uint16_t port,
            done_fn done);
  // Call it once. `done` runs once, later, unless cancel() is called.
  void start();
  // Closes all sockets; `done` will not be called.
  void cancel();

 private:
  void next();
  void connected(std::size_t i, const boost::system::error_code& ec);
  void finish(std::optional<loop_socket> socket, std::size_t i);

  boost::asio::io_context& ctx_;
  std::vector<boost::asio::ip::address> addresses_;
  std::vector<std::optional<loop_socket>> sockets_;
  std::uint16_t port_;
  std::size_t tried_ = 0, failed_ = 0;
  std::optional<loop_timer> timer_;
  std::string problem_;
  done_fn done_;
};

}  // namespace ry::http
