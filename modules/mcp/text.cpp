#include "text.hpp"

namespace mcp {
namespace {

// Length of the character that s begins with; 0: there is none.
std::size_t character(std::string_view s) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || s.size() < n) return 0;
  // The second byte rules out longer spellings than needed, surrogates, and what is beyond Unicode.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return n;
}

}  // namespace

std::string_view cut(std::string_view s, std::size_t most) noexcept {
  if (s.size() <= most) return s;
  while (most > 0 && (static_cast<unsigned char>(s[most]) & 0xc0) == 0x80) --most;
  return s.substr(0, most);
}

std::string clean(std::string_view s, std::size_t most) {
  std::string out;
  out.reserve(s.size() < most ? s.size() : most);
  while (!s.empty()) {
    const auto n = character(s);
    const auto piece = n != 0 ? s.substr(0, n) : std::string_view("\xef\xbf\xbd");
    if (out.size() + piece.size() > most) break;
    out += piece;
    s.remove_prefix(n != 0 ? n : 1);
  }
  return out;
}

}  // namespace mcp
