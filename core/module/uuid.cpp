#include "core/module/uuid.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace ry::module {

namespace {

// A per-thread buffer of random bytes, because a call of the generator costs much more than its bytes.
class random_stock {
 public:
  void take(std::uint8_t* out, std::size_t n) {
    if (left_ < n) {
      if (RAND_bytes(bytes_, sizeof bytes_) != 1) throw std::runtime_error("no randomness");
      left_ = sizeof bytes_;
    }
    left_ -= n;
    std::copy_n(bytes_ + left_, n, out);
  }

 private:
  std::uint8_t bytes_[512];
  std::size_t left_ = 0;
};

}  // namespace

ry_uuid uuid7_source::next() {
  using namespace std::chrono;
  const auto us =
      static_cast<std::uint64_t>(duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  const std::uint64_t now = (us / 1000) << 12 | (us % 1000) * 4096 / 1000;
  std::uint64_t before = last_.load(std::memory_order_relaxed), mine;
  do {
    mine = std::max(now, before + 1);
  } while (!last_.compare_exchange_weak(before, mine, std::memory_order_relaxed));

  ry_uuid out;
  thread_local random_stock random;
  random.take(out.bytes + 8, 8);
  for (int i = 0; i < 6; ++i) out.bytes[i] = static_cast<std::uint8_t>(mine >> (12 + 8 * (5 - i)));
  out.bytes[6] = static_cast<std::uint8_t>(0x70 | ((mine >> 8) & 0x0f));
  out.bytes[7] = static_cast<std::uint8_t>(mine);
  out.bytes[8] = static_cast<std::uint8_t>(0x80 | (out.bytes[8] & 0x3f));
  return out;
}

}  // namespace ry::module
