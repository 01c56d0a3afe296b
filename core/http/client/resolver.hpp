// Name look-ups off the loops. The C library's look-up cannot be called off: it runs on threads of
// its own, and whoever waits may go away at any time without waiting longer.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/loop.hpp"

namespace ry::http {

// Who gave a name. A user may give many that nobody ever answers for.
enum class named_by : std::uint8_t { user, the_operator };

class resolver {
 public:
  using addresses = std::vector<boost::asio::ip::address>;
  // Blocks; empty = no such name, or no answer. Called on several threads at once; must not throw.
  using lookup_fn = std::function<addresses(const std::string& host)>;
  using done_fn = std::function<void(const addresses&)>;

  static constexpr std::size_t max_threads = 16;
  static constexpr std::size_t max_for_users = 12;  // the other threads are the operator's alone
  static constexpr std::size_t max_waiting = 4096;  // names of each; over it a look-up fails at once

  explicit resolver(lookup_fn lookup = system_lookup);
  // Look-ups under way are left alone; their answers are dropped.
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  // Looks up `host`; `done` runs on exec, never inside this call, and is destroyed on any thread.
  // Look-ups of one name that overlap are made once. A name whose waiters are all gone before its
  // turn comes is not looked up, and their `done` is dropped. [any]
  void resolve(const std::string& host, named_by by, ry_exec* exec,
               std::weak_ptr<const void> waiter, done_fn done);

  static addresses system_lookup(const std::string& host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::http
