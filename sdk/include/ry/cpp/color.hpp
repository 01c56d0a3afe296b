// Colours of pages and e-mails: sRGB values and their contrast.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <ry/cpp/text.hpp>
#include <string>
#include <string_view>

namespace ry {

struct color {
  std::uint8_t r = 0, g = 0, b = 0;

  // "#1d5fd1"; nullopt for any other form.
  static std::optional<color> parse(std::string_view text) noexcept {
    if (text.size() != 7 || text.front() != '#') return std::nullopt;
    std::uint32_t all = 0;
    for (const char c : text.substr(1)) {
      const int digit = hex_value(c);
      if (digit < 0) return std::nullopt;
      all = all * 16 + static_cast<std::uint32_t>(digit);
    }
    return color{static_cast<std::uint8_t>(all >> 16), static_cast<std::uint8_t>(all >> 8),
                 static_cast<std::uint8_t>(all)};
  }

  std::string text() const {
    std::string out = "#";
    for (const std::uint8_t part : {r, g, b}) append_hex(out, part);
    return out;
  }

  // Relative luminance of WCAG 2.2, from 0 to 1.
  double luminance() const noexcept {
    const auto linear = [](std::uint8_t part) {
      const double s = part / 255.0;
      return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  }

  // Mixes in another colour; `share` from 0 to 1.
  color towards(const color& other, double share) const noexcept {
    const auto mix = [share](std::uint8_t from, std::uint8_t to) {
      return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
    };
    return {mix(r, other.r), mix(g, other.g), mix(b, other.b)};
  }
};

// Contrast ratio of WCAG 2.2, from 1 to 21: text needs 4.5, the edge of a button 3.
inline double contrast(const color& a, const color& b) noexcept {
  const double x = a.luminance(), y = b.luminance();
  return (std::fmax(x, y) + 0.05) / (std::fmin(x, y) + 0.05);
}

}  // namespace ry
