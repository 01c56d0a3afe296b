// Name look-ups off the loops. The C library's look-up cannot be called off: it runs on threads of
// its own, and whoever waits may go away at any time without waiting longer.
//
// Threads rather than c-ares: getaddrinfo() follows nsswitch.conf, /etc/hosts, systemd-resolved and the resolver options
// of the machine; c-ares supports them only in part. The price: a name whose name server does not answer occupies a thread
// for about ten seconds. Look-ups for users are therefore scheduled by site (the registered domain, as far as it can be
// derived from the name):
// - Sites take turns (round robin), and each may use max_of_site threads at once.
// - A slow site may use one thread, and all slow sites together max_for_slow_sites.
// - A name without an answer in time fails at once for timing::remembered.
// The schedule does not distinguish users: a site that does not answer costs the same threads for each of them.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
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
  static constexpr std::size_t max_of_site = 3;     // running look-ups for users
  static constexpr std::size_t max_waiting_of_site = 256;
  static constexpr std::size_t max_for_slow_sites = 4;  // of all slow sites together

  struct timing {
    // A look-up that takes this long and finds nothing marks its name as unanswered and its site as slow.
    std::chrono::milliseconds slow{2'000};
    std::chrono::milliseconds remembered{60'000};  // until both marks expire
  };

  explicit resolver(lookup_fn lookup = system_lookup);
  resolver(lookup_fn lookup, timing when);
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
  // The registered domain of a name, estimated without the public suffix list: the last two labels, or three below a
  // usual second-level domain of a country (co.uk).
  static std::string site_of(const std::string& host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::http
