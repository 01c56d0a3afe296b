// A TCP address held for a server that will listen on it. Binding and listening are two steps, so
// that a taken port is found before anything else is started, and clients are refused, not left
// waiting, until the server can answer.
//
// Owns its descriptor until take(). Thread: one at a time. Errors: the constructor throws
// std::runtime_error with a sentence that names the address.
#pragma once

#include <cstdint>
#include <string>

namespace ry::http {

class listener {
 public:
  // `address` is numeric (127.0.0.1, ::1); port 0 = any free one.
  listener(const std::string& address, std::uint16_t port);
  // Takes over a TCP socket that listens already. Whoever made it keeps it open after us, so that
  // clients wait there for the next server instead of being refused.
  explicit listener(int inherited);
  ~listener();
  listener(listener&& other) noexcept;
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  // Numeric, without brackets.
  const std::string& address() const noexcept { return address_; }
  std::uint16_t port() const noexcept { return port_; }
  bool inherited() const noexcept { return inherited_; }
  // AF_INET or AF_INET6.
  int family() const noexcept { return family_; }
  // What stands in errors: "127.0.0.1:8080".
  const std::string& name() const noexcept { return name_; }
  // The bound, non-blocking descriptor; the caller's from now on.
  int take() noexcept;

 private:
  int fd_ = -1;
  int family_ = 0;
  std::uint16_t port_ = 0;
  bool inherited_ = false;
  std::string address_, name_;
};

}  // namespace ry::http
