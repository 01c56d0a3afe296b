#include "progress.hpp"

#include <cmath>
#include <cstdio>
#include <optional>

#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_message = 500;

std::optional<double> number_of(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  const auto n = v->to_number<double>();
  return std::isfinite(n) ? std::optional(n) : std::nullopt;
}

std::string formatted(double n) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", n);
  return text;
}

}  // namespace

bool progress_tracker::advances(const json::object& params) {
  const auto now = number_of(params, "progress");
  if (!now || (has_value_ && *now <= last_)) return false;
  has_value_ = true;
  last_ = *now;
  return true;
}

std::string progress_line(const json::object& params) {
  const auto now = number_of(params, "progress"), total = number_of(params, "total");
  std::string out = now ? formatted(*now) : "";
  if (now && total && *total > 0) out += "/" + formatted(*total);
  // Each notification becomes one line.
  auto message = without_hidden(valid_utf8(text_of(params, "message"), max_message));
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (!message.empty()) out += (out.empty() ? "" : ": ") + message;
  return out + "\n";
}

}  // namespace mcp
