// A cache of accepted bearer values, so that a request costs one keyed hash and one lookup. Stores no bearer value:
// entries are named by a 128-bit SipHash with a random key per process, so a client cannot construct collisions.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "core/auth/principal.hpp"

namespace ry::auth {

// All functions are [any].
class verdict_cache {
 public:
  explicit verdict_cache(std::size_t capacity = 16384);

  // nullptr: unknown or expired.
  principal_ptr find(std::string_view bearer, std::int64_t now_us);
  // Read before a verification begins and passed to insert(), which drops decisions that are older than a forget().
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }
  void insert(std::string_view bearer, principal_ptr who, std::int64_t until_us, std::uint64_t epoch);
  void forget(std::string_view subject);
  void clear();
  std::size_t size() const;

 private:
  using name = std::array<std::uint64_t, 2>;
  struct name_hash {
    std::size_t operator()(const name& n) const noexcept { return n[0]; }
  };
  struct entry {
    principal_ptr who;
    std::int64_t until_us;
  };
  using map = std::unordered_map<name, entry, name_hash>;
  // Two generations approximate LRU: when `young` is full, it replaces `old`; a hit in `old` moves to `young`.
  struct alignas(64) shard {
    mutable std::mutex mutex;
    map young, old;
    std::size_t young_weight = 0;
  };
  // 1 for a small entry; long tokens, which have long claims, count as several.
  static std::size_t weight(const entry& e) { return 1 + e.who->claims_json.size() / 4096; }
  name name_of(std::string_view bearer) const;
  shard& shard_of(const name& n) { return shards_[n[1] % shards_.size()]; }
  void add(shard& s, const name& n, entry e);
  template <class Drop>
  void drop_if(Drop drop);

  std::array<unsigned char, 16> key_;
  const std::size_t per_age_;
  std::atomic<std::uint64_t> epoch_{0};
  std::array<shard, 16> shards_;
};

}  // namespace ry::auth
