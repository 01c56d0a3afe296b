#include "core/http/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ry::http {

namespace asio = boost::asio;

listener::listener(const std::string& address, std::uint16_t port)
    : name_((address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" +
            std::to_string(port)) {
  boost::system::error_code ec;
  const auto ip = asio::ip::make_address(address, ec);
  if (ec) throw std::runtime_error("http.listen: \"" + address + "\" is no numeric address");
  asio::ip::tcp::endpoint endpoint(ip, port);
  family_ = endpoint.protocol().family();
  fd_ = ::socket(family_, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (fd_ < 0 || ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd_, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
      ::getsockname(fd_, endpoint.data(), &size) != 0) {
    const auto why = std::error_code(errno, std::generic_category()).message();
    if (fd_ >= 0) ::close(fd_);
    throw std::runtime_error("cannot listen on " + name_ + ": " + why);
  }
  port_ = endpoint.port();
}

listener::~listener() {
  if (fd_ >= 0) ::close(fd_);
}

listener::listener(listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      family_(other.family_),
      port_(other.port_),
      name_(std::move(other.name_)) {}

int listener::take() noexcept {
  return std::exchange(fd_, -1);
}

}  // namespace ry::http
