// What every entry point for hostile bytes uses: a promise that is broken ends the process, in a fuzzer and
// in the replay of its corpus alike.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes a byte from the front; 0 when there is none left.
inline std::uint8_t take(std::string_view& from) {
  if (from.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(from.front());
  from.remove_prefix(1);
  return byte;
}

// Calls `f` with pieces of `all` whose sizes follow from `seed`; f returns false to stop.
template <class F>
void in_pieces(std::string_view all, std::uint32_t seed, F&& f) {
  while (!all.empty()) {
    seed = seed * 1664525u + 1013904223u;
    const std::size_t n = 1 + (seed >> 24) % 37;
    if (!f(all.substr(0, n))) return;
    all.remove_prefix(n < all.size() ? n : all.size());
  }
}

}  // namespace fuzz
