// Resolves host names outside the event loops. getaddrinfo() blocks and cannot be cancelled, so it runs on threads of
// the resolver; a caller may be destroyed before its result arrives.
//
// Threads rather than c-ares: getaddrinfo() follows nsswitch.conf, /etc/hosts, systemd-resolved and the resolver
// options of the machine, which c-ares does only in part. An unanswered lookup therefore occupies a thread for about
// ten seconds. Lookups of users are scheduled fairly between accounts (lookup_schedule.hpp), and negative results are
// cached briefly. Names in the operator's configuration take precedence and have reserved threads.
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

// The source of a name. User-supplied names may be numerous and unanswered, so they get fewer threads.
enum class name_source : std::uint8_t { user, configuration };

// Counters since the start, and gauges.
struct resolver_stats {
  std::uint64_t refused = 0;  // the queue was full
  std::uint64_t unanswered = 0;  // no answer in time; it may have arrived later
  std::size_t in_progress = 0, waiting = 0;
};

class resolver {
 public:
  using addresses = std::vector<boost::asio::ip::address>;
  // Blocks; empty = the name does not exist, or no answer. Called on several threads concurrently; must not throw.
  using lookup_fn = std::function<addresses(const std::string& host)>;
  struct answer {
    addresses found;
    bool too_many = false;  // the name was not looked up because the queue is full
  };
  using done_fn = std::function<void(const answer&)>;

  static constexpr std::size_t max_threads = 16;
  static constexpr std::size_t max_for_users = 12;  // the other threads are reserved for the operator's names
  static constexpr std::size_t max_waiting =
      4096;  // for the operator's names, and for those of all users together; lookups beyond it fail immediately

  struct options {
    std::size_t per_account = 4;  // lookups in progress for one account
    std::chrono::milliseconds slow{2'000};  // a lookup of this duration is slow, answered or not
    std::chrono::milliseconds slow_period{
        60'000};  // after a slow lookup: its site is slow, and an unanswered name fails immediately
    std::chrono::milliseconds negative_ttl{5'000};  // how long a quick negative answer is cached
  };

  explicit resolver(lookup_fn lookup = system_lookup);
  resolver(lookup_fn lookup, const options& o);
  // Does not wait for lookups in progress; their results are dropped.
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  // Looks up `host`; calls `done` on exec, never before resolve() has returned. `done` may be destroyed on any thread.
  // Concurrent lookups of one name are single-flight. If all waiters of a name disappear before its turn, the resolver
  // skips the lookup and drops their `done`. `account`: the account of a user's name, see lookup_schedule. [any]
  void resolve(const std::string& host, name_source by, const std::string& account, ry_exec* exec,
               std::weak_ptr<const void> waiter, done_fn done);
  resolver_stats stats() const;

  static addresses system_lookup(const std::string& host);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace ry::http
