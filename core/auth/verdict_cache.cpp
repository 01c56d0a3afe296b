#include "core/auth/verdict_cache.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace ry::auth {

verdict_cache::verdict_cache(std::size_t capacity)
    : per_age_(std::max<std::size_t>(1, capacity / (2 * std::tuple_size_v<decltype(shards_)>))) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised");
  static_assert(sizeof(key_) == crypto_shorthash_siphashx24_KEYBYTES);
  static_assert(sizeof(name) == crypto_shorthash_siphashx24_BYTES);
  randombytes_buf(key_.data(), key_.size());
}

verdict_cache::name verdict_cache::name_of(std::string_view bearer) const {
  std::array<unsigned char, sizeof(name)> out;
  crypto_shorthash_siphashx24(out.data(), reinterpret_cast<const unsigned char*>(bearer.data()), bearer.size(),
                              key_.data());
  name n;
  std::memcpy(n.data(), out.data(), out.size());
  return n;
}

principal_ptr verdict_cache::find(std::string_view bearer, std::int64_t now_us) {
  const auto n = name_of(bearer);
  auto& s = shard_of(n);
  std::lock_guard lock(s.mutex);
  if (const auto it = s.young.find(n); it != s.young.end()) {
    if (it->second.until_us > now_us) return it->second.who;
    s.young_weight -= weight(it->second);
    s.young.erase(it);
    return nullptr;
  }
  const auto it = s.old.find(n);
  if (it == s.old.end()) return nullptr;
  entry e = std::move(it->second);
  s.old.erase(it);
  if (e.until_us <= now_us) return nullptr;
  auto who = e.who;
  add(s, n, std::move(e));
  return who;
}

void verdict_cache::insert(std::string_view bearer, principal_ptr who, std::int64_t until_us, std::uint64_t epoch) {
  const auto n = name_of(bearer);
  auto& s = shard_of(n);
  std::lock_guard lock(s.mutex);
  if (epoch_.load(std::memory_order_acquire) != epoch) return;
  s.old.erase(n);
  add(s, n, {std::move(who), until_us});
}

void verdict_cache::add(shard& s, const name& n, entry e) {
  if (const auto it = s.young.find(n); it != s.young.end()) {
    s.young_weight -= weight(it->second);
    s.young.erase(it);
  }
  if (s.young_weight >= per_age_) {
    s.old = std::move(s.young);
    s.young = map();
    s.young_weight = 0;
  }
  s.young_weight += weight(e);
  s.young.emplace(n, std::move(e));
}

template <class Drop>
void verdict_cache::drop_if(Drop drop) {
  // Increment the epoch before sweeping the shards: an insert that read the old epoch either happens before its shard
  // is swept, or sees the new epoch under the shard's lock.
  epoch_.fetch_add(1, std::memory_order_acq_rel);
  for (auto& s : shards_) {
    std::lock_guard lock(s.mutex);
    std::erase_if(s.young, [&](const auto& kv) {
      const bool gone = drop(kv);
      if (gone) s.young_weight -= weight(kv.second);
      return gone;
    });
    std::erase_if(s.old, drop);
  }
}

void verdict_cache::forget(std::string_view subject) {
  drop_if([subject](const auto& kv) { return kv.second.who->subject == subject; });
}

void verdict_cache::clear() {
  drop_if([](const auto&) { return true; });
}

std::size_t verdict_cache::size() const {
  std::size_t n = 0;
  for (const auto& s : shards_) {
    std::lock_guard lock(s.mutex);
    n += s.young.size() + s.old.size();
  }
  return n;
}

}  // namespace ry::auth
