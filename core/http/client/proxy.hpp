// HTTP proxies of outgoing requests: those that a request names, and those of the process environment
// (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). Pure. [any]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/http/client/guard.hpp"
#include "core/http/client/target.hpp"

namespace ry::http {

struct proxy {
  guard::host host;
  std::uint16_t port = 0;
  std::string authority;  // host and port without credentials, safe for messages
  std::string authorization;  // value of Proxy-Authorization; empty: none

  // Equal for proxies that may share connections. Contains the credentials and no spaces.
  std::string key() const;
};

// Reads "http://[user:password@]host[:port]" or "host:port"; the default port is 80. The string
// alternative is an error message; it never contains the text, which may hold a password.
std::variant<proxy, std::string> parse_proxy(std::string_view text);

// The proxies configured in the environment. Immutable after construction.
class environment_proxies {
 public:
  struct variables {
    std::string http, https, no_proxy;  // HTTP_PROXY, HTTPS_PROXY, NO_PROXY; empty: not set
  };

  environment_proxies() = default;
  explicit environment_proxies(const variables& from);

  // The proxy for requests to `to`, monostate for none, or an error message that names an invalid variable.
  std::variant<std::monostate, proxy, std::string> of(const target& to) const;
  // The errors in the variables, one message each.
  std::vector<std::string> problems() const;

 private:
  struct no_proxy_entry {
    std::string name;  // a host and its subdomains; "*": every host
    std::optional<boost::asio::ip::address> network;
    unsigned bits = 0;
    std::uint16_t port = 0;  // 0: any
  };
  using entry = std::variant<std::monostate, proxy, std::string>;

  static entry read(const char* variable, const std::string& text);
  static std::optional<no_proxy_entry> read_no_proxy_entry(std::string_view text);
  static bool covers(const no_proxy_entry& e, const target& to);

  entry http_, https_;
  std::vector<no_proxy_entry> except_;
};

}  // namespace ry::http
