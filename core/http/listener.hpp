// A bound TCP socket on which the server will listen. Binding and listening are two steps: an occupied port is an
// error before anything else starts, and the kernel refuses clients until the server can answer.
//
// Owns its descriptor until take(). Not thread-safe. Errors: the constructor throws std::runtime_error with a message
// that names the address.
#pragma once

#include <cstdint>
#include <string>

namespace ry::http {

class listener {
 public:
  // `address` is numeric (127.0.0.1, ::1); port 0 = any free one.
  listener(const std::string& address, std::uint16_t port);
  // Takes over a TCP socket that already listens. Its creator, such as systemd, keeps it open after this process
  // ends, so clients wait in the backlog for the next server instead of being refused.
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
  // The address in error messages: "127.0.0.1:8080".
  const std::string& name() const noexcept { return name_; }
  // Passes the bound, non-blocking descriptor to the caller, which now owns it.
  int take() noexcept;

 private:
  int fd_ = -1;
  int family_ = 0;
  std::uint16_t port_ = 0;
  bool inherited_ = false;
  std::string address_, name_;
};

}  // namespace ry::http
