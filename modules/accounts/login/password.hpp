// Hashes and verifies passwords with Argon2id (libsodium), on blocking threads, a few at a time.
#pragma once

#include <ry/cpp/op.hpp>

#include <mutex>
#include <string>
#include <string_view>

#include "fair_queue.hpp"

namespace accounts {

inline constexpr std::size_t max_password_bytes = 1024;

struct hash_cost {
  unsigned long long passes = 2;
  std::size_t memory_bytes = 64u << 20;
};

// Returns why the password is not acceptable, as a predicate for an error message ("must have ..."); empty if it is.
// Checks the length in Unicode characters, repetition, and equality with the address.
std::string password_fault(std::string_view password, std::string_view email, std::size_t min_length);

class password_hasher {
 public:
  // At most `parallel` concurrent computations and at most `max_waiting` waiting, of which one client may have an
  // eighth. Further calls get RY_UNAVAILABLE (503 with Retry-After). Clients take turns.
  password_hasher(const ry::context& ctx, hash_cost cost, std::size_t parallel, std::size_t max_waiting);
  password_hasher(const password_hasher&) = delete;
  password_hasher& operator=(const password_hasher&) = delete;

  // Call it before the first verify().
  ry::task<void> prepare();
  // Returns libsodium's text form with salt and cost. `client`: the network or account that makes
  // the request. [any]
  ry::task<std::string> hash(std::string password, std::string client);
  // With an empty `stored`, verifies against a dummy hash and returns false, so that an unknown address takes as long
  // as a wrong password. [any]
  ry::task<bool> verify(std::string stored, std::string password, std::string client);
  // Whether the hash has a different cost than the current one, so that the password must be hashed again. [any]
  bool is_stale(const std::string& stored) const;

 private:
  struct waiter {
    ry_exec* exec;
    ry_done done;
  };
  class permit;
  ry_status request_permit(const std::string& client, ry_exec* exec, ry_done done);
  void release_permit() noexcept;
  ry::task<permit> acquire_permit(std::string client);
  void complete(const waiter& w, ry_status st) const noexcept;

  const ry::context& ctx_;
  const hash_cost cost_;
  const std::size_t parallel_;
  std::string dummy_hash_;
  std::mutex mutex_;
  std::size_t running_ = 0;
  fair_queue<waiter> waiting_;
};

}  // namespace accounts
