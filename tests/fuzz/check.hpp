// Helpers of the fuzz targets. A violated property aborts the process, in the fuzzer and in the replay of the corpus.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

inline void check(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "property violated: %s\n", property);
  std::abort();
}

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Removes and returns the first byte; 0 if the input is empty.
inline std::uint8_t take(std::string_view& from) {
  if (from.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(from.front());
  from.remove_prefix(1);
  return byte;
}

// Calls `f` with pieces of `all`, whose sizes are derived from `seed`, until it returns false.
template <class F>
void in_pieces(std::string_view all, std::uint32_t seed, F&& f) {
  while (!all.empty()) {
    seed = seed * 1664525u + 1013904223u;
    const std::size_t n = 1 + (seed >> 24) % 37;
    if (!f(all.substr(0, n))) return;
    all.remove_prefix(n < all.size() ? n : all.size());
  }
}

// Rejects surrogates, overlong forms and code points above U+10FFFF.
inline bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t n = c < 0x80                ? 1
                          : c >= 0xC2 && c < 0xE0 ? 2
                          : c >= 0xE0 && c < 0xF0 ? 3
                          : c >= 0xF0 && c < 0xF5 ? 4
                                                  : 0;
    if (n == 0 || i + n > s.size()) return false;
    char32_t code = n == 1 ? c : c & (0xFFu >> (n + 1));
    for (std::size_t k = 1; k < n; ++k) {
      const auto next = static_cast<unsigned char>(s[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = code << 6 | (next & 0x3F);
    }
    if ((n == 3 && code < 0x800) || (n == 4 && code < 0x10000) || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return false;
    i += n;
  }
  return true;
}

}  // namespace fuzz
