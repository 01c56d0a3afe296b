// Name look-ups off the loops. The C library's look-up cannot be called off: it runs on threads of
// its own, and whoever waits may go away at any time without waiting longer.
//
// Threads rather than c-ares: getaddrinfo() follows nsswitch.conf, /etc/hosts, systemd-resolved and the resolver options
// of the machine, which c-ares only does in part. The price is that a name nobody answers for occupies a thread for about
// ten seconds, so users' names are scheduled: names of one site (its registered domain, as far as that can be told) take
// turns with those of others and have few threads at once, a site that was slow has one and shares some of them with
// all slow sites, and a name that was not answered for in time fails at once for a while. Who asks does not matter: the
// threads are lost to the site that does not answer, whoever names it.
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
  static constexpr std::size_t max_of_site = 3;     // look-ups under way for users
  static constexpr std::size_t max_waiting_of_site = 256;
  static constexpr std::size_t max_for_slow_sites = 4;  // together

  struct timing {
    std::chrono::milliseconds slow{2'000};       // a look-up without an answer that takes so long
    std::chrono::milliseconds remembered{60'000};  // for how long the name fails at once, and its site is slow
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
  // The registered domain of a name, without a list of public suffixes: its last two labels, three below the usual
  // second levels of countries (co.uk).
  static std::string site_of(const std::string& host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::http
