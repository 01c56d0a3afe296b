// Pool of idle connections of one loop for reuse, in LIFO order.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/http/client/transport.hpp"

namespace ry::http {

struct connection {
  explicit connection(loop_socket socket) : io(std::move(socket)) {}
  transport io;
  std::string peer;
  bool reused = false;
};

class pool {
 public:
  using clock = std::chrono::steady_clock;
  struct limits {
    std::size_t per_key = 256;
    std::size_t total = 1024;
    std::chrono::milliseconds idle{30'000};
  };
  explicit pool(limits l) : limits_(l) {}

  // Connections with the same key are interchangeable. The key ends with the pool_key of the request.
  // Returns a connection that is still usable, or nullptr.
  std::unique_ptr<connection> take(const std::string& key);
  // Keeps the connection, or closes it if the pool is full.
  void give(const std::string& key, std::unique_ptr<connection> c, clock::time_point now);
  // Closes connections past the idle timeout; returns the number of the remaining ones.
  std::size_t sweep(clock::time_point now);
  // Closes the connections whose key satisfies `matches`.
  void drop(const std::function<bool(const std::string& key)>& matches);
  void clear();
  std::size_t size() const noexcept { return size_; }

 private:
  struct entry {
    std::unique_ptr<connection> c;
    clock::time_point since;
  };
  limits limits_;
  std::size_t size_ = 0;
  std::unordered_map<std::string, std::vector<entry>> idle_;
};

}  // namespace ry::http
