#include "cursor.hpp"

#include <array>
#include <charconv>

namespace agui {
namespace {

struct flag {
  char letter;
  bool turn_state::*member;
};
constexpr std::array<flag, 9> flags = {{{'a', &turn_state::answering},
                                        {'s', &turn_state::step_open},
                                        {'p', &turn_state::span_open},
                                        {'r', &turn_state::reasoning_open},
                                        {'t', &turn_state::text_open},
                                        {'R', &turn_state::has_reasoning},
                                        {'T', &turn_state::has_text},
                                        {'g', &turn_state::gap},
                                        {'e', &turn_state::ended}}};
constexpr std::uint64_t max_number = std::uint64_t{1} << 53;
constexpr std::size_t numbers = 4;

}  // namespace

std::string write_cursor(const cursor& at) {
  std::string out = std::to_string(at.sequence) + "-" + std::to_string(at.skip) + "-" + std::to_string(at.turn.step) +
                    "-" + std::to_string(at.turn.attempt) + "-";
  for (const flag& f : flags)
    if (at.turn.*f.member) out += f.letter;
  return out;
}

std::optional<cursor> read_cursor(std::string_view text) {
  std::array<std::uint64_t, numbers> values{};
  for (std::uint64_t& value : values) {
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto size = static_cast<std::size_t>(end - text.data());
    if (ec != std::errc() || value > max_number || size == text.size() || text[size] != '-') return std::nullopt;
    text.remove_prefix(size + 1);
  }
  cursor out{values[0], values[1], {}};
  out.turn.step = static_cast<std::int64_t>(values[2]);
  out.turn.attempt = static_cast<std::int64_t>(values[3]);
  for (const flag& f : flags) {
    if (text.empty() || text.front() != f.letter) continue;
    out.turn.*f.member = true;
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional(out) : std::nullopt;
}

}  // namespace agui
