#include "core/auth/token_path.hpp"

#include <optional>
#include <ry/cpp/text.hpp>
#include <string>

namespace ry::auth {

namespace {

bool is_uuid(std::string_view s) noexcept {
  if (s.size() != 36) return false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? s[i] != '-' : hex_value(s[i]) < 0) return false;
  }
  return true;
}

// nullopt: a broken escape.
std::optional<std::string> normal(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != '%') {
      out.push_back(segment[i]);
      continue;
    }
    if (i + 2 >= segment.size()) return std::nullopt;
    const int high = hex_value(segment[i + 1]), low = hex_value(segment[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return is_uuid(out) ? lower_ascii(out) : out;
}

}  // namespace

bool same_path(std::string_view a, std::string_view b) {
  if (a == b) return true;
  for (;;) {
    const auto end_a = a.find('/'), end_b = b.find('/');
    const auto here = normal(a.substr(0, end_a));
    if (!here || here != normal(b.substr(0, end_b))) return false;
    const bool last_a = end_a == std::string_view::npos, last_b = end_b == std::string_view::npos;
    if (last_a || last_b) return last_a && last_b;
    a.remove_prefix(end_a + 1);
    b.remove_prefix(end_b + 1);
  }
}

}  // namespace ry::auth
