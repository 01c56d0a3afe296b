#include "core/http/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ry::http {

namespace asio = boost::asio;

namespace {

std::string joined(const std::string& address, std::uint16_t port) {
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + std::to_string(port);
}

}  // namespace

listener::listener(const std::string& address, std::uint16_t port) : address_(address), name_(joined(address, port)) {
  boost::system::error_code ec;
  const auto ip = asio::ip::make_address(address, ec);
  if (ec) throw std::runtime_error("http.listen: \"" + address + "\" is not a numeric address");
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

listener::listener(int inherited) : fd_(inherited), inherited_(true) {
  const auto refuse = [this](const std::string& why) {
    ::close(fd_);
    throw std::runtime_error("the inherited socket " + std::to_string(fd_) + " " + why);
  };
  const auto option = [this](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(fd_, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  asio::ip::tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  family_ = option(SO_DOMAIN);
  if ((family_ != AF_INET && family_ != AF_INET6) || option(SO_TYPE) != SOCK_STREAM || option(SO_ACCEPTCONN) != 1)
    refuse("is not a listening TCP socket");
  const int flags = ::fcntl(fd_, F_GETFL);
  if (::getsockname(fd_, endpoint.data(), &size) != 0 || flags < 0 || ::fcntl(fd_, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd_, F_SETFD, FD_CLOEXEC) != 0)
    refuse("cannot be used: " + std::error_code(errno, std::generic_category()).message());
  address_ = endpoint.address().to_string();
  port_ = endpoint.port();
  name_ = joined(address_, port_);
}

listener::~listener() {
  if (fd_ >= 0) ::close(fd_);
}

listener::listener(listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      family_(other.family_),
      port_(other.port_),
      inherited_(other.inherited_),
      address_(std::move(other.address_)),
      name_(std::move(other.name_)) {}

int listener::take() noexcept {
  return std::exchange(fd_, -1);
}

}  // namespace ry::http
