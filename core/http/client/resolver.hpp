// Name lookups off the loops. getaddrinfo() cannot be cancelled: it runs on threads of the resolver, and a waiter may go away at
// any time.
//
// Threads rather than c-ares: getaddrinfo() follows nsswitch.conf, /etc/hosts, systemd-resolved and the resolver options
// of the machine, which c-ares does only in part. A name without an answer therefore occupies a thread for about ten
// seconds. Users' names are scheduled fairly between accounts (lookup_schedule.hpp), and a name without addresses fails at
// once for a while. Names in the operator's configuration go first and have threads of their own.
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

// The origin of a name. A user may give many names that no name server ever answers.
enum class named_by : std::uint8_t { user, the_operator };

// Counts since the start, and current numbers.
struct resolver_stats {
  std::uint64_t refused = 0;     // too many waited
  std::uint64_t unanswered = 0;  // no answer in time; it may have come later
  std::size_t in_progress = 0, waiting = 0;
};

class resolver {
 public:
  using addresses = std::vector<boost::asio::ip::address>;
  // Blocks; empty = no such name, or no answer. Called on several threads at once; must not throw.
  using lookup_fn = std::function<addresses(const std::string& host)>;
  struct answer {
    addresses found;
    bool too_many = false;  // the name was not looked up: too many names wait
  };
  using done_fn = std::function<void(const answer&)>;

  static constexpr std::size_t max_threads = 16;
  static constexpr std::size_t max_for_users = 12;  // the other threads are for the operator's names only
  static constexpr std::size_t max_waiting = 4096;  // of the operator and of all users; over it a lookup fails at once

  struct options {
    std::size_t of_account = 4;                    // lookups in progress for one account
    std::chrono::milliseconds slow{2'000};         // a lookup that takes so long, answered or not
    std::chrono::milliseconds remembered{60'000};  // for how long its site is slow, and its name, if unanswered, fails at once
    std::chrono::milliseconds missing{5'000};      // for how long a name fails at once that has quickly no address
  };

  explicit resolver(lookup_fn lookup = system_lookup);
  resolver(lookup_fn lookup, const options& o);
  // Lookups in progress go on; their answers are dropped.
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  // Looks up `host`; `done` runs on exec, never inside this call, and is destroyed on any thread.
  // Overlapping lookups of one name are made once. A name whose waiters are all gone before its
  // turn comes is not looked up, and their `done` is dropped. `account`: of a user's name, see lookup_schedule. [any]
  void resolve(const std::string& host, named_by by, const std::string& account, ry_exec* exec,
               std::weak_ptr<const void> waiter, done_fn done);
  resolver_stats stats() const;

  static addresses system_lookup(const std::string& host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::http
