// Passwords: Argon2id of libsodium, computed outside of the event loops, few at a time.
#pragma once

#include <ry/cpp/op.hpp>

#include <mutex>
#include <string>
#include <string_view>

#include "turn_queue.hpp"

namespace accounts {

inline constexpr std::size_t max_password_bytes = 1024;

struct hash_cost {
  unsigned long long passes = 2;
  std::size_t memory_bytes = 64u << 20;
};

// Why this password is refused, as the end of a sentence; empty: it is accepted. Length is counted in Unicode
// characters. Only length, repetition and similarity to the address count.
std::string password_fault(std::string_view password, std::string_view email, std::size_t min_length);

class password_hasher {
 public:
  // At most `parallel` computations at once and at most `max_waiting` waiting, of which one client may have an eighth.
  // Beyond that: RY_UNAVAILABLE (503 with Retry-After). Clients take turns.
  password_hasher(const ry::context& ctx, hash_cost cost, std::size_t parallel, std::size_t max_waiting);
  password_hasher(const password_hasher&) = delete;
  password_hasher& operator=(const password_hasher&) = delete;

  // Call it before the first verify().
  ry::task<void> prepare();
  // Returns libsodium's text form with salt and cost. `client`: the network or account that asks. [any]
  ry::task<std::string> hash(std::string password, std::string client);
  // With an empty `stored` it does the same work on a hash that no password has, and returns false: an unknown address
  // takes as long as a wrong password. [any]
  ry::task<bool> verify(std::string stored, std::string password, std::string client);
  // True if the hash has another cost than the current one: hash the password again when it is at hand. [any]
  bool is_stale(const std::string& stored) const;

 private:
  struct waiter {
    ry_exec* exec;
    ry_done done;
  };
  class turn;
  ry_status enter(const std::string& client, ry_exec* exec, ry_done done);
  void leave() noexcept;
  ry::task<turn> take_turn(std::string client);
  void answer(const waiter& w, ry_status st) const noexcept;

  const ry::context& ctx_;
  const hash_cost cost_;
  const std::size_t parallel_;
  std::string decoy_;
  std::mutex mutex_;
  std::size_t running_ = 0;
  turn_queue<waiter> waiting_;
};

}  // namespace accounts
